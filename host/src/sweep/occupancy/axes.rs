//! The axes of an occupancy sweep.

use std::fmt;

use ::occupancy::Multiprocessor;
use kernels_gpu::ceilings::WARP;

use crate::ceilings::Quantity;
use crate::ceilings::memory::Task;
use crate::sweep::TooManyPoints;

/// A kernel that the sweep has instances of with different numbers of independent operations a
/// thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Studied {
    /// y = x: bound by memory, as the four below.
    Copy,
    /// The sum of x.
    Read,
    /// y = a x.
    Scale,
    /// y = a x + z, of each element.
    Elementwise,
    /// The Euclidean norm of x.
    Nrm2,
    /// x + x^2 + .. + x^100, by a running power and a running sum: bound by arithmetic, as the one below.
    Polynomial,
    /// Chains of fused multiply-adds of f32.
    Fma,
}

/// The degree of [`Studied::Polynomial`]: far right of the ridge, and no power of the input, which is
/// below 2, overflows.
pub(super) const DEGREE: u32 = 100;

impl Studied {
    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Studied::Copy => "copy",
            Studied::Read => "read",
            Studied::Scale => "scale",
            Studied::Elementwise => "elementwise",
            Studied::Nrm2 => "nrm2",
            Studied::Polynomial => "polynomial",
            Studied::Fma => "fma",
        }
    }

    /// The numbers of independent operations a thread that there are instances for: loads of 16
    /// bytes of each array, elements of the polynomial, or chains.
    pub fn ilp(self) -> &'static [u32] {
        match self {
            Studied::Polynomial => &[1, 2, 4, 8, 16],
            _ => &[1, 2, 4, 8],
        }
    }

    /// Arrays that are read and arrays that are written, of a kernel that memory bounds.
    pub fn arrays(self) -> Option<(u32, u32)> {
        self.task().map(Task::arrays)
    }

    /// What it can reach at most.
    pub fn ceiling(self) -> Quantity {
        match self.task() {
            Some(task) => task.quantity(),
            None if self == Studied::Polynomial => Quantity::AddMulF32,
            None => Quantity::FmaF32,
        }
    }

    /// What memory does for it, if that is what bounds it.
    fn task(self) -> Option<Task> {
        match self {
            Studied::Copy => Some(Task::Copy),
            Studied::Read | Studied::Nrm2 => Some(Task::Read),
            Studied::Scale => Some(Task::Scale),
            Studied::Elementwise => Some(Task::Triad),
            Studied::Polynomial | Studied::Fma => None,
        }
    }
}

/// A list of values for each axis. A sweep visits every combination, shared memory changing fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct OccupancyAxes {
    /// The kernels.
    pub kernels: Vec<Studied>,
    /// Independent operations a thread; `None` stands for all that a kernel has instances for.
    pub ilp: Option<Vec<u32>>,
    /// Registers a thread at most: the kernel is compiled anew. `None` leaves them to the compiler.
    pub max_registers: Vec<Option<u32>>,
    /// Threads a block.
    pub blocks: Vec<u32>,
    /// Bytes of dynamic shared memory a block, which the kernels do not use: it keeps blocks out.
    /// `None` stands for amounts with which ever fewer blocks fit, down to one.
    pub shared: Option<Vec<u32>>,
}

impl OccupancyAxes {
    /// Fails if there are too many points. Of the lists that are not given the longest possible count.
    pub(super) fn check(&self) -> Result<(), TooManyPoints> {
        /// Of [`Studied::ilp`] and of [`stepping_shared`].
        const LONGEST: [usize; 2] = [5, 7];
        TooManyPoints::check(&[
            self.kernels.len(),
            self.ilp.as_ref().map_or(LONGEST[0], Vec::len),
            self.max_registers.len(),
            self.blocks.len(),
            self.shared.as_ref().map_or(LONGEST[1], Vec::len),
        ])
    }

    /// The kernels' instances, and the limits of their registers.
    pub(super) fn instances(&self) -> Vec<Instance> {
        let mut instances = Vec::new();
        for &kernel in &self.kernels {
            for &ilp in self.ilp.as_deref().unwrap_or(kernel.ilp()) {
                instances.extend(self.max_registers.iter().map(|&max_registers| Instance {
                    kernel,
                    ilp,
                    max_registers,
                }));
            }
        }
        instances
    }

    /// Every combination of an instance, which declares so many bytes of shared memory, with the
    /// other axes' values.
    pub(super) fn points(
        &self,
        instance: Instance,
        static_shared: u32,
        multiprocessor: &Multiprocessor,
    ) -> Vec<OccupancyPoint> {
        let mut points = Vec::new();
        for &block in &self.blocks {
            let stepping = || stepping_shared(block, static_shared, multiprocessor);
            let shared = self.shared.clone().unwrap_or_else(stepping);
            points.extend(shared.into_iter().map(|dynamic_shared| OccupancyPoint {
                instance,
                block,
                dynamic_shared,
            }));
        }
        points
    }
}

/// Amounts of shared memory, beside what a kernel declares, with which a multiprocessor holds all the
/// blocks of `block` threads that its threads allow, and about three quarters, half, a quarter .. of
/// them, down to one.
fn stepping_shared(block: u32, static_shared: u32, multiprocessor: &Multiprocessor) -> Vec<u32> {
    let warps = block.div_ceil(WARP).max(1);
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
            .saturating_sub(static_shared)
    });
    shared.collect()
}

/// A kernel as it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The kernel.
    pub kernel: Studied,
    /// Independent operations a thread.
    pub ilp: u32,
    /// Registers a thread at most; `None` leaves them to the compiler.
    pub max_registers: Option<u32>,
}

/// One combination of the axes' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OccupancyPoint {
    /// The kernel.
    pub instance: Instance,
    /// Threads a block.
    pub block: u32,
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
}

impl fmt::Display for Instance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ilp={}", self.kernel.name(), self.ilp)?;
        match self.max_registers {
            Some(registers) => write!(formatter, " registers<={registers}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for OccupancyPoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OccupancyPoint {
            instance,
            block,
            dynamic_shared,
        } = self;
        write!(
            formatter,
            "{instance} block={block} shared={dynamic_shared}"
        )
    }
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
