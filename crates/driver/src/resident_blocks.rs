//! The blocks that the emulated GPU holds at once, by its limits.

use occupancy::{ComputeCapability, Kernel, Multiprocessor, OccupancyError, WARP_THREADS};

/// Its multiprocessors.
pub(super) fn multiprocessors(capability: ComputeCapability) -> u32 {
    let any = engine::Options::default().multiprocessors;
    capability.multiprocessors().unwrap_or(any)
}

/// How many blocks its multiprocessors hold by their threads, blocks, shared memory and registers: where a kernel's
/// are known, which are the machine code's. 0 stands for those that are not.
///
/// # Errors
/// [`OccupancyError::UnknownCapability`]: the limits of the capability are not known; any other: not even
/// one block fits, and which limit it exceeds.
pub(super) fn blocks_at_once(
    capability: ComputeCapability,
    needs: &Kernel,
    shape: simt::Shape,
) -> Result<u64, OccupancyError> {
    let of = Multiprocessor::of(capability)?;
    let each = of.occupancy(needs, shape.block.iter().product())?.blocks;
    Ok(u64::from(each) * u64::from(multiprocessors(capability)))
}

/// The most threads of a block that has so many registers per thread, as a driver tells of a kernel: whole warps.
///
/// # Errors
/// The GPU's limits are not known.
pub(super) fn most_threads(
    capability: ComputeCapability,
    registers: u32,
) -> Result<u32, OccupancyError> {
    let of = Multiprocessor::of(capability)?;
    let needs = Kernel {
        registers_per_thread: registers,
        ..Kernel::default()
    };
    let mut warps = (1..=of.max_threads_per_block / WARP_THREADS).rev();
    let most = warps.find(|warps| of.occupancy(&needs, warps * WARP_THREADS).is_ok());
    Ok(most.unwrap_or(0) * WARP_THREADS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_those_of_the_named_gpu() {
        let held = |(major, minor), threads, dynamic_shared, own| {
            let shape = simt::Shape {
                grid: [1, 1, 1],
                block: [threads, 1, 1],
                dynamic_shared,
            };
            let needs = Kernel {
                static_shared_bytes: own,
                dynamic_shared_bytes: dynamic_shared,
                ..Kernel::default()
            };
            blocks_at_once(ComputeCapability::new(major, minor), &needs, shape)
        };
        assert_eq!(held((9, 0), 32, 0, 0), Ok(32 * 132));
        assert_eq!(held((9, 0), 512, 0, 0), Ok(4 * 132));
        assert_eq!(held((9, 0), 32, 100 << 10, 12 << 10), Ok(2 * 132));
        assert_eq!(held((8, 0), 512, 0, 0), Ok(4 * 108));
        assert_eq!(held((8, 6), 512, 0, 0), Ok(3 * 84));
        assert_eq!(held((7, 5), 32, 0, 0), Ok(16 * 40));
        assert!(held((9, 0), 1025, 0, 0).is_err());
    }

    #[test]
    fn threads_of_a_block_share_its_registers() {
        let most = |(major, minor), registers| {
            most_threads(ComputeCapability::new(major, minor), registers)
        };
        assert_eq!(most((9, 0), 64), Ok(1024));
        // 72 of a thread are 2,304 of a warp: 28 warps, since four at a time are counted.
        assert_eq!(most((9, 0), 65), Ok(896));
        assert_eq!(most((9, 0), 128), Ok(512));
        assert_eq!(most((9, 0), 255), Ok(256));
        assert_eq!(most((7, 5), 128), Ok(512));
    }
}
