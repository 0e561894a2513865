//! `ridgepoint occupancy`

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use serde_json::json;

use super::ceilings::{ceilings_for, warn_of_small_arrays};
use super::charts::{ChartFiles, chart_path, write_report};
use super::console::Console;
use super::lists::{MaxRegisters, arch, bytes, each_once, element_count};
use super::output::{Outputs, target, watch_for_interrupt};
use super::{Failure, driver_failure};
use crate::ceilings::{BenchError, Ceilings, Effort};
use crate::driver::{Device, DeviceChoice};
use crate::model::OccupancyRow;
use crate::report::{
    Format, HtmlReport, OccupancyChart, RunFacts, model_table, study_summary, study_text,
};
use crate::sweep::occupancy::{
    Limited, OccupancyAxes, OccupancyError, OccupancyRecord, OccupancySweep, Studied,
};

const GPU_ELEMENTS: u64 = 1 << 26;
const EMULATOR_ELEMENTS: u64 = 1 << 14;

/// Steps of arithmetic: one warp a multiprocessor takes long enough with these.
const STEPS: u32 = 50 << 10;

/// Registers of a thread where only the architecture is given: no limit to a full multiprocessor.
const FEW_REGISTERS: u32 = 32;

#[derive(Args)]
pub(super) struct Arguments {
    /// No measurement: theoretical occupancy on these architectures, such as sm_90
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = arch,
          help_heading = "Without a GPU")]
    arch: Vec<u32>,

    /// No measurement: theoretical occupancy with so many registers a thread [default: 32]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Without a GPU"
    )]
    registers: Vec<u32>,

    /// Threads a block
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "64,128,256,512,1024",
          value_parser = clap::value_parser!(u32).range(1..))]
    block: Vec<u32>,

    /// Shared memory a block, such as 48KiB [default: none; measured, amounts that leave room for
    /// ever fewer blocks]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = bytes)]
    shared: Vec<u32>,

    /// Kernels to measure
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "copy,fma",
        value_enum
    )]
    kernel: Vec<Studied>,

    /// Independent operations a thread: loads of 16 bytes, elements of the polynomial, or chains
    /// [default: all that a kernel has instances for]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    ilp: Vec<u32>,

    /// Registers a thread at most, for which the kernels are compiled anew: any, or 24 to 255. Limits
    /// above what a kernel takes anyway are left out
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "any"
    )]
    max_registers: Vec<MaxRegisters>,

    /// Elements, f32, of each array [default: 2^26, on the emulator 2^14]
    #[arg(long, value_name = "COUNT", value_parser = element_count)]
    n: Option<u64>,

    /// Timed launches [default: 10, on the emulator 2]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,

    /// auto, cuda, cuda:N or cpu (the emulator)
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,

    /// Ceilings that `ridgepoint ceilings --output FILE.json` wrote [default: those kept for the
    /// device, else measured first]
    #[arg(long, value_name = "FILE")]
    ceilings: Option<PathBuf>,

    /// Where the rows go; - is standard output [default: occupancy.csv; without a GPU, a table]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md [default: by each file's ending, else csv]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Where charts of speed against work in flight go: names that end in .svg or .png
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path)]
    plot: Vec<PathBuf>,

    /// One HTML file with charts, tables and the run, which opens from disk
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Show warnings and errors only
    #[arg(long)]
    quiet: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if arguments.arch.is_empty() && arguments.registers.is_empty() {
        measure(arguments)
    } else {
        model(arguments)
    }
}

/// The table of the model.
fn model(arguments: &Arguments) -> Result<(), Failure> {
    let or = |list: &[u32], default: u32| match list {
        [] => vec![default],
        list => each_once(list.to_vec()),
    };
    let mut rows = Vec::new();
    for arch in or(&arguments.arch, 90) {
        for &registers in &or(&arguments.registers, FEW_REGISTERS) {
            for &shared in &or(&arguments.shared, 0) {
                for &block in &each_once(arguments.block.clone()) {
                    let row = OccupancyRow::new(arch, registers, shared, block);
                    rows.push(row.map_err(|error| Failure::Usage(error.to_string()))?);
                }
            }
        }
    }
    let console = Console::new(target(arguments.quiet, &arguments.output), 0);
    console.say(&model_table(&rows));
    let facts = Device::open(&DeviceChoice::Cpu)
        .map_err(driver_failure)?
        .facts()
        .clone();
    let run = RunFacts::now(std::env::args().collect(), facts, json!({}));
    let mut outputs = Outputs::open(&arguments.output, arguments.format, &run)?;
    for (before, row) in rows.iter().enumerate() {
        outputs.row(row, before)?;
    }
    outputs.finish()
}

fn measure(arguments: &Arguments) -> Result<(), Failure> {
    let device = Device::open(&arguments.device).map_err(driver_failure)?;
    let default = [PathBuf::from("occupancy.csv")];
    let paths: &[PathBuf] = match &arguments.output[..] {
        [] => &default,
        paths => paths,
    };
    let charts = ChartFiles::open(&arguments.plot)?;
    let effort = arguments.effort(&device);
    let console = Console::new(target(arguments.quiet, paths), 0);
    let axes = arguments.axes();
    let limited = Limited::all(&device, &axes).map_err(failure)?;
    let mut sweep = OccupancySweep::new(&device, &limited, &axes, &effort).map_err(failure)?;
    let ceilings = ceilings_for(&device, arguments.ceilings.as_deref(), &console)?;
    let bytes = effort.elements * size_of::<f32>() as u64;
    warn_of_small_arrays(&ceilings, bytes, &console);
    let console = Console::new(target(arguments.quiet, paths), sweep.points().len() as u64);

    let settings = json!({
        "warmup": effort.runs.warmup,
        "runs": effort.runs.timed,
        "n": effort.elements,
        "ceilings": ceilings,
    });
    let run = RunFacts::now(std::env::args().collect(), device.facts().clone(), settings);
    let mut outputs = Outputs::open(paths, arguments.format, &run)?;
    if device.facts().is_emulated() {
        let (major, minor) = device.facts().compute_capability;
        console.say(&format!(
            "Emulated: the occupancy is a GPU's of sm_{major}{minor}; the times are this host's."
        ));
    }
    for reason in sweep.refused() {
        console.say(&format!("left out: {reason}"));
    }
    let mut records = Vec::new();
    let ended = measure_all(&mut sweep, &ceilings, &mut outputs, &console, &mut records);
    console.finish();
    let closed = outputs.finish();
    if !records.is_empty() {
        console.say(&study_summary(&records));
        outputs.announce(records.len(), &console);
        charts.write(&console, |format, file| {
            OccupancyChart {
                device: device.facts(),
                records: &records,
            }
            .write(format, file)
        })?;
        write_report(arguments.report.as_deref(), &console, || {
            HtmlReport::of_occupancy(&run, &records, &ceilings)
        })?;
    }
    ended.and(closed)
}

fn measure_all(
    sweep: &mut OccupancySweep<'_>,
    ceilings: &Ceilings,
    outputs: &mut Outputs<'_, OccupancyRecord>,
    console: &Console,
    records: &mut Vec<OccupancyRecord>,
) -> Result<(), Failure> {
    let interrupted = watch_for_interrupt()?;
    for point in sweep.points().to_vec() {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        console.begin(point.to_string());
        let record = sweep.measure(&point, ceilings).map_err(failure)?;
        outputs.row(&record, records.len())?;
        console.say(&study_text(&record));
        console.step();
        records.push(record);
    }
    Ok(())
}

impl Arguments {
    fn axes(&self) -> OccupancyAxes {
        OccupancyAxes {
            kernels: each_once(self.kernel.clone()),
            ilp: (!self.ilp.is_empty()).then(|| each_once(self.ilp.clone())),
            max_registers: each_once(self.max_registers.iter().map(|it| it.0).collect()),
            blocks: each_once(self.block.clone()),
            shared: (!self.shared.is_empty()).then(|| each_once(self.shared.clone())),
        }
    }

    fn effort(&self, device: &Device) -> Effort {
        let mut effort = Effort::of(device);
        let elements = match device.facts().is_emulated() {
            true => EMULATOR_ELEMENTS,
            false => GPU_ELEMENTS,
        };
        effort.elements = self.n.unwrap_or(elements);
        effort.steps = effort.steps.min(STEPS);
        effort.runs.timed = self.runs.unwrap_or(effort.runs.timed);
        effort
    }
}

fn failure(error: OccupancyError) -> Failure {
    match error {
        OccupancyError::Bench(BenchError::Driver(error)) => driver_failure(error),
        OccupancyError::Bench(BenchError::TooLittle { .. })
        | OccupancyError::Ilp { .. }
        | OccupancyError::PartialWarp { .. }
        | OccupancyError::Model { .. } => Failure::Usage(error.to_string()),
        _ => Failure::failed(error),
    }
}
