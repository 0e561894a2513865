//! Tables of where time went: a row per name, with how its times spread.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Look, Width, text};

/// Times that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Their sum in nanoseconds.
    pub total_ns: f64,
    /// Their mean in nanoseconds.
    pub mean_ns: f64,
    /// Their standard deviation in nanoseconds, of the whole population.
    pub std_ns: f64,
    /// The shortest in nanoseconds.
    pub min_ns: f64,
    /// The longest in nanoseconds.
    pub max_ns: f64,
}

/// A row of such a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TimesRow {
    /// How many there are.
    pub count: u64,
    /// The times, where they are known.
    pub times: Option<Times>,
    /// Whose times they are: a cell for each further column.
    pub names: Vec<String>,
}

impl Times {
    /// Of these times in nanoseconds; `None` where there are none.
    pub fn of(times: impl IntoIterator<Item = f64>) -> Option<Times> {
        let times: Vec<f64> = times.into_iter().collect();
        let total: f64 = times.iter().sum();
        let mean = total / times.len() as f64;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        (!times.is_empty()).then(|| Times {
            total_ns: total,
            mean_ns: mean,
            std_ns: (squares / times.len() as f64).sqrt(),
            min_ns: times.iter().copied().fold(f64::INFINITY, f64::min),
            max_ns: times.iter().copied().fold(0.0, f64::max),
        })
    }

    fn spread(self) -> String {
        format!(
            "{} ± {} ({} ‥ {})",
            time_text(self.mean_ns),
            time_text(self.std_ns),
            time_text(self.min_ns),
            time_text(self.max_ns),
        )
    }
}

/// The table of these rows, whose further columns have these names. Percentages are of `whole_ns`. Where no row has times,
/// neither has the table.
pub fn times_table(rows: &[TimesRow], names: &[&str], whole_ns: f64, width: Width) -> String {
    const NUMBERS: [&str; 4] = ["Time (%)", "Total time", "Calls", "mean ± std (min ‥ max)"];
    const COUNT: usize = 2;
    let has_times = rows.is_empty() || rows.iter().any(|it| it.times.is_some());
    let is_shown = |column: &usize| has_times || *column == COUNT;
    let shown: Vec<usize> = (0..NUMBERS.len()).filter(is_shown).collect();
    let header = shown.iter().map(|&column| &NUMBERS[column]).chain(names);
    let rows = rows.iter().map(|row| {
        let cell = |text: &dyn Fn(Times) -> String| row.times.map(text).unwrap_or_default();
        let mut numbers = [
            cell(&|it| format!("{:.2}", 100.0 * it.total_ns / whole_ns)),
            cell(&|it| time_text(it.total_ns)),
            row.count.to_string(),
            cell(&Times::spread),
        ];
        let numbers = shown
            .iter()
            .map(|&column| std::mem::take(&mut numbers[column]));
        let numbers: Vec<String> = numbers.collect();
        numbers.into_iter().chain(row.names.iter().cloned())
    });
    let look = Look {
        width,
        is_right: |column| column < shown.len(),
        spare: &["mean ± std (min ‥ max)", "Calls"],
    };
    text(header, rows, look)
}

/// Nanoseconds in the unit that leaves one to three digits before the point.
pub fn time_text(ns: f64) -> String {
    match ns {
        ns if ns >= 1e9 => format!("{:.2} s", ns / 1e9),
        ns if ns >= 1e6 => format!("{:.2} ms", ns / 1e6),
        ns if ns >= 1e3 => format!("{:.2} us", ns / 1e3),
        ns => format!("{ns:.0} ns"),
    }
}

/// [`time_text`] of a duration.
pub fn duration_text(time: Duration) -> String {
    time_text(time.as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_spread_around_their_mean() {
        let times = Times::of([2e6, 6e6]).expect("there are two");
        assert_eq!(
            (times.total_ns, times.mean_ns, times.std_ns),
            (8e6, 4e6, 2e6)
        );
        assert_eq!((times.min_ns, times.max_ns), (2e6, 6e6));
        assert_eq!(Times::of([]), None);
    }

    #[test]
    fn times_are_read_easily() {
        let texts = [0.0, 1900.0, 4.94e6, 2.5e9].map(time_text);
        assert_eq!(texts, ["0 ns", "1.90 us", "4.94 ms", "2.50 s"]);
    }
}
