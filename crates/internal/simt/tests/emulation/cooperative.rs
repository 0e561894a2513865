//! Blocks that wait for each other.

use std::sync::atomic::{AtomicU32, Ordering};

use cuda_std::cooperative::sync_grid;
use cuda_std::thread;
use simt::{Launch, LaunchError, Shape};

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
    let error = Launch::new(shape(4, 32)).run(&|| {
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
