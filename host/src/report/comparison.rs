//! Two runs side by side, as text for people.

use comfy_table::{CellAlignment, Table, presets};

use super::row_count;
use crate::compare::{Comparison, Spread, Verdict};

/// A table of the rows that changed, and how many did not.
pub fn comparison_text(comparison: &Comparison) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header([
        "launch",
        "before ms",
        "after ms",
        "time",
        "noise",
        "",
        "flags",
    ]);
    let changed = comparison
        .changes
        .iter()
        .filter(|change| change.verdict != Verdict::Same);
    for change in changed {
        table.add_row([
            change.launch.clone(),
            format!("{:.4}", change.before_ms),
            format!("{:.4}", change.after_ms),
            format!("{:+.2} %", change.percent),
            format!("{:.2} %", change.noise_percent),
            match change.verdict {
                Verdict::Slower => "slower".to_owned(),
                _ => "faster".to_owned(),
            },
            change.flags.join(" "),
        ]);
    }
    for column in table.column_iter_mut().take(5).skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let count = |verdict| comparison.with(verdict).count();
    let mut text = String::new();
    if table.row_count() > 0 {
        text = format!("{table}\n");
    }
    for (launches, which) in [
        (&comparison.only_before, "before"),
        (&comparison.only_after, "after"),
    ] {
        for launch in launches {
            text.push_str(&format!("only {which}: {launch}\n"));
        }
    }
    text + &format!(
        "{}: {} as fast as before, {} faster, {} slower",
        row_count(comparison.changes.len()),
        count(Verdict::Same),
        count(Verdict::Faster),
        count(Verdict::Slower)
    )
}

/// A table of how launches differ from GPU to GPU.
pub fn spread_table(spreads: &[Spread]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header([
        "launch",
        "fastest ms",
        "slowest ms",
        "spread",
        "slowest GPU",
        "slower than alone",
    ]);
    for spread in spreads {
        table.add_row([
            spread.launch.clone(),
            format!("{:.4}", spread.fastest_ms),
            format!("{:.4}", spread.slowest_ms),
            format!("{:.2} %", spread.percent),
            spread.slowest.to_string(),
            format!("{:+.2} %", spread.slowed_percent),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}
