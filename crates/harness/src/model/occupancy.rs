//! Theoretical occupancy as rows of a table, without a GPU.

use ::occupancy::{ComputeCapability, Kernel, Multiprocessor, OccupancyError, Resource};
use serde::Serialize;

/// The occupancy of one kernel in blocks of one size on one architecture.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OccupancyRow {
    /// The architecture: 90 of `sm_90`.
    pub arch: u32,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of shared memory per block.
    pub shared_bytes: u32,
    /// Threads per block.
    pub block: u32,
    /// Blocks that a multiprocessor holds at once; 0 where no such block can run.
    pub resident_blocks: u32,
    /// Warps of these blocks.
    pub active_warps: u32,
    /// The most warps that a multiprocessor holds of any kernel.
    pub max_warps: u32,
    /// Resources that keep more blocks out, of `warps blocks registers shared_memory`.
    pub limited_by: Vec<&'static str>,
    /// Needs of one more block, where fewer registers or less shared memory makes room.
    pub one_more: Option<Relief>,
    /// Why no such block can run.
    pub refused: Option<String>,
}

/// The most of each resource with which one more block fits; `None` for those that do not limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Relief {
    /// Registers per thread.
    pub registers: Option<u32>,
    /// Bytes of shared memory per block.
    pub shared_bytes: Option<u32>,
}

impl OccupancyRow {
    /// The row of a kernel.
    ///
    /// # Errors
    /// [`OccupancyError::UnknownCapability`]: the limits of the architecture are not known. A block that
    /// cannot run is no error but a row that says why.
    pub fn new(
        arch: u32,
        registers: u32,
        shared_bytes: u32,
        block: u32,
    ) -> Result<OccupancyRow, OccupancyError> {
        let multiprocessor = Multiprocessor::of(ComputeCapability::from_arch(arch))?;
        let kernel = kernel(registers, shared_bytes);
        let row = OccupancyRow {
            arch,
            registers,
            shared_bytes,
            block,
            resident_blocks: 0,
            active_warps: 0,
            max_warps: multiprocessor.max_warps,
            limited_by: Vec::new(),
            one_more: None,
            refused: None,
        };
        Ok(match multiprocessor.occupancy(&kernel, block) {
            Ok(found) => OccupancyRow {
                resident_blocks: found.blocks,
                active_warps: found.active_warps,
                one_more: relief(&multiprocessor, &row, found.blocks, &found.limited_by),
                limited_by: found.limited_by.iter().map(|it| it.name()).collect(),
                ..row
            },
            Err(error) => OccupancyRow {
                refused: Some(error.to_string()),
                ..row
            },
        })
    }

    /// Active warps as a percentage of the most there can be.
    pub fn percent(&self) -> f64 {
        100.0 * f64::from(self.active_warps) / f64::from(self.max_warps)
    }
}

fn kernel(registers_per_thread: u32, dynamic_shared_bytes: u32) -> Kernel {
    Kernel {
        registers_per_thread,
        dynamic_shared_bytes,
        ..Kernel::default()
    }
}

fn relief(
    multiprocessor: &Multiprocessor,
    row: &OccupancyRow,
    blocks: u32,
    limited_by: &[Resource],
) -> Option<Relief> {
    if limited_by.contains(&Resource::Warps) || limited_by.contains(&Resource::Blocks) {
        return None;
    }
    let fits = |kernel: Kernel| {
        let found = multiprocessor.occupancy(&kernel, row.block);
        found.is_ok_and(|found| found.blocks > blocks)
    };
    let largest = |limits: bool, most: u32, kernel_of: &dyn Fn(u32) -> Kernel| {
        limits
            .then(|| (0..most).rev().find(|&amount| fits(kernel_of(amount))))
            .flatten()
    };
    let by = |resource| limited_by.contains(&resource);
    // Each alone, as if the other did not limit.
    Some(Relief {
        registers: largest(by(Resource::Registers), row.registers, &|it| kernel(it, 0)),
        shared_bytes: largest(by(Resource::SharedMemory), row.shared_bytes, &|it| {
            kernel(0, it)
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_one_more_block_takes() {
        let row = OccupancyRow::new(90, 64, 48 << 10, 256).expect("sm_90 is known");
        assert_eq!((row.resident_blocks, row.percent()), (4, 50.0));
        assert_eq!(row.limited_by, ["registers", "shared_memory"]);
        let relief = row.one_more.expect("both can be less");
        assert_eq!(relief.registers, Some(48));
        // 228 KiB for five blocks, less 1 KiB that each reserves, in units of 128 bytes.
        assert_eq!(
            relief.shared_bytes,
            Some((228 * 1024 / 5 - 1024) / 128 * 128)
        );
        let more = OccupancyRow::new(90, 48, relief.shared_bytes.unwrap_or(0), 256);
        assert_eq!(more.expect("known").resident_blocks, 5);
    }

    #[test]
    fn full_multiprocessors_and_blocks_that_cannot_run_say_so() {
        let full = OccupancyRow::new(80, 32, 0, 256).expect("known");
        assert_eq!((full.percent(), full.one_more), (100.0, None));
        let refused = OccupancyRow::new(90, 32, 228 << 10, 256).expect("known");
        assert_eq!(refused.resident_blocks, 0);
        assert!(
            refused
                .refused
                .is_some_and(|reason| reason.contains("shared memory"))
        );
        assert!(OccupancyRow::new(42, 32, 0, 256).is_err());
    }
}
