//! Two recorded programs side by side, and a gate on what must not grow: idle time, waits and copies.

use serde::Serialize;

use super::analysis::Analysis;
use crate::table::{self, Look, Width, time_text};

/// Analyses that cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NothingToCompare {
    /// One of them saw no device.
    #[error("the program {which} had no work on a device: there is nothing to compare")]
    NoWork {
        /// `before` or `after`.
        which: &'static str,
    },
}

/// A figure of both programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The figure: `idle time`.
    pub figure: &'static str,
    /// Its unit: `ns`, `bytes`, or none of a count.
    pub unit: &'static str,
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
    /// The verdict; `None` of a figure that is told and not judged.
    pub verdict: Option<Verdict>,
}

/// The verdict on a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It is less by more than the tolerance.
    Less,
    /// It differs by no more than the tolerance.
    Same,
    /// It is more by more than the tolerance.
    More,
}

/// All figures. Times are left out where a device was emulated. `tolerance` is a share.
///
/// # Errors
/// [`NothingToCompare`]: a program had no work.
pub fn compare(
    before: &Analysis,
    after: &Analysis,
    tolerance: f64,
) -> Result<Vec<Figure>, NothingToCompare> {
    for (which, analysis) in [("before", before), ("after", after)] {
        if analysis.device.is_empty() {
            return Err(NothingToCompare::NoWork { which });
        }
    }
    let is_timed = !before.is_emulated && !after.is_emulated;
    let figures = FIGURES.iter().filter(|it| is_timed || it.unit != "ns");
    let figures = figures.map(|it| {
        let (before, after) = ((it.of)(before), (it.of)(after));
        Figure {
            figure: it.name,
            unit: it.unit,
            before,
            after,
            verdict: it.is_judged.then(|| Verdict::of(before, after, tolerance)),
        }
    });
    Ok(figures.collect())
}

/// A figure of an analysis.
struct Measure {
    name: &'static str,
    unit: &'static str,
    is_judged: bool,
    of: fn(&Analysis) -> f64,
}

const FIGURES: [Measure; 8] = [
    Measure {
        name: "time of the program",
        unit: "ns",
        is_judged: false,
        of: |it| it.whole_ns,
    },
    Measure {
        name: "idle time of the devices",
        unit: "ns",
        is_judged: true,
        of: |it| it.story.devices.iter().map(|it| it.idle_ns).sum(),
    },
    Measure {
        name: "time of kernels",
        unit: "ns",
        is_judged: false,
        of: |it| it.story.devices.iter().map(|it| it.kernels_ns).sum(),
    },
    Measure {
        name: "time of waits",
        unit: "ns",
        is_judged: false,
        of: |it| {
            it.waits
                .iter()
                .filter_map(|it| it.times)
                .map(|it| it.total_ns)
                .sum()
        },
    },
    Measure {
        name: "waits",
        unit: "",
        is_judged: true,
        of: |it| it.waits.iter().map(|it| it.count as f64).sum(),
    },
    Measure {
        name: "copies",
        unit: "",
        is_judged: true,
        of: |it| it.copies().map(|it| it.count as f64).sum(),
    },
    Measure {
        name: "bytes of copies",
        unit: "bytes",
        is_judged: true,
        of: |it| {
            it.copies()
                .filter_map(|it| it.bytes)
                .map(|it| it as f64)
                .sum()
        },
    },
    Measure {
        name: "launches",
        unit: "",
        is_judged: false,
        of: |it| it.story.launches as f64,
    },
];

impl Verdict {
    fn of(before: f64, after: f64, tolerance: f64) -> Verdict {
        match after {
            after if after > before * (1.0 + tolerance) => Verdict::More,
            after if after < before * (1.0 - tolerance) => Verdict::Less,
            _ => Verdict::Same,
        }
    }

    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Less => "less",
            Verdict::Same => "same",
            Verdict::More => "more",
        }
    }
}

/// The figures as a table.
pub fn comparison_text(figures: &[Figure], width: Width) -> String {
    let rows = figures.iter().map(|it| {
        let change = match it.before > 0.0 {
            true => format!("{:+.1} %", 100.0 * (it.after / it.before - 1.0)),
            false => String::new(),
        };
        let verdict = it.verdict.map_or("", Verdict::name);
        [
            it.figure.to_owned(),
            it.text(it.before),
            it.text(it.after),
            change,
            verdict.to_owned(),
        ]
    });
    let look = Look {
        width,
        is_right: |column| (1..4).contains(&column),
        spare: &["change"],
    };
    table::text(
        ["figure", "before", "after", "change", "verdict"],
        rows,
        look,
    )
}

impl Figure {
    fn text(&self, value: f64) -> String {
        match self.unit {
            "ns" => time_text(value),
            _ => format!("{value:.0}"),
        }
    }
}
