//! `ridgepoint dispatch`

use clap::Args;

use super::Failure;
use super::option_values::{MAX_ROUNDS, whole};
use super::study_options::{Common, study_failure};
use crate::study::{Rounds, dispatch};

/// A graph has a node for each.
const MAX_LAUNCHES: u64 = 10_000;

#[derive(Args)]
pub(super) struct Arguments {
    /// Launches in the loop [default: 500; emulator: 50]
    #[arg(long, value_name = "COUNT", value_parser = whole::<u32>(1..=MAX_LAUNCHES))]
    launches: Option<u32>,

    /// Number of timings of each loop; the median is reported
    #[arg(long, value_name = "COUNT", default_value_t = 21,
          value_parser = whole::<u32>(1..=MAX_ROUNDS))]
    rounds: u32,

    #[command(flatten)]
    pub(super) common: Common,
}

/// Ways of launching that are timed.
const WAYS: usize = 4;

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.common.refuse_silence(&["--plot"])?;
    let mut rows = arguments.common.begin_drawn(&[("dispatch", WAYS)])?;
    let device = arguments.common.open()?;
    let default = if device.properties().is_emulated() {
        50
    } else {
        500
    };
    let plan = Rounds {
        rounds: arguments.rounds,
        iterations: arguments.launches.unwrap_or(default),
    };
    rows.begin("launches".to_owned(), WAYS);
    let measured = dispatch(&device, plan, &mut || {
        rows.console.step();
        rows.interrupt.flow()
    });
    let ended = measured.map_err(study_failure).and_then(|measured| {
        let mut rest = measured.into_iter();
        rest.try_for_each(|row| rows.write(row))?;
        rows.interrupt.check()
    });
    rows.finish(ended)
}
