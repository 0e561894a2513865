//! `--max-steps` and `--time-limit`: what ends a launch on the emulator.

use std::time::Duration;

use clap::Args;

use super::option_values::whole;
use crate::driver::Emulation;

/// More than any warp goes through in years.
const MAX_STEPS: u64 = 1 << 40;
/// A year.
const MAX_SECONDS: u64 = 365 * 24 * 60 * 60;

#[derive(Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Maximum number of steps of a warp on the emulator: basic blocks of instructions
    #[arg(long, value_name = "COUNT", default_value_t = 1 << 28, value_parser = whole::<u64>(1..=MAX_STEPS))]
    pub(super) max_steps: u64,

    /// Seconds after which a launch on the emulator is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = whole::<u64>(1..=MAX_SECONDS))]
    pub(super) time_limit: u64,
}

impl Arguments {
    /// The same emulation within these limits.
    pub(super) fn limit(&self, emulation: Emulation) -> Emulation {
        Emulation {
            steps: self.max_steps,
            time: Some(Duration::from_secs(self.time_limit)),
            ..emulation
        }
    }

    /// The options with which a launch may take longer.
    pub(super) fn text(&self) -> String {
        let Arguments {
            max_steps,
            time_limit,
        } = self;
        format!("--max-steps {max_steps}, --time-limit {time_limit}")
    }
}
