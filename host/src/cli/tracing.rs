//! `--trace` and `--profile`, for every command that works on a device.

use std::path::PathBuf;

use clap::Args;

use super::destination::{Destination, Unfinished};
use super::files::Files;
use super::option_values::refuse_without_effect;
use super::{Failure, streams, study_modes};
use crate::driver::DeviceProperties;
use crate::trace::{
    DeviceTimes, SHOWS_RANGES_TO_PROFILERS, Source, annotated, profile, profiler_is_there, record,
    write_chrome,
};

#[derive(Args)]
// Commands flatten it into arguments of their own, which are a group of the same name.
#[group(skip)]
pub(super) struct Arguments {
    /// Write a timeline for Perfetto: ranges, driver calls, kernels and copies
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Report where the time went, on the host and on the device
    #[arg(long)]
    profile: bool,

    /// How GPU work is timed for --trace and --profile [default: auto]
    #[arg(long, value_name = "SOURCE", value_parser = study_modes::device_times())]
    device_times: Option<DeviceTimes>,
}

/// Which of the processes that run a command together this one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Process {
    /// The first, or the only one: it writes.
    First,
    /// Another, which writes nothing.
    Other,
}

impl Arguments {
    /// Whether a timeline or a profile was asked for.
    pub(super) fn records(&self) -> bool {
        self.trace.is_some() || self.profile
    }

    /// The options that ask for a timeline or a profile, and whether they are given.
    pub(super) fn given(&self) -> [(&'static str, bool); 2] {
        [
            ("--trace", self.trace.is_some()),
            ("--profile", self.profile),
        ]
    }

    /// Refuses what has no effect on this device.
    pub(super) fn check(&self, facts: &DeviceProperties) -> Result<(), Failure> {
        let given = [("--device-times", self.device_times.is_some())];
        match facts.is_emulated() {
            true => refuse_without_effect(&given, "on the emulator, which times its own work"),
            false => Ok(()),
        }
    }

    /// Runs the command, whose files are `files`, and writes what was asked for of it, also where it has
    /// failed. Of a command that refused its arguments there is nothing to write.
    pub(super) fn around<'a>(
        &'a self,
        files: Files<'a>,
        command: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.begin(files)?;
        match self.records() {
            true => self.recorded(command),
            false => annotated(command),
        }
    }

    /// As [`Arguments::around`], of a process that may be one of several with the same arguments: the first alone records.
    pub(super) fn around_process<'a>(
        &'a self,
        process: Process,
        files: Files<'a>,
        command: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match process {
            Process::First => self.around(files, command),
            Process::Other => {
                self.begin(files)?;
                annotated(command)
            }
        }
    }

    /// Refuses what cannot be, and says what profilers will see.
    fn begin<'a>(&'a self, files: Files<'a>) -> Result<(), Failure> {
        files.outputs("--trace", &self.trace).check()?;
        if profiler_is_there() && !SHOWS_RANGES_TO_PROFILERS {
            streams::complain(
                "warning: the profiler will see none of Ridgepoint's ranges: this ridgepoint was built \
                 without the feature `nvtx`",
            );
        }
        let given = [("--device-times", self.device_times.is_some())];
        match self.records() {
            true => Ok(()),
            false => refuse_without_effect(&given, "without --trace or --profile"),
        }
    }

    fn recorded(&self, command: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let open = |path: &PathBuf| Destination::open(path, Unfinished::IsNothing);
        let file = self.trace.as_ref().map(open).transpose()?;
        let (result, trace) = record(self.device_times.unwrap_or_default(), command)
            .map_err(|error| Failure::Usage(format!("--device-times cupti: {error}")))?;
        if let Err(Failure::Usage(_)) = result {
            return result;
        }
        // Standard output may carry the results.
        if self.profile {
            streams::complain(&profile(&trace, streams::width_of_errors()));
        } else if let Source::Events { why: Some(_) } = trace.source {
            streams::complain(&format!("The device's work is timed by {}.", trace.source));
        }
        if let Some(file) = file {
            file.write_whole(|output| write_chrome(&trace, output))?;
        }
        result
    }
}
