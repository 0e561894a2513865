//! `ridgepoint power`

use std::path::PathBuf;

use clap::Args;

use super::Failure;
use super::files::Files;
use super::option_values::{real, whole};
use super::study_options::{Common, study_failure};
use super::{ranked, study_modes};
use crate::driver::Device;
use crate::report::counted;
use crate::study::{PowerMode, PowerPlan, Progress, newest, power};

/// Names of checkpoints have eight digits for the step, by which they sort.
const MAX_STEPS: u64 = 10_000_000;

const CHECK_EVERY: u64 = 10;

#[derive(Args)]
pub(super) struct Arguments {
    /// How checkpoints are taken while the iteration runs
    #[arg(long, value_name = "MODE", value_parser = study_modes::power(), default_value = "async", conflicts_with = "devices")]
    mode: PowerMode,

    /// Rows and columns of the f64 matrix [default: 8192; emulator: 64]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u32>(2..=1 << 16))]
    dim: Option<u32>,

    /// Gap between the dominant eigenvalue, which is 1, and the next
    #[arg(long, value_name = "NUMBER", default_value_t = 0.05,
          value_parser = real("a number above 0 and below 1, such as 0.05", |it| it > 0.0 && it < 1.0))]
    dominance: f64,

    /// Maximum number of steps
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = whole::<u64>(1..=MAX_STEPS))]
    max_steps: u64,

    /// Steps between residuals, progress lines and checkpoints [default: 10, or --max-steps if that is
    /// less]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u64>(1..=1000))]
    check_every: Option<u64>,

    /// Residual at which the iteration has converged
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-10,
          value_parser = real("a number above 0 and at most 1, such as 1e-10", |it| it > 0.0 && it <= 1.0))]
    tolerance: f64,

    /// Seed of the random matrix and starting vector
    #[arg(long, value_name = "NUMBER", default_value_t = 42, value_parser = whole::<u64>(0..=u64::MAX))]
    seed: u64,

    /// Directory for checkpoints, each written in binary and as text
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,

    /// Resume from the latest complete checkpoint
    #[arg(long, requires = "checkpoint")]
    resume: bool,

    #[command(flatten)]
    pub(super) ranked: ranked::Ranked,

    #[command(flatten)]
    pub(super) common: Common,
}

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        let files = self.common.files();
        files.outputs("--checkpoint", &self.checkpoint)
    }

    fn plan(&self, device: &Device, check_every: u64) -> PowerPlan {
        let default = match device.properties().is_emulated() {
            true => 64,
            false => 8192,
        };
        PowerPlan {
            dim: self.dim.unwrap_or(default) as usize,
            dominance: self.dominance,
            max_steps: self.max_steps,
            check_every,
            tolerance: self.tolerance,
            seed: self.seed,
            checkpoints: self.checkpoint.clone(),
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let most = arguments.max_steps;
    let every = arguments.check_every.unwrap_or(most.min(CHECK_EVERY));
    if every > most {
        return Err(Failure::Usage(format!(
            "--check-every {every} is more than --max-steps {most}: no step would be looked at"
        )));
    }
    let on_devices = arguments.ranked.are_given()?;
    if arguments.checkpoint.is_none() {
        arguments.common.refuse_silence(match on_devices {
            true => &["--plot", "--checkpoint"],
            false => &["--checkpoint"],
        })?;
    }
    if on_devices {
        let plan = |device: &Device| arguments.plan(device, every);
        return ranked::power(&arguments.ranked, &arguments.common, plan, arguments.resume);
    }
    let why = "without --devices: one row has no curve";
    arguments.common.drawing.refuse(why)?;
    let mut rows = arguments.common.begin()?;
    let device = arguments.common.open()?;
    let plan = arguments.plan(&device, every);
    let from = match arguments.resume {
        true => Some(newest(&plan).map_err(study_failure)?),
        false => None,
    };
    let mut first = None;
    let mut show = |progress: Progress| {
        let start = *first.get_or_insert(progress);
        let last = steps_to_converge(start, progress, &plan);
        rows.console.estimate(progress.step, last);
        rows.console.say(&format!(
            "step {:5}  eigenvalue {:.12}  residual {:.3e}",
            progress.step, progress.eigenvalue, progress.residual
        ));
        rows.interrupt.flow()
    };
    rows.begin("iterating".to_owned(), 0);
    let row = power(&device, &plan, arguments.mode, from.as_ref(), &mut show);
    let mut converged = Ok(());
    let ended = row.map_err(study_failure).and_then(|row| {
        converged = convergence(row.residual, row.steps, &plan);
        rows.add(row)
    });
    rows.finish(ended)?;
    converged
}

/// Fails where the residual is not below the tolerance: who asked for an eigenvalue has none.
pub(super) fn convergence(residual: f64, steps: u64, plan: &PowerPlan) -> Result<(), Failure> {
    match residual < plan.tolerance {
        true => Ok(()),
        false => Err(Failure::Found(format!(
            "not converged: the residual is {residual:.3e} after {}, and --tolerance is {:e}",
            counted(steps, "step"),
            plan.tolerance
        ))),
    }
}

/// The step at which the residual will be the tolerance if it goes on to fall as it has since `start`; no later than
/// the last step, and that one while it does not fall.
fn steps_to_converge(start: Progress, now: Progress, plan: &PowerPlan) -> u64 {
    let steps = (now.step - start.step) as f64;
    let fallen = (start.residual / now.residual).ln();
    let still = (now.residual / plan.tolerance).ln().max(0.0) * steps / fallen;
    match still.is_finite() && still >= 0.0 {
        true => now
            .step
            .saturating_add(still.ceil() as u64)
            .min(plan.max_steps),
        false => plan.max_steps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_residual_that_falls_tenfold_in_ten_steps_says_when_it_is_small_enough() {
        let plan = PowerPlan {
            dim: 64,
            dominance: 0.05,
            max_steps: 1000,
            check_every: 10,
            tolerance: 1e-6,
            seed: 42,
            checkpoints: None,
        };
        let at = |step, residual| Progress {
            step,
            eigenvalue: 1.0,
            residual,
        };
        let expect = |now| steps_to_converge(at(0, 1e-1), now, &plan);
        assert_eq!(expect(at(0, 1e-1)), 1000, "nothing is known yet");
        assert!((49..=51).contains(&expect(at(10, 1e-2))));
        assert_eq!(expect(at(10, 0.2)), 1000, "it grows");
        assert_eq!(expect(at(10, 0.099)), 1000, "no later than the last step");
        assert_eq!(expect(at(60, 1e-7)), 60);
    }
}
