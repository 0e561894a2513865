//! `ridgepoint roofline`

use std::path::PathBuf;

use clap::Args;
use itertools::Itertools;
use kernels_gpu::ceilings::WARP;
use serde_json::json;

use super::axis_charts::Against;
use super::ceilings::{known_ceilings, warn_of_small_arrays};
use super::charts::{ChartFiles, ReportFile, chart_path};
use super::compare::{Unjudged, judge};
use super::console::Console;
use super::files::Files;
use super::interrupt::Interrupt;
use super::measure::TOLERANCE;
use super::option_values::{
    MAX_RUNS, MAX_THREADS, each_once, percent, refuse_without_effect, whole,
};
use super::output::{Outputs, target};
use super::suite::{Study, Suite, Workloads};
use super::{Failure, all_gpus, command_line, driver_failure, roofs, tracing};
use crate::ceilings::Ceilings;
use crate::compare::{Comparison, Rules, Table};
use crate::driver::{Device, DeviceChoice};
use crate::kernels::newest_report;
use crate::links::load_links;
use crate::measure::{CacheState, Runs, Sampling};
use crate::model::{Gpu, GpuRoofs};
use crate::prediction::Predictor;
use crate::report::{
    Chart, Format, HtmlReport, RunFacts, StudyRows, comparison_text, counted, terminal,
};
use crate::sweep::{Plan, Prediction, Record, Settings, Sweep, SweepError};
use crate::workload::{Axis, Bench, GridSize};

#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    workloads: Workloads,

    /// Threads per block
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "256",
          value_parser = whole::<u32>(1..=MAX_THREADS))]
    block: Vec<u32>,

    /// Blocks in the grid: "full" for one thread per vector of elements, "8x" for 8 per multiprocessor
    /// with a grid-stride loop
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "full"
    )]
    grid: Vec<GridSize>,

    /// State of the caches before each launch: warm or cold
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "warm"
    )]
    cache: Vec<CacheState>,

    /// Number of warm-up launches of each point (on a GPU, at least 10 ms of them)
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = whole::<u32>(0..=MAX_RUNS))]
    warmup: u32,

    /// Number of timed launches of each point
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = whole::<u32>(1..=MAX_RUNS))]
    runs: u32,

    /// Add samples until the standard error is at most this percentage of the mean
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    noise: Option<f64>,

    /// Maximum number of samples with --noise [default: 200 or twice --runs, whichever is more]
    #[arg(long, value_name = "COUNT", requires = "noise", value_parser = whole::<u32>(2..=10 * MAX_RUNS))]
    max_runs: Option<u32>,

    /// Measure each point twice and report the difference: the noise floor
    #[arg(long)]
    aa: bool,

    /// Also read the GPU's hardware counters: bytes moved by memory and by the L2 cache, and operations by type
    #[arg(long)]
    counters: bool,

    /// Also draw each point at the bytes that its caches move, under their roofs: a hierarchical roofline; on a GPU
    /// with --counters
    #[arg(long)]
    levels: bool,

    /// Ceilings to use, a file written by `ridgepoint ceilings --output FILE.json` [default: the ones
    /// saved for the device, if any]
    #[arg(long, value_name = "FILE")]
    ceilings: Option<PathBuf>,

    /// Links whose fastest to the device is drawn as a roof, a file written by `ridgepoint links --output
    /// FILE.json`
    #[arg(long, value_name = "FILE")]
    links: Option<PathBuf>,

    /// Device: auto, cuda, cuda:N, cpu (the emulator), cpu:sm_NN (the emulator with that architecture's
    /// limits), or all (each GPU alone, then all at once)
    #[arg(short, long, value_name = "DEVICE", default_value = "auto", value_parser = devices)]
    device: Devices,

    /// Files to write the rows to, replacing existing ones; - is standard output. The file name's ending,
    /// .csv, .json or .md, gives the format
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "roofline.csv"
    )]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md [default: from the file name's ending, or csv]
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Files to draw charts to, .svg or .png; - draws on the terminal
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path())]
    plot: Vec<PathBuf>,

    #[command(flatten)]
    against: Against,

    #[command(flatten)]
    roofs: roofs::Arguments,

    /// Predict launches of so many times as many blocks as the emulator runs, each like these
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = whole::<u64>(1..=1 << 40))]
    times: u64,

    /// Rows of an earlier run to compare with, CSV or JSON; exit with status 1 if a row is slower by more
    /// than the noise or missing, or if none can be judged
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Ignore differences up to this percentage [default: 3%]
    #[arg(long, value_name = "PERCENT", requires = "baseline", value_parser = percent)]
    tolerance: Option<f64>,

    /// Write a self-contained HTML report with charts, tables and run details
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Show only warnings and errors
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    pub(super) trace: tracing::Arguments,
}

/// `--device`
#[derive(Clone)]
enum Devices {
    One(DeviceChoice),
    /// Every GPU of the host.
    All,
}

fn devices(text: &str) -> Result<Devices, String> {
    match text {
        "all" => Ok(Devices::All),
        text => {
            let one = text.parse().map(Devices::One);
            one.map_err(|error: String| format!("{error}; or all"))
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let sampling = arguments.sampling()?;
    match &arguments.device {
        Devices::One(choice) => run_on(choice, arguments, sampling),
        Devices::All => {
            arguments.refuse_those_of_one_device()?;
            all_gpus::run(&arguments.output, arguments.format, arguments.quiet)
        }
    }
}

fn run_on(choice: &DeviceChoice, arguments: &Arguments, sampling: Sampling) -> Result<(), Failure> {
    let interrupt = Interrupt::watch();
    let charts = ChartFiles::open(&arguments.plot)?;
    let report = ReportFile::open(arguments.report.as_ref())?;
    let mut outputs = Outputs::open(&arguments.output, arguments.format)?;
    let bench = Suite::get().open(choice).map_err(driver_failure)?;
    let device = bench.device();
    arguments.trace.check(device.properties())?;
    let is_emulated = device.properties().is_emulated();
    match is_emulated {
        true => refuse_without_effect(
            &[("--counters", arguments.counters)],
            "on the emulator: `ridgepoint profile` counts exactly",
        )?,
        false => {
            let given = [("--roofs", arguments.roofs.is_given())];
            refuse_without_effect(&given, "on a GPU, which has its own")?;
            refuse_times_on_gpu(arguments.times)?;
        }
    }
    if !is_emulated && !arguments.counters {
        let given = [("--levels", arguments.levels)];
        refuse_without_effect(
            &given,
            "on a GPU without --counters, which say what its caches move",
        )?;
    }
    let draws = !arguments.plot.is_empty() || arguments.report.is_some();
    let given = [("--levels", arguments.levels && !draws)];
    refuse_without_effect(&given, "without --plot or --report")?;
    if arguments.counters && arguments.trace.records() {
        return Err(Failure::Usage(
            "--counters with --trace or --profile: CUPTI does one at a time".to_owned(),
        ));
    }
    let plan = arguments.plan(is_emulated)?;
    arguments.against.check(draws, &plan.axis_counts())?;
    let settings = Settings {
        sampling,
        twice: arguments.aa,
        counters: arguments.counters,
    };
    let mut sweep = Sweep::new(&bench, &plan, settings).map_err(sweep_failure)?;
    let gpu = is_emulated.then(|| arguments.roofs.gpu());
    if let Some(roofs) = gpu.clone() {
        let report = newest_report(Suite::get().ptx);
        sweep.predict(Prediction { roofs, report });
    }
    sweep.predict_times(
        predictor(device, gpu.as_ref().map(|it| it.gpu.clone())),
        arguments.times,
    );
    let target = target(arguments.quiet, &arguments.output);
    let console = Console::new(target, sweep.points().len() as u64);
    warn_of_partial_warps(&plan, &console);
    let ceilings = known_ceilings(device, arguments.ceilings.as_deref(), &console)?;

    if let Some(ceilings) = &ceilings {
        warn_of_small_arrays(ceilings, sweep.largest_array(), &console);
    }

    // The GPU in the device's place has roofs of its own.
    let name = gpu
        .as_ref()
        .map_or(&device.properties().name, |it| &it.gpu.name);
    let link = arguments
        .links
        .as_deref()
        .map(|file| load_links(file, name));
    let link = link.transpose().map_err(Failure::failed)?;

    let facts = RunFacts::now(
        command_line(),
        device.properties().clone(),
        arguments.settings(&plan, ceilings.as_ref()),
    );
    let baseline = arguments.baseline.as_deref().map(Table::read).transpose();
    let baseline = baseline.map_err(Failure::failed)?;

    introduce(&console, &bench, &sweep, (&plan, gpu.as_ref()));
    outputs.announce(&console);
    let mut records = Vec::new();
    let names: Vec<String> = sweep.points().map(ToString::to_string).collect();
    let ended = names.into_iter().enumerate().try_for_each(|(index, name)| {
        interrupt.check()?;
        console.begin(name);
        let record = sweep.measure(index, ceilings.as_ref());
        let record = record.map_err(sweep_failure)?;
        // The row is written before the next point begins.
        outputs.row(|format, index| facts.row(&record, format, index))?;
        console.say(&terminal::point(&record));
        console.step();
        records.push(record);
        Ok(())
    });
    console.finish();
    if !records.is_empty() {
        let width = console.width();
        console.say(&format!("\n{}", terminal::summary(&records, width)));
    }
    let closed = outputs.finish(&console);
    if !records.is_empty() {
        let chart = Chart {
            device: device.properties(),
            roofs: sweep.roofs(),
            ceilings: ceilings.as_ref(),
            link: link.as_ref(),
            records: &records,
            predicted: gpu.as_ref(),
            levels: arguments.levels,
        };
        let against = arguments.against.chart(|| StudyRows::of(&records))?;
        match &against {
            Some(chart) => charts.write(&console, chart)?,
            None => charts.write(&console, &chart)?,
        }
        report.write(&console, || {
            let page = HtmlReport::of_roofline(&facts, &chart);
            against.iter().fold(page, HtmlReport::with)
        })?;
    }
    ended.and(closed)?;
    arguments.compare(baseline.as_ref(), &records, &console)
}

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default()
            .inputs("--baseline", &self.baseline)
            .inputs("--ceilings", &self.ceilings)
            .inputs("--links", &self.links)
            .texts("--output", &self.output)
            .texts("--plot", &self.plot)
            .outputs("--report", &self.report)
    }

    fn sampling(&self) -> Result<Sampling, Failure> {
        let runs = self.runs;
        let most = self.max_runs.unwrap_or(200.max(2 * runs));
        if most <= runs {
            return Err(Failure::Usage(format!(
                "--max-runs {most} leaves --noise no samples to add to the {runs} of --runs: it must \
                 be more than these"
            )));
        }
        Ok(Sampling {
            runs: Runs {
                warmup: self.warmup,
                timed: runs,
            },
            noise_percent: self.noise,
            most,
        })
    }

    /// Several devices write rows, and nothing is drawn, traced or compared of them.
    fn refuse_those_of_one_device(&self) -> Result<(), Failure> {
        let given = [
            ("--plot", !self.plot.is_empty()),
            ("--against", self.against.against.is_some()),
            ("--levels", self.levels),
            ("--report", self.report.is_some()),
            ("--roofs", self.roofs.is_given()),
            ("--times", self.times > 1),
            ("--links", self.links.is_some()),
            ("--baseline", self.baseline.is_some()),
        ];
        let given = [&given[..], &self.trace.given()].concat();
        refuse_without_effect(&given, "with --device all: choose one device")
    }

    fn compare(
        &self,
        baseline: Option<&Table>,
        records: &[Record],
        console: &Console,
    ) -> Result<(), Failure> {
        let Some(before) = baseline else {
            return Ok(());
        };
        let after = Table::of_records(records).map_err(Failure::failed)?;
        let comparison = Comparison::of(
            before,
            &after,
            &Rules::tolerating(self.tolerance.unwrap_or(TOLERANCE)),
        );
        let comparison = comparison.map_err(Failure::failed)?;
        console.say(&comparison_text(&comparison, console.width()));
        judge(&comparison, Unjudged::FailsAlone)
    }

    fn plan(&self, is_emulated: bool) -> Result<Plan<'static>, Failure> {
        let selected = self.workloads.select(Study::Sweep, is_emulated)?;
        let own = Plan {
            selected: Vec::new(),
            blocks: each_once(self.block.clone()),
            grids: each_once(self.grid.clone()),
            caches: each_once(self.cache.clone()),
        };
        self.workloads.plan(selected, own)
    }

    /// Returns the settings of every row.
    fn settings(&self, plan: &Plan<'_>, ceilings: Option<&Ceilings>) -> serde_json::Value {
        let mut settings = json!({
            "warmup": self.warmup,
            "runs": self.runs,
            "noise_percent": self.noise,
            "counters": self.counters,
            "ceilings": ceilings,
        });
        for selection in &plan.selected {
            let axes = selection.workload.axes().into_iter();
            for axis in axes.filter(Axis::is_setting) {
                let given = selection.settings.iter().find(|(it, _)| *it == axis.name());
                settings[axis.name()] = json!(given.map(|(_, value)| value));
            }
        }
        settings
    }
}

fn introduce(
    console: &Console,
    bench: &Bench,
    sweep: &Sweep<'_>,
    (plan, gpu): (&Plan<'_>, Option<&GpuRoofs>),
) {
    let properties = bench.device().properties();
    console.say(&format!("Device: {}", properties.name));
    if properties.is_emulated() {
        let of_n = plan.selected.iter().flat_map(|selection| &selection.values);
        let n: Vec<_> = of_n.filter(|(name, _)| *name == "n").collect();
        let n = n
            .iter()
            .flat_map(|(_, values)| values)
            .unique_by(ToString::to_string);
        let n = n.map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let here = if n.is_empty() {
            String::new()
        } else {
            format!(", here with n = {n}")
        };
        console.say(&format!(
            "The emulator runs the GPU's kernels on this host{here} and counts what they do. Results match a \
             GPU's; timings are those of this host, and only the rows' files have them."
        ));
    }
    console.say(&match gpu {
        Some(gpu) => terminal::gpu_roofs(gpu, sweep.roofs().keys().copied(), &sweep.tensor_types()),
        None => terminal::roofs(properties, sweep.roofs(), &sweep.tensor_types()),
    });
    say_left_out(sweep, console);
}

/// Refuses `--times` where launches are measured.
pub(super) fn refuse_times_on_gpu(times: u64) -> Result<(), Failure> {
    let given = [("--times", times > 1)];
    refuse_without_effect(&given, "on a GPU, whose launches are measured")
}

/// Predicts launches of the program's kernels for a GPU, or for the one that they run on.
pub(super) fn predictor(device: &Device, gpu: Option<Gpu>) -> Result<Predictor, String> {
    let properties = device.properties();
    let gpu = match gpu {
        Some(gpu) => gpu,
        None => Gpu::of_the_drivers_name(&properties.name)?,
    };
    let (major, minor) = properties.compute_capability;
    Predictor::embedded(gpu, 10 * major + minor, Suite::get().ptx)
}

pub(super) fn say_left_out(sweep: &Sweep<'_>, console: &Console) {
    for reason in sweep.left_out() {
        console.say(&format!("left out: {reason}"));
    }
}

pub(super) fn warn_of_partial_warps(plan: &Plan<'_>, console: &Console) {
    for block in plan
        .blocks
        .iter()
        .filter(|&&block| !block.is_multiple_of(WARP))
    {
        console.warn(&format!(
            "a block of {} is not a multiple of the {WARP} lanes of a warp: its last warp has idle lanes",
            counted(u64::from(*block), "thread")
        ));
    }
}

pub(super) fn sweep_failure(error: SweepError) -> Failure {
    match error {
        SweepError::Driver(error) => driver_failure(error),
        SweepError::Memory { .. }
        | SweepError::HostRoofs(_)
        | SweepError::Refused { .. }
        | SweepError::NoPoints
        | SweepError::Selection(_)
        | SweepError::NothingLeft(_)
        | SweepError::Points(_) => Failure::Usage(error.to_string()),
        _ => Failure::failed(error),
    }
}
