//! `cargo bench -- list`

use comfy_table::{Table, presets};

use super::suite::Suite;
use super::{Failure, streams};

pub(super) fn run() -> Result<(), Failure> {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(["workload", "axis", "values", ""]);
    for workload in &Suite::get().workloads {
        let axes = workload.axes();
        if axes.is_empty() {
            table.add_row([workload.name(), "", "", ""]);
        }
        for (index, axis) in axes.iter().enumerate() {
            // Each name once.
            let name = if index == 0 { workload.name() } else { "" };
            let values = axis.defaults_text();
            table.add_row([name, axis.name(), &values, &axis.description()]);
        }
    }
    streams::say(&table.to_string());
    streams::say("block, grid and cache are axes of every workload.");
    Ok(())
}
