//! `ridgepoint power`

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;

use super::Failure;
use super::files::Files;
use super::study::{Common, study_failure};
use crate::study::{PowerMode, PowerPlan, Progress, newest, power};

#[derive(Args)]
pub(super) struct Arguments {
    /// How the iteration gets on while it is looked at
    #[arg(long, value_name = "MODE", value_enum, default_value = "async")]
    mode: PowerMode,

    /// Rows and columns of the matrix, of f64 [default: 8192, on the emulator 64]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(2..=65536))]
    dim: Option<u32>,

    /// The gap between the greatest eigenvalue, which is 1, and the next
    #[arg(long, value_name = "NUMBER", default_value_t = 0.05, value_parser = gap)]
    dominance: f64,

    /// The most steps
    #[arg(long, value_name = "COUNT", default_value_t = 1000)]
    max_steps: u64,

    /// Steps from one residual, progress line and checkpoint to the next
    #[arg(long, value_name = "COUNT", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    check_every: u64,

    /// A residual below this ends the iteration
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-10)]
    tolerance: f64,

    /// What the matrix and the first vector are made from
    #[arg(long, value_name = "NUMBER", default_value_t = 42)]
    seed: u64,

    /// Where checkpoints go, each in binary and as text
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,

    /// Go on from the newest whole checkpoint
    #[arg(long, requires = "checkpoint")]
    resume: bool,

    #[command(flatten)]
    common: Common,
}

impl Arguments {
    pub(super) fn files(&self) -> Files<'_> {
        self.common
            .files()
            .outputs("--checkpoint", &self.checkpoint)
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut rows = arguments.common.begin()?;
    let device = arguments.common.open()?;
    let default = if device.facts().is_emulated() {
        64
    } else {
        8192
    };
    let plan = PowerPlan {
        dim: arguments.dim.unwrap_or(default) as usize,
        dominance: arguments.dominance,
        max_steps: arguments.max_steps,
        check_every: arguments.check_every,
        tolerance: arguments.tolerance,
        seed: arguments.seed,
        checkpoints: arguments.checkpoint.clone(),
    };
    let from = match arguments.resume {
        true => Some(newest(&plan).map_err(study_failure)?),
        false => None,
    };
    let mut show = |progress: Progress| {
        rows.console.say(&format!(
            "step {:5}  eigenvalue {:.12}  residual {:.3e}",
            progress.step, progress.eigenvalue, progress.residual
        ));
        match rows.interrupt.check() {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    let row = power(&device, &plan, arguments.mode, from.as_ref(), &mut show);
    let ended = row.map_err(study_failure).and_then(|row| rows.add(row));
    rows.finish(ended)
}

/// Above 0 and below 1.
fn gap(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|gap| *gap > 0.0 && *gap < 1.0)
        .ok_or_else(|| "a number between 0 and 1 is needed".to_owned())
}
