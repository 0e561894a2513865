//! Launches as a kernel sees them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cuda_std::atomic::Ordering::Acquire;
use cuda_std::atomic::mid::atomic_load_32_device;
use cuda_std::{thread, warp};
use simt::{Launch, LaunchError, Shape};

fn launch(shape: Shape, kernel: &dyn Fn()) -> Result<(), LaunchError> {
    Launch::new(shape).run(kernel)
}

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
        thread,
        message,
        place,
    }) = result
    else {
        panic!("{result:?}");
    };
    assert_eq!((thread.block, thread.thread), ([1, 0, 0], [7, 1, 0]));
    assert_eq!(message, "element 7 is odd");
    assert!(place.contains("tests/emulation/launch.rs:"), "{place}");
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

#[test]
fn lanes_exchange_values_in_whole_and_in_partial_warps() {
    let seen = counters(70);
    launch(block_of(70), &|| {
        let thread = thread::thread_idx_x();
        let mask = if thread < 64 { u32::MAX } else { 0b11_1111 };
        // SAFETY: the lanes of each warp all come here; the last warp has six.
        let (other, _) = unsafe { warp::warp_shuffle_xor(mask, thread, 1, 32) };
        seen[thread as usize].store(other, Relaxed);
    })
    .expect("nothing fails");
    let expected: Vec<u32> = (0..70).map(|thread| thread ^ 1).collect();
    assert_eq!(values(seen), expected);
}

#[test]
fn lanes_in_two_arms_of_a_branch_exchange_apart() {
    let seen = counters(32);
    launch(block_of(32), &|| {
        let lane = warp::lane_id();
        // SAFETY: each mask names the lanes that take its arm.
        let lanes = unsafe {
            if lane < 8 {
                warp::warp_vote_ballot(0xFF, true)
            } else {
                warp::warp_vote_ballot(0xFFFF_FF00, lane.is_multiple_of(2))
            }
        };
        seen[lane as usize].store(lanes, Relaxed);
    })
    .expect("nothing fails");
    let seen = values(seen);
    assert!(seen[..8].iter().all(|&lanes| lanes == 0xFF));
    assert!(seen[8..].iter().all(|&lanes| lanes == 0x5555_5500));
}

#[test]
fn threads_that_nothing_can_wake_are_reported() {
    let result = launch(block_of(64), &|| {
        if thread::thread_idx_x() == 5 {
            // SAFETY: none; lane 6 never comes.
            unsafe { warp::sync_warp(0b110_0000) };
        } else {
            thread::sync_threads();
        }
    });
    let Err(LaunchError::Stuck { block, waiting }) = result else {
        panic!("{result:?}");
    };
    assert_eq!(block, [0, 0, 0]);
    for words in [
        "63 threads, the first [0, 0, 0], wait at the barrier at crates/internal/simt/tests/emulation/launch.rs:",
        "thread [5, 0, 0] waits in warp 0 for a Sync of the mask 0x00000060 at ",
    ] {
        assert!(waiting.contains(words), "{waiting}");
    }
}

#[test]
fn shared_memory_is_fresh_in_each_block_and_one_for_all_its_threads() {
    let shape = Shape {
        grid: [8, 1, 1],
        ..block_of(33)
    };
    let sums = counters(8);
    Launch::new(shape)
        .run(&|| {
            let numbers = cuda_std::shared_array![u32; 33];
            let own = thread::thread_idx_x() as usize;
            // SAFETY: inside the array; each thread writes its own element, between barriers.
            unsafe {
                assert_eq!(*numbers.add(own), u32::MAX, "not fresh");
                *numbers.add(own) = own as u32;
                thread::sync_threads();
                if own == 0 {
                    let sum = (0..33).map(|i| *numbers.add(i)).sum();
                    sums[thread::block_idx_x() as usize].store(sum, Relaxed);
                }
            }
        })
        .expect("nothing fails");
    assert_eq!(values(sums), [32 * 33 / 2; 8]);
}

#[test]
fn too_much_shared_memory_is_reported_with_the_limit() {
    let result = launch(block_of(1), &|| {
        cuda_std::shared_array![u64; 6 * 1024];
        cuda_std::shared_array![u8; 1];
    });
    let text = result.expect_err("48 KiB and one byte").to_string();
    assert!(
        text.contains("49153 bytes") && text.contains("may declare 49152"),
        "{text}"
    );
}

#[test]
fn what_a_kernel_prints_comes_in_whole_pieces() {
    let printed = Mutex::new(Vec::new());
    let print = |text: &str| printed.lock().expect("no panic").push(text.to_owned());
    Launch::new(block_of(3))
        .print(&print)
        .run(&|| {
            let thread = thread::thread_idx_x();
            cuda_std::println!("thread {thread}: {:>4.1}", thread as f32 / 2.0);
        })
        .expect("nothing fails");
    let printed = printed.into_inner().expect("no panic");
    assert_eq!(
        printed,
        ["thread 0:  0.0\n", "thread 1:  0.5\n", "thread 2:  1.0\n"]
    );
}

#[test]
fn long_text_is_cut_between_characters() {
    let printed = Mutex::new(String::new());
    let print = |text: &str| printed.lock().expect("no panic").push_str(text);
    let text = format!("a{}", "µ".repeat(1000));
    Launch::new(block_of(1))
        .print(&print)
        .run(&|| cuda_std::print!("{text}"))
        .expect("nothing fails");
    assert_eq!(printed.into_inner().expect("no panic"), text);
}

#[test]
fn the_active_lanes_are_those_of_the_same_arm() {
    let seen = counters(32);
    launch(block_of(32), &|| {
        let lane = warp::lane_id();
        let active = if lane < 16 {
            warp::activemask()
        } else {
            !warp::activemask()
        };
        seen[lane as usize].store(active, Relaxed);
    })
    .expect("nothing fails");
    assert_eq!(values(seen), [0xFFFF; 32]);
}

#[test]
fn lanes_that_have_left_are_waited_for_by_nobody() {
    let seen = counters(32);
    launch(block_of(32), &|| {
        let lane = warp::lane_id();
        if lane >= 20 {
            return;
        }
        // SAFETY: all lanes that are left come.
        let said = unsafe {
            (
                warp::warp_vote_all(u32::MAX, true),
                warp::warp_vote_ballot(u32::MAX, lane > 0),
                warp::warp_reduce(u32::MAX, lane + 7, warp::WarpReductionOp::Min),
            )
        };
        let is_right = said == (true, 0xF_FFFE, 7);
        seen[lane as usize].store(u32::from(is_right), Relaxed);
    })
    .expect("nothing fails");
    assert_eq!(values(seen)[..20], [1; 20]);
    let failed = launch(block_of(32), &|| {
        if warp::lane_id() < 20 {
            // SAFETY: none; lane 19 reads lane 20.
            unsafe { warp::warp_shuffle_down(u32::MAX, 1u32, 1, 32) };
        }
    });
    let said = failed.expect_err("it is wrong").to_string();
    assert!(
        said.contains("lane 19 shuffles from lane 20, which has left"),
        "{said}"
    );
}

#[test]
fn a_mask_that_does_not_name_its_lane_or_its_source_is_reported() {
    let failure = |kernel: &dyn Fn()| {
        let failed = launch(block_of(32), kernel).expect_err("it is wrong");
        failed.to_string()
    };
    let outside = failure(&|| {
        // SAFETY: none; lanes from 16 on are not in the mask.
        unsafe { warp::warp_vote_ballot(0xFFFF, true) };
    });
    assert!(outside.contains("thread [16, 0, 0]"), "{outside}");
    assert!(
        outside.contains("a Vote with the mask 0x0000ffff, which does not name it"),
        "{outside}"
    );
    let source = failure(&|| {
        if warp::lane_id() < 4 {
            // SAFETY: none; lane 3 reads lane 4.
            unsafe { warp::warp_shuffle_down(0xF, 1u32, 1, 32) };
        }
    });
    assert!(source.contains("lane 3 shuffles from lane 4"), "{source}");
}

#[test]
fn a_thread_that_sleeps_lets_those_that_it_waits_for_go_on() {
    let flag = AtomicU32::new(0);
    launch(block_of(64), &|| match thread::thread_idx_x() {
        0 => {
            while flag.load(Relaxed) == 0 {
                thread::nanosleep(100);
            }
        }
        40 => flag.store(1, Relaxed),
        _ => {}
    })
    .expect("nothing fails");
}

#[test]
fn a_kernel_that_asks_for_its_place_while_it_is_unwound_is_answered() {
    struct Asks;
    impl Drop for Asks {
        fn drop(&mut self) {
            assert!(thread::thread_idx_x() < 2);
        }
    }
    let result = launch(block_of(2), &|| {
        let _asks = Asks;
        if thread::thread_idx_x() == 0 {
            thread::sync_threads();
        } else {
            // SAFETY: none; lane 0 waits at the barrier.
            unsafe { warp::sync_warp(0b11) };
        }
    });
    assert!(
        matches!(result, Err(LaunchError::Stuck { .. })),
        "{result:?}"
    );
}

/// One block, of one dimension.
fn block_of(threads: u32) -> Shape {
    Shape {
        grid: [1, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
    }
}

#[test]
fn no_thread_is_current_after_a_launch() {
    let shape = Shape {
        grid: [1; 3],
        block: [64, 1, 1],
        dynamic_shared: 0,
    };
    launch(shape, &|| {
        thread::sync_threads();
        thread::sync_threads();
    })
    .expect("every thread reaches every barrier");
    assert_eq!(cuda_std::emulation::current(), None);
}

#[test]
fn a_block_can_wait_for_the_flag_of_a_later_one() {
    let flag = AtomicU32::new(0);
    let shape = Shape {
        grid: [100, 1, 1],
        ..block_of(32)
    };
    launch(shape, &|| match thread::block_idx_x() {
        99 => flag.store(1, Relaxed),
        _ => {
            // SAFETY: the flag is there.
            while unsafe { atomic_load_32_device(flag.as_ptr(), Acquire) } == 0 {}
        }
    })
    .expect("block 99 sets it");
}

#[test]
fn a_thread_that_waits_for_ever_is_named_with_its_line() {
    let flag = AtomicU32::new(0);
    let kernel = || {
        if thread::index_1d() == 33 {
            // SAFETY: the flag is there.
            while unsafe { atomic_load_32_device(flag.as_ptr(), Acquire) } == 0 {}
        }
    };
    let shape = Shape {
        grid: [2, 1, 1],
        ..block_of(32)
    };
    let failed = Launch::new(shape).steps(1 << 20).run(&kernel);
    let text = failed.expect_err("nobody sets it").to_string();
    assert!(
        text.starts_with(
            "block [1, 0, 0], thread [1, 0, 0] goes on for ever, or for more than 1048576 steps, \
             at crates/internal/simt/tests/emulation/launch.rs:"
        ),
        "{text}"
    );
}

#[test]
fn arrays_and_dynamic_memory_share_the_devices_limit() {
    let shape = Shape {
        dynamic_shared: 1000,
        ..block_of(1)
    };
    let launch = Launch::new(shape).shared_per_block(1024);
    let result = launch.run(&|| {
        cuda_std::shared_array![u8; 25];
    });
    let text = result.expect_err("one byte too many").to_string();
    let expected = "25 bytes and 1000 of dynamic shared memory; a block of this device has 1024";
    assert!(text.contains(expected), "{text}");
}

fn shape(grid: [u32; 3], block: [u32; 3]) -> Shape {
    Shape {
        grid,
        block,
        dynamic_shared: 0,
    }
}

/// This test in a process of its own, without the tests beside this one: how it ended, and what it said.
fn again(name: &str) -> (std::process::ExitStatus, String) {
    let this = std::env::current_exe().expect("this program");
    let output = std::process::Command::new(this)
        .args(["--exact", &format!("launch::{name}"), "--nocapture"])
        .env("SIMT_ENDS", "1")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status, said)
}

fn is_again() -> bool {
    std::env::var_os("SIMT_ENDS").is_some()
}

#[inline(never)]
fn recurse(n: u32) -> u32 {
    let frame = std::hint::black_box([n; 64]);
    match n {
        0 => 0,
        n => 1 + recurse(n - 1) + (frame[3] & 1),
    }
}

fn overflow(kernel: &'static str, body: &dyn Fn()) {
    let launch = Launch::new(shape([2, 1, 1], [40, 1, 1])).named(kernel);
    let ran = launch.run(&|| {
        thread::sync_threads();
        if (thread::block_idx_x(), thread::thread_idx_x()) == (1, 33) {
            body();
        }
    });
    panic!("it returned {ran:?}");
}

fn is_told(name: &str, kernel: &str) {
    let (status, said) = again(name);
    let expected = format!(
        "{kernel}: block [1, 0, 0], thread [33, 0, 0] overflowed its stack of 1024 KiB on the host"
    );
    assert!(said.contains(&expected), "{said}");
    assert_eq!(status.code(), Some(101), "{status}: {said}");
}

#[test]
fn deep_recursion_is_told_before_the_process_ends() {
    match is_again() {
        true => overflow("deep", &|| assert_ne!(recurse(1_000_000), 1)),
        false => is_told("deep_recursion_is_told_before_the_process_ends", "deep"),
    }
}

#[test]
fn a_frame_larger_than_the_stack_is_told_before_the_process_ends() {
    let large = || {
        let frame = std::hint::black_box([1u8; 64 << 20]);
        assert_eq!(frame[5], 1);
    };
    match is_again() {
        true => overflow("large", &large),
        false => is_told(
            "a_frame_larger_than_the_stack_is_told_before_the_process_ends",
            "large",
        ),
    }
}

#[test]
fn another_fault_ends_the_process_as_before() {
    if is_again() {
        Launch::new(shape([1, 1, 1], [1, 1, 1]))
            .run(&|| {})
            .expect("it runs");
        // SAFETY: none; this process is there to end so.
        unsafe { std::ptr::without_provenance_mut::<u32>(16).write_volatile(1) };
    }
    let (status, said) = again("another_fault_ends_the_process_as_before");
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    assert_eq!(signal, Some(11), "{status}: {said}");
    assert!(!said.contains("overflowed"), "{said}");
}

/// Waits as it is dropped; the others' second panic would end the process if it came while one is unwound.
struct Waits;

impl Drop for Waits {
    fn drop(&mut self) {
        thread::sync_threads();
        if thread::thread_idx_x() == 1 && !std::thread::panicking() {
            panic!("second");
        }
    }
}

#[test]
fn a_destructor_that_waits_does_not_wait_while_its_thread_is_unwound() {
    for first in [0, 7, 39] {
        let ran = Launch::new(shape([1, 1, 1], [40, 1, 1])).run(&|| {
            let waits = Waits;
            if thread::thread_idx_x() == first {
                panic!("first");
            }
            thread::sync_threads();
            drop(waits);
        });
        let Err(LaunchError::Panicked {
            thread, message, ..
        }) = ran
        else {
            panic!("{ran:?}");
        };
        assert_eq!((thread.thread, &*message), ([first, 0, 0], "first"));
    }
}
