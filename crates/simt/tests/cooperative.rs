//! Blocks that wait for each other.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cuda_std::atomic::Ordering::Acquire;
use cuda_std::atomic::mid::atomic_load_32_device;
use cuda_std::cooperative::sync_grid;
use cuda_std::thread;
use simt::{Launch, LaunchError, Options, Shape, most_cooperative_blocks};

fn shape(blocks: u32, threads: u32) -> Shape {
    Shape {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
    }
}

#[test]
fn no_block_passes_the_barrier_before_all_have_come() {
    let (blocks, threads) = (7, 40);
    let (arrivals, come, early) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    for launch in 1..=3 {
        Launch::new(shape(blocks, threads))
            .cooperative()
            .run(&|| {
                for round in 1..=5 {
                    come.fetch_add(1, Ordering::Relaxed);
                    // SAFETY: a cooperative launch, all of whose threads come here.
                    unsafe { sync_grid(arrivals.as_ptr()) };
                    let expected = ((launch - 1) * 5 + round) * blocks * threads;
                    if come.load(Ordering::Relaxed) < expected {
                        early.fetch_add(1, Ordering::Relaxed);
                    }
                    // SAFETY: as above.
                    unsafe { sync_grid(arrivals.as_ptr()) };
                }
            })
            .expect("every thread reaches every barrier");
    }
    assert_eq!(early.into_inner(), 0);
    assert_eq!(come.into_inner(), 3 * 5 * blocks * threads);
}

#[test]
fn a_block_that_fails_ends_those_that_wait_for_it() {
    let arrivals = AtomicU32::new(0);
    let error = Launch::new(shape(4, 32)).cooperative().run(&|| {
        assert_ne!(thread::block_idx_x(), 2, "planted");
        // SAFETY: a cooperative launch; that some never come is what this is about.
        unsafe { sync_grid(arrivals.as_ptr()) };
    });
    match error {
        Err(LaunchError::Panicked {
            thread, message, ..
        }) => {
            assert_eq!(thread.block, [2, 0, 0]);
            assert!(message.contains("planted"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
#[should_panic(expected = "a cooperative launch of 1000000 blocks")]
fn more_blocks_than_run_at_once_are_refused() {
    assert!(most_cooperative_blocks(shape(1, 1024)) >= 16);
    let _ = Launch::new(shape(1_000_000, 32)).cooperative().run(&|| ());
}

/// On a busy host a core may not see for long what it waited for, while the others wait for it already.
#[test]
fn barriers_on_a_busy_host_are_no_endless_loop() {
    let (arrivals, ended) = (AtomicU32::new(0), AtomicBool::new(false));
    let options = Options {
        steps: 1 << 20,
        ..Options::default()
    };
    let result = std::thread::scope(|scope| {
        for _ in 0..4 * simt::cores() {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = Launch::new(shape(4, 32))
            .cooperative()
            .options(options)
            .run(&|| {
                for _ in 0..100 {
                    // SAFETY: a cooperative launch, all of whose threads come here.
                    unsafe { sync_grid(arrivals.as_ptr()) };
                }
            });
        ended.store(true, Ordering::Relaxed);
        result
    });
    result.expect("every thread reaches every barrier");
}

/// Where none can go on, that shows on several cores too.
#[test]
fn blocks_that_wait_for_nothing_are_found() {
    let flag = AtomicU32::new(0);
    let options = Options {
        steps: 1 << 20,
        ..Options::default()
    };
    let result = Launch::new(shape(4, 1))
        .cooperative()
        .options(options)
        .run(&|| {
            // SAFETY: the flag is there.
            while unsafe { atomic_load_32_device(flag.as_ptr(), Acquire) } == 0 {
                thread::nanosleep(20);
            }
        });
    assert!(
        matches!(result, Err(LaunchError::Steps { .. })),
        "{result:?}"
    );
}
