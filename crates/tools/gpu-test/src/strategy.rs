//! Schedules as proptest generates and shrinks them.

use std::cell::RefCell;
use std::mem;

use engine::{Choice, Choices, LeavingOut};
use proptest::num;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use ridgepoint_driver::Schedule;

/// proptest's strategy for schedules of the emulator: that of a random seed, and where a case fails under it the fewest of
/// its switches of control with which the case still fails. The case runs on a new device, or on one of `Device::with_emulation`.
///
/// ```
/// use gpu_test::{Device, Schedules};
/// use proptest::prelude::*;
/// use ridgepoint_driver::Emulation;
///
/// proptest! {
///     # #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]
///     // #[test]
///     fn memory_is_there(n in 1..100usize, schedule in Schedules) {
///         let emulation = Emulation { schedule, ..Emulation::default() };
///         let ptx = &[]; // What CudaBuilder::embed_to wrote; this case launches nothing.
///         let device = Device::emulator_with(emulation, ptx)?;
///         prop_assert_eq!(device.buffer_filled(n, 7u32)?.to_vec()?, vec![7; n]);
///     }
/// }
/// # memory_is_there();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Schedules;

/// A schedule, and how far it has been shrunk.
#[derive(Debug)]
pub struct Shrinking {
    stage: Stage,
    /// The last one that was given: it knows the switches that its run has made.
    given: RefCell<Choices>,
}

#[derive(Debug)]
enum Stage {
    Seed(u64),
    /// The switches that fail.
    Failing(LeavingOut),
    /// The switches that are tried.
    Trying(LeavingOut, Vec<Choice>),
}

impl Strategy for Schedules {
    type Tree = Shrinking;
    type Value = Schedule;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Schedules> {
        let seed = num::u64::ANY.new_tree(runner)?.current();
        Ok(Shrinking {
            stage: Stage::Seed(seed),
            given: RefCell::new(Choices::of_seed(seed)),
        })
    }
}

impl ValueTree for Shrinking {
    type Value = Schedule;

    fn current(&self) -> Schedule {
        let choices = match &self.stage {
            Stage::Seed(seed) => Choices::of_seed(*seed),
            Stage::Failing(leaving_out) => Choices::of(leaving_out.switches().to_vec()),
            Stage::Trying(_, switches) => Choices::of(switches.clone()),
        };
        self.given.replace(choices.clone());
        Schedule::Chosen(choices)
    }

    /// proptest calls this when the last one that was given has failed.
    fn simplify(&mut self) -> bool {
        let made = self.given.borrow().made();
        let mut leaving_out = match self.take() {
            Stage::Seed(_) => LeavingOut::of(made),
            Stage::Failing(leaving_out) => leaving_out,
            Stage::Trying(mut leaving_out, _) => {
                leaving_out.failed(made);
                leaving_out
            }
        };
        let candidate = leaving_out.candidate();
        let is_tried = candidate.is_some();
        self.stage = match candidate {
            Some(switches) => Stage::Trying(leaving_out, switches),
            None => Stage::Failing(leaving_out),
        };
        is_tried
    }

    /// proptest calls this when the last one that was given has not failed.
    fn complicate(&mut self) -> bool {
        match self.take() {
            Stage::Trying(mut leaving_out, _) => {
                leaving_out.passed();
                self.stage = Stage::Failing(leaving_out);
                true
            }
            other => {
                self.stage = other;
                false
            }
        }
    }
}

impl Shrinking {
    fn take(&mut self) -> Stage {
        mem::replace(&mut self.stage, Stage::Seed(0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError};
    use ridgepoint_driver::Device;

    use super::*;
    use crate::scheduled;
    use crate::schedules::tests::lost_update;

    fn runner() -> TestRunner {
        TestRunner::new(Config {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..Config::default()
        })
    }

    #[test]
    fn a_failing_schedule_is_shrunk_to_switches_of_which_none_can_be_left_out() {
        let fails = |schedule: Schedule| {
            let device = Device::emulator(scheduled(schedule));
            lost_update(&device).is_err()
        };
        let strategy = (0..100u32, Schedules);
        let ran = runner().run(&strategy, |(number, schedule)| match number {
            30.. if fails(schedule) => Err(TestCaseError::fail("lost")),
            _ => Ok(()),
        });
        let Err(TestError::Fail(_, (30, Schedule::Chosen(choices)))) = ran else {
            panic!("{ran:?}");
        };
        assert!(fails(Schedule::Chosen(choices.anew())), "{choices}");
        for left_out in choices.switches() {
            let others = choices
                .switches()
                .iter()
                .copied()
                .filter(|it| it != left_out);
            assert!(!fails(Schedule::Chosen(Choices::of(others))), "{choices}");
        }
    }

    #[test]
    fn what_fails_in_order_too_is_shrunk_to_no_switch() {
        let ran = runner().run(&Schedules, |_| Err(TestCaseError::fail("always")));
        let Err(TestError::Fail(_, Schedule::Chosen(choices))) = ran else {
            panic!("{ran:?}");
        };
        assert_eq!(choices.to_string(), "");
    }

    #[test]
    fn what_passes_is_not_shrunk_and_the_same_for_the_same_random_numbers() {
        let tree = |runner: &mut TestRunner| Schedules.new_tree(runner).expect("a schedule");
        let [mut one, two] = [tree(&mut runner()), tree(&mut runner())];
        assert_eq!(one.current(), two.current());
        assert!(!one.complicate());
        assert_eq!(one.current(), two.current());
    }
}
