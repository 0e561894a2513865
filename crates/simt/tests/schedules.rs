//! Schedules, steps, and checks that a build cannot make.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use cuda_std::atomic::mid::{atomic_load_32_device, atomic_store_32_device};
use cuda_std::emulation::INSTRUMENTED;
use cuda_std::{thread, warp};
use simt::{Checks, Launch, LaunchError, Options, Schedule, Shape};

const SHAPE: Shape = Shape {
    grid: [3, 2, 1],
    block: [70, 1, 1],
    dynamic_shared: 0,
};

fn seeded(seed: u64) -> Options {
    Options {
        schedule: Schedule::Seeded(seed),
        ..Options::default()
    }
}

/// The order in which threads come to the end of a kernel with a barrier and a vote.
fn order(options: Options) -> Vec<u32> {
    let order = Mutex::new(Vec::new());
    Launch::new(SHAPE)
        .options(options)
        .run(&|| {
            thread::sync_threads();
            let lanes = (70 - thread::thread_idx_x() / 32 * 32).min(32);
            let mask = u32::MAX >> (32 - lanes);
            // SAFETY: all lanes of each warp come here; the last has six.
            assert_eq!(unsafe { warp::warp_vote_ballot(mask, true) }, mask);
            let own = thread::linear_index() as u32;
            order.lock().expect("no thread has panicked").push(own);
        })
        .expect("nothing fails");
    order.into_inner().expect("no thread has panicked")
}

#[test]
fn a_seed_is_an_order_of_its_own_in_which_every_thread_runs_once() {
    let in_order: Vec<u32> = (0..6 * 70).collect();
    let mut orders = Vec::new();
    for seed in 0..20 {
        let first = order(seeded(seed));
        assert_eq!(
            first,
            order(seeded(seed)),
            "seed {seed} is not always the same"
        );
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, in_order, "seed {seed}");
        assert_ne!(first, in_order, "seed {seed}");
        orders.push(first);
    }
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 20);
}

#[test]
fn a_block_can_wait_for_the_flag_of_a_later_one() {
    for schedule in [Schedule::InOrder, Schedule::Seeded(1), Schedule::Seeded(2)] {
        let flag = AtomicU32::new(0);
        let options = Options {
            schedule,
            ..Options::default()
        };
        Launch::new(SHAPE)
            .options(options)
            .run(&|| {
                let (flag, order) = (flag.as_ptr(), cuda_std::atomic::Ordering::Relaxed);
                // SAFETY: all accesses are atomic.
                unsafe {
                    match (thread::linear_index() / 70, thread::thread_idx_x()) {
                        (0, 40) => while atomic_load_32_device(flag, order) == 0 {},
                        (5, 3) => atomic_store_32_device(flag, order, 1),
                        _ => {}
                    }
                }
            })
            .expect("the flag is set");
    }
}

#[test]
fn a_thread_that_waits_for_ever_is_named_with_its_line() {
    let flag = AtomicU32::new(0);
    for schedule in [Schedule::InOrder, Schedule::Seeded(3)] {
        let options = Options {
            schedule,
            steps: 1 << 16,
            ..Options::default()
        };
        let result = Launch::new(SHAPE).options(options).run(&|| {
            if thread::linear_index() == 75 {
                // SAFETY: all accesses are atomic.
                while unsafe { atomic_load_32_device(flag.as_ptr(), Relaxed) } == 0 {}
            }
        });
        let Err(LaunchError::Steps {
            thread,
            limit,
            place,
        }) = result
        else {
            panic!("{result:?}");
        };
        assert_eq!((thread.block, thread.thread), ([1, 0, 0], [5, 0, 0]));
        assert_eq!(limit, 1 << 16);
        assert!(place.contains("tests/schedules.rs:"), "{place}");
    }
}

#[test]
fn memory_is_not_said_to_be_checked_where_it_cannot_be() {
    let options = Options {
        checks: Checks::ALL,
        ..Options::default()
    };
    let result = Launch::new(SHAPE).options(options).run(&|| {});
    let expected = if INSTRUMENTED {
        Ok(())
    } else {
        Err(LaunchError::NotInstrumented)
    };
    assert_eq!(result, expected);
}

#[test]
fn arrays_and_dynamic_memory_share_the_devices_limit() {
    let launch = |shared_per_block| {
        let options = Options {
            shared_per_block,
            ..Options::default()
        };
        let shape = Shape {
            dynamic_shared: 30_000,
            ..SHAPE
        };
        Launch::new(shape).options(options).run(&|| {
            cuda_std::shared_array![u8; 4000];
        })
    };
    assert_eq!(launch(34_000), Ok(()));
    let text = launch(33_999).expect_err("a byte too much").to_string();
    assert!(
        text.contains("shared arrays of 4000 bytes and 30000 of dynamic shared memory"),
        "{text}"
    );
}

#[test]
fn steps_that_wait_for_a_block_of_another_core_are_free() {
    if simt::cores() < 2 {
        return;
    }
    let two = Shape {
        grid: [2, 1, 1],
        block: [1, 1, 1],
        dynamic_shared: 0,
    };
    let options = Options {
        checks: Checks::NONE,
        steps: 1 << 16,
        ..Options::default()
    };
    let (flag, begun) = (AtomicU32::new(0), AtomicU32::new(0));
    let kernel = || {
        if thread::block_idx_x() == 0 {
            // Else its core would take the other block, too.
            while begun.load(Relaxed) == 0 {
                std::thread::yield_now();
            }
            // SAFETY: all accesses are atomic.
            while unsafe { atomic_load_32_device(flag.as_ptr(), Relaxed) } == 0 {}
        } else {
            begun.store(1, Relaxed);
            // Far longer than so many steps take.
            std::thread::sleep(Duration::from_millis(200));
            // SAFETY: as above.
            unsafe { atomic_store_32_device(flag.as_ptr(), Relaxed, 1) };
        }
    };
    let launched = Launch::new(two).options(options).run(&kernel);
    launched.expect("the flag is set in the end");
}
