//! Statistics of a set of samples.

use serde::Serialize;

/// Statistics of one or more samples, in the samples' unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Arithmetic mean.
    pub mean: f64,
    /// The middle sample, or the mean of the two in the middle.
    pub median: f64,
    /// The smallest sample.
    pub min: f64,
    /// Population standard deviation, percent of the mean.
    pub rms_percent: f64,
}

/// How many samples are far from the others: beyond Tukey's outer fences, three times the distance
/// of the quartiles below the lower and above the upper one (J. Tukey, "Exploratory data analysis",
/// 1977), and more than a percent of the median off, which is what timers and clocks do anyway.
pub fn outliers(samples: &[f64]) -> usize {
    const FENCE: f64 = 3.0;
    const USUAL: f64 = 0.01;
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return 0;
    }
    let quarter = sorted.len() / 4;
    let (lower, upper) = (sorted[quarter], sorted[sorted.len() - 1 - quarter]);
    let middle = sorted[sorted.len() / 2];
    let fence = (FENCE * (upper - lower)).max(USUAL * middle);
    let is_far = |sample: &&f64| **sample < lower - fence || **sample > upper + fence;
    sorted.iter().filter(is_far).count()
}

impl Summary {
    /// Of samples that have no time.
    pub(crate) const UNKNOWN: Summary = Summary {
        mean: f64::NAN,
        median: f64::NAN,
        min: f64::NAN,
        rms_percent: f64::NAN,
    };

    /// The statistics of `samples`, or `None` if there are none.
    pub fn of(samples: &[f64]) -> Option<Summary> {
        if samples.is_empty() {
            return None;
        }
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let variance = samples
            .iter()
            .map(|sample| (sample - mean).powi(2))
            .sum::<f64>()
            / count;
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = if sorted.len().is_multiple_of(2) {
            (sorted[middle - 1] + sorted[middle]) / 2.0
        } else {
            sorted[middle]
        };
        Some(Summary {
            mean,
            median,
            min: sorted[0],
            rms_percent: 100.0 * variance.sqrt() / mean,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Summary, outliers};

    #[test]
    fn deviation_is_the_populations() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("samples");
        assert_eq!(summary.mean, 5.0);
        assert_eq!(summary.median, 4.5);
        assert_eq!(summary.min, 2.0);
        assert_eq!(summary.rms_percent, 40.0);
    }

    #[test]
    fn a_sample_far_from_the_others_is_an_outlier() {
        let quiet = [1.0, 1.001, 1.002, 1.0, 1.001, 1.002, 1.0, 1.001];
        assert_eq!(outliers(&quiet), 0);
        assert_eq!(
            outliers(&[&quiet[..], &[1.005]].concat()),
            0,
            "within a percent"
        );
        assert_eq!(outliers(&[&quiet[..], &[1.3]].concat()), 1);
        assert_eq!(outliers(&[&quiet[..], &[1.3, 0.7]].concat()), 2);
        assert_eq!(outliers(&[]), 0);
    }

    #[test]
    fn one_sample_deviates_by_nothing_and_none_has_no_summary() {
        let summary = Summary::of(&[3.0]).expect("a sample");
        assert_eq!((summary.median, summary.rms_percent), (3.0, 0.0));
        assert_eq!(Summary::of(&[]), None);
    }
}
