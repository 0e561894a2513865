//! Times by the model: as text, as marks of charts, and how far they are from what was measured.

use super::occupancy::is_of_emulator;
use crate::prediction::COVERAGE;
use crate::sweep::Record;
use crate::sweep::occupancy::OccupancyRecord;
use crate::table::time_text;

/// The predicted time of a row.
#[derive(Clone, Copy)]
pub(super) struct Predicted<'r> {
    pub(super) ms: f64,
    pub(super) low_ms: f64,
    pub(super) high_ms: f64,
    pub(super) limit: &'r str,
}

impl<'r> Predicted<'r> {
    pub(super) fn of_sweep(row: &'r Record) -> Option<Predicted<'r>> {
        Some(Predicted {
            ms: row.model_ms?,
            low_ms: row.model_low_ms?,
            high_ms: row.model_high_ms?,
            limit: row.model_limit.as_deref()?,
        })
    }

    pub(super) fn of_study(row: &'r OccupancyRecord) -> Option<Predicted<'r>> {
        Some(Predicted {
            ms: row.model_ms?,
            low_ms: row.model_low_ms?,
            high_ms: row.model_high_ms?,
            limit: row.model_limit.as_deref()?,
        })
    }

    /// `2.81 us, in 90 % of the cases from 2.19 us to 4.81 us`
    pub(super) fn text(&self) -> String {
        format!(
            "{}, in {} from {} to {}",
            self.time(),
            cases(),
            time_text(1e6 * self.low_ms),
            time_text(1e6 * self.high_ms)
        )
    }

    /// `2.81 us`
    pub(super) fn time(&self) -> String {
        time_text(1e6 * self.ms)
    }

    /// The rates at the ends of the interval, of a rate at the predicted time.
    pub(super) fn rates(&self, rate: f64) -> (f64, f64) {
        (rate * self.ms / self.high_ms, rate * self.ms / self.low_ms)
    }
}

/// `90 % of the cases`
pub(super) fn cases() -> String {
    format!("{:.0} % of the cases", 100.0 * COVERAGE)
}

/// A row that was measured and predicted.
pub(super) struct Both {
    pub(super) name: String,
    pub(super) measured_ms: f64,
    pub(super) predicted_ms: f64,
}

impl Both {
    /// Of a row of a GPU.
    pub(super) fn of_sweep(row: &Record) -> Option<Both> {
        let along = row.along();
        let along = along.map_or_else(String::new, |(name, value)| format!(" {name} = {value}"));
        let dtype = row
            .dtype
            .as_deref()
            .map_or_else(String::new, |it| format!(" {it}"));
        (!row.is_emulated).then_some(Both {
            name: format!("{}{dtype}{along}, block {}", row.kernel, row.block),
            measured_ms: row.median_ms,
            predicted_ms: row.model_ms?,
        })
    }

    /// Of a row of a GPU.
    pub(super) fn of_study(row: &OccupancyRecord) -> Option<Both> {
        let axes = row.axes.0.iter();
        let axes = axes.filter_map(|(name, value)| Some(format!(" {name} = {}", value.as_ref()?)));
        (!is_of_emulator(row)).then_some(Both {
            name: format!(
                "{}{}, block {}",
                row.kernel,
                axes.collect::<String>(),
                row.block
            ),
            measured_ms: row.median_ms,
            predicted_ms: row.model_ms?,
        })
    }

    /// How much longer the prediction is than the measured time, percent.
    fn error_percent(&self) -> f64 {
        100.0 * (self.predicted_ms / self.measured_ms - 1.0)
    }

    /// `3.1 % longer than measured`
    pub(super) fn error(&self) -> String {
        let percent = self.error_percent();
        let how = if percent < 0.0 { "shorter" } else { "longer" };
        format!("{:.1} % {how} than measured", percent.abs())
    }
}

/// The predicted time of a row, its error on a GPU, and the speed that it makes; or why it is not known.
pub(super) fn sweep_line(row: &Record) -> Option<String> {
    let Some(predicted) = Predicted::of_sweep(row) else {
        let reason = row.not_modelled.as_ref()?;
        return Some(format!("time not predicted: {reason}"));
    };
    let rate = match (row.model_gflops, row.model_bandwidth) {
        (Some(rate), _) => format!(", {rate:.1} G{}/s", row.operation()),
        (None, Some(rate)) => format!(", {rate:.1} GB/s"),
        (None, None) => String::new(),
    };
    let both = Both::of_sweep(row).filter(|it| it.measured_ms.is_finite());
    let error = both.map_or_else(String::new, |it| format!(" ({})", it.error()));
    Some(format!(
        "predicted time: {}{error}{rate}, limited by {}",
        predicted.text(),
        predicted.limit
    ))
}

/// How far predictions are from what was measured, in one line; `None` where no row has both.
pub(super) fn agreement(rows: &[Both]) -> Option<String> {
    let errors = rows.iter().map(|row| (row, row.error_percent().abs()));
    let errors = errors.filter(|(_, percent)| percent.is_finite());
    let errors: Vec<(&Both, f64)> = errors.collect();
    let (worst, most) = errors.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let mean = errors.iter().map(|it| it.1).sum::<f64>() / errors.len() as f64;
    Some(format!(
        "Times predicted within {mean:.1} % of the measured ones on average, worst {most:.1} % ({})",
        worst.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_row_is_named() {
        let row = |name: &str, measured_ms, predicted_ms| Both {
            name: name.to_owned(),
            measured_ms,
            predicted_ms,
        };
        let rows = [
            row("copy", 1.0, 1.1),
            row("read", 2.0, 1.4),
            row("untimed", f64::NAN, 1.0),
        ];
        assert_eq!(rows[1].error(), "30.0 % shorter than measured");
        assert_eq!(
            agreement(&rows).expect("two rows"),
            "Times predicted within 20.0 % of the measured ones on average, worst 30.0 % (read)"
        );
        assert_eq!(agreement(&rows[2..]), None);
    }

    #[test]
    fn rates_turn_the_interval_around() {
        let time = Predicted {
            ms: 1.0,
            low_ms: 0.5,
            high_ms: 2.0,
            limit: "memory",
        };
        assert_eq!(time.rates(100.0), (50.0, 200.0));
        assert_eq!(
            time.text(),
            "1.00 ms, in 90 % of the cases from 500.00 us to 2.00 ms"
        );
    }
}
