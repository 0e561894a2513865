//! `--trace` and `--profile`, for every command.

use std::path::PathBuf;

use clap::Args;

use super::destination::{Destination, Unfinished};
use super::files::Files;
use super::{Failure, streams};
use crate::trace::{
    DeviceTimes, SHOWS_RANGES_TO_PROFILERS, Source, annotated, profile, profiler_is_there, record,
    write_chrome,
};

#[derive(Args)]
pub(super) struct Arguments {
    /// Write a timeline that Perfetto opens: ranges, driver calls, kernels and copies
    #[arg(long, value_name = "PATH", global = true)]
    trace: Option<PathBuf>,

    /// Say where the time went, on the host side and on the device side
    #[arg(long, global = true)]
    profile: bool,

    /// What times a GPU's work for --trace and --profile [default: auto]
    #[arg(long, value_name = "SOURCE", global = true)]
    device_times: Option<DeviceTimes>,
}

impl Arguments {
    /// What the option names, beside a command's files.
    pub(super) fn files<'a>(&'a self, of_command: Files<'a>) -> Files<'a> {
        of_command.outputs("--trace", &self.trace)
    }

    /// Runs the command, and writes what was asked for of it, also where it has failed.
    pub(super) fn around(
        &self,
        command: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if profiler_is_there() && !SHOWS_RANGES_TO_PROFILERS {
            streams::complain(
                "warning: the profiler will see none of Ridgepoint's ranges: this ridgepoint was built \
                 without the feature `nvtx`",
            );
        }
        if self.trace.is_none() && !self.profile {
            return match self.device_times {
                None => annotated(command),
                Some(_) => Err(Failure::Usage(
                    "--device-times is for --trace and --profile, and neither is there".to_owned(),
                )),
            };
        }
        let open = |path: &PathBuf| Destination::open(path, Unfinished::IsNothing);
        let file = self.trace.as_ref().map(open).transpose()?;
        let (result, trace) = record(self.device_times.unwrap_or_default(), command)
            .map_err(|error| Failure::Usage(format!("--device-times cupti: {error}")))?;
        // Standard output may carry the results.
        if self.profile {
            streams::complain(&profile(&trace));
        } else if let Source::Events { why: Some(_) } = trace.source {
            streams::complain(&format!("The device's work is timed by {}.", trace.source));
        }
        if let Some(file) = file {
            file.write_whole(|output| write_chrome(&trace, output))?;
        }
        result
    }
}
