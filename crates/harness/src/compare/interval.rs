//! The interval that the ratio of two launches' times lies in, from their samples.
//!
//! One rule, in the order of what is known:
//!
//! - **Samples of both** (at least 4 and 4, or as many that a rank test of this level can say anything): the interval of
//!   Hodges and Lehmann, that is of the shifts of `ln t` which the rank test of Mann, Whitney and Wilcoxon does not
//!   reject. It needs no distribution: an outlier is one rank, two states of the clock are ranks. Samples that follow
//!   each other closely (a significant rank correlation of neighbours) widen it as many fewer samples would.
//! - **Fewer samples, or means and deviations alone**: Welch's t interval; of summaries around the medians, too.
//! - **Runs that repeat a launch**: their samples are pooled, and the interval covers Student's interval of the runs'
//!   medians, too, so that what varies from run to run is no change.
//! - **One run of each**: it covers that of the rounds' medians, which lie apart in time and have arrays of their own.
//!
//! A launch is only accused if Student's interval at 99 % agrees, for a run has many rows. It must differ by what processes
//! differ by, too, which shows in no round and seldom in few runs.
//!
//! `scripts/checks/gate-rates.py` draws samples and prints the rates of false alarms and of changes found.

use std::collections::HashMap;

use super::table::Run;

/// How seldom a launch that did not change lies outside on one side.
const LEVEL: f64 = 0.025;

/// The samples of both that the ranks are counted of exactly; beyond, their number is as good as normally distributed.
const MAX_EXACT_PAIRS: usize = 2_500;

/// Of fewer samples of either side nothing is said.
const MIN_SAMPLES: usize = 3;

/// More samples of a run than these are thinned to their quantiles.
const MAX_SAMPLES: usize = 1_000;

/// Neighbours are correlated if the coefficient is above this, divided by the root of the samples: 1 time in 20 by chance.
const CORRELATED: f64 = 1.645;

/// The interval of a ratio of times, as logarithms, that covers it 95 times in 100.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// The natural logarithm of the least ratio.
    pub(super) low: f64,
    /// That of the greatest.
    pub(super) high: f64,
}

impl Interval {
    fn around(center: f64, half: f64) -> Interval {
        Interval {
            low: center - half,
            high: center + half,
        }
    }

    fn covering(self, other: Interval) -> Interval {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    fn wider(self, by: f64) -> Interval {
        Interval {
            low: self.low - by,
            high: self.high + by,
        }
    }

    /// Whether all of it lies between a logarithm and its negative.
    pub(super) fn is_within(&self, margin: f64) -> bool {
        self.low >= -margin && self.high <= margin
    }

    /// Returns half of its width as percent of the time.
    pub(super) fn half_percent(&self) -> f64 {
        100.0 * ((self.high - self.low) / 2.0).exp_m1()
    }
}

/// Times of launches of the same code that follow each other closely differ by so much from process to process, however long
/// they are: 0.25 us between the halves of 20 processes on an H100, of launches of 4 and of 6 us alike (docs/results/gate), and
/// twice that for what 20 have not shown. Several runs share it: of few, all may be of one half.
const BETWEEN_LAUNCHES_MS: f64 = 0.000_5;

/// How runs of a launch compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    /// By all that is known. A launch within the tolerance is the same.
    pub(super) interval: Interval,
    /// The wider one that a launch lies outside of that is accused.
    pub(super) accusing: Interval,
    /// By the samples alone, as if runs and rounds did not differ.
    pub(super) of_samples: Interval,
    /// Whether there was one run of each.
    pub(super) is_of_one_run: bool,
}

/// Computes intervals, and remembers how many ranks a number of samples takes.
#[derive(Default)]
pub(super) struct Intervals {
    ranks: HashMap<(usize, usize), usize>,
}

impl Intervals {
    /// Returns the interval of the ratio of a launch's time after to that before. `None`: too few samples.
    pub(super) fn of(&mut self, before: &[Run], after: &[Run]) -> Option<Difference> {
        let of_samples = match (pooled(before), pooled(after)) {
            (Some(before), Some(after)) => self.of_samples(&before, &after)?,
            _ => of_summaries(before, after)?,
        };
        let is_of_one_run = before.len() == 1 && after.len() == 1;
        let (old, new) = match is_of_one_run {
            true => (before[0].round_medians(), after[0].round_medians()),
            false => (run_medians(before), run_medians(after)),
        };
        let between = Between::of(&old, &new);
        let covering = |quantiles: &Quantiles| match &between {
            Some(between) => of_samples.covering(between.interval(quantiles)),
            None => of_samples,
        };
        Some(Difference {
            interval: covering(&LIKELY),
            accusing: covering(&VERY_LIKELY).wider(floor(before, after)),
            of_samples,
            is_of_one_run,
        })
    }

    fn of_samples(&mut self, before: &Series, after: &Series) -> Option<Interval> {
        let (fewer, more) = (before.logs.len(), after.logs.len());
        if fewer.min(more) < MIN_SAMPLES {
            return None;
        }
        let exact = *self
            .ranks
            .entry((fewer, more))
            .or_insert_with(|| outside(fewer, more));
        if exact == 0 {
            return Some(welch(Moments::of(&before.logs)?, Moments::of(&after.logs)?));
        }
        let middle = (fewer * more) as f64 / 2.0;
        let correlation = before.correlation.max(after.correlation);
        let widening = ((1.0 + correlation) / (1.0 - correlation)).sqrt();
        let place = (middle - (middle - exact as f64) * widening)
            .floor()
            .max(1.0) as usize;
        let mut shifts: Vec<f64> = after
            .logs
            .iter()
            .flat_map(|after| before.logs.iter().map(move |before| after - before))
            .collect();
        let last = shifts.len() - place;
        let (_, &mut low, _) = shifts.select_nth_unstable_by(place - 1, f64::total_cmp);
        let (_, &mut high, _) = shifts.select_nth_unstable_by(last, f64::total_cmp);
        Some(Interval { low, high })
    }
}

/// Returns the logarithm of the ratio that processes may differ by.
fn floor(before: &[Run], after: &[Run]) -> f64 {
    let medians = before.iter().chain(after).map(|run| run.median_ms);
    let shortest = medians.fold(f64::INFINITY, f64::min);
    let runs = before.len().min(after.len()) as f64;
    (BETWEEN_LAUNCHES_MS / shortest / runs).ln_1p()
}

/// The logarithms of a launch's times in their order, and how much neighbours are alike.
struct Series {
    logs: Vec<f64>,
    correlation: f64,
}

/// Returns the samples of all runs; `None` if a run has kept none.
fn pooled(runs: &[Run]) -> Option<Series> {
    let mut pooled = Series {
        logs: Vec::new(),
        correlation: 0.0,
    };
    for run in runs {
        let logs: Vec<f64> = run.samples_ms.iter().map(|ms| ms.ln()).collect();
        if logs.is_empty() {
            return None;
        }
        pooled.correlation = pooled.correlation.max(correlation(&logs));
        pooled.logs.extend(thinned(logs));
    }
    Some(pooled)
}

fn thinned(mut logs: Vec<f64>) -> Vec<f64> {
    if logs.len() <= MAX_SAMPLES {
        return logs;
    }
    logs.sort_by(f64::total_cmp);
    let quantile = |index: usize| logs[(2 * index + 1) * logs.len() / (2 * MAX_SAMPLES)];
    (0..MAX_SAMPLES).map(quantile).collect()
}

/// Returns the rank correlation of neighbours, without its bias in short series; 0 where chance explains it.
fn correlation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    for (rank, &place) in order.iter().enumerate() {
        ranks[place] = rank as f64 - (count - 1.0) / 2.0;
    }
    let variance: f64 = ranks.iter().map(|rank| rank * rank).sum();
    let products: f64 = ranks.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let found = products / variance;
    if values.len() < 10 || found < CORRELATED / count.sqrt() {
        return 0.0;
    }
    (found + (1.0 + 4.0 * found) / count).min(0.98)
}

/// Returns how many of the shifts, sorted, lie outside of the interval on each side; 0 where even the whole range is not
/// of that level.
fn outside(fewer: usize, more: usize) -> usize {
    let pairs = fewer * more;
    if pairs > MAX_EXACT_PAIRS {
        let (pairs, all) = (pairs as f64, (fewer + more + 1) as f64);
        let deviation = (pairs * all / 12.0).sqrt();
        return (pairs / 2.0 - 1.96 * deviation + 0.5).floor().max(0.0) as usize;
    }
    // The coefficients of Gauss's binomial: how many orders of the samples have so many pairs the wrong way around.
    let mut orders = vec![0.0; pairs + 1];
    orders[0] = 1.0;
    for step in 1..=fewer {
        for place in (more + step..=pairs).rev() {
            orders[place] -= orders[place - more - step];
        }
        for place in step..=pairs {
            orders[place] += orders[place - step];
        }
    }
    let all: f64 = orders.iter().sum();
    let sums = orders.iter().scan(0.0, |sum, orders| {
        *sum += orders / all;
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= LEVEL).count()
}

/// The mean of a launch's logarithmic times, the variance of that mean, and its degrees of freedom.
struct Moments {
    mean: f64,
    variance: f64,
    freedom: f64,
}

impl Moments {
    fn of(logs: &[f64]) -> Option<Moments> {
        let count = logs.len() as f64;
        if logs.len() < MIN_SAMPLES {
            return None;
        }
        let mean = logs.iter().sum::<f64>() / count;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        Some(Moments {
            mean,
            variance: squares / (count - 1.0) / count,
            freedom: count - 1.0,
        })
    }

    /// Of runs that have kept means and deviations alone.
    fn of_runs(runs: &[Run]) -> Option<Moments> {
        let count: f64 = runs.iter().map(|run| run.samples).sum();
        if count < MIN_SAMPLES as f64 {
            return None;
        }
        let weighted = |of: &dyn Fn(&Run) -> f64| {
            runs.iter().map(|run| of(run) * run.samples).sum::<f64>() / count
        };
        Some(Moments {
            mean: weighted(&|run| run.mean_ms.ln()),
            variance: weighted(&|run| (run.rms_percent / 100.0).powi(2)) / count,
            freedom: count - 1.0,
        })
    }
}

/// Returns the interval of means, around the medians, too: an outlier moves a mean by more than its deviation says.
fn of_summaries(before: &[Run], after: &[Run]) -> Option<Interval> {
    let of_means = welch(Moments::of_runs(before)?, Moments::of_runs(after)?);
    let center =
        |runs: &[Run]| runs.iter().map(|run| run.median_ms.ln()).sum::<f64>() / runs.len() as f64;
    let half = (of_means.high - of_means.low) / 2.0;
    Some(of_means.covering(Interval::around(center(after) - center(before), half)))
}

fn welch(before: Moments, after: Moments) -> Interval {
    let variance = before.variance + after.variance;
    let shares = before.variance.powi(2) / before.freedom + after.variance.powi(2) / after.freedom;
    let freedom = match shares > 0.0 {
        true => variance.powi(2) / shares,
        false => before.freedom + after.freedom,
    };
    Interval::around(
        after.mean - before.mean,
        student(&LIKELY, freedom) * variance.sqrt(),
    )
}

fn run_medians(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(|run| run.median_ms).collect()
}

/// How the medians of runs or rounds differ.
struct Between {
    center: f64,
    /// The standard error of the center.
    error: f64,
    freedom: f64,
}

impl Between {
    /// `None` if there is one before and one after, which say nothing of how much they differ.
    fn of(before: &[f64], after: &[f64]) -> Option<Between> {
        let freedom = (before.len() + after.len()).checked_sub(2)?;
        if freedom == 0 || before.is_empty() || after.is_empty() {
            return None;
        }
        let center = |medians: &[f64]| {
            let logs: Vec<f64> = medians.iter().map(|ms| ms.ln()).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
            (mean, squares)
        };
        let ((mean_before, squares_before), (mean_after, squares_after)) =
            (center(before), center(after));
        let deviation = ((squares_before + squares_after) / freedom as f64).sqrt();
        let counts = 1.0 / before.len() as f64 + 1.0 / after.len() as f64;
        Some(Between {
            center: mean_after - mean_before,
            error: deviation * counts.sqrt(),
            freedom: freedom as f64,
        })
    }

    fn interval(&self, quantiles: &Quantiles) -> Interval {
        Interval::around(self.center, student(quantiles, self.freedom) * self.error)
    }
}

/// Quantiles of Student's distribution by its degrees of freedom.
type Quantiles = [(f64, f64); 18];

/// Those that 2.5 % lie above.
const LIKELY: Quantiles = [
    (1.0, 12.706),
    (2.0, 4.303),
    (3.0, 3.182),
    (4.0, 2.776),
    (5.0, 2.571),
    (6.0, 2.447),
    (7.0, 2.365),
    (8.0, 2.306),
    (9.0, 2.262),
    (10.0, 2.228),
    (12.0, 2.179),
    (15.0, 2.131),
    (20.0, 2.086),
    (30.0, 2.042),
    (40.0, 2.021),
    (60.0, 2.000),
    (120.0, 1.980),
    (1000.0, 1.962),
];

/// Those that 0.5 % lie above.
const VERY_LIKELY: Quantiles = [
    (1.0, 63.657),
    (2.0, 9.925),
    (3.0, 5.841),
    (4.0, 4.604),
    (5.0, 4.032),
    (6.0, 3.707),
    (7.0, 3.499),
    (8.0, 3.355),
    (9.0, 3.250),
    (10.0, 3.169),
    (12.0, 3.055),
    (15.0, 2.947),
    (20.0, 2.845),
    (30.0, 2.750),
    (40.0, 2.704),
    (60.0, 2.660),
    (120.0, 2.617),
    (1000.0, 2.581),
];

/// Returns the quantile of as many degrees of freedom or of the next fewer in the table.
fn student(quantiles: &Quantiles, freedom: f64) -> f64 {
    let fewer = quantiles.iter().rev().find(|(of, _)| *of <= freedom);
    fewer.map_or(quantiles[0].1, |(_, quantile)| *quantile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_ranks_lie_outside_as_tables_of_mann_and_whitney_say() {
        // Two-sided 5 %: the greatest U that is significant, and one more place.
        for (fewer, more, critical) in [
            (4, 4, 0),
            (5, 5, 2),
            (5, 8, 6),
            (8, 8, 13),
            (10, 10, 23),
            (20, 20, 127),
        ] {
            assert_eq!(outside(fewer, more), critical + 1, "{fewer} and {more}");
        }
        assert_eq!(outside(3, 3), 0);
        let (exact, normal) = (outside(50, 50), outside(50, 51));
        assert!(normal.abs_diff(exact) < 30, "{exact}, {normal}");
    }

    #[test]
    fn neighbours_are_correlated_where_states_last() {
        let lasting: Vec<f64> = (0..40)
            .map(|it| f64::from(it / 10 % 2) + f64::from(it % 3) / 10.0)
            .collect();
        let changing: Vec<f64> = (0..40).map(|it| f64::from(it * 7 % 11)).collect();
        assert!(correlation(&lasting) > 0.6);
        assert_eq!(correlation(&changing), 0.0);
    }
}
