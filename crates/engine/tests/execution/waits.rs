//! Threads that wait for others: which waits end, which are endless, and how a launch that has one ends.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use engine::memory::{Contents, Label, Memory};
use engine::{Module, Options, Schedule, Shape};

use crate::support::launch::{Launch, ptx};
use crate::support::process::alone;

#[test]
fn endless_loops_are_told_with_their_line() {
    Launch::new(
        64,
        ".loc 1 90 0\nsetp.eq.u32 %p0, %r0, 40;\nL: @%p0 bra L;",
    )
    .says(
        "block [0, 0, 0], thread [40, 0, 0]: goes on for ever, or for more than 65536 steps; of 1 block, 1 began and 0 ended, at a.cu:90",
        "",
    );
}

/// The first block waits for the last of four.
const WAITING: &str = "mov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p0, %r2, 3;\n@%p0 bra LAST;\n\
    .loc 1 95 0\nL: ld.acquire.gpu.u32 %r3, [%rd0];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;\nbra DONE;\n\
    LAST: st.release.gpu.u32 [%rd0], 1;";

#[test]
fn blocks_that_cannot_begin_are_named() {
    let mut launch = Launch::new(32, WAITING);
    (launch.blocks, launch.options.cores) = (4, 1);
    launch.is_clean();
    launch.options.resident_blocks = 2;
    let said = launch.run(Schedule::InOrder).expect_err("a wait");
    assert_eq!(
        said.to_string(),
        "test: block [0, 0, 0], thread [0, 0, 0]: waits for what others write, for more than 65536 steps, \
        and block [2, 0, 0] has not begun: the device holds 2 at once, and those that have begun do not end, \
        at a.cu:95"
    );
    for seed in 0..8 {
        // Under a seed the last block may be among those that begin.
        if let Err(error) = launch.run(Schedule::Seeded(seed)) {
            let said = error.to_string();
            assert!(said.contains("has not begun"), "seed {seed}: {said}");
        }
    }
}

/// Alone: what other launches of the process might write is waited for.
#[test]
fn a_wait_for_a_block_that_cannot_begin_ends_soon() {
    alone(
        "waits::a_wait_for_a_block_that_cannot_begin_ends_soon",
        wait_for_a_block_that_cannot_begin,
    );
}

fn wait_for_a_block_that_cannot_begin() {
    let mut launch = Launch::new(64, WAITING);
    (launch.blocks, launch.options.cores) = (4, 1);
    launch.options.resident_blocks = 2;
    launch.options.steps = Options::default().steps;
    // Which limit ends it first, of standing still or of steps, is a matter of the host's speed.
    let is_told = |said: String| {
        let of_steps = "waits for what others write, for more than";
        let of_blocks = "steps, and block [2, 0, 0] has not begun";
        assert!(
            said.contains(of_steps) && said.contains(of_blocks),
            "{said}"
        );
    };
    let said = launch.run(Schedule::InOrder).expect_err("a wait");
    is_told(said.to_string());
    for seed in 0..4 {
        if let Err(error) = launch.run(Schedule::Seeded(seed)) {
            let said = error.to_string();
            assert!(said.contains("has not begun"), "seed {seed}: {said}");
        }
    }
}

/// The first block waits for a word of the second for 0.2 s, and then goes on without it.
const PATIENT: &str = "mov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p0, %r2, 1;\n@%p0 bra LAST;\nmov.u64 %rd1, %globaltimer;\n\
    L: ld.acquire.gpu.u32 %r3, [%rd0];\nsetp.ne.u32 %p1, %r3, 0;\n@%p1 bra DONE;\nmov.u64 %rd2, %globaltimer;\n\
    sub.u64 %rd2, %rd2, %rd1;\nsetp.lt.u64 %p1, %rd2, 200000000;\n@%p1 bra L;\nbra DONE;\n\
    LAST: st.release.gpu.u32 [%rd0], 1;";

#[test]
fn a_wait_that_reads_the_time_may_end_by_it() {
    let mut launch = Launch::new(32, PATIENT);
    (launch.blocks, launch.options.cores) = (2, 1);
    launch.options.resident_blocks = 1;
    launch.options.steps = Options::default().steps;
    assert_eq!(launch.run(Schedule::InOrder), Ok(()));
    let longer = PATIENT.replace("200000000", "200000000000");
    launch.body = &longer;
    let said = launch.run(Schedule::InOrder).expect_err("a wait");
    assert!(said.to_string().contains("has not begun"), "{said}");
}

/// The first block waits for the second, which works for much longer than a wait without hope may last: it stores, so
/// that under a seed others have their turns meanwhile. A third has no room.
const WORKING: &str = "mov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p0, %r2, 1;\n@%p0 bra WORK;\n\
    setp.eq.u32 %p0, %r2, 2;\n@%p0 bra DONE;\n\
    L: ld.acquire.gpu.u32 %r3, [%rd0];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;\nbra DONE;\n\
    WORK: mov.u32 %r4, 0;\nM: st.relaxed.gpu.u32 [%rd0+4], %r4;\nadd.u32 %r4, %r4, 1;\n\
    setp.lt.u32 %p1, %r4, 300000;\n@%p1 bra M;\nst.release.gpu.u32 [%rd0], 1;";

#[test]
fn a_long_wait_for_a_block_that_works_comes_to_its_end() {
    let mut launch = Launch::new(32, WORKING);
    (launch.blocks, launch.options.cores) = (3, 1);
    launch.options.resident_blocks = 2;
    launch.options.steps = Options::default().steps;
    for schedule in [Schedule::InOrder, Schedule::Seeded(0)] {
        assert_eq!(launch.run(schedule), Ok(()));
    }
}

/// Each thread waits for a word that nobody writes.
const FOREVER: &str = ".loc 1 97 0\nL: nanosleep.u32 100;\n.loc 1 98 0\nld.volatile.global.u32 %r3, [%rd0];\n\
    .loc 1 99 0\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;";

#[test]
fn waits_without_hope_end_at_once_with_what_they_wait_for() {
    // A spin, and one that lets others go first; at a change of memory that changes nothing; and beside a barrier.
    let without = FOREVER.replace("nanosleep.u32 100;", "");
    let atomic = FOREVER.replace(
        "ld.volatile.global.u32 %r3, [%rd0]",
        "atom.global.max.u32 %r3, [%rd0], 0",
    );
    let barrier = format!(
        "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra L;\nbar.sync 0;\nbra DONE;\n{FOREVER}\nbar.sync 0;"
    );
    for body in [FOREVER, &without, &atomic, &barrier] {
        for (blocks, cores) in [(1, 1), (3, 1), (3, 2)] {
            let mut launch = Launch::new(64, body);
            (launch.blocks, launch.options.cores) = (blocks, cores);
            // With as few steps it is not waited for long whether another host thread launches something.
            let steps = if cores == 1 && blocks == 1 {
                Options::default().steps
            } else {
                1 << 22
            };
            (launch.options.steps, launch.options.divergence) = (steps, false);
            for schedule in [Schedule::InOrder, Schedule::Seeded(0), Schedule::Seeded(1)] {
                let begun = Instant::now();
                let error = launch.run(schedule.clone()).expect_err("it waits for ever");
                let took = begun.elapsed();
                assert!(
                    took < Duration::from_secs(5),
                    "{took:?} {schedule:?}\n{body}"
                );
                assert!(error.is_endless());
                let said = error.to_string();
                let noun = if blocks == 1 { "block" } else { "blocks" };
                let verb = if body == atomic {
                    "atomically accesses"
                } else {
                    "reads"
                };
                let expected = format!(
                    "waits for ever for what nobody writes: it {verb} element 0 of `words` (of 16) again and again; \
                    of {blocks} {noun}, {blocks} began and 0 ended, and all that are left only wait, at a.cu:98"
                );
                assert!(
                    said.ends_with(&expected),
                    "{said} under {schedule:?}, not {expected}"
                );
            }
        }
    }
}

/// The first thread waits for the last of the last block, which looks at memory many times before it writes: it counts,
/// so that it comes to no state again.
const COUNTING: &str = "mov.u32 %r2, %ctaid.x;\nsetp.eq.u32 %p0, %r2, 1;\n@%p0 bra WORK;\n\
    L: ld.acquire.gpu.u32 %r3, [%rd0];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra L;\nbra DONE;\n\
    WORK: mov.u32 %r4, 0;\nM: ld.volatile.global.u32 %r5, [%rd0+4];\nadd.u32 %r4, %r4, 1;\n\
    setp.lt.u32 %p1, %r4, 400000;\n@%p1 bra M;\nst.release.gpu.u32 [%rd0], 1;";

#[test]
fn who_looks_often_and_counts_comes_to_its_end() {
    for cores in [1, 2] {
        let mut launch = Launch::new(32, COUNTING);
        (launch.blocks, launch.options.cores) = (2, cores);
        launch.options.steps = Options::default().steps;
        for schedule in [Schedule::InOrder, Schedule::Seeded(0)] {
            assert_eq!(launch.run(schedule), Ok(()), "{cores} cores");
        }
    }
}

#[test]
fn a_launch_ends_when_its_time_is_over() {
    let time = Duration::from_millis(50);
    let mut launch = Launch::new(64, "L: bra L;");
    (launch.options.steps, launch.options.time) = (u64::MAX, Some(time));
    let loops = [
        "L: bra L;",
        "L: bar.sync 0;\nbra L;",
        "L: bar.warp.sync -1;\nbra L;",
    ];
    for (body, schedule) in loops
        .iter()
        .flat_map(|it| [(it, Schedule::InOrder), (it, Schedule::Seeded(3))])
    {
        launch.body = body;
        let error = launch.run(schedule).expect_err("its time is over");
        let said = error.to_string();
        assert!(
            said.contains("has not ended after 0.05 s; of 1 block, 1 began and 0 ended, at a.cu:1"),
            "{said}"
        );
    }
}

#[test]
fn a_grid_without_end_ends_and_says_how_far_it_has_come() {
    let memory = Arc::<Memory>::default();
    let module = Module::load(&ptx(""), &memory).expect("PTX");
    let kernel = module.kernel("test").expect("a kernel");
    let shape = Shape {
        grid: [0x7fff_ffff, 65_535, 65_535],
        block: [1024, 1, 1],
        dynamic_shared: 0,
    };
    for schedule in [Schedule::InOrder, Schedule::Seeded(1)] {
        let options = Options {
            schedule,
            time: Some(Duration::from_millis(50)),
            ..Options::default()
        };
        let error = kernel
            .launch(shape, options, &[0; 8], &|_| (), None)
            .expect_err("years");
        assert!(error.is_endless());
        let said = error.to_string();
        let begin = "test: the launch has not ended after 0.05 s; of 9223090559730712575 blocks, ";
        assert!(
            said.starts_with(begin) && said.ends_with(" ended"),
            "{said}"
        );
    }
}

#[test]
fn many_waits_in_a_row_are_no_endless_wait() {
    let body = "nanosleep.u32 1;\n".repeat(70_000);
    Launch::new(64, &body).is_clean();
}

#[test]
fn another_host_thread_may_launch_what_is_waited_for() {
    let memory = Arc::<Memory>::default();
    let words = memory.allocate(64, 256, Contents::Defined, Label::new("words", 4));
    let words = words.expect("memory").to_le_bytes();
    let launch = |body: &str| {
        let module = Module::load(&ptx(body), &memory).expect("PTX");
        let kernel = module.kernel("test").expect("a kernel");
        let shape = Shape {
            grid: [1; 3],
            block: [32, 1, 1],
            dynamic_shared: 0,
        };
        kernel.launch(shape, Options::default(), &words, &|_| (), None)
    };
    thread::scope(|scope| {
        let waits = scope.spawn(|| launch(FOREVER));
        thread::sleep(Duration::from_millis(100));
        // It works for longer than a wait without hope may last.
        let sets = "mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 40000000;\n@%p0 bra L;\n\
            st.release.gpu.u32 [%rd0], 1;";
        assert_eq!(launch(sets), Ok(()));
        assert_eq!(waits.join().expect("it returns"), Ok(()));
    });
}
