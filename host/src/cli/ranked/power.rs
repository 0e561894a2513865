//! `ridgepoint power --devices`

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::{Alone, Failure, GoOn, Ranked, Shared, Study, locked, measure, powers};
use crate::cli::study::Common;
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
    measure(arguments, common, |first| {
        Ok(Power {
            plan: plan(first),
            resume,
            several,
        })
    })
}

struct Power {
    plan: PowerPlan,
    resume: bool,
    /// Whether there are several runs, each with a folder of its own for checkpoints.
    several: bool,
}

impl Power {
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

impl Study for Power {
    fn size(&self, devices: usize, growth: Growth) -> usize {
        match growth {
            Growth::Strong => self.plan.dim,
            // As many elements of the matrix on each device.
            Growth::Weak => (self.plan.dim as f64 * (devices as f64).sqrt()).round() as usize,
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
        let step_us = row.loop_ms * 1e3 / row.steps.max(1) as f64;
        Ok(Some(DevicesRow {
            steps: row.steps,
            residual: Some(row.residual),
            total_ms: Some(row.total_ms),
            checkpoints: Some(row.checkpoints),
            ..DevicesRow::alone("power", size, step_us, row.device)
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
        power_of_rank(team, &plan, exchange, self.resume, &mut on_progress)
    }
}
