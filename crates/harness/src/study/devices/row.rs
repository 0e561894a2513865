//! A study's row on several devices.

use serde::Serialize;

use super::{Exchange, Growth, Team};
use crate::study::rounds::rounded;

/// Where a row's times are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The devices' clocks.
    Measured,
    /// A [`Model`](super::Model).
    Predicted,
}

/// A study on a number of devices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DevicesRow {
    /// `power` or `norm`.
    pub study: &'static str,
    /// `alone`, the study on one device as the command runs it without `--devices`; or how the devices exchange: `gather`, `graph` or
    /// `peer`.
    pub exchange: String,
    /// How many devices.
    pub devices: usize,
    /// Whether the times were measured or predicted.
    pub kind: Kind,
    /// `strong`: the same problem on all numbers of devices. `weak`: a problem that grows with them.
    pub scaling: String,
    /// Rows and columns of the matrix, or elements of the vector.
    pub size: usize,
    /// Steps, or normalizations.
    pub steps: u64,
    /// Microseconds per step of the slowest device.
    pub step_us: f64,
    /// Of these, microseconds that are not there if nothing is exchanged.
    pub exchange_us: Option<f64>,
    /// The same in percent of the step.
    pub exchange_percent: Option<f64>,
    /// The norm, as this rank's device has it.
    #[serde(skip)]
    pub norm: Option<f64>,
    /// How many times as much is to be done as on one device, where the problem grows to another size than the number of devices says.
    #[serde(skip)]
    pub work: Option<f64>,
    /// How many times as much is done in a time as on one device.
    pub speedup: Option<f64>,
    /// The speedup over the number of devices.
    pub efficiency: Option<f64>,
    /// Milliseconds until the result was known and every checkpoint on the disk.
    pub total_ms: Option<f64>,
    /// The last residual.
    pub residual: Option<f64>,
    /// Checkpoints written.
    pub checkpoints: Option<u64>,
    /// The longest part of the step: of a predicted row.
    pub limit: Option<String>,
    /// How many percent longer the predicted step is than the measured one: of a predicted row whose number of devices was measured.
    pub error_percent: Option<f64>,
    /// The devices that ran it, or that it is predicted from.
    pub device: String,
    /// Whether the result agreed with its reference.
    pub checked: bool,
}

impl DevicesRow {
    /// A row of the times per step with and without an exchange.
    pub(super) fn measured(
        study: &'static str,
        team: &Team<'_, '_>,
        exchange: Exchange,
        size: usize,
        (step_us, alone_us): (f64, f64),
    ) -> DevicesRow {
        DevicesRow {
            exchange: exchange.to_string(),
            devices: team.rank.size(),
            ..DevicesRow::alone(study, size, step_us, team.name())
        }
        .with_exchange((step_us - alone_us).max(0.0), step_us)
    }

    /// With the microseconds of its exchange, of those of a step.
    pub(super) fn with_exchange(self, exchange_us: f64, step_us: f64) -> DevicesRow {
        DevicesRow {
            exchange_us: Some(rounded(exchange_us)),
            exchange_percent: Some(rounded(100.0 * exchange_us / step_us)),
            ..self
        }
    }

    /// The study on one device.
    pub fn alone(study: &'static str, size: usize, step_us: f64, device: String) -> DevicesRow {
        DevicesRow {
            study,
            exchange: "alone".to_owned(),
            devices: 1,
            scaling: String::new(),
            size,
            steps: 0,
            step_us: rounded(step_us),
            exchange_us: None,
            exchange_percent: None,
            norm: None,
            work: None,
            speedup: None,
            efficiency: None,
            total_ms: None,
            residual: None,
            checkpoints: None,
            limit: None,
            error_percent: None,
            kind: Kind::Measured,
            device,
            checked: true,
        }
    }

    /// Of so many times the work of one device.
    pub fn with_work(self, work: f64) -> DevicesRow {
        DevicesRow {
            work: Some(work),
            ..self
        }
    }

    /// A predicted row, with its difference from a measured step.
    pub fn with_error(self, measured_us: f64) -> DevicesRow {
        DevicesRow {
            error_percent: Some(rounded(100.0 * (self.step_us / measured_us - 1.0))),
            ..self
        }
    }

    /// With its speedup over the same study on one device, if that was measured.
    pub fn against(self, alone_us: Option<f64>, growth: Growth) -> DevicesRow {
        let devices = self.devices as f64;
        let times = alone_us.map(|alone_us| alone_us / self.step_us);
        let nominal = match growth {
            Growth::Strong => 1.0,
            Growth::Weak => devices,
        };
        let speedup = times.map(|times| times * self.work.unwrap_or(nominal));
        DevicesRow {
            scaling: growth.to_string(),
            speedup: speedup.map(rounded),
            efficiency: speedup.map(|speedup| rounded(speedup / devices)),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speedup_counts_the_work_that_was_done() {
        let row = DevicesRow {
            devices: 2,
            ..DevicesRow::alone("power", 100, 50.0, String::new())
        };
        let of = |row: &DevicesRow, growth| row.clone().against(Some(80.0), growth).speedup;
        assert_eq!(of(&row, Growth::Strong), Some(1.6));
        assert_eq!(of(&row, Growth::Weak), Some(3.2));
        // A matrix whose side is a multiple of 16.
        let rounded = row.with_work(1.75);
        assert_eq!(of(&rounded, Growth::Weak), Some(2.8));
        let row = rounded.against(Some(80.0), Growth::Weak);
        assert_eq!(row.efficiency, Some(1.4));
    }

    #[test]
    fn a_predicted_step_is_longer_or_shorter_than_the_measured_one() {
        let row = DevicesRow::alone("power", 100, 51.5, String::new());
        assert_eq!(row.error_percent, None);
        assert_eq!(row.clone().with_error(50.0).error_percent, Some(3.0));
        assert_eq!(row.with_error(103.0).error_percent, Some(-50.0));
    }
}
