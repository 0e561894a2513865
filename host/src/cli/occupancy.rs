//! `ridgepoint occupancy`

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::Args;
use itertools::iproduct;
use serde_json::json;

use super::axis_charts::Against;
use super::ceilings::{ceilings_for, warn_of_small_arrays};
use super::charts::{ChartFiles, ReportFile, chart_path};
use super::console::Console;
use super::files::Files;
use super::interrupt::Interrupt;
use super::option_values::{
    MAX_RUNS, MAX_THREADS, MaxRegisters, arch, bytes, each_once, refuse_without_effect, whole,
};
use super::output::{Outputs, or_standard, target};
use super::roofline::{predictor, refuse_times_on_gpu};
use super::suite::{Study, Suite, Workloads};
use super::{Failure, command_line, driver_failure, tracing};
use crate::driver::{Device, DeviceChoice};
use crate::measure::{Runs, Sampling};
use crate::model::{Gpu, GpuRoofs, OccupancyRow};
use crate::report::{
    Format, HtmlReport, OccupancyChart, RunFacts, StudyRows, counted, model_table, study_summary,
    study_text,
};
use crate::sweep::occupancy::{
    Limited, OccupancyError, OccupancyPlan, OccupancyRecord, OccupancySweep,
};
use crate::sweep::{Plan, TooManyPoints};

/// Registers of a thread where only the architecture is given: no limit to a full multiprocessor.
const FEW_REGISTERS: u32 = 32;

/// Waves of blocks after which the start and the end of a launch no longer matter.
const FILLING: u64 = 16;

/// Options of a measurement only: the options' fields, and those of the workloads.
const MEASURED: [&str; 9] = [
    "workloads",
    "max_registers",
    "runs",
    "device",
    "ceilings",
    "report",
    "times",
    "trace",
    "profile",
];

#[derive(Args)]
pub(super) struct Arguments {
    /// Compute the theoretical occupancy on these architectures, such as sm_90, without measuring
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = arch,
          conflicts_with_all = MEASURED, help_heading = "Without a GPU")]
    arch: Vec<u32>,

    /// Compute the theoretical occupancy with this many registers per thread, without measuring [default:
    /// 32]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = whole::<u32>(1..=255),
        conflicts_with_all = MEASURED,
        help_heading = "Without a GPU"
    )]
    registers: Vec<u32>,

    /// Threads per block [default: 64,128,256,512,1024; against block, ten from 32 to 1024; against another axis,
    /// 256]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = whole::<u32>(1..=MAX_THREADS))]
    block: Vec<u32>,

    /// Dynamic shared memory per block, such as 48KiB [default: none; when measuring without --against, amounts
    /// that leave room for fewer and fewer blocks]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = bytes)]
    shared: Vec<u32>,

    #[command(flatten)]
    workloads: Workloads,

    /// Maximum registers per thread, for which the kernels are recompiled: any, or 24 to 255. Limits that
    /// a kernel stays below anyway are skipped
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "any"
    )]
    max_registers: Vec<MaxRegisters>,

    /// Number of timed launches of each point [default: 10; emulator: 2]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u32>(1..=MAX_RUNS))]
    runs: Option<u32>,

    /// Device: auto, cuda, cuda:N, cpu (the emulator) or cpu:sm_NN (the emulator with that architecture's
    /// limits)
    #[arg(short, long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,

    /// Ceilings to use, a file written by `ridgepoint ceilings --output FILE.json` [default: the ones
    /// saved for the device, or else measured first]
    #[arg(long, value_name = "FILE")]
    ceilings: Option<PathBuf>,

    /// Files to write the rows to, replacing existing ones; - is standard output. The file name's ending,
    /// .csv, .json or .md, gives the format [default: occupancy.csv; a table with --arch or --registers]
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md; those of --arch and --registers go to standard output without --output
    /// [default: from the file name's ending, or csv]
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Files to draw charts to, .svg or .png: speed against work in flight, or what --against says; with --arch
    /// or --registers, theoretical occupancy against the block; - draws on the terminal
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path())]
    plot: Vec<PathBuf>,

    #[command(flatten)]
    against: Against,

    /// Predict launches of so many times as many blocks as the emulator runs, each like these
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = whole::<u64>(1..=1 << 40))]
    times: u64,

    /// Write a self-contained HTML report with charts, tables and run details
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Show only warnings and errors
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    pub(super) trace: tracing::Arguments,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.is_measured() {
        measure(arguments)
    } else {
        if arguments.outputs().is_empty() && arguments.plot.is_empty() {
            let given = [("--quiet", arguments.quiet)];
            refuse_without_effect(&given, "on a table: add --output, --plot or --format")?;
        }
        model(arguments)
    }
}

/// The table of the model.
fn model(arguments: &Arguments) -> Result<(), Failure> {
    let or = |list: &[u32], default: u32| match list {
        [] => vec![default],
        list => each_once(list.to_vec()),
    };
    let (archs, registers) = (
        or(&arguments.arch, 90),
        or(&arguments.registers, FEW_REGISTERS),
    );
    let axis = arguments.against.against.as_deref();
    let drawn = axis.or((!arguments.plot.is_empty()).then_some("block"));
    let (shared, blocks) = (or(&arguments.shared, 0), arguments.blocks(drawn));
    let axes = [
        ("arch", archs.len()),
        ("registers", registers.len()),
        ("shared", shared.len()),
        ("block", blocks.len()),
    ];
    TooManyPoints::check(&axes.map(|(_, count)| count))
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let against = Against {
        against: drawn.map(str::to_owned),
    };
    against.check(!arguments.plot.is_empty(), &axes)?;
    let charts = ChartFiles::open(&arguments.plot)?;
    let rows: Vec<OccupancyRow> = iproduct!(archs, registers, shared, blocks)
        .map(|(arch, registers, shared, block)| OccupancyRow::new(arch, registers, shared, block))
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let paths = arguments.outputs();
    let console = Console::new(target(arguments.quiet, paths), 0);
    let mut outputs = Outputs::open(paths, arguments.format)?;
    console.say(&model_table(&rows, console.width()));
    let emulator = Device::emulator(Default::default());
    let run = RunFacts::now(command_line(), emulator.properties().clone(), json!({}));
    for row in &rows {
        outputs.row(|format, index| run.row(row, format, index))?;
    }
    outputs.finish(&console)?;
    if let Some(chart) = against.chart(|| StudyRows::of(&rows))? {
        charts.write(&console, &chart)?;
    }
    match rows
        .iter()
        .map(|row| row.refused.as_ref())
        .collect::<Option<Vec<_>>>()
    {
        // Nothing that was asked for can run.
        Some(refused) if !refused.is_empty() => Err(Failure::Usage(refused[0].clone())),
        _ => Ok(()),
    }
}

fn measure(arguments: &Arguments) -> Result<(), Failure> {
    let interrupt = Interrupt::watch();
    let paths = arguments.outputs();
    let charts = ChartFiles::open(&arguments.plot)?;
    let report = ReportFile::open(arguments.report.as_ref())?;
    let mut outputs = Outputs::open(paths, arguments.format)?;
    let suite = Suite::get();
    let bench = suite.open(&arguments.device).map_err(driver_failure)?;
    let device = bench.device();
    arguments.trace.check(device.properties())?;
    let is_emulated = device.properties().is_emulated();
    if !is_emulated {
        refuse_times_on_gpu(arguments.times)?;
    }
    let runs = arguments.sampling(is_emulated);
    let console = Console::new(target(arguments.quiet, paths), 0);
    let plan = arguments.plan(is_emulated)?;
    let draws = !arguments.plot.is_empty() || arguments.report.is_some();
    arguments.against.check(draws, &plan.axes())?;
    console.begin("compiling for each limit of registers".to_owned());
    let limited = Limited::all(&bench, &plan, suite.ptx).map_err(failure)?;
    console.finish();
    let mut sweep =
        OccupancySweep::new(&bench, &limited, &plan, suite.ptx, runs).map_err(failure)?;
    let stands_for =
        is_emulated.then(|| GpuRoofs::of_capability(device.properties().capability()).gpu);
    sweep.predict_times(predictor(device, stands_for.clone()), arguments.times);
    let file = arguments.ceilings.as_deref();
    let ceilings = ceilings_for(bench.own(), file, &console, &interrupt)?;
    warn_of_small_arrays(&ceilings, sweep.largest_array(), &console);
    let console = Console::new(target(arguments.quiet, paths), sweep.points().len() as u64);

    let settings = json!({
        "warmup": runs.runs.warmup,
        "runs": runs.runs.timed,
        "ceilings": ceilings,
    });
    let run = RunFacts::now(command_line(), device.properties().clone(), settings);
    if device.properties().is_emulated() {
        let (major, minor) = device.properties().compute_capability;
        console.say(&format!(
            "Emulated: the occupancy is that of sm_{major}{minor}; timings are those of this host."
        ));
    }
    for reason in sweep.refused() {
        console.say(&format!("left out: {reason}"));
    }
    outputs.announce(&console);
    let mut records = Vec::new();
    let names: Vec<String> = sweep.points().map(str::to_owned).collect();
    let ended = names.into_iter().enumerate().try_for_each(|(index, name)| {
        interrupt.check()?;
        console.begin(name);
        let record = sweep.measure(index, &ceilings).map_err(failure)?;
        outputs.row(|format, index| run.row(&record, format, index))?;
        console.say(&study_text(&record));
        console.step();
        records.push(record);
        Ok(())
    });
    console.finish();
    if !records.is_empty() {
        console.say(&study_summary(&records));
        if let Some(gpu) = stands_for.filter(|_| arguments.times == 1) {
            say_of_small_launches(&records, &gpu, &console);
        }
    }
    let closed = outputs.finish(&console);
    if !records.is_empty() {
        let chart = OccupancyChart {
            device: device.properties(),
            records: &records,
        };
        let against = arguments.against.chart(|| StudyRows::of(&records))?;
        match &against {
            Some(chart) => charts.write(&console, chart)?,
            None => charts.write(&console, &chart)?,
        }
        report.write(&console, || {
            let page = HtmlReport::of_occupancy(&run, &records, &ceilings);
            against.iter().fold(page, HtmlReport::with)
        })?;
    }
    ended.and(closed)
}

/// Of launches that leave multiprocessors empty, other blocks are the best than of larger ones.
fn say_of_small_launches(records: &[OccupancyRecord], gpu: &Gpu, console: &Console) {
    let places =
        |row: &OccupancyRecord| u64::from(row.resident_blocks) * u64::from(gpu.multiprocessors);
    let is_small = |row: &&OccupancyRecord| row.model_blocks.is_some_and(|it| it < places(row));
    let small = records.iter().filter(is_small);
    if let Some(row) = small.max_by_key(|row| places(row) / row.grid.max(1)) {
        console.say(&format!(
            "Places of {} stay empty with {} of {} threads: `--times {}` predicts launches that fill it.",
            gpu.name,
            counted(row.grid, "block"),
            row.block,
            FILLING * places(row).div_ceil(row.grid.max(1)).next_power_of_two(),
        ));
    }
}

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default()
            .inputs("--ceilings", &self.ceilings)
            .texts("--output", self.outputs())
            .texts("--plot", &self.plot)
            .outputs("--report", &self.report)
    }

    /// Without a GPU there is a table, and files only where they are asked for.
    fn outputs(&self) -> &[PathBuf] {
        static DEFAULT: LazyLock<[PathBuf; 1]> = LazyLock::new(|| ["occupancy.csv".into()]);
        match &self.output[..] {
            [] if self.is_measured() => &DEFAULT[..],
            outputs if self.is_measured() => outputs,
            outputs => or_standard(outputs, self.format),
        }
    }

    fn is_measured(&self) -> bool {
        self.arch.is_empty() && self.registers.is_empty()
    }

    fn plan(&self, is_emulated: bool) -> Result<OccupancyPlan<'static>, Failure> {
        let why = "on an occupancy study, whose grids are full and whose caches are warm";
        self.workloads.refuse_common(&["grid", "cache"], why)?;
        let selected = self.workloads.select(Study::Occupancy, is_emulated)?;
        let others = Plan {
            blocks: self.blocks(self.against.against.as_deref()),
            ..Plan::default()
        };
        let plan = self.workloads.plan(selected, others)?;
        Ok(OccupancyPlan {
            selected: plan.selected,
            max_registers: each_once(self.max_registers.iter().map(|it| it.0).collect()),
            blocks: plan.blocks,
            shared: match (&self.shared[..], self.against.against.as_deref()) {
                // As the kernels are launched.
                ([], Some(_)) => Some(vec![0]),
                ([], None) => None,
                (given, _) => Some(each_once(given.to_vec())),
            },
        })
    }

    /// Threads per block: those that are given, or what a chart against this axis has.
    fn blocks(&self, against: Option<&str>) -> Vec<u32> {
        match (&self.block[..], against) {
            ([], None) => vec![64, 128, 256, 512, 1024],
            ([], Some("block")) => vec![32, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
            ([], Some(_)) => vec![256],
            (given, _) => each_once(given.to_vec()),
        }
    }

    fn sampling(&self, is_emulated: bool) -> Sampling {
        let (warmup, timed) = if is_emulated { (0, 2) } else { (3, 10) };
        let timed = self.runs.unwrap_or(timed);
        Sampling {
            runs: Runs { warmup, timed },
            noise_percent: None,
            most: timed,
        }
    }
}

fn failure(error: OccupancyError) -> Failure {
    match error {
        OccupancyError::Driver(error) => driver_failure(error),
        OccupancyError::Points(_)
        | OccupancyError::NoPoints
        | OccupancyError::Selection(_)
        | OccupancyError::Refused { .. }
        | OccupancyError::Model { .. } => Failure::Usage(error.to_string()),
        _ => Failure::failed(error),
    }
}
