//! `mbarrier`, `cp.async.bulk`, `cp.async.bulk.tensor`: what they move, and what of their use is wrong.

use super::harness::Case;

/// A kernel, and how to break it: what is written instead of what, and what is said then.
struct Kernel {
    body: &'static str,
    threads: u32,
    bugs: &'static [Bug],
}

struct Bug {
    replaces: &'static str,
    by: &'static str,
    says: &'static [&'static str],
}

impl Kernel {
    fn case(&self, body: &str) -> Case {
        let x = (0..1 << 14).collect();
        Case::new(body).grid(2, self.threads).x(x)
    }

    /// The second buffer after a run in order; the same under seeds, and without checks.
    fn run(&self) -> Vec<u32> {
        let expected = self.case(self.body).run();
        assert_eq!(self.case(self.body).unchecked().run(), expected);
        for seed in 0..20 {
            assert_eq!(
                self.case(self.body).seeded(seed).run(),
                expected,
                "seed {seed}"
            );
        }
        expected
    }

    fn find(&self) {
        for bug in self.bugs {
            assert!(self.body.contains(bug.replaces), "{}", bug.replaces);
            let body = self.body.replace(bug.replaces, bug.by);
            let text = self.case(&body).finding();
            for part in bug.says {
                assert!(text.contains(part), "without `{}`: {text}", bug.replaces);
            }
        }
    }
}

/// Two blocks load 1 KiB each.
pub(crate) fn load() -> Case {
    LOAD.case(LOAD.body)
}

/// Two blocks add 64 bytes each to the same place.
pub(crate) fn histogram() -> Case {
    STORE.case(HISTOGRAM)
}

/// Thread 0 of each block loads 1 KiB, and all wait for it.
const LOAD: Kernel = Kernel {
    threads: 64,
    body: "
    mov.u32 %r3, s; mov.u32 %r4, bar;
    mad.wide.u32 %rd3, %r2, 1024, %rd1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra begun;
    mbarrier.init.shared::cta.b64 [%r4], 1;
    fence.mbarrier_init.release.cluster;
    begun: bar.sync 0;
    @%p1 bra issued;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 1024;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd3], 1024, [%r4];
    issued:
    again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;
    @!%p2 bra again;
    waited:
    mad.lo.u32 %r5, %r1, 16, %r3;
    ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r5];
    mad.lo.u32 %r6, %r2, 64, %r1; mad.wide.u32 %rd4, %r6, 16, %rd2;
    st.global.v4.b32 [%rd4], {%r10, %r11, %r12, %r13};",
    bugs: &[
        // No wait at all.
        Bug {
            replaces: "@!%p2 bra again;",
            by: "",
            says: &[
                "asynchronous copy without a wait",
                "reads",
                "copied to or from",
            ],
        },
        // Nobody waits, and nobody reads: the copy may write when another block has the memory.
        Bug {
            replaces: "%p2, [%r4], 0;
    @!%p2 bra again;
    waited:
    mad.lo.u32 %r5, %r1, 16, %r3;
    ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r5];",
            by: "%p2, [%r4], 0; mov.b64 {%r10, %r11}, %rd3; mov.b64 {%r12, %r13}, %rd3;",
            says: &[
                "asynchronous copy without a wait",
                "copies to or from byte 0 of the shared `s`",
                "its block has ended",
            ],
        },
        // Of the wrong parity.
        Bug {
            replaces: "%p2, [%r4], 0",
            by: "%p2, [%r4], 1",
            says: &[
                "asynchronous copy without a wait",
                "reads",
                "copied to or from",
            ],
        },
        // Only one warp waits.
        Bug {
            replaces: "    issued:\n",
            by: "issued: setp.ge.u32 %p3, %r1, 32; @%p3 bra waited;\n",
            says: &["race", "thread [32, 0, 0] reads", "copied to or from"],
        },
        // The barrier is not initialised for copies, or not at all.
        Bug {
            replaces: "fence.mbarrier_init.release.cluster;",
            by: "",
            says: &["no proxy fence", "thread [0, 0, 0] wrote"],
        },
        Bug {
            replaces: "mbarrier.init.shared::cta.b64 [%r4], 1;",
            by: "",
            says: &["misuse", "it has not been initialised"],
        },
        // For more arrivals than come: nobody ever goes on.
        Bug {
            replaces: "mbarrier.init.shared::cta.b64 [%r4], 1;",
            by: "mbarrier.init.shared::cta.b64 [%r4], 2;",
            says: &["no end of a phase", "1 arrivals that do not come"],
        },
        // Fewer bytes are expected than come, and more.
        Bug {
            replaces: "_, [%r4], 1024",
            by: "_, [%r4], 1008",
            says: &["no end of a phase", "-16 bytes"],
        },
        Bug {
            replaces: "_, [%r4], 1024",
            by: "_, [%r4], 1040",
            says: &["no end of a phase", "16 bytes"],
        },
        // None are.
        Bug {
            replaces: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 1024;",
            by: "mbarrier.arrive.shared::cta.b64 _, [%r4];",
            says: &["asynchronous copy without a wait"],
        },
        // An odd size, an odd place, too many.
        Bug {
            replaces: "[%rd3], 1024",
            by: "[%rd3], 1000",
            says: &["1000 bytes, no multiple of 16"],
        },
        Bug {
            replaces: "bytes [%r3], [%rd3]",
            by: "bytes [%r3+8], [%rd3]",
            says: &["misaligned"],
        },
        Bug {
            replaces: "bytes [%r3], [%rd3]",
            by: "bytes [%r3+32256], [%rd3]",
            says: &["out of bounds"],
        },
    ],
};

#[test]
fn a_copy_that_is_waited_for_lands() {
    let y = LOAD.run();
    assert!(y[..512].iter().copied().eq(0..512));
}

#[test]
fn each_way_to_load_wrongly_is_found() {
    LOAD.find();
}

/// All threads write shared memory, and thread 0 stores 1 KiB of it.
const STORE: Kernel = Kernel {
    threads: 64,
    body: "
    mov.u32 %r3, s;
    mad.lo.u32 %r5, %r1, 16, %r3;
    mad.lo.u32 %r6, %r2, 64, %r1; shl.b32 %r6, %r6, 2; add.u32 %r7, %r6, 1; add.u32 %r8, %r6, 2; add.u32 %r9, %r6, 3;
    st.shared.v4.b32 [%r5], {%r6, %r7, %r8, %r9};
    fence.proxy.async.shared::cta;
    bar.sync 0;
    mad.wide.u32 %rd4, %r2, 1024, %rd2;
    setp.ne.u32 %p1, %r1, 0; @%p1 bra stored;
    cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r3], 1024;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    stored: bar.sync 0;
    st.shared.v4.b32 [%r5], {%r6, %r6, %r6, %r6};",
    bugs: &[
        Bug {
            replaces: "fence.proxy.async.shared::cta;",
            by: "",
            says: &["no proxy fence", "thread [0, 0, 0] copies", "wrote"],
        },
        // By the reader alone, before it knows.
        Bug {
            replaces: "fence.proxy.async.shared::cta;\n    bar.sync 0;",
            by: "setp.eq.u32 %p2, %r1, 0; @%p2 fence.proxy.async; bar.sync 0;",
            says: &["no proxy fence"],
        },
        Bug {
            replaces: "fence.proxy.async.shared::cta;\n    bar.sync 0;",
            by: "fence.proxy.async.shared::cta;",
            says: &["race", "copies to or from", "wrote"],
        },
        Bug {
            replaces: "cp.async.bulk.wait_group.read 0;",
            by: "",
            says: &["asynchronous copy without a wait", "writes", "copied to or from"],
        },
        Bug {
            replaces: "cp.async.bulk.wait_group.read 0;",
            by: "cp.async.bulk.wait_group.read 1;",
            says: &["asynchronous copy without a wait"],
        },
        Bug {
            replaces: "cp.async.bulk.commit_group;",
            by: "",
            says: &["asynchronous copy without a wait"],
        },
        // The next write does not wait for the one who waits.
        Bug {
            replaces: "stored: bar.sync 0;",
            by: "stored:",
            says: &["writes", "copied to or from"],
        },
        // The block ends before the copy has read.
        Bug {
            replaces: "cp.async.bulk.wait_group.read 0;\n    stored: bar.sync 0;\n    st.shared.v4.b32 [%r5], {%r6, %r6, %r6, %r6};",
            by: "stored:",
            says: &["asynchronous copy without a wait", "thread [0, 0, 0] copies"],
        },
    ],
};

#[test]
fn a_store_of_many_bytes_arrives() {
    let y = STORE.run();
    assert!(y[..512].iter().copied().eq(0..512));
}

#[test]
fn each_way_to_store_wrongly_is_found() {
    STORE.find();
}

#[test]
fn what_was_stored_is_read_behind_the_wait_alone() {
    let body = STORE.body.replace(
        "cp.async.bulk.wait_group.read 0;",
        "cp.async.bulk.wait_group 0; ld.global.u32 %r10, [%rd4];",
    );
    STORE.case(&body).run();
    let early = body.replace(
        "cp.async.bulk.wait_group 0;",
        "cp.async.bulk.wait_group.read 0;",
    );
    let text = STORE.case(&early).finding();
    assert!(text.contains("asynchronous copy without a wait"), "{text}");
    assert!(text.contains("reads"), "{text}");
}

#[test]
fn a_small_copy_does_not_overwrite_what_a_store_reads() {
    let body = STORE.body.replace(
        "st.shared.v4.b32 [%r5], {%r6, %r6, %r6, %r6};",
        "cp.async.cg.shared.global [%r5], [%rd1], 16; cp.async.wait_all;",
    );
    STORE.case(&body).run();
    let early = body.replace("cp.async.bulk.wait_group.read 0;", "");
    let text = STORE.case(&early).finding();
    assert!(text.contains("asynchronous copy without a wait"), "{text}");
}

#[test]
fn reductions_add_to_what_is_there() {
    let body = STORE.body.replace(
        "cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r3], 1024;",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r3], 1024;",
    );
    let y = STORE.case(&body).run();
    assert!((0..256).all(|at| y[at as usize] == at + at + 256));
}

/// All threads count in shared memory, and thread 0 adds that to global memory.
const HISTOGRAM: &str = "
    mov.u32 %r3, s; mov.u32 %r7, 0; mov.u32 %r8, 1;
    mad.lo.u32 %r5, %r1, 4, %r3;
    st.shared.u32 [%r5], %r7;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    and.b32 %r6, %r1, 7; mad.lo.u32 %r6, %r6, 4, %r3;
    atom.shared.add.u32 %r9, [%r6], %r8;
    fence.proxy.async.shared::cta; // after
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0; @%p1 bra stored;
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r3], 64;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    stored:";

#[test]
fn what_atomics_have_written_is_read_behind_a_proxy_fence_alone() {
    let y = STORE.case(HISTOGRAM).run();
    assert_eq!(y[..9], [16, 16, 16, 16, 16, 16, 16, 16, 0]);
    let without = HISTOGRAM.replace("fence.proxy.async.shared::cta; // after", "");
    let text = STORE.case(&without).finding();
    assert!(text.contains("no proxy fence"), "{text}");
    // Of one warp's threads alone.
    let half = HISTOGRAM.replace(
        "fence.proxy.async.shared::cta; // after",
        "setp.lt.u32 %p2, %r1, 32; @%p2 fence.proxy.async.shared::cta;",
    );
    let text = STORE.case(&half).finding();
    assert!(text.contains("no proxy fence"), "{text}");
}

#[test]
fn a_proxy_fence_is_for_what_the_warp_wrote_before_it_met() {
    let body = "
    mov.u32 %r3, s; mad.lo.u32 %r5, %r1, 16, %r3;
    st.shared.v4.b32 [%r5], {%r1, %r1, %r1, %r1};
    bar.warp.sync 0xffffffff;
    setp.ne.u32 %p1, %r1, 0; @%p1 bra stored;
    fence.proxy.async.shared::cta; // by lane 0
    cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r3], 512;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    stored:";
    let y = Case::new(body).run();
    assert!((0..128).all(|at| y[at as usize] == at / 4));
    let text =
        Case::new(&body.replace("fence.proxy.async.shared::cta; // by lane 0", "")).finding();
    assert!(text.contains("no proxy fence"), "{text}");
}

#[test]
fn reductions_of_equal_elements_are_atomic_for_each_other() {
    let body = STORE
        .body
        .replace(
            "cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r3], 1024;",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r3], 1024;",
        )
        .replace(
            "stored: bar.sync 0;",
            "stored: bar.sync 0; mad.wide.u32 %rd5, %r1, 4, %rd2; red.global.add.u32 [%rd5], 1;",
        );
    let y = STORE.case(&body).run();
    assert!((0..64).all(|at| y[at as usize] == at + at + 256 + 2));
    let other = body
        .replace("mad.wide.u32 %rd5, %r1, 4", "mad.wide.u32 %rd5, %r1, 8")
        .replace("red.global.add.u32", "red.global.add.u64");
    let text = STORE.case(&other).finding();
    assert!(text.contains("race"), "{text}");
}

/// The first lanes of two warps have their turns 400 times each, and count in shared memory how often.
const IN_TURNS: Kernel = Kernel {
    threads: 64,
    body: "
    mov.u32 %r3, s; mov.u32 %r4, bar;
    shr.u32 %r5, %r1, 5; xor.b32 %r6, %r5, 1;
    mad.lo.u32 %r7, %r5, 8, %r4; mad.lo.u32 %r8, %r6, 8, %r4;
    setp.ne.u32 %p1, %r1, 0; @%p1 bra begun;
    mbarrier.init.shared::cta.b64 [%r4], 1; mbarrier.init.shared::cta.b64 [%r4+8], 1;
    st.shared.u32 [%r3], 0;
    begun: bar.sync 0;
    and.b32 %r9, %r1, 31; setp.ne.u32 %p3, %r9, 0; @%p3 bra done;
    mov.u32 %r10, 0;
    // The first warp's first turn needs no wait: the phase before the first has ended.
    turn: add.u32 %r11, %r10, %r6; and.b32 %r11, %r11, 1;
    again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r7], %r11;
    @!%p2 bra again;
    ld.shared.u32 %r12, [%r3]; add.u32 %r12, %r12, 1; st.shared.u32 [%r3], %r12;
    mbarrier.arrive.shared::cta.b64 _, [%r8];
    add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 400; @%p4 bra turn;
    done: bar.warp.sync -1; bar.sync 0;
    @%p1 bra end;
    ld.shared.u32 %r12, [%r3]; mad.wide.u32 %rd4, %r2, 4, %rd2; st.global.u32 [%rd4], %r12;
    end:",
    bugs: &[Bug {
        replaces: "setp.lt.u32 %p4, %r10, 400",
        by: "mad.lo.u32 %r13, %r5, -2, 400; setp.lt.u32 %p4, %r10, %r13",
        says: &["no end of a phase", "1 arrivals that do not come"],
    }],
};

/// All of them wait most of the time. But phases end: nobody waits for ever.
#[test]
fn threads_may_wait_often_where_phases_end() {
    for case in [
        IN_TURNS.case(IN_TURNS.body),
        IN_TURNS.case(IN_TURNS.body).seeded(1),
    ] {
        let case = case.grid(16, IN_TURNS.threads);
        assert_eq!(case.run()[..16], [800; 16]);
    }
}

/// And after many phases, too, a last one that does not is found.
#[test]
fn a_phase_that_does_not_end_is_found_after_many_that_did() {
    IN_TURNS.find();
}
