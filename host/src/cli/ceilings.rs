//! `ridgepoint ceilings`

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::console::{Console, Target};
use super::lists::element_count;
use super::{Failure, cannot_write, driver_failure, is_standard};
use crate::ceilings::{CeilingError, Ceilings, Effort, cache_path, save};
use crate::driver::{Device, DeviceChoice};
use crate::report::{Format, ceilings_csv, ceilings_json, ceilings_markdown, ceilings_table};

#[derive(Args)]
pub(super) struct Arguments {
    /// auto, cuda, cuda:N or cpu (the emulator)
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,

    /// Elements, f32, of each array in memory [default: 2^28, on the emulator 2^14]
    #[arg(long, value_name = "COUNT", value_parser = element_count)]
    n: Option<u64>,

    /// Timed launches of each kernel [default: 10, on the emulator 2]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,

    /// Where the figures go as well; - is standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Format of the output: csv, json or md [default: by the file's ending, else csv]
    #[arg(long, value_name = "FORMAT", requires = "output")]
    format: Option<Format>,

    /// Do not keep the figures for the other commands
    #[arg(long)]
    no_cache: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let device = Device::open(&arguments.device).map_err(driver_failure)?;
    let mut effort = Effort::of(&device);
    effort.elements = arguments.n.unwrap_or(effort.elements);
    effort.runs.timed = arguments.runs.unwrap_or(effort.runs.timed);
    let standard = arguments.output.as_deref().is_some_and(is_standard);
    let target = if standard {
        Target::Stderr
    } else {
        Target::Stdout
    };
    let console = Console::new(target, 4);

    let ceilings = Ceilings::measure(&device, &effort, |step| {
        console.begin(step.to_owned());
        console.step();
    });
    console.finish();
    let ceilings = ceilings.map_err(failure)?;
    console.say(&ceilings_table(&ceilings));
    if let Some(path) = &arguments.output {
        let format = arguments.format.unwrap_or_else(|| Format::of(path));
        write(&ceilings, path, format).map_err(|error| cannot_write(path, &error))?;
    }
    // The emulator's roofs are measured by each command that needs them.
    match cache_path(device.facts()) {
        Some(path) if !arguments.no_cache && !ceilings.emulated => {
            save(&ceilings, &path).map_err(Failure::failed)?;
            console.say(&format!("Kept for other commands: {}", path.display()));
        }
        _ => {}
    }
    Ok(())
}

fn write(ceilings: &Ceilings, path: &Path, format: Format) -> io::Result<()> {
    let mut output: Box<dyn Write> = if is_standard(path) {
        Box::new(io::stdout())
    } else {
        Box::new(BufWriter::new(File::create(path)?))
    };
    match format {
        Format::Csv => ceilings_csv(ceilings, &mut output)?,
        Format::Json => ceilings_json(ceilings, &mut output)?,
        Format::Markdown => ceilings_markdown(ceilings, &mut output)?,
    }
    output.flush()
}

fn failure(error: CeilingError) -> Failure {
    match error {
        CeilingError::Driver(error) => driver_failure(error),
        CeilingError::TooLittle { .. } => Failure::Usage(error.to_string()),
        _ => Failure::failed(error),
    }
}
