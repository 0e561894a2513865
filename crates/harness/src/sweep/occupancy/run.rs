//! Measures the points of an occupancy sweep.

use std::collections::HashSet;

use ::occupancy::{Kernel, Multiprocessor, Occupancy};
use cuda_builder::resources::Report;

use super::OccupancyPlan;
use super::plan::stepping_shared;
use super::record::{Launched, OccupancyRecord};
use crate::ceilings::{Ceilings, Quantity};
use crate::driver::{Device, DriverError, Embedded};
use crate::kernels::{self, KernelsError};
use crate::measure::{Sampler, Sampling};
use crate::sweep::plan::product;
use crate::sweep::{Selection, TooManyPoints};
use crate::workload::{Bench, Case, Point, PointError};

/// Why a point has no record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OccupancyError {
    /// A point cannot run.
    #[error("{point}: {reason}")]
    Model {
        /// Where.
        point: String,
        /// Why.
        reason: ::occupancy::OccupancyError,
    },
    /// The workload or the device refuses a point.
    #[error("{point}: {reason}")]
    Refused {
        /// Where.
        point: String,
        /// Why.
        reason: String,
    },
    /// The kernel computed something else.
    #[error("{point}: wrong result: {reason}")]
    Wrong {
        /// Where.
        point: String,
        /// What.
        reason: String,
    },
    /// An axis has no values, or one that it does not take.
    #[error("{0}")]
    Selection(String),
    /// There are too many points.
    #[error(transparent)]
    Points(#[from] TooManyPoints),
    /// There is nothing to measure.
    #[error("no points: each axis needs at least one value, and a study at least one workload")]
    NoPoints,
    /// It is not known what a limit of registers makes of the kernels.
    #[error("at most {registers} registers per thread: {error}")]
    Registers {
        /// The limit.
        registers: u32,
        /// Why.
        error: KernelsError,
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
    /// The measurement has no samples.
    #[error("no timed launches: at least one is needed")]
    NoRuns,
    /// The driver's error.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// A device whose kernels take at most so many registers per thread.
pub struct Limited {
    registers: u32,
    device: Device,
    /// What the kernels need, where no driver knows.
    report: Option<Report>,
}

impl Limited {
    /// The device once more for each limit of the plan, with the kernels of this PTX.
    ///
    /// # Errors
    /// The plan has too many points ([`OccupancyError::Points`]); the driver's
    /// ([`OccupancyError::Driver`]); on the emulator, there is no `ptxas`
    /// ([`OccupancyError::Registers`]).
    pub fn all(
        bench: &Bench,
        plan: &OccupancyPlan<'_>,
        ptx: &[Embedded<'_>],
    ) -> Result<Vec<Limited>, OccupancyError> {
        plan.check()?;
        let device = bench.device();
        let limits = plan.max_registers.iter().flatten();
        let limited = limits.map(|&registers| {
            let report = || kernels::report_with_max_registers(ptx, registers);
            let report = device.properties().is_emulated().then(report).transpose();
            Ok(Limited {
                registers,
                device: device.with_max_registers(registers, ptx)?,
                report: report.map_err(|error| OccupancyError::Registers { registers, error })?,
            })
        });
        limited.collect()
    }
}

/// An occupancy sweep that its device can run.
pub struct OccupancySweep<'d> {
    bench: &'d Bench,
    limited: &'d [Limited],
    /// What the kernels need where nothing limits their registers and no driver knows.
    report: Option<Report>,
    multiprocessor: Multiprocessor,
    sampler: Sampler<'d>,
    sampling: Sampling,
    points: Vec<Planned<'d>>,
    refused: Vec<OccupancyError>,
}

/// A point of the sweep.
struct Planned<'d> {
    /// The names of all axes have a value or none.
    axes: Vec<&'static str>,
    name: String,
    point: Point<'d>,
    case: Case<'d>,
    max_registers: Option<u32>,
    needs: Needs,
    model: Occupancy,
}

/// What a kernel needs. `None` where neither the driver nor a report says it.
#[derive(Clone, Copy, Default)]
struct Needs {
    registers: Option<u32>,
    local_bytes: Option<u32>,
    static_shared: u32,
}

impl<'d> OccupancySweep<'d> {
    /// Checks every point of `plan`. `limited` is that of [`Limited::all`] with the same PTX.
    ///
    /// # Errors
    /// No point can run, or there is none ([`OccupancyError::NoPoints`]); the driver's
    /// ([`OccupancyError::Driver`]); [`OccupancyError::UnknownGpu`], [`OccupancyError::NoRuns`].
    pub fn new(
        bench: &'d Bench,
        limited: &'d [Limited],
        plan: &OccupancyPlan<'_>,
        ptx: &[Embedded<'_>],
        sampling: Sampling,
    ) -> Result<Self, OccupancyError> {
        if sampling.runs.timed == 0 {
            return Err(OccupancyError::NoRuns);
        }
        plan.check()?;
        let mut sweep = OccupancySweep {
            bench,
            limited,
            report: kernels::newest_report(ptx),
            multiprocessor: multiprocessor(bench.device())?,
            sampler: Sampler::new(bench.own(), sampling.runs.timed)?,
            sampling,
            points: Vec::new(),
            refused: Vec::new(),
        };
        for selection in &plan.selected {
            selection.check().map_err(OccupancyError::Selection)?;
            sweep.add(selection, plan)?;
        }
        sweep.check_memory()?;
        match sweep.refused.pop() {
            None if sweep.points.is_empty() => Err(OccupancyError::NoPoints),
            Some(error) if sweep.points.is_empty() => Err(error),
            last => {
                sweep.refused.extend(last);
                Ok(sweep)
            }
        }
    }

    fn check_memory(&self) -> Result<(), OccupancyError> {
        let largest = self.points.iter().max_by_key(|it| it.case.memory());
        match largest {
            Some(planned) => Ok(self.bench.device().check_memory(planned.case.memory())?),
            None => Ok(()),
        }
    }

    fn add(
        &mut self,
        selection: &Selection<'_>,
        plan: &OccupancyPlan<'_>,
    ) -> Result<(), OccupancyError> {
        let axes = all_axes(plan);
        let mut launches = HashSet::new();
        for values in product(&selection.values) {
            for (&max_registers, &block) in itertools::iproduct!(&plan.max_registers, &plan.blocks)
            {
                let mut values = values.clone();
                values.extend(selection.settings.iter().cloned());
                let device = self.device(max_registers);
                let point = Point {
                    block,
                    ..Point::new(device, &self.bench.loaded, selection.workload, values)
                };
                self.add_steps(&point, max_registers, selection, plan, &axes, &mut launches)?;
            }
        }
        Ok(())
    }

    /// Adds a point with each amount of shared memory that it can run with.
    fn add_steps(
        &mut self,
        point: &Point<'d>,
        max_registers: Option<u32>,
        selection: &Selection<'_>,
        plan: &OccupancyPlan<'_>,
        axes: &[&'static str],
        launches: &mut HashSet<String>,
    ) -> Result<(), OccupancyError> {
        let case = match selection.workload.case(point) {
            Ok(case) => case,
            // An argument can mend it.
            Err(error @ PointError::Refused(_)) => return Err(refused(point, &error)),
            Err(PointError::Driver(error @ DriverError::MachineCode { .. })) => {
                self.leave_out(&point.workload, &error);
                return Ok(());
            }
            Err(PointError::Driver(error)) => return Err(error.into()),
        };
        let is_own = std::ptr::eq(case.device, point.device);
        if max_registers.is_some() && !is_own {
            // A file's kernels are as they are.
            return Ok(());
        }
        // A workload with blocks of its own is the same launch for each of the plan's.
        if !launches.insert(format!("{max_registers:?} {}", point.launch_key(&case))) {
            return Ok(());
        }
        let needs = self.needs(&case, max_registers)?;
        if let Some(limit) = max_registers
            && plan.max_registers.contains(&None)
            && self
                .needs(&case, None)?
                .registers
                .is_some_and(|registers| registers <= limit)
        {
            // Compiled as without the limit, which is a point of its own.
            return Ok(());
        }
        let own = needs.static_shared + case.config.dynamic_shared;
        let block = case.config.block_threads() as u32;
        let stepping = || stepping_shared(block, own, &self.multiprocessor);
        let mut last = None;
        for more_shared in plan.shared.clone().unwrap_or_else(stepping) {
            let with_more = Point {
                more_shared,
                ..point.clone()
            };
            let name = named(&with_more, max_registers);
            let kernel = Kernel {
                registers_per_thread: needs.registers.unwrap_or(0),
                static_shared_bytes: needs.static_shared,
                dynamic_shared_bytes: case.config.dynamic_shared + more_shared,
                max_threads_per_block: None,
            };
            let model = match self.multiprocessor.occupancy(&kernel, block) {
                Ok(model) => model,
                Err(reason) => {
                    let point = name;
                    self.refused.push(OccupancyError::Model { point, reason });
                    continue;
                }
            };
            // Other resources may keep out more blocks than a step of shared memory does.
            let is_another = last != Some(model.blocks);
            last = Some(model.blocks);
            if plan.shared.is_none() && !is_another {
                continue;
            }
            let point = Point {
                resident: Some(model.blocks),
                ..with_more
            };
            let case = selection
                .workload
                .case(&point)
                .and_then(|case| Ok(case.refused()?));
            match case {
                Ok(case) => self.points.push(Planned {
                    axes: axes.to_vec(),
                    name,
                    point,
                    case,
                    max_registers,
                    needs,
                    model,
                }),
                Err(error) => self.refused.push(refused(&point, &error)),
            }
        }
        Ok(())
    }

    /// A workload for GPUs, once.
    fn leave_out(&mut self, workload: &str, error: &DriverError) {
        let is_known = |it: &OccupancyError| match it {
            OccupancyError::Refused { point, .. } => point == workload,
            _ => false,
        };
        if !self.refused.iter().any(is_known) {
            self.refused.push(OccupancyError::Refused {
                point: workload.to_owned(),
                reason: error.to_string(),
            });
        }
    }

    fn device(&self, max_registers: Option<u32>) -> &'d Device {
        match self.limit(max_registers) {
            Some(limited) => &limited.device,
            None => self.bench.device(),
        }
    }

    fn limit(&self, max_registers: Option<u32>) -> Option<&'d Limited> {
        let limit = max_registers?;
        let found = self.limited.iter().find(|one| one.registers == limit);
        Some(found.expect("`Limited::all` made one for each limit of the plan"))
    }

    fn needs(&self, case: &Case<'_>, max_registers: Option<u32>) -> Result<Needs, OccupancyError> {
        let is_of_file = !self.has(case.device);
        let device = match is_of_file {
            true => case.device,
            false => self.device(max_registers),
        };
        if let Some(compiled) = device.compiled(case.kernel)? {
            return Ok(Needs {
                registers: Some(compiled.registers),
                local_bytes: Some(compiled.local_bytes),
                static_shared: compiled.static_shared,
            });
        }
        let report = match self.limit(max_registers) {
            Some(limited) => &limited.report,
            None => &self.report,
        };
        let mut reported = report.iter().flat_map(|report| &report.kernels);
        let found = reported.find(|kernel| kernel.name == case.kernel);
        Ok(found.map_or_else(Needs::default, |kernel| Needs {
            registers: Some(kernel.registers),
            local_bytes: Some(kernel.stack_bytes),
            static_shared: kernel.static_shared_bytes,
        }))
    }

    /// Whether the device has the kernels of the bench, limited or not.
    fn has(&self, device: &Device) -> bool {
        let mut limited = self.limited.iter();
        let is_it = |other: &Device| std::ptr::eq(other, device);
        is_it(self.bench.device()) || limited.any(|limited| is_it(&limited.device))
    }

    /// The names of the points, in order, without those that cannot run.
    pub fn points(&self) -> impl ExactSizeIterator<Item = &str> {
        self.points.iter().map(|planned| planned.name.as_str())
    }

    /// Why the points that cannot run do not.
    pub fn refused(&self) -> &[OccupancyError] {
        &self.refused
    }

    /// The most bytes of an array that a point works on.
    pub fn largest_array(&self) -> u64 {
        let bytes = self.points.iter().map(|it| it.case.work.array_bytes());
        bytes.fold(0.0, f64::max) as u64
    }

    /// Times the kernel of point number `index`, checks its output, and compares with the device's
    /// ceilings.
    ///
    /// # Errors
    /// The driver's ([`OccupancyError::Driver`]), the output is wrong ([`OccupancyError::Wrong`]), or a
    /// ceiling is missing ([`OccupancyError::NoCeiling`]).
    ///
    /// # Panics
    /// There is no such point.
    pub fn measure(
        &mut self,
        index: usize,
        ceilings: &Ceilings,
    ) -> Result<OccupancyRecord, OccupancyError> {
        let planned = &mut self.points[index];
        let cache = planned.point.cache;
        let sampled = planned.case.sample(&mut self.sampler, cache, self.sampling);
        let (samples, is_checked) = sampled.map_err(|error| match error {
            PointError::Driver(error) => error.into(),
            PointError::Refused(reason) => OccupancyError::Wrong {
                point: planned.name.clone(),
                reason,
            },
        })?;
        planned.case.release();
        let config = planned.case.config;
        let driver_blocks = match planned.case.device.compiled(planned.case.kernel)? {
            Some(compiled) => {
                let threads = config.block_threads() as u32;
                Some(compiled.resident_blocks(threads, config.dynamic_shared)?)
            }
            None => None,
        };
        let launched = Launched {
            point: &planned.point,
            case: &planned.case,
            axes: &planned.axes,
            max_registers: planned.max_registers,
            registers: planned.needs.registers,
            local_bytes: planned.needs.local_bytes,
            model: &planned.model,
            driver_blocks,
            is_checked,
        };
        launched.record(&samples, self.bench.device().properties(), ceilings)
    }
}

fn refused(point: &Point<'_>, error: &PointError) -> OccupancyError {
    OccupancyError::Refused {
        point: named(point, None),
        reason: error.to_string(),
    }
}

/// `copy ilp=4 n=65536 block=256 shared=0 registers<=32`
fn named(point: &Point<'_>, max_registers: Option<u32>) -> String {
    let values = point
        .values
        .iter()
        .map(|(name, value)| format!(" {name}={value}"));
    let registers = max_registers.map_or_else(String::new, |it| format!(" registers<={it}"));
    format!(
        "{}{}{registers} block={} shared={}",
        point.workload,
        values.collect::<String>(),
        point.block,
        point.more_shared
    )
}

/// The names of all workloads' axes, each once.
fn all_axes(plan: &OccupancyPlan<'_>) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, _) in plan.selected.iter().flat_map(|it| &it.values) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
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
