//! Rows that were measured before: read, put into one file, and two runs side by side.

mod error;
mod merge;
mod rows;
mod spread;
mod table;

use std::collections::{HashMap, VecDeque};

use serde::Serialize;

pub use error::{NothingInCommon, TableError, Torn};
pub use merge::{Merge, MergeOutput, Merged};
pub use rows::{Cells, Rows};
pub use spread::{Spread, spreads};
use table::Measured;
pub use table::Table;

/// Two rows of the same launch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// What the launch was.
    pub launch: String,
    /// The same, whatever the order of a table's columns is.
    #[serde(skip)]
    pub key: String,
    /// Median time before.
    pub before_ms: f64,
    /// Median time after.
    pub after_ms: f64,
    /// How much more time it takes, percent; negative where it is faster.
    pub percent: f64,
    /// The difference that noise explains, percent: of two means with the rows' deviations, 95 times
    /// in 100, or the noise floor that an A/A run has found, whichever is more.
    pub noise_percent: f64,
    /// What that means.
    pub verdict: Verdict,
    /// What was to be said against either row.
    pub flags: Vec<String>,
}

/// What a difference means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No more than noise or the tolerance.
    Same,
    /// Faster by more.
    Faster,
    /// Slower by more.
    Slower,
}

/// All rows of two tables.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Rows that both have.
    pub changes: Vec<Change>,
    /// Launches that only the first has.
    pub only_before: Vec<String>,
    /// Launches that only the second has.
    pub only_after: Vec<String>,
}

impl Comparison {
    /// Pairs the rows of the same launch, those that occur several times in order.
    ///
    /// # Errors
    /// [`NothingInCommon`]: no launch is in both; it names the first of each.
    pub fn of(
        before: &Table,
        after: &Table,
        tolerance_percent: f64,
    ) -> Result<Comparison, NothingInCommon> {
        let mut unpaired: HashMap<&str, VecDeque<&Measured>> = HashMap::new();
        for row in &after.rows {
            unpaired.entry(&row.key).or_default().push_back(row);
        }
        let mut changes = Vec::new();
        let mut only_before = Vec::new();
        for row in &before.rows {
            let same_launch = unpaired.get_mut(row.key.as_str());
            match same_launch.and_then(VecDeque::pop_front) {
                Some(other) => changes.push(Change::of(row, other, tolerance_percent)),
                None => only_before.push(row.launch.clone()),
            }
        }
        // Of a launch that occurs several times, the last rows are those that are left.
        let mut only_after = Vec::new();
        for row in after.rows.iter().rev() {
            let left = unpaired.get_mut(row.key.as_str());
            if left.and_then(VecDeque::pop_back).is_some() {
                only_after.push(row.launch.clone());
            }
        }
        only_after.reverse();
        if changes.is_empty() {
            let first = |launches: &[String]| launches.first().cloned().unwrap_or_default();
            return Err(NothingInCommon {
                before: only_before.len(),
                after: only_after.len(),
                first_before: first(&only_before),
                first_after: first(&only_after),
            });
        }
        Ok(Comparison {
            changes,
            only_before,
            only_after,
        })
    }

    /// The rows with this verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(move |change| change.verdict == verdict)
    }
}

impl Change {
    fn of(before: &Measured, after: &Measured, tolerance_percent: f64) -> Change {
        /// Of a normal distribution, 95 percent lie within so many standard deviations.
        const DEVIATIONS: f64 = 1.96;
        let variance = |row: &Measured| row.rms_percent.powi(2) / row.samples;
        let noise = DEVIATIONS * (variance(before) + variance(after)).sqrt();
        let noise_percent = noise
            .max(before.noise_floor_percent)
            .max(after.noise_floor_percent);
        let percent = 100.0 * (after.median_ms / before.median_ms - 1.0);
        let verdict = if percent.abs() <= noise_percent.max(tolerance_percent) {
            Verdict::Same
        } else if percent > 0.0 {
            Verdict::Slower
        } else {
            Verdict::Faster
        };
        let mut flags = [before.flags.clone(), after.flags.clone()].concat();
        flags.sort();
        flags.dedup();
        Change {
            launch: before.launch.clone(),
            key: before.key.clone(),
            before_ms: before.median_ms,
            after_ms: after.median_ms,
            percent,
            noise_percent,
            verdict,
            flags,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(&str, f64, f64)]) -> Table {
        let row = |&(launch, median_ms, rms_percent): &(&str, f64, f64)| Measured {
            launch: launch.to_owned(),
            key: launch.to_owned(),
            median_ms,
            rms_percent,
            samples: 10.0,
            noise_floor_percent: 0.0,
            flags: Vec::new(),
        };
        Table {
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn differences_within_the_noise_or_the_tolerance_are_none() {
        let before = table(&[
            ("a", 1.0, 0.1),
            ("b", 1.0, 10.0),
            ("c", 1.0, 0.1),
            ("d", 1.0, 0.1),
        ]);
        let after = table(&[
            ("a", 1.02, 0.1),
            ("b", 1.08, 10.0),
            ("c", 1.05, 0.1),
            ("d", 0.9, 0.1),
        ]);
        let verdicts = |tolerance| -> Vec<Verdict> {
            let comparison = Comparison::of(&before, &after, tolerance).expect("rows in common");
            comparison
                .changes
                .iter()
                .map(|change| change.verdict)
                .collect()
        };
        use Verdict::{Faster, Same, Slower};
        assert_eq!(verdicts(3.0), [Same, Same, Slower, Faster]);
        assert_eq!(verdicts(0.0), [Slower, Same, Slower, Faster]);
        assert_eq!(verdicts(20.0), [Same; 4]);
    }

    #[test]
    fn rows_are_paired_in_order_and_the_others_named() {
        let before = table(&[("a", 1.0, 0.1), ("a", 2.0, 0.1), ("b", 1.0, 0.1)]);
        let after = table(&[("c", 1.0, 0.1), ("a", 1.0, 0.1), ("a", 2.0, 0.1)]);
        let comparison = Comparison::of(&before, &after, 1.0).expect("rows in common");
        assert_eq!(comparison.with(Verdict::Same).count(), 2);
        assert_eq!(comparison.only_before, ["b"]);
        assert_eq!(comparison.only_after, ["c"]);
    }
}
