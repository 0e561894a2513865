//! Measures the points of an occupancy sweep.

use std::collections::HashSet;

use ::occupancy::{Kernel, Multiprocessor, Occupancy};

use super::limited::{Devices, Limited, Needs};
use super::plan::stepping_shared;
use super::record::{Launched, OccupancyRecord};
use super::{OccupancyError, OccupancyPlan};
use crate::ceilings::Ceilings;
use crate::driver::{Device, DriverError, Embedded};
use crate::measure::{Sampler, Sampling};
use crate::prediction::{Held, Predictor};
use crate::sweep::Selection;
use crate::sweep::counting::Counting;
use crate::sweep::plan::product;
use crate::sweep::timed::{Launch, Modelled, Times};
use crate::workload::{Bench, Case, Point, PointError, Workload};

/// An occupancy sweep that its device can run.
pub struct OccupancySweep<'d> {
    bench: &'d Bench,
    devices: Devices<'d>,
    multiprocessor: Multiprocessor,
    sampler: Sampler<'d>,
    sampling: Sampling,
    points: Vec<Planned<'d>>,
    refused: Vec<OccupancyError>,
    counting: Counting<'d>,
    times: Option<Times>,
}

/// A launch of the plan whose shared memory is not chosen yet.
struct Candidate<'a, 'd> {
    workload: &'a dyn Workload,
    /// The names of all axes.
    axes: &'a [&'static str],
    point: Point<'d>,
    max_registers: Option<u32>,
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

impl<'d> Planned<'d> {
    fn modelled(&self, times: &mut Times, counting: &Counting<'d>) -> Result<Modelled, String> {
        let spilled = self.needs.local_bytes.filter(|bytes| *bytes > 0);
        if let (Some(limit), Some(bytes)) = (self.max_registers, spilled) {
            return Err(format!(
                "with {limit} registers its threads spill {bytes} bytes, and the PTX that is counted has no spills"
            ));
        }
        // Of a file's kernels on the emulator, the report of `ptxas` on the file has them.
        let held = self.needs.registers.map(|registers| Held {
            registers,
            blocks: self.model.blocks,
        });
        times.of(
            counting,
            Launch {
                point: &self.point,
                case: &self.case,
                held,
                counted: None,
            },
        )
    }
}

impl<'d> OccupancySweep<'d> {
    /// Checks every point of `plan`. `limited` is that of [`Limited::all`] with the same PTX.
    ///
    /// # Errors
    /// [`OccupancyError::NoRuns`]: no launch is to be timed; [`OccupancyError::Selection`]: an axis has no
    /// values, or one that it does not take; [`OccupancyError::NoPoints`], [`OccupancyError::Points`]:
    /// there are none, or too many; [`OccupancyError::Model`], [`OccupancyError::Refused`]: none of them
    /// can run, and why not the last; [`OccupancyError::UnknownGpu`]: the limits of the GPU are not known;
    /// [`OccupancyError::Driver`]: there is too little memory, or no such kernel.
    pub fn new(
        bench: &'d Bench,
        limited: &'d [Limited],
        plan: &OccupancyPlan<'d>,
        ptx: &[Embedded<'_>],
        sampling: Sampling,
    ) -> Result<Self, OccupancyError> {
        if sampling.runs.timed == 0 {
            return Err(OccupancyError::NoRuns);
        }
        plan.check()?;
        let mut sweep = OccupancySweep {
            bench,
            devices: Devices::new(bench, limited, ptx),
            multiprocessor: multiprocessor(bench.device())?,
            sampler: Sampler::new(bench.own(), sampling.runs.timed)?,
            sampling,
            points: Vec::new(),
            refused: Vec::new(),
            counting: Counting::new(bench, &plan.selected),
            times: None,
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
                let device = self.devices.device(max_registers);
                let point = Point {
                    block,
                    ..Point::new(device, &self.bench.loaded, selection.workload, values)
                };
                let candidate = Candidate {
                    workload: selection.workload,
                    axes: &axes,
                    point,
                    max_registers,
                };
                self.add_steps(&candidate, plan, &mut launches)?;
            }
        }
        Ok(())
    }

    /// Adds a point with each amount of shared memory that it can run with.
    fn add_steps(
        &mut self,
        candidate: &Candidate<'_, 'd>,
        plan: &OccupancyPlan<'_>,
        launches: &mut HashSet<String>,
    ) -> Result<(), OccupancyError> {
        let Some(case) = self.case(candidate)? else {
            return Ok(());
        };
        let (point, max_registers) = (&candidate.point, candidate.max_registers);
        // A workload with blocks of its own is the same launch for each of the plan's.
        if !launches.insert(format!("{max_registers:?} {}", point.launch_key(&case))) {
            return Ok(());
        }
        if let Some(limit) = max_registers
            && plan.max_registers.contains(&None)
            && let Some(registers) = self.devices.needs(&case, None)?.registers
            && registers <= limit
        {
            // Compiled as without the limit, which is a point of its own.
            return Ok(());
        }
        let needs = self.devices.needs(&case, max_registers)?;
        let own = needs.static_shared + case.config.dynamic_shared;
        let block = case.config.block_threads() as u32;
        let stepping = || stepping_shared(block, own, &self.multiprocessor);
        let mut last = None;
        for more_shared in plan.shared.clone().unwrap_or_else(stepping) {
            let point = Point {
                more_shared,
                ..point.clone()
            };
            let Some(model) = self.model(&point, &case, needs, max_registers) else {
                continue;
            };
            // Other resources may keep out more blocks than a step of shared memory does.
            let is_another = last.replace(model.blocks) != Some(model.blocks);
            if plan.shared.is_some() || is_another {
                self.add_point(candidate, point, needs, model);
            }
        }
        Ok(())
    }

    /// Returns the candidate's case. `None` where it is left out.
    fn case(&mut self, candidate: &Candidate<'_, 'd>) -> Result<Option<Case<'d>>, OccupancyError> {
        let point = &candidate.point;
        let case = match candidate.workload.case(point) {
            Ok(case) => case,
            // An argument can mend it.
            Err(error @ PointError::Refused(_)) => return Err(refused(point, &error)),
            Err(PointError::Driver(error @ DriverError::MachineCode { .. })) => {
                self.leave_out(&point.workload, &error);
                return Ok(None);
            }
            Err(PointError::Driver(error)) => return Err(error.into()),
        };
        // A file's kernels are as they are, whatever the limit.
        let is_own = std::ptr::eq(case.device, point.device);
        Ok((candidate.max_registers.is_none() || is_own).then_some(case))
    }

    /// The occupancy of a point. `None` where it cannot run.
    fn model(
        &mut self,
        point: &Point<'_>,
        case: &Case<'_>,
        needs: Needs,
        max_registers: Option<u32>,
    ) -> Option<Occupancy> {
        let kernel = Kernel {
            registers_per_thread: needs.registers.unwrap_or(0),
            static_shared_bytes: needs.static_shared,
            dynamic_shared_bytes: case.config.dynamic_shared + point.more_shared,
            max_threads_per_block: None,
        };
        let block = case.config.block_threads() as u32;
        let model = self.multiprocessor.occupancy(&kernel, block);
        model
            .map_err(|reason| {
                let point = named(point, max_registers);
                self.refused.push(OccupancyError::Model { point, reason });
            })
            .ok()
    }

    fn add_point(
        &mut self,
        candidate: &Candidate<'_, 'd>,
        point: Point<'d>,
        needs: Needs,
        model: Occupancy,
    ) {
        let point = Point {
            resident: Some(model.blocks),
            ..point
        };
        let case = candidate.workload.case(&point);
        match case.and_then(|case| Ok(case.refused()?.settled()?)) {
            Ok(case) => self.points.push(Planned {
                axes: candidate.axes.to_vec(),
                name: named(&point, candidate.max_registers),
                point,
                case,
                max_registers: candidate.max_registers,
                needs,
                model,
            }),
            Err(error) => self.refused.push(refused(&point, &error)),
        }
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

    /// Predicts from now on also the time of each launch with so many times as many blocks, or says why that is not known.
    pub fn predict_times(&mut self, predictor: Result<Predictor, String>, times: u64) {
        let launches = self.points.iter().map(|it| (&it.point, it.case.config));
        self.times = Some(Times::new(predictor, times, &self.counting, launches));
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
    /// [`OccupancyError::Wrong`]: an element is not the reference of the workload;
    /// [`OccupancyError::NoCeiling`]: the ceilings lack what the point is compared with;
    /// [`OccupancyError::Driver`]: the device refuses a launch or a copy, or the kernel failed.
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
        let modelled = match &mut self.times {
            Some(times) => Some(planned.modelled(times, &self.counting)),
            None => None,
        };
        let launched = Launched {
            modelled,
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
