//! `ridgepoint roofline`

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use kernels_gpu::ceilings::WARP;
use serde_json::json;

use super::ceilings::{known_ceilings, warn_of_small_arrays};
use super::charts::{ChartFiles, chart_path, write_report};
use super::compare::judge;
use super::console::Console;
use super::lists::{Kernel, each_once, element_count, finite, ilp, percent, vector};
use super::output::{Outputs, target, watch_for_interrupt};
use super::{Failure, driver_failure, several};
use crate::ceilings::Ceilings;
use crate::compare::{Comparison, Table};
use crate::driver::{Device, DeviceChoice};
use crate::measure::{CacheState, Runs, Sampling};
use crate::model::Precision;
use crate::report::{Chart, Format, HtmlReport, RunFacts, terminal};
use crate::sweep::{Axes, GridSize, Point, Record, Settings, Sweep, SweepError};

const GPU_ELEMENTS: u64 = 1 << 26;
const EMULATOR_ELEMENTS: u64 = 1 << 16;

#[derive(Args)]
pub(super) struct Arguments {
    /// Degrees of the polynomial: 2k FLOP an element
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          default_value = "1,2,5,10,20,50,100,200,500,1000",
          value_parser = clap::value_parser!(u32).range(1..))]
    k: Vec<u32>,

    /// Numbers, such as 2^26 [default: 2^26, on the emulator 2^16]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = element_count)]
    n: Vec<u64>,

    /// Threads a block
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "256",
          value_parser = clap::value_parser!(u32).range(1..))]
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
    #[arg(long, value_name = "NUMBER", value_parser = finite, allow_negative_numbers = true)]
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
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    warmup: u32,

    /// Timed launches
    #[arg(long, value_name = "COUNT", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Take more samples until the mean's standard error is at most this percentage of it
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    noise: Option<f64>,

    /// With --noise, samples at most
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    max_runs: u32,

    /// Measure each point twice and say how much the two differ: the noise floor
    #[arg(long)]
    aa: bool,

    /// Ceilings that `ridgepoint ceilings --output FILE.json` wrote [default: those kept for the
    /// device, where there are any]
    #[arg(long, value_name = "FILE")]
    ceilings: Option<PathBuf>,

    /// auto, cuda, cuda:N, cpu (the emulator), cpu:sm_NN (with the limits of sm_80, sm_90 or sm_100), or
    /// all: each GPU alone, then all at once
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = devices)]
    device: Devices,

    /// Where the rows go; - is standard output
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "roofline.csv"
    )]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md [default: by each file's ending, else csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Where charts go: names that end in .svg or .png
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path)]
    plot: Vec<PathBuf>,

    /// The CSV of an earlier run: ends with 1 where a row became slower by more than the noise
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// With --baseline, a difference up to this is none
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = percent)]
    tolerance: f64,

    /// One HTML file with charts, tables and the run, which opens from disk
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Show warnings and errors only
    #[arg(long)]
    quiet: bool,
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
        text => text.parse().map(Devices::One),
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.device {
        Devices::One(choice) => run_on(choice, arguments),
        Devices::All => several::run(&arguments.output, arguments.quiet),
    }
}

fn run_on(choice: &DeviceChoice, arguments: &Arguments) -> Result<(), Failure> {
    let device = Device::open(choice).map_err(driver_failure)?;
    let axes = arguments.axes(&device);
    let settings = Settings {
        sampling: Sampling {
            runs: Runs {
                warmup: arguments.warmup,
                timed: arguments.runs,
            },
            noise_percent: arguments.noise,
            most: arguments.max_runs.max(arguments.runs),
        },
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
        std::env::args().collect(),
        device.facts().clone(),
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
    let charts = ChartFiles::open(&arguments.plot)?;
    let mut outputs = Outputs::open(&arguments.output, arguments.format, &facts)?;

    introduce(&console, &device, &sweep, &axes);
    let mut records = Vec::new();
    let ended = measure_all(
        &mut sweep,
        ceilings.as_ref(),
        &mut outputs,
        &console,
        &mut records,
    );
    console.finish();
    let closed = outputs.finish();
    if !records.is_empty() {
        console.say(&format!("\n{}", terminal::summary(&records)));
        outputs.announce(records.len(), &console);
        let chart = Chart {
            device: device.facts(),
            roofs: sweep.roofs(),
            ceilings: ceilings.as_ref(),
            records: &records,
        };
        charts.write(&console, |format, file| chart.write(format, file))?;
        write_report(arguments.report.as_deref(), &console, || {
            HtmlReport::of_roofline(&facts, &chart)
        })?;
    }
    ended.and(closed)?;
    arguments.compare(baseline.as_ref(), &records, &console)
}

/// Measures point after point, and writes each row before the next point begins.
fn measure_all(
    sweep: &mut Sweep<'_>,
    ceilings: Option<&Ceilings>,
    outputs: &mut Outputs<'_, Record>,
    console: &Console,
    records: &mut Vec<Record>,
) -> Result<(), Failure> {
    let interrupted = watch_for_interrupt()?;
    for point in sweep.points().to_vec() {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        console.begin(point.to_string());
        let record = sweep.measure(&point, ceilings).map_err(sweep_failure)?;
        outputs.row(&record, records.len())?;
        console.say(&terminal::point(&record));
        console.step();
        records.push(record);
    }
    Ok(())
}

impl Arguments {
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
        let comparison = Comparison::of(before, &after, self.tolerance);
        judge(&comparison.map_err(Failure::failed)?, |text| {
            console.say(text);
        })
    }

    fn axes(&self, device: &Device) -> Axes {
        let n = match (self.n.is_empty(), device.facts().is_emulated()) {
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
    let facts = device.facts();
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
        SweepError::Memory { .. } | SweepError::Overflow { .. } | SweepError::Odd { .. } => {
            Failure::Usage(error.to_string())
        }
        _ => Failure::failed(error),
    }
}
