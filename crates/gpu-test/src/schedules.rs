//! A case under all schedules with few preemptions.

use std::env;

use engine::{Choices, explore, shrink};
use ridgepoint_driver::Schedule;

use super::{
    Device, Failed, Ptx, command, emulator, named_schedule, replay, scheduled, test_of_thread,
};

/// The environment variable that names the one schedule under which the emulator runs each case, such as `0:32,17:5`:
/// the failure of [`under_schedules`] says which.
pub const SCHEDULE: &str = "RIDGEPOINT_SCHEDULE";

/// How many schedules are run at most, and how many more to make one shorter.
const MOST: u64 = 10_000;
const MOST_TO_SHRINK: u64 = 2_000;

/// Runs the case on the emulator under each schedule with at most so many preemptions: see
/// [`engine::explore`]. The case opens nothing of its own: it fills its buffers anew and launches on the
/// device that it is given. Where [`SCHEDULE`] or [`SEED`](super::SEED) names one, under that alone.
///
/// # Errors
/// The first failure, with the shortest schedule that was found to fail and the command that runs that alone; or
/// there are more schedules than 10,000, of which none has failed.
pub fn under_schedules(
    ptx: Ptx,
    preemptions: usize,
    case: impl Fn(&Device) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let device = emulator(ptx)?;
    if named_schedule()?.is_some() {
        return case(&device);
    }
    let run = |schedule: &Schedule| {
        let device = device.with_emulation(scheduled(schedule.clone()));
        case(&device.ok_or("it is the emulator")?)
    };
    let explored = explore(preemptions, MOST, run);
    let Some(failing) = explored.failure else {
        return match explored.is_complete {
            true => Ok(()),
            false => Err(format!(
                "nothing failed under {} schedules, but there are others with at most {preemptions} preemptions: \
                 with fewer blocks, threads or preemptions all can be run",
                explored.runs
            )
            .into()),
        };
    };
    let shrunk = shrink(
        &Schedule::Chosen(failing.choices.clone()),
        MOST_TO_SHRINK,
        run,
    );
    let (choices, error) = match shrunk {
        Some(shrunk) => (shrunk.choices, shrunk.error),
        // It fails now and then: the case is not the same each time.
        None => (failing.choices, failing.error),
    };
    Err(told(&choices, &error, explored.runs))
}

fn told(choices: &Choices, error: &Failed, runs: u64) -> Failed {
    let message = error.message().unwrap_or("failed");
    let count = choices.switches().len();
    let switches = if count == 1 { "switch" } else { "switches" };
    let again = replay(&command(), test_of_thread().as_deref());
    Failed::from(format!(
        "{message}\nThis schedule alone ({count} {switches} of control; {runs} were run):\n  {SCHEDULE}={choices} {again}"
    ))
}

/// The schedule that the environment names.
pub(super) fn named() -> Result<Option<Choices>, Failed> {
    let Ok(text) = env::var(SCHEDULE) else {
        return Ok(None);
    };
    let choices = text.parse::<Choices>();
    let choices = choices.map_err(|error| Failed::from(format!("{SCHEDULE}: {error}")))?;
    Ok(Some(choices))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equal;

    #[test]
    fn a_failure_says_the_schedule_and_the_command() {
        let failed = under_schedules(&[], 2, |_| equal(&[1], &[2])).expect_err("it differs");
        let message = failed.message().unwrap_or_default();
        let expected = "element 0 is 1, not 2\nThis schedule alone (0 switches of control; 1 were run):\n  RIDGEPOINT_SCHEDULE= ";
        assert!(message.starts_with(expected), "{message}");
        assert!(under_schedules(&[], 2, |_| Ok(())).is_ok());
    }
}
