//! A case under all schedules with few preemptions.

use std::env;
use std::time::{Duration, Instant};

use engine::{Choices, Failing, explore, shrink};
use ridgepoint_driver::Schedule;

use super::{
    Device, Embedded, Failed, Ptx, command, emulator, named_schedule, replay, scheduled,
    test_of_thread,
};

/// The environment variable that names the one schedule under which the emulator runs each case, such as `0:32,17:5`:
/// the failure of [`under_schedules`] says which.
pub const SCHEDULE: &str = "RIDGEPOINT_SCHEDULE";

/// How many schedules are run at most, and how many more to make one shorter.
const MOST: u64 = 10_000;
const MOST_TO_SHRINK: u64 = 2_000;

/// How long a schedule is made shorter.
const MOST_TIME: Duration = Duration::from_secs(10);

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
    if let Some(schedule) = named_schedule()? {
        return under(schedule, ptx, case);
    }
    let device = emulator(ptx)?;
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
    let (choices, error) = shortened(failing, in_time(MOST_TIME, run));
    Err(told(&choices, &error, explored.runs))
}

/// Runs the case on the emulator under one schedule.
///
/// # Errors
/// It failed, or its launches have not made all switches of the schedule: they are not those for which it was made.
pub(super) fn under(
    schedule: Schedule,
    ptx: &[Embedded<'_>],
    case: impl Fn(&Device) -> Result<(), Failed>,
) -> Result<(), Failed> {
    case(&Device::emulator_with(scheduled(schedule.clone()), ptx)?)?;
    match schedule {
        Schedule::Chosen(choices) => choices
            .check_followed()
            .map_err(|error| format!("{SCHEDULE}: nothing failed; {error}").into()),
        _ => Ok(()),
    }
}

/// A shorter schedule that fails, and how.
fn shortened(
    failing: Failing<Failed>,
    run: impl Fn(&Schedule) -> Result<(), Failed>,
) -> (Choices, Failed) {
    let schedule = Schedule::Chosen(failing.choices.clone());
    match shrink(&schedule, MOST_TO_SHRINK, run) {
        Some(shrunk) => (shrunk.choices, shrunk.error),
        // There was no time, or it fails now and then: the case is not the same each time.
        None => (failing.choices, failing.error),
    }
}

/// After a failure nobody waits long for a shorter schedule: what has not run by then counts as what does not fail.
fn in_time(
    most: Duration,
    run: impl Fn(&Schedule) -> Result<(), Failed>,
) -> impl Fn(&Schedule) -> Result<(), Failed> {
    let begun = Instant::now();
    move |schedule| match begun.elapsed() < most {
        true => run(schedule),
        false => Ok(()),
    }
}

/// Returns the text of the shortest schedule that was found to fail as a seed's does; none where it does not fail again.
pub(super) fn shortest(
    seed: u64,
    again: &str,
    run: impl Fn(&Schedule) -> Result<(), Failed>,
) -> Option<String> {
    let run = in_time(MOST_TIME, run);
    let shrunk = shrink(&Schedule::Seeded(seed), MOST_TO_SHRINK, run)?;
    let (choices, before) = (&shrunk.choices, shrunk.before);
    // In order it has not failed.
    (!choices.switches().is_empty()).then(|| {
        let switches = counted(choices);
        format!("\nWith {switches} instead of {before}:\n  {SCHEDULE}={choices} {again}")
    })
}

/// How many switches of control it has, in words.
fn counted(choices: &Choices) -> String {
    match choices.switches().len() {
        1 => "1 switch of control".to_owned(),
        count => format!("{count} switches of control"),
    }
}

fn told(choices: &Choices, error: &Failed, runs: u64) -> Failed {
    let message = error.message().unwrap_or("failed");
    let switches = counted(choices);
    let again = replay(&command(), test_of_thread().as_deref());
    Failed::from(format!(
        "{message}\nThis schedule alone ({switches}; {runs} were run):\n  {SCHEDULE}={choices} {again}"
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
pub(crate) mod tests {
    use std::cell::Cell;

    use cuda_std::launch::{Entry, Foreign, Out};
    use ridgepoint_driver::{LaunchConfig, Stream};

    use super::*;
    use crate::{equal, under_seeds_as};

    const KERNELS: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../engine/tests/execution/schedules/kernels.ptx"
    );

    /// Two threads of two blocks each add 1 to a word, without an atomic.
    pub(crate) fn lost_update(device: &Device) -> Result<(), Failed> {
        let loaded = device.load(KERNELS)?;
        let entry = Entry::<Foreign<(Out<u32>,)>>::foreign("lost_update");
        let kernel = loaded.prepare(entry, LaunchConfig::linear(2, 1))?;
        let mut word = loaded.buffer_filled(1, 0u32)?;
        let stream = Stream::new(&loaded)?;
        // SAFETY: the kernel has this parameter and writes one word; the stream is synchronised before the
        // buffer ends.
        unsafe { kernel.launch(&stream, &(word.slice_mut(..),)) }?;
        stream.synchronize()?;
        equal(&word.to_vec()?, &[2])
    }

    /// Each thread of a warp writes its element behind one barrier and adds to it behind another.
    fn behind_barriers(device: &Device) -> Result<(), Failed> {
        let loaded = device.load(KERNELS)?;
        let entry = Entry::<Foreign<(Out<u32>,)>>::foreign("behind_barriers");
        let kernel = loaded.prepare(entry, LaunchConfig::linear(32, 32))?;
        let mut words = loaded.buffer_filled(32, 0u32)?;
        let stream = Stream::new(&loaded)?;
        // SAFETY: the kernel has this parameter and each of 32 threads writes its word; the stream is synchronised
        // before the buffer ends.
        unsafe { kernel.launch(&stream, &(words.slice_mut(..),)) }?;
        stream.synchronize()?;
        equal(&words.to_vec()?, &[2; 32])
    }

    /// Checks that the schedule that the message names fails by itself.
    fn fails_again(message: &str) {
        let named = message.split("RIDGEPOINT_SCHEDULE=").nth(1);
        let named = named
            .and_then(|it| it.split(' ').next())
            .expect("a schedule");
        let schedule = Schedule::Chosen(named.parse().expect("choices"));
        let device = Device::emulator(scheduled(schedule));
        let failed = lost_update(&device).expect_err("a lost update");
        assert_eq!(failed.message(), Some("element 0 is 1, not 2"));
    }

    #[test]
    fn all_schedules_find_a_lost_update_and_say_the_shortest() {
        assert!(under_schedules(&[], 0, lost_update).is_ok());
        let failed = under_schedules(&[], 1, lost_update).expect_err("a lost update");
        let message = failed.message().unwrap_or_default();
        let begins = "element 0 is 1, not 2\nThis schedule alone (1 switch of control; ";
        assert!(message.starts_with(begins), "{message}");
        fails_again(message);
    }

    #[test]
    fn what_stands_behind_a_barrier_is_done_under_each_schedule() {
        let ran = under_schedules(&[], 1, behind_barriers);
        assert_eq!(ran.as_ref().map_err(Failed::message), Ok(&()));
        let seeds = under_seeds_as(None, 20, &[], behind_barriers);
        assert_eq!(seeds.as_ref().map_err(Failed::message), Ok(&()));
        // Lane 7 writes before the others.
        let ahead = Schedule::Chosen("2:7".parse().expect("choices"));
        let ran = under(ahead, &[], behind_barriers);
        assert_eq!(ran.as_ref().map_err(Failed::message), Ok(&()));
    }

    #[test]
    fn nobody_waits_longer_than_the_time_for_a_shorter_schedule() {
        let runs = Cell::new(0);
        let run = |_: &Schedule| {
            runs.set(runs.get() + 1);
            Err(Failed::from("it fails"))
        };
        let failing = || Failing {
            choices: "0:1,4:2".parse().expect("choices"),
            error: Failed::from("it failed"),
        };
        let (choices, _) = shortened(failing(), in_time(Duration::ZERO, run));
        assert_eq!((choices.to_string().as_str(), runs.get()), ("0:1,4:2", 0));
        shortened(failing(), in_time(MOST_TIME, run));
        assert!(runs.get() > 0);
    }

    #[test]
    fn a_schedule_that_cannot_be_followed_is_an_error() {
        let under_text = |text: &str| {
            let schedule = Schedule::Chosen(text.parse().expect("choices"));
            let ran = under(schedule, &[], lost_update);
            ran.map_err(|failed| failed.message().unwrap_or_default().to_owned())
        };
        assert_eq!(under_text("0:1"), Ok(()));
        assert_eq!(under_text("2:1"), Err("element 0 is 1, not 2".to_owned()));
        let said = |text: &str| Err(format!("RIDGEPOINT_SCHEDULE: nothing failed; {text}"));
        let late = said("900:1 of the schedule: the run ended after 7 points");
        assert_eq!(under_text("0:1,900:1"), late);
        let gone = said("2:7 of the schedule: thread 7 cannot go on at the point 2");
        assert_eq!(under_text("2:7"), gone);
    }

    #[test]
    fn a_seeds_failure_says_a_shorter_schedule() {
        let failed =
            under_seeds_as(Some("lost"), 100, &[], lost_update).expect_err("a lost update");
        let message = failed.message().unwrap_or_default();
        assert!(
            message.contains("\nWith 1 switch of control instead of "),
            "{message}"
        );
        assert!(message.ends_with(" --exact lost"), "{message}");
        fails_again(message);
    }

    #[test]
    fn a_failure_says_the_schedule_and_the_command() {
        let failed = under_schedules(&[], 2, |_| equal(&[1], &[2])).expect_err("it differs");
        let message = failed.message().unwrap_or_default();
        let expected = "element 0 is 1, not 2\nThis schedule alone (0 switches of control; 1 were run):\n  RIDGEPOINT_SCHEDULE= ";
        assert!(message.starts_with(expected), "{message}");
        assert!(under_schedules(&[], 2, |_| Ok(())).is_ok());
    }
}
