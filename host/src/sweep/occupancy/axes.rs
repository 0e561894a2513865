//! The axes of an occupancy sweep.

use std::fmt;

use crate::driver::Limits;

/// A kernel that the sweep has instances of with different numbers of independent operations a
/// thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Studied {
    /// y = x: bound by memory, as the three below.
    Copy,
    /// y = a x.
    Scale,
    /// y = x + a z, of each element.
    Triad,
    /// The sum of x: a reduction.
    Read,
    /// Chains of fused multiply-adds of `f32`: bound by arithmetic.
    Fma,
}

impl Studied {
    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Studied::Copy => "copy",
            Studied::Scale => "scale",
            Studied::Triad => "triad",
            Studied::Read => "read",
            Studied::Fma => "fma",
        }
    }

    /// The numbers of independent operations a thread that there are instances for: loads of 16
    /// bytes, or chains.
    pub const ILP: [u32; 4] = [1, 2, 4, 8];
}

/// A list of values for each axis. A sweep visits every combination, shared memory changing fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct OccupancyAxes {
    /// The kernels.
    pub kernels: Vec<Studied>,
    /// Independent operations a thread: each changes the registers that a thread takes.
    pub ilp: Vec<u32>,
    /// Threads a block.
    pub blocks: Vec<u32>,
    /// Bytes of dynamic shared memory a block, which the kernels do not use: it keeps blocks out.
    /// `None` stands for amounts with which ever fewer blocks fit, down to one.
    pub shared: Option<Vec<u32>>,
}

impl OccupancyAxes {
    /// Every combination, shared memory changing fastest.
    pub fn points(&self, limits: &Limits) -> Vec<OccupancyPoint> {
        let mut points = Vec::new();
        for &kernel in &self.kernels {
            for &ilp in &self.ilp {
                for &block in &self.blocks {
                    let stepping = || stepping_shared(block, limits);
                    let shared = self.shared.clone().unwrap_or_else(stepping);
                    points.extend(shared.into_iter().map(|dynamic_shared| OccupancyPoint {
                        kernel,
                        ilp,
                        block,
                        dynamic_shared,
                    }));
                }
            }
        }
        points
    }
}

/// Amounts of shared memory with which a multiprocessor holds all the blocks of `block` threads that
/// its threads allow, and about three quarters, half, a quarter .. of them, down to one.
fn stepping_shared(block: u32, limits: &Limits) -> Vec<u32> {
    const RESERVED: u32 = 1024;
    const UNIT: u32 = 128;

    let most = (limits.threads_per_multiprocessor / block.max(1))
        .clamp(1, limits.blocks_per_multiprocessor);
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
        let share = limits.shared_per_multiprocessor / blocks;
        let share = share.saturating_sub(RESERVED) / UNIT * UNIT;
        share.min(limits.shared_per_block)
    });
    shared.collect()
}

/// One combination of the axes' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OccupancyPoint {
    /// The kernel.
    pub kernel: Studied,
    /// Independent operations a thread.
    pub ilp: u32,
    /// Threads a block.
    pub block: u32,
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
}

impl fmt::Display for OccupancyPoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OccupancyPoint {
            kernel,
            ilp,
            block,
            dynamic_shared,
        } = self;
        write!(
            formatter,
            "{} ilp={ilp} block={block} shared={dynamic_shared}",
            kernel.name()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_steps_down_to_one_block() {
        let hopper = ::occupancy::Multiprocessor::of(::occupancy::ComputeCapability::new(9, 0))
            .expect("known");
        for block in [32, 64, 96, 128, 256, 512, 768, 1024] {
            let residents: Vec<u32> = stepping_shared(block, &Limits::SM_90)
                .into_iter()
                .map(|dynamic_shared_bytes| {
                    let kernel = ::occupancy::Kernel {
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
