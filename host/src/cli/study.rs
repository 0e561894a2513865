//! What the commands of the studies have in common.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::{Failure, cannot_write, driver_failure, is_standard, tracing};
use crate::driver::{Device, DeviceChoice};
use crate::report::{Format, rows_table, write_rows};
use crate::study::StudyError;

#[derive(Args)]
pub(super) struct Common {
    /// auto, cuda, cuda:N or cpu (the emulator)
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,

    /// Where the rows go, beside the table that is shown; - is standard output
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md [default: by the file's ending, else csv]
    #[arg(long, value_name = "FORMAT", requires = "output")]
    format: Option<Format>,

    /// Show nothing but warnings and errors
    #[arg(long)]
    quiet: bool,

    #[command(flatten)]
    pub(super) trace: tracing::Arguments,
}

impl Common {
    /// Opens the device, and says what it is.
    pub(super) fn open(&self) -> Result<Device, Failure> {
        let device = Device::open(&self.device).map_err(driver_failure)?;
        self.say(&format!("Device: {}", device.facts().name));
        if device.facts().is_emulated() {
            self.say(
                "The emulator runs the GPU's kernels on this host at a small size. The results are \
                 a GPU's; the times are not.",
            );
        }
        Ok(device)
    }

    /// Shows text for people.
    pub(super) fn say(&self, text: &str) {
        // A reader that goes away is no error.
        let _ = if self.quiet {
            Ok(())
        } else if self.output.iter().any(|path| is_standard(path)) {
            writeln!(io::stderr(), "{text}")
        } else {
            writeln!(io::stdout(), "{text}")
        };
    }

    /// Shows the rows, and writes them where they are to go.
    pub(super) fn finish<R: Serialize>(&self, rows: &[R]) -> Result<(), Failure> {
        self.say(&rows_table(rows).map_err(Failure::failed)?);
        for path in &self.output {
            let format = self.format.unwrap_or_else(|| Format::of(path));
            let written = if is_standard(path) {
                write_rows(rows, format, io::stdout().lock())
            } else {
                File::create(path).and_then(|file| write_rows(rows, format, file))
            };
            written.map_err(|error| cannot_write(path, &error))?;
        }
        Ok(())
    }
}

pub(super) fn study_failure(error: StudyError) -> Failure {
    match error {
        StudyError::Driver(error) => driver_failure(error),
        StudyError::HasCheckpoints(_)
        | StudyError::NoCheckpoint(_)
        | StudyError::OtherMatrix { .. }
        | StudyError::Degree { .. }
        | StudyError::HostMemory { .. }
        | StudyError::NoSteps { .. } => Failure::Usage(error.to_string()),
        _ => Failure::failed(error),
    }
}
