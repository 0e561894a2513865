//! `--trace` and `--profile`, for every command.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use clap::Args;

use super::{Failure, cannot_write};
use crate::trace::{annotated, profile, record, write_chrome};

#[derive(Args)]
pub(super) struct Arguments {
    /// Write a timeline that Perfetto opens: ranges, driver calls, kernels and copies
    #[arg(long, value_name = "PATH", global = true)]
    trace: Option<PathBuf>,

    /// Say where the time went, on the host side and on the device side
    #[arg(long, global = true)]
    profile: bool,
}

impl Arguments {
    /// Runs the command, and writes what was asked for of it, also where it has failed.
    pub(super) fn around(
        &self,
        command: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.trace.is_none() && !self.profile {
            return annotated(command);
        }
        let (result, trace) = record(command);
        if self.profile {
            // Standard output may carry the results.
            eprintln!("{}", profile(&trace));
        }
        if let Some(path) = &self.trace {
            let written =
                File::create(path).and_then(|file| write_chrome(&trace, BufWriter::new(file)));
            written.map_err(|error| cannot_write(path, &error))?;
        }
        result
    }
}
