//! Rows of `power --devices` and `norm --devices`, drawn as these commands draw them.

use itertools::Itertools;

use super::{Arguments, Numbered, Table};
use crate::cli::Failure;
use crate::cli::charts::ChartFiles;
use crate::cli::console::Console;
use crate::driver::printable;
use crate::report::{ScalingChart, ScalingRow};

/// The columns that tell such rows from others'.
const COLUMNS: [&str; 5] = ["study", "exchange", "devices", "scaling", "speedup"];

pub(super) fn is_in(table: &Table) -> bool {
    COLUMNS.iter().all(|column| table.place(column).is_ok())
}

pub(super) fn draw(arguments: &Arguments, console: &Console, table: &Table) -> Result<(), Failure> {
    for (option, is_given) in [
        ("--ceilings", arguments.ceilings.is_some()),
        ("--links", arguments.links.is_some()),
        ("--mark", !arguments.mark.is_empty()),
    ] {
        if is_given {
            return Err(Failure::Usage(format!(
                "{option} has no effect: {} has rows of a study on several devices, which are drawn without roofs",
                arguments.rows.display()
            )));
        }
    }
    let chosen = table.chosen(&arguments.only, &[])?;
    let rows = chosen.iter().map(|row| table.scaling_row(*row));
    let rows: Vec<ScalingRow> = rows.collect::<Result<_, _>>().map_err(Failure::Failed)?;
    table.refuse_several(&rows).map_err(Failure::Usage)?;
    let chart = ScalingChart {
        rows: &rows,
        title: arguments.title.as_deref(),
    };
    let files = ChartFiles::open(&arguments.output)?;
    files.write(console, &chart)
}

impl Table {
    fn scaling_row(&self, numbered: Numbered<'_>) -> Result<ScalingRow, String> {
        let (_, row) = numbered;
        let text = |column| self.cell(row, column).map(str::to_owned);
        let speedup = match self.cell(row, "speedup")? {
            // One device was not measured.
            "" => None,
            _ => Some(self.positive(numbered, "speedup")?),
        };
        let is_predicted = match self.cell(row, "kind")? {
            "measured" => false,
            "predicted" => true,
            _ => return Err(self.unexpected(numbered, "kind", "measured or predicted")),
        };
        Ok(ScalingRow {
            study: text("study")?,
            exchange: text("exchange")?,
            devices: self.count(numbered, "devices")? as usize,
            scaling: text("scaling")?,
            size: self.count(numbered, "size")?,
            speedup,
            is_predicted,
            error_percent: self.error_percent(numbered)?,
            device: text("device")?,
        })
    }

    /// The error of a prediction. Files of earlier versions have no such column.
    fn error_percent(&self, numbered: Numbered<'_>) -> Result<Option<f64>, String> {
        const COLUMN: &str = "error_percent";
        match self.cell(numbered.1, COLUMN) {
            Err(_) | Ok("") => Ok(None),
            Ok(cell) => {
                let percent = cell.parse().ok().filter(|it: &f64| it.is_finite());
                let wanted = || self.unexpected(numbered, COLUMN, "a number of percent");
                percent.map(Some).ok_or_else(wanted)
            }
        }
    }

    /// A number from 1.
    fn count(&self, numbered: Numbered<'_>, column: &str) -> Result<u64, String> {
        let cell = self.cell(numbered.1, column)?;
        let count = cell.parse().ok().filter(|&count: &u64| count > 0);
        count.ok_or_else(|| self.unexpected(numbered, column, "a whole number above 0"))
    }

    fn unexpected(&self, (number, row): Numbered<'_>, column: &str, wanted: &str) -> String {
        let cell = self.cell(row, column).unwrap_or_default();
        let path = self.path.display();
        format!("{path}, row {number}: {column} is {cell:?}; expected {wanted}")
    }

    /// A chart is of one study, one kind of scaling, one kind of device and one size, which only weak scaling lets grow with the devices.
    fn refuse_several(&self, rows: &[ScalingRow]) -> Result<(), String> {
        type Value = fn(&ScalingRow) -> String;
        let values: [(&str, Value); 3] = [
            ("study", |row| row.study.clone()),
            ("scaling", |row| row.scaling.clone()),
            ("device", |row| row.device_name().to_owned()),
        ];
        for (column, value) in values {
            self.refuse_more_than_one(column, rows.iter().map(value))?;
        }
        let is_weak = |row: &ScalingRow| row.scaling == "weak";
        let devices = rows.iter().map(|row| row.devices).unique();
        for count in devices {
            let same = rows
                .iter()
                .filter(|row| !is_weak(row) || row.devices == count);
            self.refuse_more_than_one("size", same.map(|row| row.size.to_string()))?;
        }
        Ok(())
    }

    fn refuse_more_than_one(
        &self,
        column: &str,
        values: impl Iterator<Item = String>,
    ) -> Result<(), String> {
        let found: Vec<String> = values.unique().collect();
        if found.len() < 2 {
            return Ok(());
        }
        Err(format!(
            "{} has rows of more than one {column}: {}; choose rows of one with --only",
            self.path.display(),
            found.iter().map(|it| printable(it)).join(", ")
        ))
    }
}
