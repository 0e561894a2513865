//! The roofline sweep: everything checked first, then one record a point.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use ::occupancy::{Kernel, Multiprocessor};

use super::context::{Context, Figures, Launched, Theoretical};
use super::counting::Counting;
use super::predict::Prediction;
use super::rounds::{Rounds, Step};
use super::timed::{Launch, Modelled, Times};
use super::{Plan, Record, TooManyPoints};
use crate::ceilings::{Ceilings, HostRoofsError, host_roofs};
use crate::driver::finding::Kind;
use crate::driver::{Device, DriverError};
use crate::measure::{HardwareCounters, Measured, Runs, Sampler, Samples, Sampling};
use crate::model::{Precision, Roofs, TensorType, Work};
use crate::prediction::{Held, Predictor};
use crate::profile::Formula;
use crate::trace;
use crate::workload::{Bench, Case, Point, PointError};

/// Settings of every point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Launches before the samples, and how many samples.
    pub sampling: Sampling,
    /// Whether each point is measured twice, which shows how much two measurements differ.
    pub twice: bool,
    /// Whether a GPU's hardware counts bytes and operations of each point, too, after its samples, and the emulator
    /// beside it. Sweeps of the emulator are counted in any case.
    pub counters: bool,
}

impl Settings {
    /// One sample of each point: enough to see that it runs.
    pub fn quick() -> Settings {
        Settings {
            sampling: Sampling {
                runs: Runs {
                    warmup: 0,
                    timed: 1,
                },
                noise_percent: None,
                most: 1,
            },
            twice: false,
            counters: false,
        }
    }
}

/// Why a sweep cannot begin, or a point has no record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The arrays do not fit into the device's memory.
    #[error("{point}, takes {needed} bytes for its arrays; {device} has {free} free")]
    Memory {
        /// The point that needs most.
        point: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// The device's name.
        device: String,
    },
    /// The emulator's roofs cannot be measured.
    #[error(transparent)]
    HostRoofs(#[from] HostRoofsError),
    /// The workload refuses a point.
    #[error("{point}: {reason}")]
    Refused {
        /// Where.
        point: String,
        /// Why.
        reason: String,
    },
    /// The roofs of this GPU are not known.
    #[error("{device}: the arithmetic lanes of compute capability {major}.{minor} are not known")]
    UnknownGpu {
        /// The device's name.
        device: String,
        /// Major compute capability.
        major: u32,
        /// Minor compute capability.
        minor: u32,
    },
    /// The kernel computed something else.
    #[error("{point}: wrong result: {reason}")]
    Wrong {
        /// Where.
        point: String,
        /// The reason.
        reason: String,
    },
    /// The workload says of its bytes or operations something else than the emulator counts.
    #[error("{point}: {reason}")]
    Formula {
        /// Where.
        point: String,
        /// Both figures.
        reason: String,
    },
    /// An axis has no values, or one that it does not take.
    #[error("{0}")]
    Selection(String),
    /// There are too many points.
    #[error(transparent)]
    Points(#[from] TooManyPoints),
    /// There is nothing to measure.
    #[error("no points: each axis needs at least one value, and a sweep at least one workload")]
    NoPoints,
    /// All workloads are left out.
    #[error("no workload is left: {0}")]
    NothingLeft(String),
    /// The measurement has no samples.
    #[error("no timed launches: at least one is needed")]
    NoRuns,
    /// The driver's error.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// A sweep that its device can run.
pub struct Sweep<'d> {
    device: &'d Device,
    sampler: Sampler<'d>,
    settings: Settings,
    points: Vec<Planned<'d>>,
    rounds: Rounds,
    counting: Counting<'d>,
    left_out: Vec<String>,
    /// The names of all workloads' axes.
    axes: Vec<&'static str>,
    roofs: BTreeMap<Precision, Roofs>,
    prediction: Option<Prediction>,
    times: Option<Times>,
}

/// A point and its launch.
struct Planned<'d> {
    point: Point<'d>,
    /// With what was counted in place of what the workload leaves out.
    case: Case<'d>,
    /// The workload's own figures.
    formula: Work,
    /// The rounds so far, and those of the second measurement.
    samples: Option<Samples>,
    again: Option<Samples>,
}

impl Planned<'_> {
    /// Takes a round's samples with arrays allocated anew.
    fn round(
        &mut self,
        sampler: &mut Sampler<'_>,
        sampling: Sampling,
    ) -> Result<Samples, DriverError> {
        self.case.round(sampler, self.point.cache, sampling)
    }

    fn is_complete(&self) -> bool {
        self.formula.bytes().is_some() && self.formula.flops().is_some()
    }
}

impl<'d> Sweep<'d> {
    /// Checks every point against the device's limits.
    ///
    /// # Errors
    /// [`SweepError::NoRuns`]: no launch is to be timed; [`SweepError::Selection`]: an axis has no values,
    /// or one that it does not take; [`SweepError::NoPoints`], [`SweepError::Points`]: there are none, or
    /// too many; [`SweepError::Refused`], [`SweepError::Driver`]: a workload or the device refuses a point;
    /// [`SweepError::NothingLeft`]: every workload was left out; [`SweepError::Memory`]: the memory does
    /// not suffice; [`SweepError::UnknownGpu`], [`SweepError::HostRoofs`]: the roofs are not known. Points
    /// whose workload leaves out bytes or operations run once on the emulator, as [`Sweep::measure`] does;
    /// on a GPU smaller ones in their place.
    pub fn new(bench: &'d Bench, plan: &Plan<'d>, settings: Settings) -> Result<Self, SweepError> {
        if settings.sampling.runs.timed == 0 {
            return Err(SweepError::NoRuns);
        }
        let device = bench.device();
        let (points, left_out) = cases(bench, plan)?;
        let mut counting = Counting::new(bench, &plan.selected);
        let mut planned = Vec::new();
        for (index, (point, case)) in points.into_iter().enumerate() {
            let formula = case.work.clone();
            let mut of = Planned {
                point,
                case,
                formula,
                samples: None,
                again: None,
            };
            // Before roofs are chosen.
            if !of.is_complete()
                && let Ok(sum) = counting.count(index, &of.point, of.case.config)?
            {
                of.case.work = of.formula.clone().or(sum.work.clone());
            }
            planned.push(of);
        }
        let points = planned;
        let precisions = points.iter().flat_map(|it| it.case.work.precisions());
        let mut roofs = BTreeMap::new();
        for precision in precisions {
            if let Entry::Vacant(unknown) = roofs.entry(precision) {
                unknown.insert(roofs_of(bench, precision)?);
            }
        }
        // Memory's roof is there also where nothing is computed.
        if roofs.is_empty() {
            roofs.insert(Precision::F32, roofs_of(bench, Precision::F32)?);
        }
        // The emulator's counts are the same in each round.
        let rounds = match device.properties().is_emulated() {
            true => 1,
            false => settings.sampling.rounds(),
        };
        Ok(Sweep {
            device,
            sampler: Sampler::new(bench.own(), settings.sampling.runs.timed)?,
            settings,
            rounds: Rounds::new(points.len(), rounds),
            points,
            counting,
            left_out,
            axes: plan.axes(),
            roofs,
            prediction: None,
            times: None,
        })
    }

    /// Says from now on also what this GPU would allow each launch.
    pub fn predict(&mut self, prediction: Prediction) {
        self.prediction = Some(prediction);
    }

    /// Predicts from now on also the time of each launch with so many times as many blocks, or says why that is not known.
    pub fn predict_times(&mut self, predictor: Result<Predictor, String>, times: u64) {
        let launches = self.points.iter().map(|it| (&it.point, it.case.config));
        self.times = Some(Times::new(predictor, times, &self.counting, launches));
    }

    /// The points, in order.
    pub fn points(&self) -> impl ExactSizeIterator<Item = &Point<'d>> {
        self.points.iter().map(|it| &it.point)
    }

    /// Workloads that this device has no kernels for, and why.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// The most bytes of an array that a point works on.
    pub fn largest_array(&self) -> u64 {
        let bytes = self.points.iter().map(|it| it.case.work.array_bytes());
        bytes.fold(0.0, f64::max) as u64
    }

    /// The types whose matrices the kernels' tensor cores multiply.
    pub fn tensor_types(&self) -> BTreeSet<TensorType> {
        let types = self.points.iter().map(|it| it.case.work.tensor_types());
        types.flatten().collect()
    }

    /// The roofs for each precision of the sweep.
    pub fn roofs(&self) -> &BTreeMap<Precision, Roofs> {
        &self.roofs
    }

    /// Launches the kernel of point number `index`, times it, compares its output with the reference, and
    /// its speed with the data sheet and with the device's ceilings, where they are known.
    ///
    /// On a GPU the first rounds of the points after it are taken, too, between its own: points are measured in order.
    ///
    /// # Errors
    /// [`SweepError::Wrong`]: an element is not the reference of the workload; [`SweepError::Formula`]: the
    /// emulator counts more or less than the workload says; [`SweepError::Driver`]: the device refuses a
    /// launch or a copy, or the kernel failed.
    ///
    /// # Panics
    /// There is no such point.
    pub fn measure(
        &mut self,
        index: usize,
        ceilings: Option<&Ceilings>,
    ) -> Result<Record, SweepError> {
        for step in self.rounds.until(index) {
            self.take(step)?;
        }
        let is_checked = self.compared(index)?;
        let samples = self.points[index].samples.take();
        let again = self.points[index].again.take();
        let measured = match self.settings.counters {
            true => Some(self.measured(index)?),
            false => None,
        };
        self.points[index].case.release();
        let figures = self.counted(index)?;
        let modelled = self.modelled(index, &figures)?;
        let Planned { point, case, .. } = &self.points[index];
        let context = Context {
            properties: self.device.properties(),
            axes: &self.axes,
            roofs: &self.roofs,
            ceilings,
            is_checked,
            figures,
            measured,
            prediction: self.prediction.as_ref(),
            modelled,
            occupancy: theoretical(case)?,
        };
        let launched = Launched::new(point, case);
        let record =
            samples.and_then(|samples| Record::new(&launched, samples, again.as_ref(), &context));
        record.ok_or(SweepError::NoRuns)
    }

    /// Returns the hardware's counts. Only now is its profiler enabled, and until the next point's samples disabled
    /// again: they are of launches beside nothing else.
    fn measured(&mut self, index: usize) -> Result<Measured, SweepError> {
        let Planned { point, case, .. } = &mut self.points[index];
        let mut counters = HardwareCounters::new(self.device)?;
        Ok(case.count(&mut self.sampler, &mut counters, point.cache)?)
    }

    /// Returns the emulator's counts, where it counts, compared with the workload's own figures.
    fn counted(&mut self, index: usize) -> Result<Figures, SweepError> {
        let of = &self.points[index];
        let is_emulated = self.device.properties().is_emulated();
        if !is_emulated && !self.settings.counters && of.is_complete() {
            return Ok(Figures::of_formula(&of.formula));
        }
        let counted = self.counting.count(index, &of.point, of.case.config)?;
        let formula = Formula::of(&of.formula, &of.case.overhead);
        if let Ok(sum) = counted {
            sum.compare(formula).map_err(|reason| SweepError::Formula {
                point: of.point.to_string(),
                reason,
            })?;
        }
        Ok(Figures {
            counted: Some(counted.clone()),
            ..Figures::of_formula(&of.formula)
        })
    }

    /// Predicts the time of a point from what was counted of it anyway; a GPU's is counted for that.
    fn modelled(
        &mut self,
        index: usize,
        figures: &Figures,
    ) -> Result<Option<Result<Modelled, String>>, SweepError> {
        let Some(times) = &mut self.times else {
            return Ok(None);
        };
        let Planned { point, case, .. } = &self.points[index];
        let launch = Launch {
            point,
            case,
            held: held(case)?,
            counted: figures.counted.as_ref(),
        };
        Ok(Some(times.of(&self.counting, launch)))
    }

    /// Takes the samples of a round. The arrays of the last are left for the comparison.
    fn take(&mut self, Step { point, round }: Step) -> Result<(), SweepError> {
        let planned = &mut self.points[point];
        let name = planned.point.to_string();
        let _range = trace::range(&name);
        let rounds = self.rounds.count;
        let sampling = self.settings.sampling.of_round(round, rounds);
        let first = planned.round(&mut self.sampler, sampling)?;
        add(&mut planned.samples, first);
        if self.settings.twice {
            let second = planned.round(&mut self.sampler, sampling)?;
            add(&mut planned.again, second);
        }
        if round + 1 < rounds {
            planned.case.release();
        }
        Ok(())
    }

    /// Compares the output of a point's last round with its reference. `false` where there is none.
    fn compared(&mut self, index: usize) -> Result<bool, SweepError> {
        let Planned { point, case, .. } = &mut self.points[index];
        case.compare().map_err(|error| match error {
            PointError::Driver(error) => error.into(),
            PointError::Refused(reason) => SweepError::Wrong {
                point: point.to_string(),
                reason,
            },
        })
    }
}

/// Adds the samples of a round to those before it.
fn add(all: &mut Option<Samples>, round: Samples) {
    match all {
        Some(all) => all.append(round),
        None => *all = Some(round),
    }
}

/// The registers and blocks of a case's kernel that a GPU's multiprocessor holds, by its driver; none on the emulator.
fn held(case: &Case<'_>) -> Result<Option<Held>, DriverError> {
    let Some(compiled) = case.device.compiled(case.kernel)? else {
        return Ok(None);
    };
    let threads = case.config.block_threads() as u32;
    Ok(Some(Held {
        registers: compiled.registers,
        blocks: compiled.resident_blocks(threads, case.config.dynamic_shared)?,
    }))
}

/// The occupancy of a case's kernel by the limits of the GPU that it is compiled for; none on the emulator, or where they
/// are not known.
fn theoretical(case: &Case<'_>) -> Result<Option<Theoretical>, DriverError> {
    let Some(compiled) = case.device.compiled(case.kernel)? else {
        return Ok(None);
    };
    let kernel = Kernel {
        registers_per_thread: compiled.registers,
        static_shared_bytes: compiled.static_shared,
        dynamic_shared_bytes: case.config.dynamic_shared,
        max_threads_per_block: None,
    };
    let threads = case.config.block_threads() as u32;
    let limits = Multiprocessor::of(case.device.properties().capability());
    let model = limits.and_then(|it| it.occupancy(&kernel, threads));
    Ok(model.ok().map(|model| Theoretical {
        percent: 100.0 * model.fraction(),
        limited_by: model
            .limited_by
            .iter()
            .map(|it| it.name().to_owned())
            .collect(),
    }))
}

/// The result of a check of a plan's points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Points that were run.
    pub points: usize,
    /// Those of them that have no reference.
    pub without_reference: usize,
    /// Faults, each with the first point that shows it.
    pub findings: Vec<WrongPoint>,
    /// Workloads that the device has no kernels for, and why.
    pub left_out: Vec<String>,
}

/// A point that goes wrong: something was found in its launch, or its output differs from the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPoint {
    /// The point, as it is named in messages.
    pub point: String,
    /// The emulator's finding, or what differs from the reference.
    pub reason: String,
    /// The kind of the emulator's finding. `None` of a difference, and of a thread that failed by itself.
    pub kind: Option<Kind>,
    /// Whether the launch went on until a limit ended it.
    pub is_endless: bool,
}

impl fmt::Display for WrongPoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.point, self.reason)
    }
}

/// Runs each point once and compares its output with the reference; findings do not end it. `begin` is told each
/// point's name before it is launched, and how many points there are.
///
/// # Errors
/// [`SweepError::Selection`]: an axis has no values, or one that it does not take;
/// [`SweepError::NoPoints`], [`SweepError::Points`]: there are none, or too many; [`SweepError::Refused`],
/// [`SweepError::Driver`]: a workload or the device refuses a point; [`SweepError::NothingLeft`]: every
/// workload was left out.
pub fn check(
    bench: &Bench,
    plan: &Plan<'_>,
    mut begin: impl FnMut(&str, usize),
) -> Result<Checked, SweepError> {
    let (points, left_out) = cases(bench, plan)?;
    let count = points.len();
    let told = |it: &(Point<'_>, Case<'_>)| begin(&it.0.to_string(), count);
    let checked = check_points(points.into_iter().inspect(told));
    Ok(Checked {
        left_out,
        ..checked
    })
}

/// As [`check`], of any points.
pub(crate) fn check_points<'d>(points: impl IntoIterator<Item = (Point<'d>, Case<'d>)>) -> Checked {
    let mut checked = Checked::default();
    for (point, mut case) in points {
        checked.points += 1;
        match case.check() {
            Ok(is_checked) => checked.without_reference += usize::from(!is_checked),
            Err(error) => {
                let of_driver = match &error {
                    PointError::Driver(error) => Some(error),
                    _ => None,
                };
                checked.findings.push(WrongPoint {
                    point: point.to_string(),
                    reason: error.to_string(),
                    kind: of_driver.and_then(|it| Some(it.finding()?.kind)),
                    is_endless: of_driver.is_some_and(DriverError::is_endless),
                });
            }
        }
    }
    checked
}

/// Points with their cases, all of which the device allows, and why others are left out.
pub(super) type Cases<'d> = (Vec<(Point<'d>, Case<'d>)>, Vec<String>);

pub(super) fn cases<'d>(bench: &'d Bench, plan: &Plan<'_>) -> Result<Cases<'d>, SweepError> {
    plan.check()?;
    for selection in &plan.selected {
        selection.check().map_err(SweepError::Selection)?;
    }
    let mut points = Vec::new();
    let mut left_out = Vec::new();
    let mut launches = HashSet::new();
    for (workload, point) in plan.points(bench) {
        match workload.case(&point) {
            // A workload with blocks of its own is the same launch for each of the plan's.
            Ok(case) if launches.insert(point.launch_key(&case)) => points.push((point, case)),
            Ok(_) => {}
            // Nothing that an argument could mend: the workload is for GPUs.
            Err(PointError::Driver(error @ DriverError::MachineCode { .. })) => {
                let reason = format!("{}: {error}", workload.name());
                if left_out.last() != Some(&reason) {
                    left_out.push(reason);
                }
            }
            Err(PointError::Driver(error)) => return Err(error.into()),
            Err(PointError::Refused(reason)) => {
                let point = point.to_string();
                return Err(SweepError::Refused { point, reason });
            }
        }
    }
    if let (true, Some(reason)) = (points.is_empty(), left_out.first()) {
        return Err(SweepError::NothingLeft(reason.clone()));
    }
    check_memory(bench.device(), &points)?;
    let points = points.into_iter();
    let points = points.map(|(point, case)| Ok((point, case.refused()?.settled()?)));
    Ok((points.collect::<Result<_, DriverError>>()?, left_out))
}

fn check_memory(device: &Device, points: &[(Point<'_>, Case<'_>)]) -> Result<(), SweepError> {
    let largest = points.iter().max_by_key(|(_, case)| case.memory());
    let (point, case) = largest.ok_or(SweepError::NoPoints)?;
    let (needed, free) = (case.memory(), device.free_memory()?);
    if needed <= free {
        return Ok(());
    }
    Err(SweepError::Memory {
        point: point.described(),
        needed,
        free,
        device: device.properties().name.clone(),
    })
}

fn roofs_of(bench: &Bench, precision: Precision) -> Result<Roofs, SweepError> {
    let properties = bench.own().properties();
    if properties.is_emulated() {
        return Ok(bench.host_roofs(precision, host_roofs)?);
    }
    Roofs::of_device(properties, precision).ok_or_else(|| SweepError::UnknownGpu {
        device: properties.name.clone(),
        major: properties.compute_capability.0,
        minor: properties.compute_capability.1,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::driver::{Emulation, LaunchConfig};
    use crate::embedded::{Polynomial, Stream};
    use crate::launch::In;
    use crate::sweep::Selection;
    use crate::workload::{Axis, Workload};

    /// A kernel that somebody else compiled, in this file.
    struct Foreign(PathBuf);

    impl Workload for Foreign {
        fn name(&self) -> &str {
            "foreign"
        }

        fn axes(&self) -> Vec<Axis> {
            Vec::new()
        }

        fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
            let config = LaunchConfig::linear(1, at.block());
            let launch = at.launch_from::<(In<f32>,)>(&self.0, "foreign", config)?;
            let arrays = launch.arrays(|device| device.buffer_filled(1, 0f32));
            // SAFETY: nothing is launched: the file is not loaded.
            Ok(unsafe { arrays.arguments_unchecked(|x| (x.slice(..),)) })
        }
    }

    fn plan(workloads: &[&'static dyn Workload]) -> Plan<'static> {
        let select = |&workload: &&'static dyn Workload| {
            let mut selection = Selection::defaults(workload, true);
            for (_, values) in &mut selection.values {
                values.truncate(1);
            }
            selection
        };
        Plan {
            selected: workloads.iter().map(select).collect(),
            ..Plan::default()
        }
    }

    /// The header of a cubin without sections.
    fn machine_code() -> [u8; 64] {
        const NVIDIA: u16 = 190;
        let mut header = [0; 64];
        header[..5].copy_from_slice(b"\x7fELF\x02");
        header[18..20].copy_from_slice(&NVIDIA.to_le_bytes());
        header
    }

    #[test]
    fn workloads_for_gpus_are_left_out_and_said_to_be() {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(&file, machine_code()).expect("room for a header");
        let foreign: &'static Foreign = Box::leak(Box::new(Foreign(file.path().to_owned())));
        let both = plan(&[foreign, &Stream::COPY]);
        let mut sweep = Sweep::new(&bench, &both, Settings::quick()).expect("one is left");
        assert_eq!((sweep.points().len(), sweep.left_out().len()), (1, 1));
        assert!(sweep.left_out()[0].contains("is a cubin"));
        let row = sweep.measure(0, None).expect("it runs");
        assert_eq!((row.ai, row.gflops, row.checked), (None, None, true));
        assert!(row.bandwidth.is_some());
        let none = Sweep::new(&bench, &plan(&[foreign]), Settings::quick());
        assert!(matches!(none, Err(SweepError::NothingLeft(_))));
        let none = Sweep::new(&bench, &plan(&[]), Settings::quick());
        assert!(matches!(none, Err(SweepError::NoPoints)));
    }

    /// As on a GPU, which takes several.
    #[test]
    fn a_row_has_the_samples_of_all_its_rounds() {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let settings = Settings {
            twice: true,
            sampling: Sampling {
                runs: Runs {
                    warmup: 0,
                    timed: 11,
                },
                noise_percent: None,
                most: 11,
            },
            ..Settings::quick()
        };
        let both = plan(&[&Stream::COPY, &Stream::SCALE]);
        let mut sweep = Sweep::new(&bench, &both, settings).expect("small");
        let points = sweep.points().len();
        sweep.rounds = Rounds::new(points, 2);
        for index in 0..points {
            let row = sweep.measure(index, None).expect("a right result");
            assert_eq!((row.samples, &row.round_samples[..]), (11, &[6, 5][..]));
            assert!(row.checked && row.noise_floor_percent.is_some());
        }
        // Once more.
        let again = sweep.measure(0, None).expect("a right result");
        assert_eq!((again.samples, again.checked), (11, true));
    }

    #[test]
    fn a_launch_that_does_not_depend_on_the_block_is_measured_once() {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let blocks = |workload| {
            let plan = Plan {
                blocks: vec![32, 64],
                ..plan(&[workload])
            };
            let sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("small");
            sweep.points().len()
        };
        assert_eq!(blocks(&Polynomial::HORNER), 2);
        assert_eq!(blocks(&OneBlock), 1);
    }

    /// A launch of one block of its own.
    struct OneBlock;

    impl Workload for OneBlock {
        fn name(&self) -> &str {
            "one"
        }

        fn axes(&self) -> Vec<Axis> {
            Vec::new()
        }

        fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
            let entry = kernels_gpu::ceilings::stream::write_u1::entry();
            let arrays = at
                .launch(entry, LaunchConfig::blocks(1, 32))
                .arrays(|device| device.buffer_filled(32, [0f32; 4]));
            // SAFETY: there are 32 vectors, which live until the launch has ended.
            Ok(unsafe { arrays.arguments_unchecked(|y| (y.slice_mut(..), 32)) })
        }
    }
}
