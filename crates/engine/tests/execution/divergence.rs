//! Threads that go separate ways: each rule with a kernel that breaks it, and neighbours that keep it.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use engine::memory::{Contents, Label, Memory};
use engine::{LaunchError, Module, Options, Schedule, Shape};

use crate::support::process::alone;

/// Kernels of which %r0 is the thread's index, %r1 its lane and %rd0 an address of 16 zeros.
fn ptx(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n\
        .visible .entry test(.param .u64 p) {{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n\
        .loc 1 1 0\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %laneid;\nld.param.u64 %rd0, [p];\n{body}\n\
        DONE: ret;\n}}\n"
    )
}

/// Where a launch differs from one block of 64 threads.
#[derive(Clone)]
struct Launch<'b> {
    body: &'b str,
    blocks: u32,
    threads: u32,
    options: Options,
}

impl<'b> Launch<'b> {
    fn new(threads: u32, body: &'b str) -> Self {
        Launch {
            body,
            blocks: 1,
            threads,
            options: Options {
                divergence: true,
                steps: 1 << 16,
                ..Options::default()
            },
        }
    }

    fn run(&self, schedule: Schedule) -> Result<(), LaunchError> {
        let memory = Arc::<Memory>::default();
        let module = Module::load(&ptx(self.body), &memory).expect("PTX");
        let words = memory
            .allocate(64, 256, Contents::Defined, Label::new("words", 4))
            .expect("memory");
        let shape = Shape {
            grid: [self.blocks, 1, 1],
            block: [self.threads, 1, 1],
            dynamic_shared: 0,
        };
        let options = Options {
            schedule,
            ..self.options.clone()
        };
        let kernel = module.kernel("test").expect("a kernel");
        kernel.launch(shape, options, &words.to_le_bytes(), &|_| (), None)
    }

    /// Checks the message of a launch in order; under seeds it begins as `always`.
    #[track_caller]
    fn says(&self, always: &str, expected: &str) {
        let said = self.run(Schedule::InOrder).map_err(|it| it.to_string());
        assert_eq!(said, Err(format!("test: {always}{expected}")));
        for seed in 0..8 {
            let error = self.run(Schedule::Seeded(seed)).expect_err("a finding");
            let said = error.to_string();
            let begins = said.starts_with(&format!("test: {always}"));
            assert!(begins, "seed {seed}: {said}");
        }
    }

    #[track_caller]
    fn is_clean(&self) {
        assert_eq!(self.run(Schedule::InOrder), Ok(()));
        for seed in 0..8 {
            let ran = self.run(Schedule::Seeded(seed));
            assert_eq!(ran, Ok(()), "seed {seed}");
        }
    }
}

#[track_caller]
fn found(threads: u32, body: &str, expected: &str) {
    let launch = Launch::new(threads, body);
    launch.says("divergence in block [0, 0, 0]: ", expected);
    for schedule in [Schedule::InOrder, Schedule::Seeded(1)] {
        assert!(matches!(
            launch.run(schedule),
            Err(LaunchError::Found { .. })
        ));
    }
}

#[track_caller]
fn clean(threads: u32, body: &str) {
    Launch::new(threads, body).is_clean();
}

/// Threads from `first` on leave before a barrier.
fn leaving(first: u32, barrier: &str) -> String {
    format!(
        "setp.ge.u32 %p0, %r0, {first};\n@%p0 bra DONE;\n.loc 1 10 0\n{barrier};\nst.global.u32 [%rd0], %r0;"
    )
}

#[test]
fn warps_leave_whole_before_an_aligned_barrier() {
    found(
        64,
        &leaving(48, "bar.sync 0"),
        "48 threads wait at the barrier at a.cu:10, and 16 of warp 1, the first [48, 0, 0], have left",
    );
    found(
        96,
        &leaving(40, "bar.sync 3"),
        "40 threads wait at barrier 3 at a.cu:10, and 24 of warp 1, the first [40, 0, 0], have left",
    );
    found(
        40,
        &leaving(39, "bar.red.popc.u32 %r2, 0, %p0"),
        "39 threads wait at the barrier at a.cu:10, and 1 of warp 1, the first [39, 0, 0], have left",
    );
    clean(64, &leaving(32, "bar.sync 0"));
    clean(96, &leaving(64, "barrier.sync.aligned 0"));
    clean(40, &leaving(40, "bar.sync 0"));
    clean(40, &leaving(32, "bar.sync 0"));
    clean(64, &leaving(48, "barrier.sync 0"));
}

/// A barrier in each arm of a branch.
fn arms(which: &str, barrier: &str) -> String {
    format!(
        "and.b32 %r2, {which};\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 bra A;\n.loc 1 20 0\n{barrier};\nbra DONE;\n\
        A: .loc 1 21 0\n{barrier};"
    )
}

#[test]
fn a_warp_comes_to_one_aligned_barrier() {
    found(
        64,
        &arms("%r0, 1", "bar.sync 0"),
        "thread [0, 0, 0] waits at the barrier at a.cu:21, and thread [1, 0, 0] waits at the barrier \
        at a.cu:20",
    );
    clean(64, &arms("%r0, 32", "bar.sync 0"));
    clean(64, &arms("%r0, 1", "barrier.sync 0"));
    // Lanes that go round a loop in different numbers meet before the barrier behind it.
    clean(
        64,
        "mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nsetp.le.u32 %p0, %r2, %r1;\n@%p0 bra L;\nbar.sync 0;",
    );
    // Warps that come to two barriers, at places of their own.
    clean(64, &arms("%r0, 32", "bar.sync 0;\nbar.sync 1, 32"));
}

#[test]
fn barriers_are_for_whole_warps_of_the_block() {
    found(
        64,
        ".loc 1 30 0\nbar.sync 1, 40;",
        "thread [0, 0, 0] comes to barrier 1 for 40 threads, no multiple of 32, at a.cu:30",
    );
    found(
        64,
        ".loc 1 30 0\nbar.sync 1, 96;",
        "thread [0, 0, 0] comes to barrier 1 for 96 threads; the block has 64, at a.cu:30",
    );
    found(
        64,
        ".loc 1 30 0\nmov.u32 %r2, 16;\nbar.sync %r2;",
        "thread [0, 0, 0] comes to barrier 16; the last is 15, at a.cu:30",
    );
    // Each pair of warps has a barrier of its own.
    clean(
        128,
        "shr.u32 %r2, %r0, 6;\nadd.u32 %r2, %r2, 1;\nbar.sync %r2, 64;",
    );
    clean(40, "bar.sync 1, 64;");
    // No number of threads is all of them: the first warp waits for what the second writes.
    clean(
        64,
        "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra A;\nst.volatile.u32 [%rd0], 1;\nA: bar.sync 1, 0;\n\
        ld.volatile.u32 %r2, [%rd0];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 trap;",
    );
    // Two of three warps go on; the third waits for another.
    let three = Launch::new(96, ".loc 1 30 0\nbar.sync 1, 64;");
    for schedule in [Schedule::InOrder, Schedule::Seeded(0), Schedule::Seeded(1)] {
        let said = three.run(schedule).expect_err("it waits").to_string();
        assert!(said.contains("cannot go on: 32 threads"), "{said}");
    }
    found(
        64,
        ".loc 1 30 0\nbar.arrive 1, 0;",
        "thread [0, 0, 0] arrives at barrier 1 for 0 threads, at a.cu:30",
    );
    // Of three warps the first comes to a barrier of its own place, the others to one of all.
    let split = |barrier: &str| {
        format!(
            "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra A;\n.loc 1 31 0\nbar.sync 1, 96;\nbra DONE;\n\
            A: .loc 1 32 0\n{barrier};"
        )
    };
    found(
        96,
        &split("bar.sync 1, 64"),
        "thread [0, 0, 0] waits at barrier 1 for 64 threads at a.cu:32, and thread [32, 0, 0] waits at \
        barrier 1 for 96 threads at a.cu:31",
    );
    clean(96, &split("bar.sync 1, 96"));
    clean(96, &split("bar.arrive 1, 96"));
}

#[test]
fn masks_name_who_brings_them() {
    let body = |mask: &str| {
        format!(
            "setp.lt.u32 %p0, %r1, 16;\nselp.b32 %r2, 0xffff, {mask}, %p0;\n.loc 1 40 0\n\
            bar.warp.sync %r2;"
        )
    };
    found(
        32,
        &body("0xffff"),
        "thread [16, 0, 0]: lane 16 comes to a Sync with the mask 0x0000ffff, which does not name it, at \
        a.cu:40",
    );
    clean(32, &body("0xffff0000"));
}

#[test]
fn shuffles_read_lanes_that_exist() {
    let body =
        |mode: &str| format!(".loc 1 50 0\nshfl.sync.{mode}.b32 %r2, %r1, 1, 31, 0xffffffff;");
    found(
        40,
        &body("down"),
        "thread [39, 0, 0]: lane 7 shuffles from lane 8, which warp 1 does not have, at a.cu:50",
    );
    clean(40, &body("up"));
}

#[test]
fn masks_may_name_lanes_that_have_left_but_shuffles_do_not_read_them() {
    let body = |meeting: &str| {
        format!(
            "setp.ge.u32 %p0, %r1, 20;\n@%p0 bra DONE;\n.loc 1 60 0\n{meeting};\nst.global.u32 [%rd0], %r2;"
        )
    };
    found(
        32,
        &body("shfl.sync.down.b32 %r2, %r1, 1, 31, 0xffffffff"),
        "thread [19, 0, 0]: lane 19 shuffles from lane 20, which has left, at a.cu:60",
    );
    for meeting in [
        "vote.sync.any.pred %p1, %p0, 0xffffffff",
        "shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffffffff",
        "bar.warp.sync 0xffffffff",
        "match.any.sync.b32 %r2, %r1, 0xffffffff",
        "redux.sync.add.u32 %r2, %r1, 0xffffffff",
    ] {
        clean(32, &body(meeting));
    }
}

#[test]
fn shuffles_read_lanes_that_take_part() {
    let body = |bounds: u32| {
        format!(
            "setp.ge.u32 %p0, %r1, 16;\n@%p0 bra DONE;\n.loc 1 70 0\n\
            shfl.sync.down.b32 %r2, %r1, 1, {bounds}, 0xffff;\nst.global.u32 [%rd0], %r2;"
        )
    };
    found(
        32,
        &body(31),
        "thread [15, 0, 0]: lane 15 shuffles from lane 16, which its mask 0x0000ffff does not name, at \
        a.cu:70",
    );
    // In halves of a warp lane 15 keeps its own value.
    clean(32, &body(0x101f));
    clean(
        64,
        "shfl.sync.up.b32 %r2, %r1, 3, 0, -1;\nshfl.sync.idx.b32 %r3, %r2, 40, 31, -1;",
    );
}

#[test]
fn lanes_wait_for_each_other_in_one_place() {
    found(
        32,
        "setp.ge.u32 %p0, %r1, 16;\n@%p0 bra A;\n.loc 1 80 0\nbar.warp.sync -1;\nA: .loc 1 81 0\n\
        bar.sync 0;",
        "16 threads, the first [0, 0, 0], wait in warp 0 for a Sync of the mask 0xffffffff at a.cu:80; 16 \
        threads, the first [16, 0, 0], wait at the barrier at a.cu:81; lane 16 of warp 0 is at the barrier",
    );
    let masks = |of_1: u32, of_2: u32| {
        format!(
            "setp.ge.u32 %p0, %r1, 3;\n@%p0 bra DONE;\nsetp.eq.u32 %p1, %r1, 1;\nsetp.eq.u32 %p2, %r1, 2;\n\
            selp.b32 %r2, {of_1}, 3, %p1;\nselp.b32 %r2, {of_2}, %r2, %p2;\n.loc 1 82 0\n\
            bar.warp.sync %r2;"
        )
    };
    Launch::new(32, &masks(6, 5)).says(
        "block [0, 0, 0] cannot go on: ",
        "thread [0, 0, 0] waits in warp 0 for a Sync of the mask 0x00000003 at a.cu:82; thread [1, 0, 0] \
        waits in warp 0 for a Sync of the mask 0x00000006 at a.cu:82; thread [2, 0, 0] waits in warp 0 for \
        a Sync of the mask 0x00000005 at a.cu:82",
    );
    clean(32, &masks(3, 4));
    // Lane 1 meets lane 0 after a meeting of its own.
    clean(
        32,
        "setp.eq.u32 %p0, %r1, 1;\n@%p0 bra A;\nsetp.ge.u32 %p1, %r1, 2;\n@%p1 bra DONE;\n\
        bar.warp.sync 3;\nbra DONE;\nA: bar.warp.sync 2;\nbar.warp.sync 3;",
    );
}

#[test]
fn nobody_looks_unless_asked() {
    let mut launch = Launch::new(
        64,
        "setp.ge.u32 %p0, %r0, 48;\n@%p0 bra DONE;\nbar.sync 0;\nvote.sync.any.pred %p1, %p0, -1;",
    );
    launch.options.divergence = false;
    launch.is_clean();
}

#[test]
fn several_cores_find_it() {
    let mut launch = Launch::new(64, "setp.ge.u32 %p0, %r0, 48;\n@%p0 bra DONE;\nbar.sync 0;");
    (launch.blocks, launch.options.cores) = (64, 4);
    let said = launch.run(Schedule::InOrder).expect_err("a finding");
    assert!(said.to_string().contains("and 16 of warp 1"), "{said}");
    launch.body = "bar.sync 0;";
    assert_eq!(launch.run(Schedule::InOrder), Ok(()));
}

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
        "divergence::a_wait_for_a_block_that_cannot_begin_ends_soon",
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
