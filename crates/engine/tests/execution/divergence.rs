//! Threads that go separate ways: each rule with a kernel that breaks it, and neighbours that keep it.

use engine::{LaunchError, Schedule};

use crate::support::launch::Launch;

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
