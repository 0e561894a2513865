//! Rows that were measured before: read, put into one file, and two runs side by side.

mod counts;
mod error;
mod interval;
mod launches;
mod merge;
mod rows;
mod spread;
mod table;

use std::fmt;

use serde::{Serialize, Serializer};

pub use error::{NotComparable, TableError, Torn};
use interval::{Difference, Interval, Intervals};
use launches::{Launches, annotations};
pub use merge::{Lacking, Lacks, Merge, MergeOutput, Merged};
pub use rows::{Cells, Rows};
pub use spread::{Spread, spreads};
pub use table::Table;
use table::{Measured, Run};

/// A launch before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The launch, for people.
    pub launch: String,
    /// The same as the table after has it, whatever the order of its columns is.
    #[serde(skip)]
    pub key: String,
    /// Median time before, of all runs.
    pub before_ms: f64,
    /// Median time after, of all runs.
    pub after_ms: f64,
    /// How much more time it takes, percent; negative where it is faster. Of the emulator's launches how much more they do.
    pub percent: f64,
    /// Half of the width of the interval that covers the change 95 times in 100, percent, or the noise floor that an A/A
    /// run has found, whichever is more. `None` if there are too few samples for one.
    pub noise_percent: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why the verdict is [`Verdict::Unknown`], or which counts changed.
    #[serde(serialize_with = "as_text")]
    pub reason: Option<Reason>,
    /// The flags of all rows of it.
    pub flags: Vec<String>,
}

/// The verdict on a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The whole interval lies within the tolerance.
    Same,
    /// The whole wider interval lies below it: faster.
    Faster,
    /// The whole wider interval lies above it: slower.
    Slower,
    /// It cannot be told from these samples.
    Unknown,
}

impl Verdict {
    /// Returns the word for it in texts and rows.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Same => "same",
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Why a launch cannot be judged, or what changed besides its time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// One side has fewer than 3 samples.
    FewSamples {
        /// The samples before.
        before: f64,
        /// The samples after.
        after: f64,
    },
    /// The interval reaches from within the tolerance to outside of it.
    Noise {
        /// The samples that would tell, if they vary as these do.
        samples: f64,
    },
    /// One run of each has rounds that differ so, or a launch so short that processes do.
    OneRun,
    /// The runs of each differ so.
    RunsDiffer,
    /// The rows have no samples, and the deviation of their means, outliers included, is too large.
    NoSamples,
    /// The emulator's counts, by which its launches are judged, are others.
    Counts {
        /// Those that changed by more than the tolerance: name, before, after.
        changed: Vec<(&'static str, f64, f64)>,
    },
    /// The emulator's counts differ from run to run, as those of launches that wait for each other do.
    CountsVary,
    /// The time is that of the emulator's host, and the row has no counts that all runs of the launch have.
    HostTime,
    /// The times differ as the clock does.
    Clock {
        /// The clock before, MHz.
        before: f64,
        /// The clock after, MHz.
        after: f64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::FewSamples { before, after } => {
                write!(
                    formatter,
                    "{before} and {after} samples; at least 3 each are needed"
                )
            }
            Reason::Noise { samples } => {
                write!(formatter, "about {samples} samples each would tell")
            }
            Reason::OneRun => {
                formatter.write_str("3 runs of each, merged, or --against, would tell")
            }
            Reason::RunsDiffer => {
                formatter.write_str("its runs differ so; more of them would tell")
            }
            Reason::NoSamples => {
                formatter.write_str("the rows keep no samples, and their deviation is too large")
            }
            Reason::Counts { changed } => {
                let texts: Vec<String> = changed
                    .iter()
                    .map(|(name, before, after)| format!("{before} to {after} {name}"))
                    .collect();
                formatter.write_str(&texts.join(", "))
            }
            Reason::HostTime => {
                formatter.write_str("its time is the emulator's host's, and it was not counted")
            }
            Reason::CountsVary => formatter.write_str("its counts differ from run to run"),
            Reason::Clock { before, after } => {
                write!(
                    formatter,
                    "the clock was {before:.0} MHz, then {after:.0} MHz"
                )
            }
        }
    }
}

fn as_text<S: Serializer>(reason: &Option<Reason>, serializer: S) -> Result<S::Ok, S::Error> {
    reason.as_ref().map(Reason::to_string).serialize(serializer)
}

/// The rules by which a difference counts as a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Changes up to this are none, percent.
    pub tolerance_percent: f64,
    /// Which devices the rows may be of.
    pub devices: Devices,
    /// Columns that say nothing of the launch, such as notes.
    pub ignored: Vec<String>,
}

/// Which devices the rows of a comparison may be of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// The same before and after.
    Same,
    /// Any: the devices are what is compared.
    Any,
}

impl Rules {
    /// Returns the rules for runs on one device.
    pub fn tolerating(percent: f64) -> Rules {
        Rules {
            tolerance_percent: percent,
            devices: Devices::Same,
            ignored: Vec::new(),
        }
    }
}

/// All rows of two tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Launches that both have.
    pub changes: Vec<Change>,
    /// Launches that only the first has.
    pub only_before: Vec<String>,
    /// Launches that only the second has.
    pub only_after: Vec<String>,
    /// How the runs differ otherwise: devices, drivers, versions, clock limits.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Compares the rows of each launch; several rows of one are pooled, in whatever order they stand.
    ///
    /// # Errors
    /// [`NotComparable::Devices`]: the rows are of different devices, and the rules want the same;
    /// [`NotComparable::Ignored`]: there is no such column to ignore, or it cannot be; [`NotComparable::NothingInCommon`]: no
    /// launch is in both.
    pub fn of(before: &Table, after: &Table, rules: &Rules) -> Result<Comparison, NotComparable> {
        if rules.devices == Devices::Same {
            error::same_devices(before, after)?;
        }
        let ignored = annotations(before, after, &rules.ignored)?;
        let (old, new) = (
            Launches::of(before, &ignored),
            Launches::of(after, &ignored),
        );
        let mut intervals = Intervals::default();
        let both = old
            .order
            .iter()
            .filter_map(|key| Some((&old.rows[&**key], new.rows.get(&**key)?)));
        let changes: Vec<Change> = both
            .map(|(before, after)| Change::of(before, after, rules, &mut intervals))
            .collect();
        if changes.is_empty() {
            return Err(error::nothing_in_common(before, after));
        }
        Ok(Comparison {
            changes,
            only_before: old.missing_in(&new),
            only_after: new.missing_in(&old),
            notes: ignored
                .notes
                .into_iter()
                .chain(before.facts.differences(&after.facts))
                .collect(),
        })
    }

    /// The launches with this verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(move |change| change.verdict == verdict)
    }
}

impl Change {
    fn of(
        before: &[&Measured],
        after: &[&Measured],
        rules: &Rules,
        intervals: &mut Intervals,
    ) -> Change {
        let runs =
            |rows: &[&Measured]| -> Vec<Run> { rows.iter().map(|row| row.run.clone()).collect() };
        let (old, new) = (runs(before), runs(after));
        let rows = || before.iter().chain(after);
        let floor = rows()
            .map(|row| row.noise_floor_percent)
            .fold(0.0, f64::max);
        let (before_ms, after_ms) = (median(&old), median(&new));
        let judged = counts::judged(&old, &new, rules.tolerance_percent).unwrap_or_else(|| {
            let difference = intervals.of(&old, &new);
            let margin = (rules.tolerance_percent.max(floor) / 100.0).ln_1p();
            let (verdict, reason) = verdict(difference, margin, &old, &new);
            let half = |it: Difference| it.interval.half_percent().max(floor);
            Judged {
                percent: 100.0 * (after_ms / before_ms - 1.0),
                noise_percent: difference.map(half),
                verdict,
                reason,
            }
        });
        let mut flags: Vec<String> = rows().flat_map(|row| row.flags.clone()).collect();
        flags.sort();
        flags.dedup();
        Change {
            launch: before[0].launch.clone(),
            key: after[0].key.clone(),
            before_ms,
            after_ms,
            percent: judged.percent,
            noise_percent: judged.noise_percent,
            verdict: judged.verdict,
            reason: judged.reason,
            flags,
        }
    }
}

/// A verdict with its figures, as a [`Change`] has them.
struct Judged {
    percent: f64,
    noise_percent: Option<f64>,
    verdict: Verdict,
    reason: Option<Reason>,
}

/// Judges by where the interval lies; `margin` is the logarithm of the least ratio that counts.
fn verdict(
    difference: Option<Difference>,
    margin: f64,
    before: &[Run],
    after: &[Run],
) -> (Verdict, Option<Reason>) {
    let Some(difference) = difference else {
        let (before, after) = (samples(before), samples(after));
        return (Verdict::Unknown, Some(Reason::FewSamples { before, after }));
    };
    let Interval { low, high } = difference.interval;
    let verdict = if difference.accusing.low > margin {
        Verdict::Slower
    } else if difference.accusing.high < -margin {
        Verdict::Faster
    } else if difference.interval.is_within(margin) {
        return (Verdict::Same, None);
    } else {
        let reason = missing(&difference, margin, before, after);
        return (Verdict::Unknown, Some(reason));
    };
    match clock(before).zip(clock(after)) {
        Some((before, after))
            if is_the_clocks((low + high) / 2.0, (before / after).ln(), margin) =>
        {
            (Verdict::Unknown, Some(Reason::Clock { before, after }))
        }
        _ => (verdict, None),
    }
}

fn samples(runs: &[Run]) -> f64 {
    runs.iter().map(|run| run.samples).sum()
}

/// Returns what would tell whether a launch changed.
fn missing(difference: &Difference, margin: f64, before: &[Run], after: &[Run]) -> Reason {
    let keep_samples = |runs: &[Run]| runs.iter().all(|run| !run.samples_ms.is_empty());
    if !keep_samples(before) || !keep_samples(after) {
        return Reason::NoSamples;
    }
    let Interval { low, high } = difference.of_samples;
    // The samples alone would tell: the rounds or the runs, or what is the same all over a run, do not.
    if low > margin || high < -margin || difference.of_samples.is_within(margin) {
        return match difference.is_of_one_run {
            true => Reason::OneRun,
            false => Reason::RunsDiffer,
        };
    }
    // The interval narrows with the root of the samples; half of the margin tells all but what lies just there.
    let fewer = samples(before).min(samples(after));
    let wanted = fewer * ((high - low) / margin.max(1e-3)).powi(2);
    Reason::Noise {
        samples: wanted.max(fewer + 1.0).ceil(),
    }
}

/// Whether the clock, by which times would change so, explains the change.
fn is_the_clocks(change: f64, clock: f64, margin: f64) -> bool {
    clock.abs() > margin / 2.0 && (change - clock).abs() <= margin
}

/// The mean of the runs' clocks, where all know it.
fn clock(runs: &[Run]) -> Option<f64> {
    let clocks: Option<Vec<f64>> = runs.iter().map(|run| run.clock_mhz).collect();
    clocks.map(|clocks| clocks.iter().sum::<f64>() / clocks.len() as f64)
}

/// The median of all samples; of the runs' medians where one has none.
fn median(runs: &[Run]) -> f64 {
    let has_all = runs.iter().all(|run| !run.samples_ms.is_empty());
    let mut times: Vec<f64> = match has_all {
        true => runs
            .iter()
            .flat_map(|run| run.samples_ms.iter().copied())
            .collect(),
        false => runs.iter().map(|run| run.median_ms).collect(),
    };
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    match times.len() % 2 {
        0 => (times[middle - 1] + times[middle]) / 2.0,
        _ => times[middle],
    }
}

#[cfg(test)]
mod tests;
