//! The points that an occupancy sweep visits.

use ::occupancy::{Multiprocessor, WARP_THREADS};

use crate::sweep::plan::most;
use crate::sweep::{Selection, TooManyPoints};

/// Workloads, and the values of the axes that are every workload's. A sweep visits every combination,
/// shared memory changing fastest.
#[derive(Clone)]
pub struct OccupancyPlan<'w> {
    /// The workloads, each with the values of its own axes.
    pub selected: Vec<Selection<'w>>,
    /// Registers per thread at most: the kernels are compiled anew. `None` leaves them to the compiler.
    pub max_registers: Vec<Option<u32>>,
    /// Threads per block.
    pub blocks: Vec<u32>,
    /// Bytes of dynamic shared memory per block beside those that a kernel uses: they keep blocks out.
    /// `None` stands for amounts with which ever fewer blocks fit, down to one.
    pub shared: Option<Vec<u32>>,
}

impl OccupancyPlan<'_> {
    /// All axes, each with the number of its values; of shared memory at least those that are given.
    pub fn axes(&self) -> Vec<(&'static str, usize)> {
        let own = self.selected.iter().flat_map(|it| &it.values);
        let own = own.map(|(name, values)| (*name, values.len()));
        let common = [
            ("kernel", self.selected.len()),
            ("block", self.blocks.len()),
            ("shared", self.shared.as_ref().map_or(2, Vec::len)),
            ("max-registers", self.max_registers.len()),
        ];
        most(own.chain(common))
    }

    /// Fails if there are too many points. Of a list that is not given the longest possible counts.
    pub(super) fn check(&self) -> Result<(), TooManyPoints> {
        /// Of [`stepping_shared`].
        const LONGEST: usize = 7;
        for selection in &self.selected {
            let own = selection.values.iter().map(|(_, values)| values.len());
            let common = [
                self.max_registers.len(),
                self.blocks.len(),
                self.shared.as_ref().map_or(LONGEST, Vec::len),
            ];
            TooManyPoints::check(&own.chain(common).collect::<Vec<_>>())?;
        }
        Ok(())
    }
}

/// Amounts of shared memory, beside what a kernel has anyway, with which a multiprocessor holds all the
/// blocks of `block` threads that its threads allow, and about three quarters, half, a quarter .. of
/// them, down to one.
pub(super) fn stepping_shared(
    block: u32,
    own_shared: u32,
    multiprocessor: &Multiprocessor,
) -> Vec<u32> {
    let warps = block.div_ceil(WARP_THREADS).max(1);
    let most = (multiprocessor.max_warps / warps).clamp(1, multiprocessor.max_blocks);
    let mut residents = vec![
        most,
        most * 3 / 4,
        most / 2,
        most * 3 / 8,
        most / 4,
        most / 8,
        1,
    ];
    residents.retain(|&blocks| blocks > 0);
    residents.dedup();
    let shared = residents.into_iter().map(|blocks| {
        if blocks == most {
            return 0;
        }
        let unit = multiprocessor.shared_unit_bytes;
        let share = multiprocessor.shared_bytes / blocks;
        let share = share.saturating_sub(multiprocessor.reserved_shared_bytes_per_block);
        (share / unit * unit)
            .min(multiprocessor.max_shared_bytes_per_block)
            .saturating_sub(own_shared)
    });
    shared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_steps_down_to_one_block() {
        let hopper = Multiprocessor::of(::occupancy::ComputeCapability::new(9, 0)).expect("known");
        let blocks = [32, 64, 96, 128, 256, 512, 768, 1024];
        let cases = blocks.iter().flat_map(|&block| [(block, 0), (block, 700)]);
        for (block, static_shared_bytes) in cases {
            let residents: Vec<u32> = stepping_shared(block, static_shared_bytes, &hopper)
                .into_iter()
                .map(|dynamic_shared_bytes| {
                    let kernel = ::occupancy::Kernel {
                        static_shared_bytes,
                        dynamic_shared_bytes,
                        ..::occupancy::Kernel::default()
                    };
                    hopper.occupancy(&kernel, block).expect("it runs").blocks
                })
                .collect();
            assert!(
                residents.is_sorted_by(|a, b| a > b),
                "{block}: {residents:?}"
            );
            assert_eq!(residents[0], (2048 / block).min(32));
            assert_eq!(residents.last(), Some(&1));
        }
    }
}
