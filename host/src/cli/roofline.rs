//! `ridgepoint roofline`

use std::path::PathBuf;

use clap::Args;
use kernels_gpu::ceilings::WARP;
use serde_json::json;

use super::ceilings::{known_ceilings, warn_of_small_arrays};
use super::charts::{ChartFiles, ReportFile, chart_path};
use super::compare::judge;
use super::console::Console;
use super::files::Files;
use super::interrupt::Interrupt;
use super::lists::{
    Kernel, MOST_RUNS, MOST_THREADS, each_once, element_count, ilp, percent, real,
    refuse_without_effect, vector, whole,
};
use super::output::{Outputs, target};
use super::{Failure, command_line, driver_failure, several, tracing};
use crate::compare::{Comparison, Table};
use crate::driver::{Device, DeviceChoice};
use crate::measure::{CacheState, Runs, Sampling};
use crate::model::Precision;
use crate::report::{Chart, Format, HtmlReport, RunFacts, terminal};
use crate::sweep::{Axes, GridSize, Point, Record, Settings, Sweep, SweepError};

const GPU_ELEMENTS: u64 = 1 << 26;
const EMULATOR_ELEMENTS: u64 = 1 << 16;

/// A difference of so many percent from the baseline is none.
const TOLERANCE: f64 = 3.0;

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub(super) struct Arguments {
    /// Degrees of the polynomial: 2k FLOP an element
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          default_value = "1,2,5,10,20,50,100,200,500,1000", value_parser = whole::<u32>(1..=1 << 20))]
    k: Vec<u32>,

    /// Numbers, such as 2^26 [default: 2^26, on the emulator 2^16]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = element_count)]
    n: Vec<u64>,

    /// Threads a block
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "256",
          value_parser = whole::<u32>(1..=MOST_THREADS))]
    block: Vec<u32>,

    /// Blocks in the grid: "full" is a thread for each of its vectors, "8x" is 8 blocks a
    /// multiprocessor, which stay and stride
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "full"
    )]
    grid: Vec<GridSize>,

    /// How the polynomial is evaluated
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "power-sum",
        value_enum
    )]
    kernel: Vec<Kernel>,

    /// Element types: f32, f64, f16x2 (two f16 in a register, one element)
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "f32"
    )]
    dtype: Vec<Precision>,

    /// Elements that a thread loads at once: 1, 2, 4
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1", value_parser = vector)]
    vector: Vec<u32>,

    /// Vectors that a thread works on at once: 1, 2, 4. It has vector x ilp independent chains
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1", value_parser = ilp)]
    ilp: Vec<u32>,

    /// The value of every input number [default: 1.01, of f16x2 0.9, because 1.01^630 is more than an
    /// f16 holds]
    #[arg(long, value_name = "NUMBER", value_parser = real("a finite number, such as 1.01", |_| true))]
    x: Option<f64>,

    /// What the caches hold when a launch begins: warm, cold
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "warm"
    )]
    cache: Vec<CacheState>,

    /// Launches before the timed ones
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = whole::<u32>(0..=MOST_RUNS))]
    warmup: u32,

    /// Timed launches
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = whole::<u32>(1..=MOST_RUNS))]
    runs: u32,

    /// Take more samples until the mean's standard error is at most this percentage of it
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    noise: Option<f64>,

    /// With --noise, samples at most [default: 200, or twice --runs where that is more]
    #[arg(long, value_name = "COUNT", requires = "noise", value_parser = whole::<u32>(2..=10 * MOST_RUNS))]
    max_runs: Option<u32>,

    /// Measure each point twice and say how much the two differ: the noise floor
    #[arg(long)]
    aa: bool,

    /// Ceilings that `ridgepoint ceilings --output FILE.json` wrote [default: those kept for the
    /// device, where there are any]
    #[arg(long, value_name = "FILE")]
    ceilings: Option<PathBuf>,

    /// auto, cuda, cuda:N, cpu (the emulator), cpu:sm_NN (with the limits of that compute capability), or
    /// all: each GPU alone, then all at once
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices)]
    device: Devices,

    /// Where the rows go, in place of an earlier file; - is standard output. The ending .csv, .json or .md
    /// is the format
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "roofline.csv"
    )]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md [default: by each file's ending, csv without one]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Where charts go: names that end in .svg or .png
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path())]
    plot: Vec<PathBuf>,

    /// Rows of an earlier run, CSV or JSON: exit with status 1 if a row is slower by more than the noise,
    /// or missing
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// With --baseline, a difference up to this is none [default: 3%]
    #[arg(long, value_name = "PERCENT", requires = "baseline", value_parser = percent)]
    tolerance: Option<f64>,

    /// One HTML file with charts, tables and the run, which opens from disk
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Show only warnings and errors
    #[arg(long)]
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
            several::run(&arguments.output, arguments.format, arguments.quiet)
        }
    }
}

fn run_on(choice: &DeviceChoice, arguments: &Arguments, sampling: Sampling) -> Result<(), Failure> {
    let interrupt = Interrupt::watch()?;
    let charts = ChartFiles::open(&arguments.plot)?;
    let report = ReportFile::open(arguments.report.as_ref())?;
    let mut outputs = Outputs::open(&arguments.output, arguments.format)?;
    let device = crate::kernels::open(choice).map_err(driver_failure)?;
    arguments.trace.check(device.properties())?;
    let axes = arguments.axes(&device);
    let settings = Settings {
        sampling,
        twice: arguments.aa,
        x: arguments.x,
    };
    let mut sweep = Sweep::new(&device, &axes, settings).map_err(sweep_failure)?;
    let target = target(arguments.quiet, &arguments.output);
    let console = Console::new(target, sweep.points().len() as u64);
    warn_of_partial_warps(&axes, &console);
    let ceilings = known_ceilings(&device, arguments.ceilings.as_deref(), &console)?;

    if let Some(ceilings) = &ceilings {
        let bytes = |point: &Point| point.bytes() as u64 / 2;
        let largest = sweep.points().iter().map(bytes).max();
        warn_of_small_arrays(ceilings, largest.unwrap_or(0), &console);
    }

    let facts = RunFacts::now(
        command_line(),
        device.properties().clone(),
        json!({
            "warmup": arguments.warmup,
            "runs": arguments.runs,
            "x": arguments.x,
            "noise_percent": arguments.noise,
            "ceilings": ceilings,
        }),
    );
    let baseline = arguments.baseline.as_deref().map(Table::read).transpose();
    let baseline = baseline.map_err(Failure::failed)?;

    introduce(&console, &device, &sweep, &axes);
    outputs.announce(&console);
    let mut records = Vec::new();
    let ended = sweep.points().to_vec().iter().try_for_each(|point| {
        interrupt.check()?;
        console.begin(point.to_string());
        let record = sweep.measure(point, ceilings.as_ref());
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
        console.say(&format!("\n{}", terminal::summary(&records)));
    }
    let closed = outputs.finish(&console);
    if !records.is_empty() {
        let chart = Chart {
            device: device.properties(),
            roofs: sweep.roofs(),
            ceilings: ceilings.as_ref(),
            records: &records,
        };
        charts.write(&console, |format, file| chart.write(format, file))?;
        report.write(&console, || HtmlReport::of_roofline(&facts, &chart))?;
    }
    ended.and(closed)?;
    arguments.compare(baseline.as_ref(), &records, &console)
}

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default()
            .inputs("--baseline", &self.baseline)
            .inputs("--ceilings", &self.ceilings)
            .texts("--output", &self.output)
            .outputs("--plot", &self.plot)
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
            ("--report", self.report.is_some()),
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
        let comparison = Comparison::of(before, &after, self.tolerance.unwrap_or(TOLERANCE));
        judge(&comparison.map_err(Failure::failed)?, |text| {
            console.say(text);
        })
    }

    fn axes(&self, device: &Device) -> Axes {
        let n = match (self.n.is_empty(), device.properties().is_emulated()) {
            (false, _) => self.n.clone(),
            (true, false) => vec![GPU_ELEMENTS],
            (true, true) => vec![EMULATOR_ELEMENTS],
        };
        Axes {
            forms: Kernel::forms(&self.kernel),
            precisions: each_once(self.dtype.clone()),
            vectors: each_once(self.vector.clone()),
            ilps: each_once(self.ilp.clone()),
            n: each_once(n),
            blocks: each_once(self.block.clone()),
            grids: each_once(self.grid.clone()),
            caches: each_once(self.cache.clone()),
            k: each_once(self.k.clone()),
        }
    }
}

fn introduce(console: &Console, device: &Device, sweep: &Sweep<'_>, axes: &Axes) {
    let facts = device.properties();
    console.say(&format!("Device: {}", facts.name));
    if facts.is_emulated() {
        let n: Vec<String> = axes.n.iter().map(u64::to_string).collect();
        console.say(&format!(
            "The emulator runs the GPU's kernels on this host, here with n = {}. The results are a \
             GPU's; the times are not.",
            n.join(", ")
        ));
    }
    console.say(&terminal::roofs(facts, sweep.roofs()));
}

fn warn_of_partial_warps(axes: &Axes, console: &Console) {
    for block in axes
        .blocks
        .iter()
        .filter(|&&block| !block.is_multiple_of(WARP))
    {
        console.warn(&format!(
            "a block of {block} threads is not a multiple of the {WARP} lanes of a warp: its last \
             warp has idle lanes"
        ));
    }
}

fn sweep_failure(error: SweepError) -> Failure {
    match error {
        SweepError::Driver(error) => driver_failure(error),
        SweepError::Memory { .. }
        | SweepError::HostRoofs(_)
        | SweepError::Overflow { .. }
        | SweepError::NotHeld { .. }
        | SweepError::Odd { .. }
        | SweepError::Points(_) => Failure::Usage(error.to_string()),
        _ => Failure::failed(error),
    }
}
