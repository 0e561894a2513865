//! What the GPU holds at once whose limits the emulator keeps.

use occupancy::{ComputeCapability, Kernel, Multiprocessor, OccupancyError};

/// Its multiprocessors.
pub(super) fn multiprocessors(capability: ComputeCapability) -> u32 {
    let any = engine::Options::default().multiprocessors;
    capability.multiprocessors().unwrap_or(any)
}

/// How many blocks its multiprocessors hold by their threads, blocks and shared memory. Registers are the
/// machine code's, which nobody has here.
///
/// # Errors
/// Not even one, or its limits are not known.
pub(super) fn blocks_at_once(
    capability: ComputeCapability,
    own_shared: u32,
    shape: simt::Shape,
) -> Result<u64, OccupancyError> {
    let needs = Kernel {
        static_shared_bytes: own_shared,
        dynamic_shared_bytes: shape.dynamic_shared,
        ..Kernel::default()
    };
    let of = Multiprocessor::of(capability)?;
    let each = of.occupancy(&needs, shape.block.iter().product())?.blocks;
    Ok(u64::from(each) * u64::from(multiprocessors(capability)))
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
            blocks_at_once(ComputeCapability::new(major, minor), own, shape)
        };
        assert_eq!(held((9, 0), 32, 0, 0), Ok(32 * 132));
        assert_eq!(held((9, 0), 512, 0, 0), Ok(4 * 132));
        assert_eq!(held((9, 0), 32, 100 << 10, 12 << 10), Ok(2 * 132));
        assert_eq!(held((8, 0), 512, 0, 0), Ok(4 * 108));
        assert_eq!(held((8, 6), 512, 0, 0), Ok(3 * 84));
        assert_eq!(held((7, 5), 32, 0, 0), Ok(16 * 40));
        assert!(held((9, 0), 1025, 0, 0).is_err());
    }
}
