//! `ridgepoint roofline`

use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::Failure;
use super::console::{Console, Target};
use super::lists::{Dtype, Kernel, each_once, element_count, finite, vector};
use crate::driver::{Device, DeviceChoice, DriverError};
use crate::measure::Runs;
use crate::report::{Chart, ChartFormat, Format, Report, RunFacts, terminal};
use crate::sweep::{Axes, GridSize, Record, Settings, Sweep, SweepError};

/// Threads that run in step: a block that is no multiple of it leaves lanes idle.
const WARP: u32 = 32;

const GPU_ELEMENTS: u64 = 1 << 26;
const EMULATOR_ELEMENTS: u64 = 1 << 16;

#[derive(Args)]
pub(super) struct Arguments {
    /// Degrees of the polynomial: 2k FLOP an element
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          default_value = "1,2,5,10,20,50,100,200,500,1000",
          value_parser = clap::value_parser!(u32).range(1..))]
    k: Vec<u32>,

    /// Elements, such as 2^26 [default: 2^26, on the emulator 2^16]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = element_count)]
    n: Vec<u64>,

    /// Threads a block
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "256",
          value_parser = clap::value_parser!(u32).range(1..))]
    block: Vec<u32>,

    /// Blocks in the grid: "full" is a thread for each vector, "8x" is 8 blocks a multiprocessor
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

    /// Element types
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "f32",
        value_enum
    )]
    dtype: Vec<Dtype>,

    /// Elements a thread
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "1", value_parser = vector)]
    vector: Vec<u32>,

    /// The value of every input element
    #[arg(long, value_name = "NUMBER", default_value = "1.01", value_parser = finite,
          allow_negative_numbers = true)]
    x: f64,

    /// Launches before the timed ones
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    warmup: u32,

    /// Timed launches
    #[arg(long, value_name = "COUNT", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// auto, cuda, cuda:N, cpu (the emulator) or cpu:sm_NN (with the limits of sm_80, sm_90 or sm_100)
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,

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

    /// Show warnings and errors only
    #[arg(long)]
    quiet: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let device = Device::open(&arguments.device).map_err(driver_failure)?;
    let axes = arguments.axes(&device);
    let settings = Settings {
        runs: Runs {
            warmup: arguments.warmup,
            timed: arguments.runs,
        },
        x: arguments.x,
    };
    let mut sweep = Sweep::new(&device, &axes, settings).map_err(sweep_failure)?;
    let console = Console::new(arguments.target(), sweep.points().len() as u64);
    warn_of_partial_warps(&axes, &console);

    let facts = RunFacts::now(std::env::args().collect(), device.facts().clone(), settings);
    let charts = arguments.open_charts()?;
    let mut outputs = arguments.open_outputs(&facts)?;

    introduce(&console, &device, &sweep, &axes);
    let mut records = Vec::new();
    let ended = measure_all(&mut sweep, &mut outputs, &console, &mut records);
    console.finish();
    let closed = outputs.iter_mut().try_for_each(Output::finish);
    if !records.is_empty() {
        console.say(&format!("\n{}", terminal::summary(&records)));
        for output in outputs.iter().filter(|output| !output.is_standard()) {
            console.say(&format!(
                "{} rows: {}",
                records.len(),
                output.path.display()
            ));
        }
        let chart = Chart {
            device: device.facts(),
            roofs: sweep.roofs(),
            records: &records,
        };
        for (path, format, file) in charts {
            chart
                .write(format, file)
                .map_err(|error| cannot_write(path, &*error))?;
            console.say(&format!("Chart: {}", path.display()));
        }
    }
    ended.and(closed)
}

/// Measures point after point, and writes each row before the next point begins.
fn measure_all(
    sweep: &mut Sweep<'_>,
    outputs: &mut [Output<'_>],
    console: &Console,
    records: &mut Vec<Record>,
) -> Result<(), Failure> {
    let interrupted = watch_for_interrupt()?;
    for point in sweep.points().to_vec() {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        console.begin(point.to_string());
        let record = sweep.measure(&point).map_err(sweep_failure)?;
        for output in &mut *outputs {
            output.row(&record, records.len())?;
        }
        console.say(&terminal::point(&record));
        console.step();
        records.push(record);
    }
    Ok(())
}

/// A file that rows go to.
struct Output<'a> {
    path: &'a Path,
    report: Box<dyn Report>,
}

impl<'a> Output<'a> {
    fn open(path: &'a Path, format: Format, run: &RunFacts) -> Result<Self, Failure> {
        let begin = || -> io::Result<Box<dyn Report>> {
            if is_standard(path) {
                format.begin(io::stdout(), run)
            } else {
                format.begin(File::create(path)?, run)
            }
        };
        let report = begin().map_err(|error| cannot_write(path, &error))?;
        Ok(Output { path, report })
    }

    fn row(&mut self, record: &Record, before: usize) -> Result<(), Failure> {
        self.report.row(record).map_err(|error| {
            Failure::Failed(format!(
                "cannot write row {} to {}: {error}; the {before} rows before it are in the file",
                before + 1,
                self.path.display()
            ))
        })
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.report
            .finish()
            .map_err(|error| cannot_write(self.path, &error))
    }

    fn is_standard(&self) -> bool {
        is_standard(self.path)
    }
}

fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

impl Arguments {
    fn axes(&self, device: &Device) -> Axes {
        let n = match (self.n.is_empty(), device.facts().is_emulated()) {
            (false, _) => self.n.clone(),
            (true, false) => vec![GPU_ELEMENTS],
            (true, true) => vec![EMULATOR_ELEMENTS],
        };
        Axes {
            forms: Kernel::forms(&self.kernel),
            precisions: Dtype::precisions(&self.dtype),
            vectors: each_once(self.vector.clone()),
            n: each_once(n),
            blocks: each_once(self.block.clone()),
            grids: each_once(self.grid.clone()),
            k: each_once(self.k.clone()),
        }
    }

    fn target(&self) -> Target {
        if self.quiet {
            Target::Nothing
        } else if self.output.iter().any(|path| is_standard(path)) {
            Target::Stderr
        } else {
            Target::Stdout
        }
    }

    fn open_outputs(&self, run: &RunFacts) -> Result<Vec<Output<'_>>, Failure> {
        let open = |path| {
            let format = self.format.unwrap_or_else(|| Format::of(path));
            Output::open(path, format, run)
        };
        self.output.iter().map(PathBuf::as_path).map(open).collect()
    }

    fn open_charts(&self) -> Result<Vec<(&Path, ChartFormat, File)>, Failure> {
        let open = |path| {
            let format = ChartFormat::of(path).unwrap_or(ChartFormat::Svg);
            let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
            Ok((path, format, file))
        };
        self.plot.iter().map(PathBuf::as_path).map(open).collect()
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

fn cannot_write(path: &Path, error: &dyn Display) -> Failure {
    Failure::Failed(format!("cannot write {}: {error}", path.display()))
}

fn chart_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match ChartFormat::of(&path) {
        Some(_) => Ok(path),
        None => Err("the name must end in .svg or .png".to_owned()),
    }
}

/// The flag that Ctrl-C sets: the sweep ends after the point that runs.
fn watch_for_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            // A second Ctrl-C does not wait for the point.
            std::process::exit(130);
        }
    })
    .map_err(|error| Failure::Failed(format!("cannot watch for Ctrl-C: {error}")))?;
    Ok(interrupted)
}

fn sweep_failure(error: SweepError) -> Failure {
    match error {
        SweepError::Driver(error) => driver_failure(error),
        SweepError::Memory { .. } | SweepError::Overflow { .. } => {
            Failure::Usage(error.to_string())
        }
        _ => Failure::failed(error),
    }
}

fn driver_failure(error: DriverError) -> Failure {
    match error {
        DriverError::NoSuchGpu { .. } | DriverError::Block { .. } | DriverError::Grid { .. } => {
            Failure::Usage(error.to_string())
        }
        DriverError::NoDriver(_) | DriverError::NoGpu => {
            Failure::Failed(format!("{error}; the emulator needs none: --device cpu"))
        }
        _ => Failure::failed(error),
    }
}
