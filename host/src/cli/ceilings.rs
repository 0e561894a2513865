//! `ridgepoint ceilings`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::console::Console;
use super::files::Files;
use super::interrupt::Interrupt;
use super::option_values::{MAX_RUNS, element_count, refuse_without_effect, whole};
use super::output::{open_whole, or_standard, target};
use super::{Failure, command_line, driver_failure, tracing};
use crate::ceilings::{BenchError, Ceilings, Effort, cache_path, load, save};
use crate::driver::{Device, DeviceChoice};
use crate::report::{Format, RunFacts, ceilings_json, ceilings_table};

#[derive(Args)]
pub(super) struct Arguments {
    /// Device: auto, cuda, cuda:N, cpu (the emulator) or cpu:sm_NN (the emulator with that architecture's
    /// limits)
    #[arg(short, long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,

    /// Elements in each f32 array [default: 2^28; emulator: 2^14]
    #[arg(long, value_name = "COUNT", value_parser = element_count)]
    n: Option<u64>,

    /// Number of timed launches of each point [default: 10; emulator: 2]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u32>(1..=MAX_RUNS))]
    runs: Option<u32>,

    /// Files to write the rows to, besides the table, replacing existing ones; - is standard output. The file
    /// name's ending, .csv, .json or .md, gives the format
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md; without --output they go to standard output [default: from the
    /// file name's ending, or csv]
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Do not save the figures for other commands
    #[arg(long)]
    no_cache: bool,

    /// Show only warnings and errors
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    pub(super) trace: tracing::Arguments,
}

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        Files::default().texts("--output", self.outputs())
    }

    fn outputs(&self) -> &[PathBuf] {
        or_standard(&self.output, self.format)
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let interrupt = Interrupt::watch();
    let outputs = open_whole(arguments.outputs(), arguments.format)?;
    let device = crate::kernels::open(&arguments.device).map_err(driver_failure)?;
    arguments.trace.check(device.properties())?;
    if device.properties().is_emulated() {
        let given = [("--no-cache", arguments.no_cache)];
        refuse_without_effect(&given, "on the emulator, whose figures are not kept")?;
    }
    let mut effort = Effort::of(&device);
    effort.elements = arguments.n.unwrap_or(effort.elements);
    effort.runs.timed = arguments.runs.unwrap_or(effort.runs.timed);
    let console = Console::new(target(arguments.quiet, arguments.outputs()), 0);

    let ceilings = measure(&device, &effort, &console, &interrupt)?;
    console.say(&ceilings_table(&ceilings, console.width()));
    for (format, destination) in outputs {
        destination.write_whole(|output| write(&ceilings, &device, format, output))?;
    }
    // The emulator's roofs are measured by each command that needs them.
    match cache_path(device.properties()) {
        Some(path) if !arguments.no_cache && !ceilings.emulated => {
            save(&ceilings, &path).map_err(Failure::failed)?;
            console.say(&format!("Saved for other commands: {}", path.display()));
        }
        _ => {}
    }
    Ok(())
}

/// The ceilings in `file`, or else those that were kept for the device, if there are any.
pub(super) fn known_ceilings(
    device: &Device,
    file: Option<&Path>,
    console: &Console,
) -> Result<Option<Ceilings>, Failure> {
    if let Some(file) = file {
        return load(file, device.properties())
            .map(Some)
            .map_err(Failure::failed);
    }
    if device.properties().is_emulated() {
        return Ok(None);
    }
    let kept =
        cache_path(device.properties()).and_then(|path| load(&path, device.properties()).ok());
    if kept.is_none() {
        console.say("No ceilings are saved for this device: `ridgepoint ceilings` measures them");
    }
    Ok(kept)
}

/// Warns where the rows' arrays are larger than those that the ceilings were measured with, which a
/// cache may have held.
pub(super) fn warn_of_small_arrays(ceilings: &Ceilings, bytes: u64, console: &Console) {
    /// No cache holds as much.
    const LARGE: u64 = 256 << 20;
    let measured = ceilings.n * size_of::<f32>() as u64;
    if measured < bytes.min(LARGE) {
        console.warn(&format!(
            "the ceilings were measured with arrays of {measured} bytes, and the rows' have {bytes}: \
             the measured memory roof may be a cache's. Measure it with `ridgepoint ceilings --n {}`",
            bytes.div_ceil(size_of::<f32>() as u64)
        ));
    }
}

/// The ceilings in `file`, or else those that were kept for the device, or else measured now; those
/// of a GPU are then kept.
pub(super) fn ceilings_for(
    device: &Device,
    file: Option<&Path>,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Ceilings, Failure> {
    if let Some(found) = known_ceilings(device, file, console)? {
        return Ok(found);
    }
    console.say("Measuring the device's ceilings first");
    let ceilings = measure(device, &Effort::of(device), console, interrupt)?;
    if !ceilings.emulated
        && let Some(path) = cache_path(device.properties())
        && let Err(error) = save(&ceilings, &path)
    {
        console.warn(&error.to_string());
    }
    Ok(ceilings)
}

/// Measures them all, or none: what a signal keeps from being measured would be missed later.
fn measure(
    device: &Device,
    effort: &Effort,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Ceilings, Failure> {
    let mut begun = 0;
    let hopper = crate::kernels::hopper(device).map_err(driver_failure)?;
    let ceilings = Ceilings::measure(device, hopper.as_ref(), effort, |step| {
        console.estimate(begun, Ceilings::STEPS);
        console.begin(step.to_owned());
        begun += 1;
        interrupt.flow()
    });
    console.finish();
    if let Err(BenchError::Stopped) = ceilings {
        console.warn("the ceilings measured so far are not saved: only a complete set is");
        interrupt.check()?;
    }
    ceilings.map_err(failure)
}

fn write(
    ceilings: &Ceilings,
    device: &Device,
    format: Format,
    output: &mut dyn Write,
) -> io::Result<()> {
    if format == Format::Json {
        return ceilings_json(ceilings, output);
    }
    let run = RunFacts::now(command_line(), device.properties().clone(), json!({}));
    for (index, row) in ceilings.ceilings.iter().enumerate() {
        output.write_all(&run.row(row, format, index)?.text)?;
    }
    Ok(())
}

fn failure(error: BenchError) -> Failure {
    match error {
        BenchError::Driver(error) => driver_failure(error),
        BenchError::TooLittle { .. } => Failure::Usage(error.to_string()),
        _ => Failure::failed(error),
    }
}
