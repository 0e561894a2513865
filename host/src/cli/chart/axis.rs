//! Rows of any study against one of its axes, as the study itself draws them.

use super::{Arguments, Table};
use crate::cli::Failure;
use crate::cli::charts::ChartFiles;
use crate::cli::console::Console;
use crate::cli::option_values::refuse_without_effect;
use crate::report::{AxisChart, StudyRows};

pub(super) fn draw(arguments: &Arguments, console: &Console, table: &Table) -> Result<(), Failure> {
    let given = [
        ("--ceilings", arguments.ceilings.is_some()),
        ("--links", arguments.links.is_some()),
        ("--mark", !arguments.mark.is_empty()),
    ];
    refuse_without_effect(
        &given,
        "with --against: such a chart has no roofs and no notes",
    )?;
    let Some(axis) = &arguments.against.against else {
        return Ok(());
    };
    let chosen = table.chosen(&arguments.only, &[])?;
    let text = |row: &csv::StringRecord| row.iter().map(str::to_owned).collect();
    let rows = StudyRows {
        header: table.header.iter().map(str::to_owned).collect(),
        rows: chosen.into_iter().map(|(_, row)| text(row)).collect(),
    };
    let chart = AxisChart::new(rows, axis);
    let chart =
        chart.map_err(|reason| Failure::Usage(format!("{}: {reason}", table.path.display())))?;
    let chart = match &arguments.title {
        Some(title) => chart.titled(title),
        None => chart,
    };
    let files = ChartFiles::open(&arguments.output)?;
    files.write(console, &chart)
}
