//! `ridgepoint power --devices`

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::{Alone, Failure, GoOn, Ranked, Shared, Study, locked, measure, powers};
use crate::cli::power::convergence;
use crate::cli::study_options::Common;
use crate::driver::Device;
use crate::study::devices::{DevicesRow, Exchange, Growth, Team, power_of_rank};
use crate::study::{PowerMode, PowerPlan, Progress, StudyError, power};

/// Power iteration on several devices. With checkpoints it runs on all of them, once for each exchange.
pub(in crate::cli) fn run(
    arguments: &Ranked,
    common: &Common,
    plan: impl FnOnce(&Device) -> PowerPlan,
    resume: bool,
) -> Result<(), Failure> {
    let several = arguments.exchange.len() != 1;
    if resume && several {
        return Err(Failure::Usage(
            "--resume with --devices: name the one --exchange that goes on".to_owned(),
        ));
    }
    let not_converged = Mutex::default();
    measure(arguments, common, |first| {
        Ok(Power {
            plan: plan(first),
            not_converged: &not_converged,
            resume,
            several,
        })
    })?;
    match not_converged
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner)
    {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

struct Power<'r> {
    plan: PowerPlan,
    /// The first run whose residual is not below the tolerance.
    not_converged: &'r Mutex<Option<Failure>>,
    resume: bool,
    /// Whether there are several runs, each with a folder of its own for checkpoints.
    several: bool,
}

impl Power<'_> {
    fn plan(&self, size: usize, run: &str) -> PowerPlan {
        let folder = |folder: &PathBuf| match self.several {
            true => folder.join(run),
            false => folder.clone(),
        };
        PowerPlan {
            dim: size,
            checkpoints: self.plan.checkpoints.as_ref().map(folder),
            ..self.plan.clone()
        }
    }
}

impl Study for Power<'_> {
    fn size(&self, devices: usize, growth: Growth) -> usize {
        match growth {
            Growth::Strong => self.plan.dim,
            Growth::Weak => grown(self.plan.dim, devices),
        }
    }

    fn bytes(&self, _devices: usize, size: usize) -> f64 {
        (size * size_of::<f64>()) as f64
    }

    fn counts(&self, devices: usize) -> Vec<usize> {
        match self.plan.checkpoints {
            // A folder has the checkpoints of one run.
            Some(_) => vec![devices],
            None => powers(devices),
        }
    }

    fn alone(&self, device: &Device, size: usize, go_on: &mut GoOn<'_>) -> Alone {
        // One run with checkpoints is meant for its result.
        if self.plan.checkpoints.is_some() && !self.several {
            return Ok(None);
        }
        let plan = self.plan(size, "alone");
        let mut asked = ControlFlow::Continue(());
        let mut on_progress = |_| {
            asked = go_on();
            asked
        };
        let row = power(device, &plan, PowerMode::Graph, None, &mut on_progress)?;
        if asked.is_break() {
            return Ok(None);
        }
        Ok(Some(DevicesRow {
            steps: row.steps,
            residual: Some(row.residual),
            total_ms: Some(row.total_ms),
            checkpoints: Some(row.checkpoints),
            ..DevicesRow::alone("power", size, row.step_us, row.device)
        }))
    }

    fn of_rank(
        &self,
        team: &Team<'_, '_>,
        size: usize,
        exchange: Exchange,
        rows: &Shared<'_>,
    ) -> Result<DevicesRow, StudyError> {
        let plan = self.plan(size, &exchange.to_string());
        let mut on_progress = |progress: Progress| {
            let rows = locked(rows);
            rows.console.say(&format!(
                "{exchange} on {}: step {:5}  eigenvalue {:.12}  residual {:.3e}",
                team.rank.size(),
                progress.step,
                progress.eigenvalue,
                progress.residual
            ));
            rows.interrupt.flow()
        };
        let row = power_of_rank(team, &plan, exchange, self.resume, &mut on_progress)?;
        let ended = row
            .residual
            .map(|residual| convergence(residual, row.steps, &plan));
        if let Some(Err(failure)) = ended {
            locked(self.not_converged).get_or_insert(failure);
        }
        Ok(row.with_work((size as f64 / self.plan.dim as f64).powi(2)))
    }
}

/// Rows of a matrix that has as many elements for each of so many devices as one of `dim` rows has, to the nearest multiple of 16 if `dim` is
/// one: 128 bytes, so that rows begin where lines of the cache do, and are read in whole vectors as on one device. Where `dim` is a multiple
/// of less, so is the result.
fn grown(dim: usize, devices: usize) -> usize {
    const LINE: usize = 128 / size_of::<f64>();
    let unit = 1 << dim.trailing_zeros().min(LINE.trailing_zeros());
    let rows = dim as f64 * (devices as f64).sqrt();
    (rows / unit as f64).round() as usize * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_grows_to_one_that_is_read_alike() {
        for (dim, devices, rows) in [
            (8192, 1, 8192),
            (8192, 2, 11_584),
            (8192, 4, 16_384),
            (1000, 2, 1416),
            (100, 3, 172),
            (53, 2, 75),
            (2, 2, 2),
        ] {
            assert_eq!(grown(dim, devices), rows, "{dim} on {devices}");
        }
    }
}
