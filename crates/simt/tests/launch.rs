//! Launches as a kernel sees them.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cuda_std::thread;
use simt::{LaunchError, Shape, launch};

fn counters(n: usize) -> Vec<AtomicU32> {
    (0..n).map(|_| AtomicU32::new(0)).collect()
}

fn values(counters: Vec<AtomicU32>) -> Vec<u32> {
    counters.into_iter().map(AtomicU32::into_inner).collect()
}

#[test]
fn every_thread_of_a_three_dimensional_grid_runs_once() {
    let shape = Shape {
        grid: [3, 2, 4],
        block: [5, 3, 2],
        dynamic_shared: 0,
    };
    let seen = counters(3 * 2 * 4 * 5 * 3 * 2);
    launch(shape, &|| {
        let axis = |block: u32, extent: u32, index: u32| (block * extent + index) as usize;
        use thread::*;
        let x = axis(block_idx_x(), block_dim_x(), thread_idx_x());
        let y = axis(block_idx_y(), block_dim_y(), thread_idx_y());
        let z = axis(block_idx_z(), block_dim_z(), thread_idx_z());
        let (width, height) = (
            (grid_dim_x() * block_dim_x()) as usize,
            (grid_dim_y() * block_dim_y()) as usize,
        );
        seen[(z * height + y) * width + x].fetch_add(1, Relaxed);
    })
    .expect("nothing fails");
    assert!(values(seen).iter().all(|&count| count == 1));
}

#[test]
fn grid_stride_gives_each_element_to_one_thread() {
    for n in [0, 1, 31, 64, 65, 1000] {
        let seen = counters(n);
        let shape = Shape {
            grid: [2, 1, 1],
            block: [32, 1, 1],
            dynamic_shared: 0,
        };
        launch(shape, &|| {
            for i in thread::grid_stride(n) {
                seen[i].fetch_add(1, Relaxed);
            }
        })
        .expect("nothing fails");
        assert_eq!(values(seen), vec![1; n], "n = {n}");
    }
}

#[test]
fn a_barrier_holds_every_thread_until_the_last_has_come() {
    const BLOCK: usize = 96;
    const ROUNDS: u32 = 5;
    let before = counters(4 * BLOCK);
    let wrong = AtomicU32::new(0);
    let shape = Shape {
        grid: [4, 1, 1],
        block: [BLOCK as u32, 1, 1],
        dynamic_shared: 0,
    };
    launch(shape, &|| {
        let own = thread::index_1d() as usize;
        let block = own / BLOCK * BLOCK;
        for round in 1..=ROUNDS {
            before[own].store(round, Relaxed);
            thread::sync_threads();
            let all_came = (block..block + BLOCK).all(|i| before[i].load(Relaxed) == round);
            wrong.fetch_add(u32::from(!all_came), Relaxed);
            thread::sync_threads();
            // After the barrier the thread is still itself.
            wrong.fetch_add(u32::from(thread::index_1d() as usize != own), Relaxed);
        }
    })
    .expect("nothing fails");
    assert_eq!(wrong.into_inner(), 0);
}

#[test]
fn a_thread_that_has_left_is_not_waited_for() {
    let after = AtomicU32::new(0);
    let shape = Shape {
        grid: [1, 1, 1],
        block: [64, 1, 1],
        dynamic_shared: 0,
    };
    launch(shape, &|| {
        if thread::thread_idx_x() >= 40 {
            return;
        }
        thread::sync_threads();
        after.fetch_add(1, Relaxed);
    })
    .expect("nothing fails");
    assert_eq!(after.into_inner(), 40);
}

#[test]
fn a_panic_is_an_error_that_names_the_thread() {
    let shape = Shape {
        grid: [3, 1, 1],
        block: [32, 2, 1],
        dynamic_shared: 0,
    };
    let result = launch(shape, &|| {
        thread::sync_threads();
        if thread::block_idx_x() == 1 && thread::thread_idx_x() == 7 && thread::thread_idx_y() == 1
        {
            panic!("element {} is odd", 7);
        }
        thread::sync_threads();
    });
    let Err(LaunchError::Panicked {
        block,
        thread,
        message,
        place,
    }) = result
    else {
        panic!("{result:?}");
    };
    assert_eq!((block, thread), ([1, 0, 0], [7, 1, 0]));
    assert_eq!(message, "element 7 is odd");
    assert!(place.contains("tests/launch.rs:"), "{place}");
}

#[test]
fn an_empty_grid_runs_nothing() {
    for (grid, block) in [([0, 1, 1], [32, 1, 1]), ([1, 1, 1], [0, 1, 1])] {
        launch(
            Shape {
                grid,
                block,
                dynamic_shared: 0,
            },
            &|| panic!("ran"),
        )
        .expect("nothing runs");
    }
}
