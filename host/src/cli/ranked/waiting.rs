//! How the other processes wait while the first one measures one device alone, which may take longer than ranks have patience: message by
//! message, so that a rank that is lost is noticed meanwhile.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use ranks::{Control, RankError};

use crate::cli::Failure;
use crate::cli::study_options::study_failure;

/// From one message to the next: little beside the patience of the shortest `--fault-timeout`, which is 3 s.
const BETWEEN: Duration = Duration::from_millis(200);

/// Messages of the first rank.
const AT_WORK: [u8; 1] = [0];
const DONE: [u8; 1] = [1];

/// Does the first rank's work, while all others are in [`wait_for_first`].
pub(super) fn keep_waiting<T>(
    control: &Control,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let (working, done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // Its error is that of whatever the ranks do next, too.
        scope.spawn(|| tell(control, done));
        let result = work();
        drop(working);
        result
    })
}

/// Tells the others that this rank is at work, until nobody holds the other end of `done`.
fn tell(control: &Control, done: Receiver<()>) -> Result<(), RankError> {
    while let Err(RecvTimeoutError::Timeout) = done.recv_timeout(BETWEEN) {
        control.exchange(&AT_WORK)?;
    }
    control.exchange(&DONE).map(|_| ())
}

/// Waits until the first rank's work is done. `check` may end the waiting.
pub(super) fn wait_for_first(
    control: &Control,
    check: impl Fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    loop {
        check()?;
        let all = control.exchange(&[]);
        let all = all.map_err(|error| study_failure(error.into()))?;
        if all[0] == DONE {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use ranks::{Limits, Rank, run_threads};

    use super::*;
    use crate::driver::{Device, Emulation};

    /// Runs three ranks, of which the first does `work` and the last waits as long as `check` lets it.
    fn ran(
        work: impl Fn(&Control) -> Result<(), Failure> + Sync,
        check: impl Fn() -> Result<(), Failure> + Sync,
    ) -> Result<(), String> {
        let device = |number| Device::emulator_number(number, Emulation::default(), &[]);
        let devices: Result<Vec<Device>, _> = (0..3).map(device).collect();
        let limits = Limits {
            fault: Duration::from_secs(10),
            patience: 25 * BETWEEN,
        };
        let ended = run_threads(
            &devices.expect("emulated devices"),
            limits,
            |rank: Rank<'_>| {
                let control = rank.control();
                let waited = match rank.rank() {
                    0 => keep_waiting(control, || work(control)),
                    1 => wait_for_first(control, || Ok(())),
                    _ => wait_for_first(control, &check),
                };
                waited.map_err(|failure| failure.text())?;
                control.barrier().map_err(|error| error.to_string())
            },
        );
        ended.map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_others_wait_for_longer_than_they_have_patience() {
        let slow = |_: &Control| {
            thread::sleep(35 * BETWEEN);
            Ok(())
        };
        assert_eq!(ran(slow, || Ok(())), Ok(()));
    }

    #[test]
    fn a_rank_that_is_lost_meanwhile_is_noticed_by_the_one_at_work() {
        let began = Instant::now();
        let until_lost = |control: &Control| {
            while control.check().is_ok() && began.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_millis(5));
            }
            Ok(())
        };
        let ended = || match began.elapsed() > BETWEEN {
            true => Err(Failure::Failed("planted".to_owned())),
            false => Ok(()),
        };
        assert_eq!(ran(until_lost, ended), Err("rank 2: planted".to_owned()));
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn the_others_hear_why_the_first_rank_has_failed() {
        let fails = |_: &Control| Err(Failure::Failed("planted".to_owned()));
        assert_eq!(ran(fails, || Ok(())), Err("rank 0: planted".to_owned()));
    }
}
