//! Common options and output of the studies' commands.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::axis_charts::{Counted, Drawing};
use super::charts::ChartFiles;
use super::console::{Console, Target};
use super::files::Files;
use super::interrupt::Interrupt;
use super::output::{Outputs, or_standard, target};
use super::tracing::{self, Process};
use super::{Failure, driver_failure};
use crate::driver::{Device, DeviceChoice};
use crate::report::{AxisChart, Format, StudyRows, Width, file_row_text, rows_table};
use crate::study::StudyError;

#[derive(Args)]
pub(super) struct Common {
    /// Device: auto, cuda, cuda:N, cpu (the emulator) or cpu:sm_NN (the emulator with that architecture's
    /// limits)
    #[arg(short, long, value_name = "DEVICE", default_value = "auto")]
    device: DeviceChoice,

    /// Files to write the rows to, besides the table, replacing existing ones; - is standard output. The file
    /// name's ending, .csv, .json or .md, gives the format
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    output: Vec<PathBuf>,

    /// Format of the rows: csv, json or md; without --output they go to standard output [default: from the
    /// file name's ending, or csv]
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Show only warnings and errors
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    pub(super) drawing: Drawing,

    #[command(flatten)]
    pub(super) trace: tracing::Arguments,
}

impl Common {
    pub(super) fn files(&self) -> Files<'_> {
        let files = Files::default().texts("--output", self.outputs());
        files.texts("--plot", &self.drawing.plot)
    }

    fn outputs(&self) -> &[PathBuf] {
        or_standard(&self.output, self.format)
    }

    /// Opens the outputs. From here on, signals end the study between two rows.
    pub(super) fn begin<R: Serialize>(&self) -> Result<Rows<R>, Failure> {
        Rows::open(
            self.outputs(),
            self.format,
            target(self.quiet, self.outputs()),
        )
    }

    /// As [`Common::begin`], with charts against one of these axes, the first where none is named.
    pub(super) fn begin_drawn<R: Serialize>(&self, axes: &[Counted]) -> Result<Rows<R>, Failure> {
        let charts = self.drawing.open(axes)?;
        let mut rows = self.begin()?;
        rows.draw(charts);
        Ok(rows)
    }

    /// As [`Common::begin`], of a process that may be one of several: those that are not the first say and write nothing.
    pub(super) fn begin_ranked<R: Serialize>(&self, process: Process) -> Result<Rows<R>, Failure> {
        if let Process::First = process {
            return self.begin();
        }
        Ok(Rows {
            interrupt: Interrupt::watch(),
            outputs: Outputs::open(&[], None)?,
            console: Console::new(target(true, &[]), 0),
            measured: Vec::new(),
            charts: None,
        })
    }

    /// Refuses `--device` of a command that takes several devices alone.
    pub(super) fn refuse_device(&self) -> Result<(), Failure> {
        match self.device {
            DeviceChoice::Auto => Ok(()),
            _ => Err(Failure::Usage(
                "--device has no effect: it takes several, with --devices".to_owned(),
            )),
        }
    }

    /// Refuses what has no effect on these devices.
    pub(super) fn check_devices(&self, devices: &[Device]) -> Result<(), Failure> {
        let check = |device: &Device| self.trace.check(device.properties());
        devices.iter().try_for_each(check)
    }

    /// Refuses `--quiet` where nothing else would be left of the study, whose results options such as `--plot` take, too.
    pub(super) fn refuse_silence(&self, others: &[&str]) -> Result<(), Failure> {
        let is_lost = self.outputs().is_empty() && self.drawing.plot.is_empty();
        if self.quiet && is_lost && !self.trace.records() {
            return Err(silence(others));
        }
        Ok(())
    }

    /// Opens the device, and says what it is.
    pub(super) fn open(&self) -> Result<Device, Failure> {
        let device = crate::kernels::open(&self.device).map_err(driver_failure)?;
        self.trace.check(device.properties())?;
        let console = Console::new(target(self.quiet, self.outputs()), 0);
        console.say(&format!("Device: {}", device.properties().name));
        if device.properties().is_emulated() {
            console.say(
                "The emulator runs the GPU's kernels on this host at a small size. Results match a \
                 GPU's; timings are those of this host.",
            );
        }
        Ok(device)
    }
}

/// Why `--quiet` is refused of a command whose results also go where `others` say.
pub(super) fn silence(others: &[&str]) -> Failure {
    let options = [&["--output"], others, &["--trace"]].concat().join(", ");
    Failure::Usage(format!(
        "--quiet would leave nothing of what is measured: add {options} or --profile"
    ))
}

/// The measured rows of a study.
pub(super) struct Rows<R> {
    pub(super) interrupt: Interrupt,
    pub(super) console: Console,
    outputs: Outputs,
    measured: Vec<R>,
    /// Charts, and the axis that they are against.
    charts: Option<(ChartFiles, String)>,
}

impl<R: Serialize> Rows<R> {
    /// Opens the outputs. From here on, signals end the study between two rows.
    pub(super) fn open(
        paths: &[PathBuf],
        format: Option<Format>,
        text: Target,
    ) -> Result<Rows<R>, Failure> {
        Ok(Rows {
            interrupt: Interrupt::watch(),
            outputs: Outputs::open(paths, format)?,
            console: Console::new(text, 0),
            measured: Vec::new(),
            charts: None,
        })
    }

    /// Draws what will have been measured, against an axis.
    pub(super) fn draw(&mut self, charts: (ChartFiles, String)) {
        self.charts = Some(charts);
    }

    /// Says what is measured next, and of how many rows it is one.
    pub(super) fn begin(&self, what: String, of: usize) {
        self.console.expect(of as u64);
        self.console.begin(what);
    }

    /// Writes a row where it is to go. Fails also where a signal asks the study to end.
    pub(super) fn add(&mut self, row: R) -> Result<(), Failure> {
        self.write(row)?;
        self.interrupt.check()
    }

    /// Writes a row where it is to go.
    pub(super) fn write(&mut self, row: R) -> Result<(), Failure> {
        self.outputs
            .row(|format, index| file_row_text(&row, format, index))?;
        self.measured.push(row);
        self.console.step();
        Ok(())
    }

    /// Shows the rows that there are, and gives what the study has `ended` with.
    pub(super) fn finish(mut self, ended: Result<(), Failure>) -> Result<(), Failure> {
        let table = |rows: &[R], width| rows_table(rows, width).map_err(Failure::failed);
        let charts = self.charts.take();
        self.finish_with(ended, table, |rows, console| match charts {
            Some((charts, axis)) if charts.are_wanted() => {
                let rows = StudyRows::of_fields(rows).map_err(Failure::failed)?;
                let chart = AxisChart::new(rows, &axis).map_err(Failure::Usage)?;
                charts.write(console, &chart)
            }
            _ => Ok(()),
        })
    }

    /// The same with a table of the rows' own, and what else is made of them.
    pub(super) fn finish_with(
        self,
        ended: Result<(), Failure>,
        table: impl FnOnce(&[R], Width) -> Result<String, Failure>,
        and: impl FnOnce(&[R], &Console) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.console.finish();
        let mut made = Ok(());
        if !self.measured.is_empty() {
            self.console
                .say(&table(&self.measured, self.console.width())?);
            made = and(&self.measured, &self.console);
        }
        let closed = self.outputs.finish(&self.console);
        ended.and(made).and(closed)
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
