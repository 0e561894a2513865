//! Work behind a barrier is done under each schedule, also where the last warp to come to it is the only one that can
//! go on.

use engine::{Choices, Schedule, explore, shrink};

use super::{Kernel, WORDS};

/// Kernels of which all work stands behind barriers, blocks and threads per block.
const BEHIND: [(&str, u32, u32); 6] = [
    ("behind_barriers", 1, 1),
    ("behind_barriers", 1, 32),
    ("behind_barriers", 2, 32),
    ("behind_barriers", 1, 64),
    ("others_leave", 1, 64),
    ("others_arrive", 1, 64),
];

/// Whether a launch writes what it writes in order, and anything.
fn case(kernel: &Kernel, schedule: &Schedule) -> Result<(), Vec<u32>> {
    let expected = kernel.launch(&Schedule::InOrder, 1);
    assert_ne!(expected, [0; WORDS]);
    match kernel.launch(schedule, 1) {
        it if it == expected => Ok(()),
        other => Err(other.to_vec()),
    }
}

#[test]
fn seeds_do_what_stands_behind_a_barrier() {
    for (name, grid, block) in BEHIND {
        let kernel = Kernel::new(name, grid, block);
        for seed in 0..100 {
            let ran = case(&kernel, &Schedule::Seeded(seed));
            assert_eq!(ran, Ok(()), "{name}, {grid} of {block}, seed {seed}");
        }
    }
}

#[test]
fn each_schedule_does_what_stands_behind_a_barrier() {
    for (name, grid, block) in BEHIND {
        let kernel = Kernel::new(name, grid, block);
        let preemptions = usize::from(grid * block <= 32);
        let explored = explore(preemptions, 100_000, |schedule| case(&kernel, schedule));
        assert_eq!(explored.failure, None, "{name}, {grid} of {block}");
        assert!(explored.is_complete, "{name}, {grid} of {block}");
    }
}

#[test]
fn the_warp_that_completes_a_barrier_may_go_on_first() {
    // Without a preemption either warp begins, and whichever completes a barrier goes on, or the other does: 2
    // for the first warp, 2 behind each of the barriers.
    let kernel = Kernel::new("behind_barriers", 1, 64);
    let explored = explore(0, 1000, |schedule| case(&kernel, schedule));
    assert_eq!((explored.runs, explored.is_complete), (2 * 2 * 2, true));
}

#[test]
fn a_bug_behind_a_barrier_is_found_shrunk_and_replayed() {
    let kernel = Kernel::new("lost_behind_barrier", 2, 32);
    let check = |schedule: &Schedule| kernel.check(schedule, 0, 2);
    let failing = explore(1, 10_000, check).failure.expect("a lost update");
    assert_eq!(failing.error, 1);
    let replayed: Choices = failing.choices.to_string().parse().expect("choices");
    assert_eq!(check(&Schedule::Chosen(replayed.clone())), Err(1));
    assert_eq!(replayed.check_followed(), Ok(()));
    let seed = (0..100).find(|&seed| check(&Schedule::Seeded(seed)).is_err());
    let seed = Schedule::Seeded(seed.expect("a seed loses an update"));
    let shrunk = shrink(&seed, 2000, check).expect("it fails");
    assert_eq!((shrunk.error, shrunk.is_shortest), (1, true));
    assert!(shrunk.choices.switches().len() <= 2);
}
