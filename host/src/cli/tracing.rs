//! `--trace` and `--profile`, for every command that works on a device.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use clap::Args;

use super::{Failure, cannot_write};
use crate::trace::{DeviceTimes, Source, annotated, profile, record, write_chrome};

#[derive(Args)]
// Commands flatten it into arguments of their own, which are a group of the same name.
#[group(skip)]
pub(super) struct Arguments {
    /// Write a timeline that Perfetto opens: ranges, driver calls, kernels and copies
    #[arg(long, value_name = "PATH")]
    trace: Option<PathBuf>,

    /// Say where the time went, on the host side and on the device side
    #[arg(long)]
    profile: bool,

    /// What times a GPU's work for --trace and --profile [default: auto]
    #[arg(long, value_name = "SOURCE")]
    device_times: Option<DeviceTimes>,
}

impl Arguments {
    /// Whether a timeline or a profile was asked for.
    pub(super) fn records(&self) -> bool {
        self.trace.is_some() || self.profile
    }

    /// Runs the command, and writes what was asked for of it, also where it has failed.
    pub(super) fn around(
        &self,
        command: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if !self.records() {
            return match self.device_times {
                None => annotated(command),
                Some(_) => Err(Failure::Usage(
                    "--device-times has no effect without --trace or --profile".to_owned(),
                )),
            };
        }
        let (result, trace) = record(self.device_times.unwrap_or_default(), command)
            .map_err(|error| Failure::Usage(format!("--device-times cupti: {error}")))?;
        // Standard output may carry the results.
        if self.profile {
            eprintln!("{}", profile(&trace));
        } else if let Source::Events { why: Some(_) } = trace.source {
            eprintln!("The device's work is timed by {}.", trace.source);
        }
        if let Some(path) = &self.trace {
            let written =
                File::create(path).and_then(|file| write_chrome(&trace, BufWriter::new(file)));
            written.map_err(|error| cannot_write(path, &error))?;
        }
        result
    }
}
