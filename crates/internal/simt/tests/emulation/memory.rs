//! The memory of the host that a launch takes, in a process of its own, because all launches of one count.
#![cfg(target_os = "linux")]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use cuda_std::thread;
use simt::{Launch, Shape};

use crate::process::{alone, peak};

#[test]
fn a_live_thread_takes_less_than_64_kib_and_a_large_grid_no_more() {
    alone(
        "memory::a_live_thread_takes_less_than_64_kib_and_a_large_grid_no_more",
        live_threads_and_a_large_grid,
    );
}

fn live_threads_and_a_large_grid() {
    let before = peak();
    let shape = Shape {
        grid: [64, 1, 1],
        block: [1024, 1, 1],
        dynamic_shared: 0,
    };
    Launch::new(shape)
        .run(&|| thread::sync_threads())
        .expect("nothing fails");
    let live = 1024;
    let with_live = peak();
    assert!(
        with_live - before < 64 * live,
        "{live} threads took {} KiB",
        with_live - before
    );

    let count = AtomicU64::new(0);
    let shape = Shape {
        grid: [1000, 1, 1],
        block: [1000, 1, 1],
        dynamic_shared: 0,
    };
    Launch::new(shape)
        .run(&|| {
            count.fetch_add(1, Relaxed);
        })
        .expect("nothing fails");
    assert_eq!(count.into_inner(), 1_000_000);
    let more = peak() - with_live;
    assert!(more < 8 * 1024, "1 million threads took {more} KiB");
}
