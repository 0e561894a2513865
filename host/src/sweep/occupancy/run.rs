//! Measures the points of an occupancy sweep.

use ::occupancy::{ComputeCapability, Kernel, Multiprocessor, Occupancy};
use cuda_std::launch::Entry;
use kernels_gpu::ceilings::chains::{FmaF32, LINE, Measured, Variant};
use kernels_gpu::ceilings::stream::{Vector, copy_u1, copy_u2, copy_u4, copy_u8, pattern};

use super::record::waves;
use super::{InFlight, OccupancyAxes, OccupancyPoint, OccupancyRecord, Studied};
use crate::ceilings::bench::{Bench, Timed};
use crate::ceilings::memory::{Arrays, wrapping_sum};
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
    /// The wrapping sum of the words of a copied array.
    copied: u32,
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
        let bench = Bench::new(device, effort)?;
        let arrays = Arrays::new(&bench)?;
        let elements = arrays.vectors as usize * size_of::<Vector>() / size_of::<f32>();
        let sweep = OccupancySweep {
            multiprocessor: multiprocessor(device)?,
            points: axes.points(&device.facts().limits),
            copied: wrapping_sum(elements, pattern),
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
            unit: match point.kernel {
                Studied::Copy => "GB/s",
                Studied::Fma => "GFLOP/s",
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
        let with_shared = |shape: Shape| shape.with_dynamic_shared(point.dynamic_shared);
        match point.kernel {
            Studied::Copy => {
                let vectors = self.arrays.vectors;
                let threads = vectors.div_ceil(u64::from(point.ilp));
                let shape = with_shared(Shape::linear(threads, point.block));
                self.arrays.y.poison()?;
                let arguments = (self.arrays.x.slice(), self.arrays.y.slice_mut());
                // SAFETY: both have the same length, are apart, and are aligned as device
                // allocations are.
                let timed = unsafe { self.bench.time(copy(point.ilp)?, shape, &arguments) }?;
                self.arrays.check(&self.bench, &timed, self.copied)?;
                Ok((
                    timed,
                    shape,
                    2.0 * vectors as f64 * size_of::<Vector>() as f64,
                ))
            }
            Studied::Fma => {
                let facts = self.bench.device.facts();
                let threads = WAVES
                    * u64::from(facts.multiprocessors)
                    * u64::from(facts.limits.threads_per_multiprocessor);
                let shape = with_shared(Shape::linear(threads, point.block));
                let (timed, _) = arithmetic::run(&self.bench, fma(point.ilp)?, shape)?;
                let threads = (shape.grid[0] * shape.block_threads()) as f64;
                let steps = threads * f64::from(LINE) * f64::from(self.bench.effort.lines);
                Ok((timed, shape, steps * FmaF32::OPERATIONS))
            }
        }
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

    /// Little's law. A copy waits for what it reads, which is half of its traffic.
    fn in_flight(
        &self,
        point: &OccupancyPoint,
        model: &Occupancy,
        ceilings: &Ceilings,
    ) -> Result<InFlight, OccupancyError> {
        let multiprocessors = f64::from(self.bench.device.facts().multiprocessors);
        let threads = f64::from(model.blocks * point.block);
        let rate = value_of(ceilings, ceiling_of(point.kernel))? / 2.0 / multiprocessors;
        let (unit, latency, each) = match point.kernel {
            Studied::Copy => ("bytes", Quantity::MemoryLatency, size_of::<Vector>() as f64),
            // A multiply-add is two operations of the rate, and one in flight.
            Studied::Fma => ("operations", Quantity::FmaF32Latency, 1.0),
        };
        Ok(InFlight {
            unit,
            needed: value_of(ceilings, latency)? * rate,
            provided: threads * f64::from(point.ilp) * each,
        })
    }
}

fn value_of(ceilings: &Ceilings, quantity: Quantity) -> Result<f64, OccupancyError> {
    let found = ceilings.get(quantity).map(|ceiling| ceiling.value);
    found.ok_or(OccupancyError::NoCeiling { quantity })
}

fn ceiling_of(kernel: Studied) -> Quantity {
    match kernel {
        Studied::Copy => Quantity::MemoryCopy,
        Studied::Fma => Quantity::FmaF32,
    }
}

fn copy(ilp: u32) -> Result<Entry<copy_u1>, OccupancyError> {
    Ok(match ilp {
        1 => copy_u1::entry(),
        2 => copy_u2::entry().with_signature(),
        4 => copy_u4::entry().with_signature(),
        8 => copy_u8::entry().with_signature(),
        _ => return Err(OccupancyError::Ilp { ilp }),
    })
}

fn fma(ilp: u32) -> Result<&'static Variant<FmaF32>, OccupancyError> {
    let mut variants = FmaF32::VARIANTS.iter();
    variants
        .find(|variant| variant.chains == ilp)
        .ok_or(OccupancyError::Ilp { ilp })
}

/// The name of the point's kernel in the PTX.
fn entry_name(point: &OccupancyPoint) -> Result<&'static str, OccupancyError> {
    Ok(match point.kernel {
        Studied::Copy => copy(point.ilp)?.name,
        Studied::Fma => fma(point.ilp)?.entry.name,
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
