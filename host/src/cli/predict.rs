//! `ridgepoint predict`: how long a launch takes on a GPU that need not be present.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::LazyLock;

use clap::Args;
use serde::Serialize;

use super::console::Console;
use super::launch_options::{Described, failure};
use super::option_values::{MAX_THREADS, refuse_without_effect, whole};
use super::roofline::sweep_failure;
use super::suite::{Study, Suite, Workloads};
use super::workload_commands::Program;
use super::{Failure, driver_failure, limits, row_format};
use crate::driver::count::Counts;
use crate::driver::{Device, Emulation};
use crate::kernels::{Report, newest_report, report_of};
use crate::model;
use crate::prediction::{self, Board, Code, Kernel, Launch, Prediction};
use crate::standalone::{Standalone, StandaloneError};
use crate::sweep::{self, Plan};
use crate::workload::Bench;

const HELP: &str = "\
Examples:
  ridgepoint predict saxpy.ptx saxpy --grid 64 --block 256 --times 4096 \\
      --arg i32:16384 --arg f32:2.5 \\
      --arg f32[16384]=random --arg f32[16384]=ones
  ridgepoint predict saxpy.ptx --launch saxpy.toml --try-block 64,128,256,512
  ridgepoint predict --workload copy --axis n=2^20 --axis block=64,128,256

The emulator counts the launch, without a GPU; a model of the GPU predicts its time. Nothing is measured. Unless \
the launch is --cold, the L2 cache still has what the same launch before it left there.";

static ROOFS: LazyLock<String> = LazyLock::new(|| {
    let names = model::Board::names();
    format!("GPU that the time is predicted for: {names} [default: h200]")
});

#[derive(Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// GPU that the time is predicted for.
    #[arg(long, value_name = "GPU", value_parser = Board::named, help = &**ROOFS)]
    roofs: Option<Board>,

    /// Predict a launch of so many times as many blocks as are counted, each like these
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = whole::<u64>(1..=1 << 40))]
    times: u64,

    /// Also try these numbers of threads per block
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = whole::<u32>(1..=MAX_THREADS))]
    try_block: Vec<u32>,

    /// Predict a launch that finds nothing of its data in the L2 cache
    #[arg(long)]
    cold: bool,

    /// Registers per thread [default: as ptxas says]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u32>(1..=255))]
    registers: Option<u32>,

    /// Blocks that a multiprocessor holds at once [default: as many as have room]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = whole::<u32>(1..=64))]
    resident: Vec<u32>,

    #[command(flatten)]
    described: Described,

    #[command(flatten)]
    workloads: Workloads,

    #[command(flatten)]
    limits: limits::Arguments,

    #[command(flatten)]
    printed: row_format::Arguments,
}

/// A prediction, for programs.
#[derive(Serialize)]
struct Row {
    kernel: String,
    at: String,
    gpu: String,
    blocks: u64,
    block: u64,
    registers: u32,
    resident_blocks: u32,
    predicted_ms: f64,
    low_ms: f64,
    high_ms: f64,
    limit: String,
    roof_ms: f64,
    little_ms: f64,
    causes: String,
    /// For people.
    #[serde(skip)]
    text: String,
}

/// A kernel that was counted, and what is known of it.
struct Counted {
    counts: Counts,
    code: Rc<Code>,
    file: String,
    at: String,
    registers: u32,
    /// Of a block, static and dynamic.
    shared_bytes: u32,
}

/// The code of kernels, and what `ptxas` says of it.
struct Source {
    code: Rc<Code>,
    /// The name of its file.
    file: String,
    report: Option<Report>,
}

impl Source {
    fn read(path: &Path, board: &Board) -> Result<Source, Failure> {
        let file = path.display().to_string();
        let text = fs::read_to_string(path);
        let text = text.map_err(|error| Failure::Failed(format!("{file}: {error}")))?;
        Ok(Source {
            code: Rc::new(Code::read(&text).map_err(Failure::failed)?),
            report: report_of(&text, board.gpu.capability).ok(),
            file,
        })
    }
}

pub(super) fn run(arguments: &Arguments, program: Program) -> Result<(), Failure> {
    arguments.printed.refuse_silence()?;
    let board = match &arguments.roofs {
        Some(board) => board.clone(),
        None => Board::named("h200").map_err(Failure::failed)?,
    };
    let console = arguments.printed.console(0);
    let counted = arguments.count(&board, program, &console);
    console.finish();
    let mut rows = Vec::new();
    for counted in counted? {
        rows.extend(arguments.rows(&counted, &board)?);
    }
    if rows.is_empty() {
        return Err(Failure::Failed(
            "nothing was counted: no kernel was launched".to_owned(),
        ));
    }
    arguments.printed.show(&rows, &console, |_| table(&rows))
}

/// All predictions, and of several the fastest.
fn table(rows: &[Row]) -> String {
    let mut texts: Vec<String> = rows.iter().map(|it| it.text.clone()).collect();
    let fastest = rows
        .iter()
        .min_by(|a, b| a.predicted_ms.total_cmp(&b.predicted_ms));
    if let (Some(fastest), true) = (fastest, rows.len() > 1) {
        texts.push(format!("Fastest: {}", fastest.at));
    }
    texts.join("\n")
}

impl Arguments {
    fn count(
        &self,
        board: &Board,
        program: Program,
        console: &Console,
    ) -> Result<Vec<Counted>, Failure> {
        let emulation = self.limits.limit(Emulation {
            is_counted: true,
            ..Emulation::default()
        });
        match (self.described.is_given(), self.workloads.is_default()) {
            (true, true) => self.count_file(board, emulation, console),
            (false, is_default) if !is_default || matches!(program, Program::Bench(..)) => {
                self.described.refuse_without_file()?;
                let given = [("--try-block", !self.try_block.is_empty())];
                refuse_without_effect(
                    &given,
                    "on a workload: its block is an axis, such as --axis block=128",
                )?;
                self.count_workloads(board, emulation, console)
            }
            (true, false) => Err(Failure::Usage(
                "a PTX file and workloads cannot be predicted at once: name one or the other"
                    .to_owned(),
            )),
            (false, _) => Err(Failure::Usage(
                "nothing to predict: name a PTX file, or a workload with --kernel".to_owned(),
            )),
        }
    }

    fn count_file(
        &self,
        board: &Board,
        emulation: Emulation,
        console: &Console,
    ) -> Result<Vec<Counted>, Failure> {
        let described = self.described.read()?;
        let code = Code::read(described.text()).map_err(Failure::failed)?;
        let code = Rc::new(code);
        let file = described.file().display().to_string();
        let (registers, shared) = match self.registers {
            Some(registers) => (registers, 0),
            None => {
                let report = report_of(described.text(), board.gpu.capability);
                let report = report.map_err(|error| unknown_registers(&error))?;
                let of = report
                    .kernels
                    .iter()
                    .find(|it| it.name == described.kernel());
                let of = of.ok_or_else(|| unknown_registers("its report has not the kernel"))?;
                (of.registers, of.static_shared_bytes)
            }
        };
        let mut launches = vec![described];
        for &threads in &self.try_block {
            let other = self.described.read()?.with_block(threads);
            launches.push(other.map_err(Failure::Usage)?);
        }
        let mut all = Vec::new();
        for launch in launches {
            console.begin(launch.kernel().to_owned());
            let device = Device::emulator_with(emulation.clone(), &[]).map_err(driver_failure)?;
            let counts = counts_of(&launch, &device)?;
            all.extend(counts.into_iter().map(|counts| Counted {
                at: format!("{} of {file}", counts.kernel),
                counts,
                code: Rc::clone(&code),
                file: file.clone(),
                registers,
                shared_bytes: shared + launch.config().dynamic_shared,
            }));
        }
        Ok(all)
    }

    fn count_workloads(
        &self,
        board: &Board,
        emulation: Emulation,
        console: &Console,
    ) -> Result<Vec<Counted>, Failure> {
        let selected = self.workloads.select(Study::Sweep, true)?;
        let plan = self.workloads.plan(selected, Plan::default())?;
        let library = Suite::get().ptx;
        let bench = Bench::emulator(emulation, library).map_err(driver_failure)?;
        let begin = |name: &str, _| console.begin(name.to_owned());
        let counted = sweep::count(&bench, &plan, begin).map_err(sweep_failure)?;
        for reason in &counted.left_out {
            console.say(&format!("left out: {reason}"));
        }
        let newest = library.iter().max_by_key(|(arch, ..)| *arch);
        let (_, ptx, _) = newest.ok_or_else(|| Failure::failed("no kernel is embedded"))?;
        let own = Source {
            code: Rc::new(Code::read(ptx).map_err(Failure::failed)?),
            file: "PTX".to_owned(),
            report: newest_report(library),
        };
        let mut all = Vec::new();
        for point in counted.points {
            let of_file = point.file.as_deref().map(|it| Source::read(it, board));
            let of_file = of_file.transpose()?;
            let source = of_file.as_ref().unwrap_or(&own);
            for counts in point.counts {
                let of = source.report.iter().flat_map(|it| &it.kernels);
                let of = of.into_iter().find(|it| it.name == counts.kernel);
                let registers = self.registers.or(of.map(|it| it.registers));
                all.push(Counted {
                    at: format!("{}, {}", point.name, counts.kernel),
                    code: Rc::clone(&source.code),
                    file: source.file.clone(),
                    registers: registers
                        .ok_or_else(|| unknown_registers("there is no report of ptxas"))?,
                    shared_bytes: of.map_or(0, |it| it.static_shared_bytes)
                        + point.config.dynamic_shared,
                    counts,
                });
            }
        }
        Ok(all)
    }

    fn rows(&self, counted: &Counted, board: &Board) -> Result<Vec<Row>, Failure> {
        let counts = &counted.counts;
        let both = (counts, &*counted.code);
        let kernel = Kernel::new(both, counted.registers, board, &counted.file);
        let kernel = kernel.map_err(Failure::failed)?;
        let block = counts.threads / counts.blocks;
        let resident = match &self.resident[..] {
            [] => vec![counted.resident_blocks(board, block)?],
            given => given.to_vec(),
        };
        let rows = resident.into_iter().map(|resident_blocks| {
            let launch = Launch {
                blocks: counts.blocks / counts.launches * self.times,
                block_threads: block,
                resident_blocks,
                is_cold: self.cold,
            };
            counted.row(&kernel.predict(launch, board), launch)
        });
        Ok(rows.collect())
    }
}

fn unknown_registers(why: &str) -> Failure {
    Failure::Usage(format!(
        "the registers of the kernel are not known: {why}; give --registers, or install ptxas as `ridgepoint doctor` says"
    ))
}

fn counts_of(launch: &Standalone, device: &Device) -> Result<Vec<Counts>, Failure> {
    let loaded = device.load(launch.file()).map_err(driver_failure)?;
    match launch.run_loaded(&loaded) {
        Ok(_) => Ok(loaded.take_counts()),
        Err(StandaloneError::Driver(error)) if error.is_finding() => {
            Err(Failure::Found(error.to_string()))
        }
        Err(error) => Err(failure(error)),
    }
}

impl Counted {
    fn resident_blocks(&self, board: &Board, block: u64) -> Result<u32, Failure> {
        let resident = board.resident_blocks(self.registers, self.shared_bytes, block as u32);
        resident.map_err(Failure::Failed)
    }

    fn row(&self, it: &Prediction, launch: Launch) -> Row {
        let at = format!(
            "{}, {} blocks of {} threads",
            self.at, launch.blocks, launch.block_threads
        );
        let causes = it.causes.iter().map(|cause| {
            let place = cause
                .place
                .as_ref()
                .map_or(String::new(), |it| format!(" ({it})"));
            format!("{:.0} % {}{place}", 100.0 * cause.share, cause.what)
        });
        Row {
            kernel: self.counts.kernel.clone(),
            gpu: it.gpu.clone(),
            blocks: launch.blocks,
            block: launch.block_threads,
            registers: self.registers,
            resident_blocks: launch.resident_blocks,
            predicted_ms: 1e3 * it.seconds,
            low_ms: 1e3 * it.low,
            high_ms: 1e3 * it.high,
            limit: it.limit.clone(),
            roof_ms: 1e3 * it.roof_seconds,
            little_ms: 1e3 * it.little_seconds,
            causes: causes.collect::<Vec<_>>().join("; "),
            text: prediction::text(it, &at),
            at,
        }
    }
}
