//! Measures the points of an occupancy sweep.

use ::occupancy::{ComputeCapability, Kernel, Multiprocessor, Occupancy};
use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::chains::{FmaF32, LINE, Measured, Variant};
use kernels_gpu::ceilings::stream::Vector;

use super::record::waves;
use super::{InFlight, OccupancyAxes, OccupancyPoint, OccupancyRecord, Studied};
use crate::ceilings::bench::{Bench, Timed};
use crate::ceilings::memory::{Arrays, Task, kernel_name};
use crate::ceilings::{BenchError, Ceilings, Effort, Quantity, arithmetic};
use crate::driver::{Device, DriverError, Shape};
use crate::kernels;

/// Waves that a launch of arithmetic has where the multiprocessors are full.
const WAVES: u64 = 4;

/// Why a point has no record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OccupancyError {
    /// No such block can run.
    #[error("{point}: {reason}")]
    Model {
        /// Where.
        point: Box<OccupancyPoint>,
        /// Why.
        reason: ::occupancy::OccupancyError,
    },
    /// There is no kernel for so many independent operations a thread.
    #[error("no kernel for {ilp} independent operations a thread: there are 1, 2, 4 and 8")]
    Ilp {
        /// The number asked for.
        ilp: u32,
    },
    /// A block has a warp that is not whole.
    #[error("a block of {block} threads: the kernels need whole warps of {WARP}")]
    PartialWarp {
        /// Threads of the block.
        block: u32,
    },
    /// The limits of this GPU's multiprocessors are not known.
    #[error("{device}: {reason}")]
    UnknownGpu {
        /// The device's name.
        device: String,
        /// Why.
        reason: ::occupancy::OccupancyError,
    },
    /// The ceilings lack what the sweep is compared with.
    #[error("the ceilings have no {}: run `ridgepoint ceilings` again", quantity.name())]
    NoCeiling {
        /// What is missing.
        quantity: Quantity,
    },
    /// The measurement failed.
    #[error(transparent)]
    Bench(#[from] BenchError),
}

impl From<DriverError> for OccupancyError {
    fn from(error: DriverError) -> Self {
        OccupancyError::Bench(error.into())
    }
}

/// An occupancy sweep whose memory is allocated.
pub struct OccupancySweep<'d> {
    bench: Bench<'d>,
    multiprocessor: Multiprocessor,
    points: Vec<OccupancyPoint>,
    arrays: Arrays,
}

impl<'d> OccupancySweep<'d> {
    /// Checks every point of `axes`, and allocates.
    ///
    /// # Errors
    /// A point cannot run, there is no such kernel, or the memory does not suffice.
    pub fn new(
        device: &'d Device,
        axes: &OccupancyAxes,
        effort: &'d Effort,
    ) -> Result<Self, OccupancyError> {
        if let Some(&ilp) = axes.ilp.iter().find(|ilp| !Studied::ILP.contains(ilp)) {
            return Err(OccupancyError::Ilp { ilp });
        }
        if let Some(&block) = axes.blocks.iter().find(|block| !block.is_multiple_of(WARP)) {
            return Err(OccupancyError::PartialWarp { block });
        }
        let bench = Bench::new(device, effort)?;
        let arrays = Arrays::new(&bench)?;
        let sweep = OccupancySweep {
            multiprocessor: multiprocessor(device)?,
            points: axes.points(&device.facts().limits),
            bench,
            arrays,
        };
        for point in &sweep.points {
            sweep.model(point)?;
        }
        Ok(sweep)
    }

    /// The points, in order.
    pub fn points(&self) -> &[OccupancyPoint] {
        &self.points
    }

    /// Times the point's kernel, checks its output, and compares with the device's ceilings.
    ///
    /// # Errors
    /// The driver's, the output is wrong, or a ceiling is missing.
    pub fn measure(
        &mut self,
        point: &OccupancyPoint,
        ceilings: &Ceilings,
    ) -> Result<OccupancyRecord, OccupancyError> {
        let model = self.model(point)?;
        let facts = self.bench.device.facts();
        let driver_blocks = match self.bench.device.compiled(entry_name(point)?)? {
            Some(compiled) => Some(compiled.resident_blocks(point.block, point.dynamic_shared)?),
            None => None,
        };
        let multiprocessors = facts.multiprocessors;
        let (timed, shape, amount) = self.run(point)?;
        let (waves, tail_percent) = waves(shape.grid[0], model.blocks, multiprocessors);
        let rate = amount / (timed.time.median / 1e3);
        Ok(OccupancyRecord {
            kernel: point.kernel.name(),
            ilp: point.ilp,
            block: point.block,
            dynamic_shared: point.dynamic_shared,
            registers: self.registers(point)?,
            resident_blocks: model.blocks,
            driver_blocks,
            occupancy_percent: 100.0 * model.fraction(),
            limited_by: model.limited_by.iter().map(|it| it.name()).collect(),
            grid: shape.grid[0],
            waves,
            tail_percent,
            unit: match task(point.kernel) {
                Some(_) => "GB/s",
                None => "GFLOP/s",
            },
            rate: rate / 1e9,
            percent_ceiling: 100.0 * rate / value_of(ceilings, ceiling_of(point.kernel))?,
            in_flight: self.in_flight(point, &model, ceilings)?,
            mean_ms: timed.time.mean,
            median_ms: timed.time.median,
            rms_percent: timed.time.rms_percent,
            device: self.bench.device.facts().name.clone(),
            checked: true,
        })
    }

    /// The timed launch, its shape, and the bytes or operations that it did.
    fn run(&mut self, point: &OccupancyPoint) -> Result<(Timed, Shape, f64), OccupancyError> {
        let Some(task) = task(point.kernel) else {
            return self.chains(point);
        };
        let threads = self.arrays.vectors.div_ceil(u64::from(point.ilp));
        let shape = Shape::linear(threads, point.block).with_dynamic_shared(point.dynamic_shared);
        let timed = self.arrays.time(&self.bench, task, point.ilp, shape)?;
        Ok((timed, shape, self.arrays.bytes(task)))
    }

    fn chains(&self, point: &OccupancyPoint) -> Result<(Timed, Shape, f64), OccupancyError> {
        let facts = self.bench.device.facts();
        let threads = WAVES
            * u64::from(facts.multiprocessors)
            * u64::from(facts.limits.threads_per_multiprocessor);
        let shape = Shape::linear(threads, point.block).with_dynamic_shared(point.dynamic_shared);
        let (timed, _) = arithmetic::run(&self.bench, fma(point.ilp)?, shape)?;
        let threads = (shape.grid[0] * shape.block_threads()) as f64;
        let steps = threads * f64::from(LINE) * f64::from(self.bench.effort.lines);
        Ok((timed, shape, steps * FmaF32::OPERATIONS))
    }

    fn model(&self, point: &OccupancyPoint) -> Result<Occupancy, OccupancyError> {
        let kernel = Kernel {
            registers_per_thread: self.registers(point)?.unwrap_or(0),
            dynamic_shared_bytes: point.dynamic_shared,
            ..Kernel::default()
        };
        self.multiprocessor
            .occupancy(&kernel, point.block)
            .map_err(|reason| OccupancyError::Model {
                point: Box::new(*point),
                reason,
            })
    }

    fn registers(&self, point: &OccupancyPoint) -> Result<Option<u32>, OccupancyError> {
        let name = entry_name(point)?;
        Ok(match self.bench.device.compiled(name)? {
            Some(compiled) => Some(compiled.registers),
            None => kernels::registers(name),
        })
    }

    /// Little's law. A thread waits for what it reads, not for what it writes.
    fn in_flight(
        &self,
        point: &OccupancyPoint,
        model: &Occupancy,
        ceilings: &Ceilings,
    ) -> Result<InFlight, OccupancyError> {
        let (unit, latency, share, each) = match task(point.kernel) {
            Some(task) => {
                let (read, written) = task.arrays();
                let share = f64::from(read) / f64::from(read + written);
                // A thread loads from each array that is read.
                let each = f64::from(read) * size_of::<Vector>() as f64;
                ("bytes", Quantity::MemoryLatency, share, each)
            }
            // A multiply-add is two operations of the rate, and one in flight.
            None => ("operations", Quantity::FmaF32Latency, 0.5, 1.0),
        };
        let multiprocessors = f64::from(self.bench.device.facts().multiprocessors);
        let rate = value_of(ceilings, ceiling_of(point.kernel))? / multiprocessors;
        let threads = f64::from(model.blocks * point.block);
        Ok(InFlight {
            unit,
            needed: value_of(ceilings, latency)? * rate * share,
            provided: threads * f64::from(point.ilp) * each,
        })
    }
}

fn value_of(ceilings: &Ceilings, quantity: Quantity) -> Result<f64, OccupancyError> {
    let found = ceilings.get(quantity).map(|ceiling| ceiling.value);
    found.ok_or(OccupancyError::NoCeiling { quantity })
}

/// What is done with memory; `None` is arithmetic.
fn task(kernel: Studied) -> Option<Task> {
    match kernel {
        Studied::Copy => Some(Task::Copy),
        Studied::Scale => Some(Task::Scale),
        Studied::Triad => Some(Task::Triad),
        Studied::Read => Some(Task::Read),
        Studied::Fma => None,
    }
}

fn ceiling_of(kernel: Studied) -> Quantity {
    task(kernel).map_or(Quantity::FmaF32, Task::quantity)
}

fn fma(ilp: u32) -> Result<&'static Variant<FmaF32>, OccupancyError> {
    let mut variants = FmaF32::VARIANTS.iter();
    variants
        .find(|variant| variant.chains == ilp)
        .ok_or(OccupancyError::Ilp { ilp })
}

/// The name of the point's kernel in the PTX.
fn entry_name(point: &OccupancyPoint) -> Result<&'static str, OccupancyError> {
    Ok(match task(point.kernel) {
        Some(task) => kernel_name(task, point.ilp),
        None => fma(point.ilp)?.entry.name,
    })
}

/// The limits of the GPU's multiprocessors; the emulator keeps those of 9.0.
fn multiprocessor(device: &Device) -> Result<Multiprocessor, OccupancyError> {
    let gpu = device.facts().gpu.as_ref();
    let (major, minor) = gpu.map_or((9, 0), |gpu| gpu.compute_capability);
    Multiprocessor::of(ComputeCapability::new(major, minor)).map_err(|reason| {
        OccupancyError::UnknownGpu {
            device: device.facts().name.clone(),
            reason,
        }
    })
}
