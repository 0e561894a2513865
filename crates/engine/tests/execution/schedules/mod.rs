//! Findings under seeds, and searches through all schedules.

mod barriers;

use std::cell::Cell;
use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{Choices, Module, Options, Schedule, Shape, explore, shrink};

const PTX: &str = include_str!("kernels.ptx");

const WORDS: usize = 64;

/// A kernel and its memory.
struct Kernel {
    kernel: engine::Kernel,
    shape: Shape,
    address: u64,
    _memory: Arc<Memory>,
}

impl Kernel {
    fn new(name: &str, grid: u32, block: u32) -> Kernel {
        let memory: Arc<Memory> = Arc::default();
        let module = Module::load(PTX, &memory).expect("PTX");
        let label = Label::new("data", 4);
        let address = memory.allocate(4 * WORDS as u64, 256, Contents::Defined, label);
        Kernel {
            kernel: module.kernel(name).expect("a kernel of this name"),
            shape: Shape {
                grid: [grid, 1, 1],
                block: [block, 1, 1],
                dynamic_shared: 0,
            },
            address: address.expect("memory"),
            _memory: memory,
        }
    }

    /// Returns the words that it writes over zeros, in a number of launches.
    fn launch(&self, schedule: &Schedule, times: u32) -> [u32; WORDS] {
        let data = std::ptr::with_exposed_provenance_mut::<[u32; WORDS]>(self.address as usize);
        // SAFETY: allocated above for so many.
        unsafe { data.write([0; WORDS]) };
        let options = Options {
            schedule: schedule.clone(),
            steps: 1 << 20,
            // With several cores, blocks lose updates in order, too.
            cores: 1,
            ..Options::default()
        };
        let parameters = self.address.to_le_bytes();
        for _ in 0..times {
            let ran = self
                .kernel
                .launch(self.shape, options.clone(), &parameters, &|_| (), None);
            ran.expect("it runs");
        }
        // SAFETY: as above, and nothing runs.
        unsafe { data.read() }
    }

    /// Whether a word is another than it should be.
    fn check(&self, schedule: &Schedule, index: usize, expected: u32) -> Result<(), u32> {
        match self.launch(schedule, 1)[index] {
            it if it == expected => Ok(()),
            other => Err(other),
        }
    }

    /// How many of 100 seeds find it.
    fn share(&self, fails: impl Fn(&[u32; WORDS]) -> bool) -> usize {
        assert!(!fails(&self.launch(&Schedule::InOrder, 1)));
        let found = |&seed: &u64| fails(&self.launch(&Schedule::Seeded(seed), 1));
        (0..100).filter(found).count()
    }
}

#[test]
fn seeds_let_one_block_run_far_ahead_of_all_others() {
    let share = Kernel::new("far_ahead", 8, 64).share(|data| data[63] != 0);
    assert!(share >= 10, "{share} of 100 seeds");
}

#[test]
fn seeds_let_lanes_of_a_warp_go_ahead() {
    let share = Kernel::new("opposite", 1, 32).share(|data| data[63] != 0);
    assert!(share >= 10, "{share} of 100 seeds");
    let share = Kernel::new("tickets", 1, 32).share(|data| !data[..32].is_sorted());
    assert!(share >= 20, "{share} of 100 seeds");
}

#[test]
fn seeds_take_turns_between_accesses_that_nothing_parts() {
    for (grid, block) in [(8, 1), (1, 256)] {
        let kernel = Kernel::new("lost_update", grid, block);
        let in_order = kernel.launch(&Schedule::InOrder, 1)[0];
        let share = kernel.share(|data| data[0] < in_order);
        assert!(share >= 20, "{share} of 100 seeds, {grid} blocks");
    }
}

#[test]
fn what_waits_comes_to_its_end_under_each_seed() {
    let kernel = Kernel::new("waits", 20, 33);
    for seed in 0..100 {
        assert_eq!(kernel.launch(&Schedule::Seeded(seed), 1)[2], 19 * 33);
    }
}

#[test]
fn all_schedules_of_a_tiny_kernel_are_run_once() {
    // Two threads, A and B, of two accesses each. Without a preemption: AB and BA. With one, A or B begins and is
    // preempted before its first or its second access: 2 * 2. With two, the other is, too: 2 * 2 * 2.

    let kernel = Kernel::new("counted", 2, 1);
    for (preemptions, expected) in [(0, 2), (1, 2 + 4), (2, 2 + 4 + 8)] {
        let explored = explore(preemptions, 1000, |schedule| kernel.check(schedule, 0, 2));
        assert_eq!((explored.runs, explored.is_complete), (expected, true));
        assert_eq!(explored.failure, None);
    }
    // Three blocks of one thread each are run in all orders, and so are the four warps of two blocks.
    let runs = |grid, block| {
        let kernel = Kernel::new("counted", grid, block);
        explore(0, 1000, |schedule| kernel.check(schedule, 0, grid * block)).runs
    };
    assert_eq!((runs(3, 1), runs(4, 1), runs(2, 64)), (6, 24, 24));
}

#[test]
fn a_lane_may_go_ahead_of_its_warp() {
    // One warp of three lanes that stay together: one schedule. With one preemption, one of 3 goes ahead at
    // either of 2 accesses.
    let kernel = Kernel::new("counted", 1, 3);
    let runs = |preemptions| {
        let explored = explore(preemptions, 1000, |schedule| kernel.check(schedule, 1, 3));
        assert!(explored.is_complete && explored.failure.is_none());
        explored.runs
    };
    assert_eq!((runs(0), runs(1)), (1, 1 + 3 * 2));
    let kernel = Kernel::new("opposite", 1, 4);
    let explored = explore(0, 1000, |schedule| kernel.check(schedule, 63, 1));
    assert!(explored.is_complete && explored.failure.is_none());
}

#[test]
fn a_limit_ends_an_exploration() {
    let kernel = Kernel::new("counted", 2, 1);
    let explored = explore(2, 13, |schedule| kernel.check(schedule, 0, 2));
    assert_eq!((explored.runs, explored.is_complete), (13, false));
    let explored = explore(2, 14, |schedule| kernel.check(schedule, 0, 2));
    assert_eq!((explored.runs, explored.is_complete), (14, true));
}

#[test]
fn a_lost_update_takes_one_preemption() {
    let kernel = Kernel::new("lost_update", 2, 1);
    let none = explore(0, 1000, |schedule| kernel.check(schedule, 0, 2));
    assert_eq!((none.runs, none.is_complete), (2, true));
    assert_eq!(none.failure, None);
    let one = explore(1, 1000, |schedule| kernel.check(schedule, 0, 2));
    let failing = one.failure.expect("a lost update");
    // The launch begins, block 0 reads, and before it writes block 1 goes on.
    assert_eq!(
        (failing.choices.to_string().as_str(), failing.error),
        ("2:1", 1)
    );
    assert!(!one.is_complete);
    let again: Choices = "2:1".parse().expect("choices");
    assert_eq!(kernel.check(&Schedule::Chosen(again), 0, 2), Err(1));
}

#[test]
fn a_flag_that_flickers_takes_two_preemptions() {
    let kernel = Kernel::new("flickers", 2, 1);
    let search = |preemptions| explore(preemptions, 1000, |schedule| kernel.check(schedule, 1, 0));
    let one = search(1);
    assert!(one.is_complete && one.failure.is_none());
    let failing = search(2).failure.expect("it is seen");
    assert_eq!(failing.choices.switches().len(), 2);
    let again = kernel.check(&Schedule::Chosen(failing.choices), 1, 0);
    assert_eq!(again, Err(failing.error));
}

#[test]
fn what_is_correct_is_explored_to_the_end() {
    let kernel = Kernel::new("waits", 3, 1);
    let explored = explore(1, 100_000, |schedule| kernel.check(schedule, 2, 2));
    assert!(explored.is_complete && explored.failure.is_none());
    let kernel = Kernel::new("counted", 2, 64);
    let explored = explore(1, 10_000, |schedule| kernel.check(schedule, 1, 128));
    assert!(explored.is_complete && explored.failure.is_none());
}

#[test]
fn a_seeds_failure_is_shrunk_to_two_switches_at_most() {
    let kernel = Kernel::new("larger", 8, 64);
    let case = |schedule: &Schedule| kernel.check(schedule, 0, 16);
    assert_eq!(case(&Schedule::InOrder), Ok(()));
    let failing: Vec<u64> = (0..100)
        .filter(|&seed| case(&Schedule::Seeded(seed)).is_err())
        .collect();
    assert!(failing.len() >= 20, "{} of 100 seeds", failing.len());
    for &seed in failing.iter().take(3) {
        let shrunk = shrink(&Schedule::Seeded(seed), 2000, case).expect("it fails");
        let text = shrunk.choices.to_string();
        assert!(shrunk.before > 2 && shrunk.is_shortest);
        assert!(shrunk.choices.switches().len() <= 2, "{text}");
        let again = Schedule::Chosen(text.parse().expect("choices"));
        assert_eq!(case(&again), Err(shrunk.error));
        let twice = shrink(&Schedule::Seeded(seed), 2000, case).expect("it fails");
        assert_eq!(twice.choices, shrunk.choices);
    }
    assert_eq!(shrink(&Schedule::InOrder, 10, case), None);
}

#[test]
fn points_are_counted_from_launch_to_launch() {
    let kernel = Kernel::new("lost_update", 2, 1);
    // Each launch has a beginning, an end of the first block and one of the second, and four accesses.
    let lost = |text: &str| {
        let choices: Choices = text.parse().expect("choices");
        kernel.launch(&Schedule::Chosen(choices), 2)[0]
    };
    assert_eq!(
        [lost(""), lost("2:1"), lost("9:1"), lost("2:1,9:1")],
        [4, 3, 3, 2]
    );
    let runs = Cell::new(0);
    let explored = explore(0, 1000, |schedule| {
        runs.set(runs.get() + 1);
        (kernel.launch(schedule, 2)[0] == 4).then_some(()).ok_or(())
    });
    assert_eq!(
        (explored.runs, runs.get(), explored.is_complete),
        (4, 4, true)
    );
}
