//! `ridgepoint list`

use super::suite::Suite;
use super::{Failure, streams};
use crate::table;

pub(super) fn run() -> Result<(), Failure> {
    let mut rows = Vec::new();
    for workload in &Suite::get().workloads {
        let axes = workload.axes();
        if axes.is_empty() {
            rows.push([workload.name(), "", "", ""].map(str::to_owned));
        }
        for (index, axis) in axes.iter().enumerate() {
            // Each name once.
            let name = if index == 0 { workload.name() } else { "" };
            let values = axis.defaults_text();
            rows.push([name, axis.name(), &values, &axis.description()].map(str::to_owned));
        }
    }
    let header = ["workload", "axis", "values", ""];
    streams::say(&table::text(header, rows, |_| false));
    streams::say("block, grid and cache are axes of every workload.");
    Ok(())
}
