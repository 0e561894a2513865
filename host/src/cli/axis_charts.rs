//! `--plot` and `--against`: charts against an axis of a study.

use std::path::PathBuf;

use clap::Args;

use super::Failure;
use super::charts::{ChartFiles, chart_path};
use super::option_values::refuse_without_effect;
use crate::report::{AxisChart, StudyRows};

/// `--against` of a command with charts of its own.
#[derive(Args)]
pub(super) struct Against {
    /// Draw speed, occupancy and time against this axis, such as block or n, with a line for each combination of
    /// the other axes, in place of the usual chart
    #[arg(long, value_name = "AXIS")]
    pub(super) against: Option<String>,
}

/// `--plot` and `--against` of a study whose charts are against an axis.
#[derive(Args)]
pub(super) struct Drawing {
    /// Files to draw charts to, .svg or .png: what was measured against an axis; with --devices, speedup against
    /// the number of devices; - draws on the terminal
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = chart_path())]
    pub(super) plot: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) against: Against,
}

/// An axis of a study, and how many values it has.
pub(super) type Counted = (&'static str, usize);

impl Against {
    /// Refuses an axis that nothing is drawn against, that the study does not have, or that has one value.
    pub(super) fn check(&self, draws: bool, axes: &[Counted]) -> Result<(), Failure> {
        let Some(axis) = &self.against else {
            return Ok(());
        };
        refuse_without_effect(&[("--against", !draws)], "without --plot or --report")?;
        let names: Vec<&str> = axes.iter().map(|(name, _)| *name).collect();
        match axes.iter().find(|(name, _)| name == axis) {
            None => Err(Failure::Usage(format!(
                "--against {axis}: expected an axis of the study, one of {}",
                names.join(", ")
            ))),
            Some((_, 0 | 1)) => Err(Failure::Usage(format!(
                "--against {axis}: the axis has one value, and a chart needs two; give it a list"
            ))),
            Some(_) => Ok(()),
        }
    }

    /// The chart of a study's rows, where one against an axis is wanted.
    pub(super) fn chart(
        &self,
        rows: impl FnOnce() -> StudyRows,
    ) -> Result<Option<AxisChart>, Failure> {
        let chart = self.against.as_ref();
        let chart = chart.map(|axis| AxisChart::new(rows(), axis));
        chart.transpose().map_err(Failure::Usage)
    }
}

impl Drawing {
    /// The charts, opened, and the axis that they are against: the study's first one where none is named.
    pub(super) fn open(&self, axes: &[Counted]) -> Result<(ChartFiles, String), Failure> {
        let draws = !self.plot.is_empty();
        self.against.check(draws, axes)?;
        let first = axes.first().map_or("", |(name, _)| *name);
        let axis = self.against.against.as_deref().unwrap_or(first).to_owned();
        if draws {
            let against = Some(axis.clone());
            Against { against }.check(draws, axes)?;
        }
        Ok((ChartFiles::open(&self.plot)?, axis))
    }

    /// Refuses both where a command draws nothing, or something else.
    pub(super) fn refuse(&self, why: &str) -> Result<(), Failure> {
        let given = [
            ("--plot", !self.plot.is_empty()),
            ("--against", self.against.against.is_some()),
        ];
        refuse_without_effect(&given, why)
    }
}
