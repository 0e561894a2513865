//! `ridgepoint profile -- PROGRAM`: any program, unchanged: its calls and who made them, its waits, and what its GPUs did.

mod compare;
mod program;
mod selected;
mod show;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Failure;
use super::charts::chart_path;
use super::option_values::refuse_without_effect;
pub(super) use compare::Programs;
use program::Recorded;
use selected::Selected;
pub(super) use show::Outputs;

/// The program that is profiled, and how it is run and recorded.
#[derive(Args)]
#[group(skip)]
#[command(next_help_heading = "Options for a program")]
pub(super) struct Arguments {
    /// Where the program's kernels run: on GPUs, or on the emulator, which has no times of a GPU; by default on GPUs, if
    /// there are any
    #[arg(long, value_name = "WHERE", value_enum, default_value_t = On::Auto)]
    on: On,

    #[command(flatten)]
    selected: Selected,

    /// Also read the GPU's hardware counters: run the program a second time, which counts bytes and operations of its kernels, and
    /// place these under the roofs
    #[arg(long)]
    counters: bool,

    /// Files to draw charts to, .svg or .png, with the roofline of the counted kernels; - draws on the terminal
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path())]
    pub(super) plot: Vec<PathBuf>,

    /// Keep the recordings, a file per process, in this new folder
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,

    /// Show a program that was recorded into this folder, instead of running one
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["program", "keep"])]
    recording: Option<PathBuf>,

    /// Write a timeline for Perfetto: calls, their work on the devices, memory
    #[arg(long, value_name = "FILE")]
    pub(super) timeline: Option<PathBuf>,

    /// Write the tables of both sides to this CSV file
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,

    /// Profile this program with its arguments, unchanged
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Where kernels run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum On {
    Auto,
    Gpu,
    Emulator,
}

impl Arguments {
    /// Whether a program, or what one has left, is to be profiled.
    pub(super) fn is_given(&self) -> bool {
        !self.program.is_empty() || self.recording.is_some()
    }

    /// Refuses files that only a program's profile has, and parts of a program.
    pub(super) fn refuse_without_program(&self) -> Result<(), Failure> {
        let options = [
            ("--timeline", self.timeline.is_some()),
            ("--csv", self.csv.is_some()),
            ("--counters", self.counters),
            ("--plot", !self.plot.is_empty()),
        ];
        refuse_without_effect(&options, "without a program")?;
        refuse_without_effect(&self.selected.given(), "without a program")
    }

    /// Refuses roofs and charts of kernels that will not be counted, before the program runs. A recording may have counts.
    pub(super) fn refuse_without_counters(&self, has_roofs: bool) -> Result<(), Failure> {
        if self.counters || self.recording.is_some() {
            return Ok(());
        }
        let options = [("--plot", !self.plot.is_empty()), ("--roofs", has_roofs)];
        refuse_without_effect(&options, "without --counters")
    }

    /// Runs the program, if one is named, and hands over the folder of recordings. What the program's end says comes after
    /// what is shown of it.
    pub(super) fn around(
        &self,
        show: impl FnOnce(&std::path::Path) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Some(folder) = &self.recording {
            refuse_without_effect(&self.selected.given(), "with --recording")?;
            refuse_without_effect(&[("--counters", self.counters)], "with --recording")?;
            return show(folder);
        }
        let recorded = Recorded::run(self)?;
        show(recorded.folder())?;
        recorded.verdict()
    }
}
