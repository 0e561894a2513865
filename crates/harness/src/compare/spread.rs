//! The same launch on several GPUs.

use serde::Serialize;

use super::Table;

/// How a launch's times differ from GPU to GPU, all of which ran at once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spread {
    /// The launch.
    pub launch: String,
    /// The shortest of the GPUs' median times.
    pub fastest_ms: f64,
    /// The longest.
    pub slowest_ms: f64,
    /// The GPU that took it.
    pub slowest: usize,
    /// How much longer the longest is, percent of the shortest.
    pub percent: f64,
    /// How much longer a GPU took than it did alone, percent: that of which it is most.
    pub slowed_percent: f64,
}

/// The spread of each launch. The tables are of one GPU each, in order, and of the same sweep.
pub fn spreads(alone: &[Table], together: &[Table]) -> Vec<Spread> {
    let Some(first) = together.first() else {
        return Vec::new();
    };
    let rows = first.rows.iter().enumerate().filter_map(|(place, row)| {
        let times = |tables: &[Table]| -> Option<Vec<f64>> {
            tables
                .iter()
                .map(|table| Some(table.rows.get(place)?.run.median_ms))
                .collect()
        };
        let (alone, together) = (times(alone)?, times(together)?);
        let by_time = |a: &(usize, &f64), b: &(usize, &f64)| a.1.total_cmp(b.1);
        let (slowest, &slowest_ms) = together.iter().enumerate().max_by(by_time)?;
        let (_, &fastest_ms) = together.iter().enumerate().min_by(by_time)?;
        let slowed = together
            .iter()
            .zip(&alone)
            .map(|(now, before)| 100.0 * (now / before - 1.0));
        Some(Spread {
            launch: row.launch.clone(),
            fastest_ms,
            slowest_ms,
            slowest,
            percent: 100.0 * (slowest_ms / fastest_ms - 1.0),
            slowed_percent: slowed.fold(f64::NEG_INFINITY, f64::max),
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::row;

    fn table(times: &[f64]) -> Table {
        Table {
            rows: times.iter().map(|&time| row("k 1", &[time])).collect(),
            ..Table::default()
        }
    }

    #[test]
    fn the_slowest_gpu_is_named() {
        let alone = [table(&[1.0, 2.0]), table(&[1.0, 2.0])];
        let together = [table(&[1.0, 2.2]), table(&[1.25, 2.0])];
        let found = spreads(&alone, &together);
        let figures: Vec<_> = found
            .iter()
            .map(|it| (it.slowest, it.percent.round(), it.slowed_percent.round()))
            .collect();
        assert_eq!(figures, [(1, 25.0, 25.0), (0, 10.0, 10.0)]);
        assert!(spreads(&[], &[]).is_empty());
    }
}
