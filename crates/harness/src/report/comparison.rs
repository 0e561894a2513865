//! Two runs side by side, as text for people.

use super::counted;
use crate::compare::{Comparison, Spread, Verdict};
use crate::table::{self, Look, Width};

/// Returns a table of the launches that changed or cannot be judged, and how many did not change.
pub fn comparison_text(comparison: &Comparison, width: Width) -> String {
    let header = [
        "launch",
        "before ms",
        "after ms",
        "time",
        "noise",
        "verdict",
        "flags",
    ];
    let changed = comparison
        .changes
        .iter()
        .filter(|change| change.verdict != Verdict::Same);
    let rows = changed.map(|change| {
        [
            change.launch.clone(),
            known(change.before_ms).map_or_else(String::new, |ms| format!("{ms:.4}")),
            known(change.after_ms).map_or_else(String::new, |ms| format!("{ms:.4}")),
            known(change.percent).map_or_else(String::new, |percent| format!("{percent:+.2} %")),
            change
                .noise_percent
                .map_or_else(String::new, |noise| format!("{noise:.2} %")),
            match &change.reason {
                Some(reason) => format!("{}: {reason}", change.verdict.name()),
                None => change.verdict.name().to_owned(),
            },
            change.flags.join(" "),
        ]
    });
    let rows: Vec<_> = rows.collect();
    let count = |verdict| comparison.with(verdict).count();
    let mut text = String::new();
    if !rows.is_empty() {
        let look = Look {
            width,
            is_right: |column| (1..5).contains(&column),
            spare: &["flags", "noise", "before ms"],
        };
        text = table::text(header, rows, look) + "\n";
    }
    for (launches, which) in [
        (&comparison.only_before, "before"),
        (&comparison.only_after, "after"),
    ] {
        for launch in launches {
            text.push_str(&format!("only {which}: {launch}\n"));
        }
    }
    for note in &comparison.notes {
        text.push_str(&format!("{note}\n"));
    }
    text += &format!(
        "{}: {} as fast as before, {} faster, {} slower",
        counted(comparison.changes.len() as u64, "row"),
        count(Verdict::Same),
        count(Verdict::Faster),
        count(Verdict::Slower)
    );
    match count(Verdict::Unknown) {
        0 => text,
        unknown => format!("{text}, {unknown} unknown"),
    }
}

/// A figure, unless a sample had no time.
fn known(value: f64) -> Option<f64> {
    Some(value).filter(|it| it.is_finite())
}

/// A table of how launches differ from GPU to GPU.
pub fn spread_table(spreads: &[Spread], width: Width) -> String {
    let header = [
        "launch",
        "fastest ms",
        "slowest ms",
        "spread",
        "slowest GPU",
        "slower than alone",
    ];
    let rows = spreads.iter().map(|spread| {
        [
            spread.launch.clone(),
            format!("{:.4}", spread.fastest_ms),
            format!("{:.4}", spread.slowest_ms),
            format!("{:.2} %", spread.percent),
            spread.slowest.to_string(),
            format!("{:+.2} %", spread.slowed_percent),
        ]
    });
    let look = Look {
        width,
        is_right: |column| column > 0,
        spare: &["fastest ms", "slowest ms"],
    };
    table::text(header, rows, look)
}
