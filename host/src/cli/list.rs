//! `ridgepoint list`

use clap::Args;
use serde::Serialize;

use super::suite::Suite;
use super::{Failure, row_format};
use crate::report::Width;
use crate::table::{self, Look};
use crate::workload::{Axis, Workload};

#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    printed: row_format::Arguments,
}

/// An axis of a workload. One of a workload without axes has none but the workload's name.
#[derive(Serialize)]
struct Row {
    workload: &'static str,
    axis: String,
    values: String,
    description: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let printed = &arguments.printed;
    printed.refuse_silence()?;
    let workloads = Suite::get().workloads.iter();
    let rows: Vec<Row> = workloads.flat_map(|&workload| rows(workload)).collect();
    let console = printed.console(0);
    printed.show(&rows, &console, |width| table(&rows, width))?;
    console.say("block, grid and cache are axes of every workload.");
    Ok(())
}

fn rows(workload: &'static dyn Workload) -> Vec<Row> {
    let row = |axis: Option<&Axis>| Row {
        workload: workload.name(),
        axis: axis.map_or_else(String::new, |it| it.name().to_owned()),
        values: axis.map_or_else(String::new, |it| it.defaults_text()),
        description: axis.map_or_else(String::new, |it| it.description().trim().to_owned()),
    };
    match &workload.axes()[..] {
        [] => vec![row(None)],
        axes => axes.iter().map(|axis| row(Some(axis))).collect(),
    }
}

fn table(rows: &[Row], width: Width) -> String {
    let mut before = "";
    let cells = rows.iter().map(|row| {
        // Each name once.
        let name = if row.workload == before {
            ""
        } else {
            row.workload
        };
        before = row.workload;
        [name, &row.axis, &row.values, &row.description]
    });
    let look = Look {
        width,
        is_right: |_| false,
        spare: &[],
    };
    table::text(
        ["workload", "axis", "default values", "meaning"],
        cells,
        look,
    )
}
