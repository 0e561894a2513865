//! Measures the points of an occupancy sweep.

use ::occupancy::{Kernel, Multiprocessor, Occupancy};
use cuda_builder::resources::Report;
use itertools::Itertools;
use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::stream::Vector;

use super::kernels::{Kernels, entry_name};
use super::record::{flags, waves};
use super::{InFlight, Instance, OccupancyAxes, OccupancyPoint, OccupancyRecord, Studied};
use crate::ceilings::bench::Bench;
use crate::ceilings::{BenchError, Ceilings, Effort, Quantity};
use crate::driver::{Device, DeviceProperties, DriverError};
use crate::kernels::embedded_ptx;
use crate::kernels::{self, KernelsError};
use crate::sweep::TooManyPoints;

/// Why a point has no record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OccupancyError {
    /// No point can run.
    #[error("{point}: {reason}")]
    Model {
        /// The first.
        point: Box<OccupancyPoint>,
        /// Why.
        reason: ::occupancy::OccupancyError,
    },
    /// There is no kernel for so many independent operations a thread.
    #[error("no {} with {ilp} independent operations per thread: choose {}", kernel.name(),
            kernel.ilp().iter().join(", "))]
    Ilp {
        /// The kernel.
        kernel: Studied,
        /// The number asked for.
        ilp: u32,
    },
    /// There are too many points.
    #[error(transparent)]
    Points(#[from] TooManyPoints),
    /// It is not known what a limit of registers makes of the kernels.
    #[error("at most {registers} registers a thread: {error}")]
    Registers {
        /// The limit.
        registers: u32,
        /// Why.
        error: KernelsError,
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

/// A device whose kernels take at most so many registers a thread.
pub struct Limited {
    registers: u32,
    device: Device,
    /// What the kernels need, where no driver knows.
    report: Option<Report>,
}

impl Limited {
    /// The device once more for each limit of the axes, with the kernels of the command line.
    ///
    /// # Errors
    /// The axes have too many points; the driver's; on the emulator, there is no `ptxas`.
    pub fn all(device: &Device, axes: &OccupancyAxes) -> Result<Vec<Limited>, OccupancyError> {
        axes.check()?;
        let limits = axes.max_registers.iter().flatten();
        let limited = limits.map(|&registers| {
            let report = || kernels::report_with_max_registers(registers);
            let report = device.properties().is_emulated().then(report).transpose();
            Ok(Limited {
                registers,
                device: device.with_max_registers(registers, embedded_ptx())?,
                report: report.map_err(|error| OccupancyError::Registers { registers, error })?,
            })
        });
        limited.collect()
    }
}

/// An occupancy sweep whose memory is allocated.
pub struct OccupancySweep<'d> {
    /// The device as it is, and with each limit of registers.
    compilations: Vec<Compilation<'d>>,
    multiprocessor: Multiprocessor,
    points: Vec<OccupancyPoint>,
    refused: Vec<OccupancyError>,
    kernels: Kernels,
}

/// The kernels, compiled for at most so many registers.
struct Compilation<'d> {
    max_registers: Option<u32>,
    bench: Bench<'d>,
    report: Option<Report>,
}

/// What a kernel needs. `None` where neither the driver nor a report says it.
#[derive(Clone, Copy, Default)]
struct Needs {
    registers: Option<u32>,
    local_bytes: Option<u32>,
    static_shared: u32,
}

impl<'d> OccupancySweep<'d> {
    /// Checks every point of `axes`, and allocates. `limited` is that of [`Limited::all`].
    ///
    /// # Errors
    /// No point can run, there is no such kernel, or the memory does not suffice.
    pub fn new(
        device: &'d Device,
        limited: &'d [Limited],
        axes: &OccupancyAxes,
        effort: &'d Effort,
    ) -> Result<Self, OccupancyError> {
        if let Some(&block) = axes.blocks.iter().find(|block| !block.is_multiple_of(WARP)) {
            return Err(OccupancyError::PartialWarp { block });
        }
        let mut compilations = vec![Compilation {
            max_registers: None,
            bench: Bench::new(device, effort)?,
            report: kernels::newest_report(),
        }];
        for one in limited {
            compilations.push(Compilation {
                max_registers: Some(one.registers),
                bench: Bench::new(&one.device, effort)?,
                report: one.report.clone(),
            });
        }
        let mut sweep = OccupancySweep {
            kernels: Kernels::new(&compilations[0].bench)?,
            compilations,
            multiprocessor: multiprocessor(device)?,
            points: Vec::new(),
            refused: Vec::new(),
        };
        for instance in axes.instances() {
            sweep.add(instance, axes)?;
        }
        match sweep.refused.pop() {
            Some(error) if sweep.points.is_empty() => Err(error),
            last => {
                sweep.refused.extend(last);
                Ok(sweep)
            }
        }
    }

    /// Adds the points of an instance that can run.
    fn add(&mut self, instance: Instance, axes: &OccupancyAxes) -> Result<(), OccupancyError> {
        let Instance { kernel, ilp, .. } = instance;
        if !kernel.ilp().contains(&ilp) {
            return Err(OccupancyError::Ilp { kernel, ilp });
        }
        if self.changes_nothing(instance, axes)? {
            return Ok(());
        }
        let mut last = None;
        let static_shared = self.needs(instance)?.static_shared;
        for point in axes.points(instance, static_shared, &self.multiprocessor) {
            match self.model(&point) {
                Ok(model) => {
                    let blocks = Some((point.block, model.blocks));
                    // Other resources may keep out more blocks than a step of shared memory does.
                    if axes.shared.is_some() || blocks != last {
                        self.points.push(point);
                    }
                    last = blocks;
                }
                Err(error @ OccupancyError::Model { .. }) => self.refused.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether the instance is compiled as without its limit, which is among the axes' values.
    fn changes_nothing(
        &self,
        instance: Instance,
        axes: &OccupancyAxes,
    ) -> Result<bool, OccupancyError> {
        let unlimited = Instance {
            max_registers: None,
            ..instance
        };
        let registers = self.needs(unlimited)?.registers;
        let is_below = |limit| registers.is_some_and(|registers| registers <= limit);
        Ok(axes.max_registers.contains(&None) && instance.max_registers.is_some_and(is_below))
    }

    /// The points, in order, without those that cannot run.
    pub fn points(&self) -> &[OccupancyPoint] {
        &self.points
    }

    /// Why the points that cannot run do not.
    pub fn refused(&self) -> &[OccupancyError] {
        &self.refused
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
        let OccupancyPoint {
            instance,
            block,
            dynamic_shared,
        } = *point;
        let kernel = instance.kernel;
        let model = self.model(point)?;
        let needs = self.needs(instance)?;
        let bench = &find(&self.compilations, instance).bench;
        let driver_blocks = match bench.device.compiled(entry_name(instance))? {
            Some(compiled) => Some(compiled.resident_blocks(block, dynamic_shared)?),
            None => None,
        };
        let shape = self.kernels.shape(instance, block, model.blocks, bench);
        let shape = shape.with_dynamic_shared(dynamic_shared);
        let timed = self.kernels.time(bench, instance, shape)?;
        let amount = self.kernels.amount(kernel, shape, bench);
        let facts = bench.device.properties();
        let (waves, tail_percent) = waves(shape.grid[0], model.blocks, facts.multiprocessors);
        let rate = amount / (timed.time.median / 1e3);
        let percent_ceiling = 100.0 * rate / value_of(ceilings, kernel.ceiling())?;
        Ok(OccupancyRecord {
            kernel: kernel.name(),
            ilp: instance.ilp,
            block,
            dynamic_shared,
            max_registers: instance.max_registers,
            registers: needs.registers,
            local_bytes: needs.local_bytes,
            resident_blocks: model.blocks,
            driver_blocks,
            occupancy_percent: 100.0 * model.fraction(),
            limited_by: model.limited_by.iter().map(|it| it.name()).collect(),
            grid: shape.grid[0],
            waves,
            tail_percent,
            unit: match kernel.arrays() {
                Some(_) => "GB/s",
                None => "GFLOP/s",
            },
            rate: rate / 1e9,
            percent_ceiling,
            in_flight: in_flight(point, &model, facts, ceilings)?,
            mean_ms: timed.time.mean,
            median_ms: timed.time.median,
            rms_percent: timed.time.rms_percent,
            device: facts.name.clone(),
            checked: true,
            flags: flags(timed.time.rms_percent, percent_ceiling),
        })
    }

    fn model(&self, point: &OccupancyPoint) -> Result<Occupancy, OccupancyError> {
        let needs = self.needs(point.instance)?;
        let kernel = Kernel {
            registers_per_thread: needs.registers.unwrap_or(0),
            static_shared_bytes: needs.static_shared,
            dynamic_shared_bytes: point.dynamic_shared,
            max_threads_per_block: None,
        };
        self.multiprocessor
            .occupancy(&kernel, point.block)
            .map_err(|reason| OccupancyError::Model {
                point: Box::new(*point),
                reason,
            })
    }

    fn needs(&self, instance: Instance) -> Result<Needs, OccupancyError> {
        let name = entry_name(instance);
        let compilation = find(&self.compilations, instance);
        if let Some(compiled) = compilation.bench.device.compiled(name)? {
            return Ok(Needs {
                registers: Some(compiled.registers),
                local_bytes: Some(compiled.local_bytes),
                static_shared: compiled.static_shared,
            });
        }
        let mut reported = compilation.report.iter().flat_map(|report| &report.kernels);
        let found = reported.find(|kernel| kernel.name == name);
        Ok(found.map_or_else(Needs::default, |kernel| Needs {
            registers: Some(kernel.registers),
            local_bytes: Some(kernel.stack_bytes),
            static_shared: kernel.static_shared_bytes,
        }))
    }
}

fn find<'a, 'd>(each: &'a [Compilation<'d>], instance: Instance) -> &'a Compilation<'d> {
    let mut each = each.iter();
    each.find(|one| one.max_registers == instance.max_registers)
        .expect("`Limited::all` made one for each limit of the axes")
}

/// Little's law. A thread waits for what it reads, not for what it writes.
fn in_flight(
    point: &OccupancyPoint,
    model: &Occupancy,
    facts: &DeviceProperties,
    ceilings: &Ceilings,
) -> Result<InFlight, OccupancyError> {
    let kernel = point.instance.kernel;
    let (unit, latency, share, each) = match (kernel.arrays(), kernel) {
        (Some((read, written)), _) => {
            let share = f64::from(read) / f64::from(read + written);
            // A thread loads from each array that is read.
            let each = f64::from(read) * size_of::<Vector>() as f64;
            ("bytes", Quantity::MemoryLatency, share, each)
        }
        // The add and the multiply of a step do not wait for each other.
        (None, Studied::Polynomial) => ("operations", Quantity::FmaF32Latency, 1.0, 2.0),
        // A multiply-add is two operations of the rate, and one in flight.
        (None, _) => ("operations", Quantity::FmaF32Latency, 0.5, 1.0),
    };
    let rate = value_of(ceilings, kernel.ceiling())? / f64::from(facts.multiprocessors);
    let threads = f64::from(model.blocks * point.block);
    Ok(InFlight {
        unit,
        needed: value_of(ceilings, latency)? * rate * share,
        provided: threads * f64::from(point.instance.ilp) * each,
    })
}

fn value_of(ceilings: &Ceilings, quantity: Quantity) -> Result<f64, OccupancyError> {
    let found = ceilings.get(quantity).map(|ceiling| ceiling.value);
    found.ok_or(OccupancyError::NoCeiling { quantity })
}

/// The limits of the GPU's multiprocessors.
fn multiprocessor(device: &Device) -> Result<Multiprocessor, OccupancyError> {
    Multiprocessor::of(device.properties().capability()).map_err(|reason| {
        OccupancyError::UnknownGpu {
            device: device.properties().name.clone(),
            reason,
        }
    })
}
