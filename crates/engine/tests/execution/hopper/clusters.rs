//! Clusters: each other's shared memory, their barrier, copies to several blocks.

use super::harness::Case;

pub(crate) fn case(body: &str) -> Case {
    Case::new(body)
        .grid(4, 64)
        .cluster(2)
        .x((0..1 << 12).collect())
}

/// In order, without checks and under seeds.
fn run(body: &str) -> Vec<u32> {
    let expected = case(body).run();
    assert_eq!(case(body).unchecked().run(), expected);
    for seed in 0..20 {
        assert_eq!(case(body).seeded(seed).run(), expected, "seed {seed}");
    }
    expected
}

fn found(body: &str, replaces: &str, by: &str) -> String {
    assert!(body.contains(replaces), "{replaces}");
    case(&body.replacen(replaces, by, 1)).finding()
}

/// Each block writes its own shared memory, and reads the other's of its cluster.
const EXCHANGE: &str = "
    mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3;
    mad.lo.u32 %r5, %r2, 64, %r1;
    st.shared.u32 [%r4], %r5;
    barrier.cluster.arrive.aligned; // first
    barrier.cluster.wait.aligned; // first
    mov.u32 %r6, %cluster_ctarank; xor.b32 %r6, %r6, 1;
    mapa.shared::cluster.u32 %r7, %r4, %r6;
    ld.shared::cluster.u32 %r8, [%r7];
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; // last
    mul.wide.u32 %rd5, %r5, 4; add.u64 %rd5, %rd2, %rd5;
    st.global.u32 [%rd5], %r8;";

const BARRIER: &str = "barrier.cluster.arrive.aligned; // first
    barrier.cluster.wait.aligned; // first";

#[test]
fn blocks_of_a_cluster_read_each_others_shared_memory() {
    let expected = |at: u32| ((at / 64) ^ 1) * 64 + at % 64;
    let y = run(EXCHANGE);
    assert!((0..256).all(|at| y[at as usize] == expected(at)));
    let generic = EXCHANGE
        .replace(
            "mapa.shared::cluster.u32 %r7, %r4, %r6;",
            "cvt.u64.u32 %rd6, %r4; cvta.shared.u64 %rd6, %rd6; mapa.u64 %rd7, %rd6, %r6;",
        )
        .replace("ld.shared::cluster.u32 %r8, [%r7];", "ld.u32 %r8, [%rd7];");
    assert_eq!(run(&generic), y);
    // Through the block's own rank, its own.
    let own = EXCHANGE.replace("xor.b32 %r6, %r6, 1;", "");
    assert!(run(&own)[..256].iter().copied().eq(0..256));
}

#[test]
fn each_way_to_meet_wrongly_is_found() {
    // No barrier, a relaxed one, half a one.
    let text = found(EXCHANGE, BARRIER, "");
    assert!(
        text.contains("race") || text.contains("uninitialised"),
        "{text}"
    );
    let relaxed = BARRIER.replace("arrive.aligned", "arrive.relaxed.aligned");
    let text = found(EXCHANGE, BARRIER, &relaxed);
    assert!(
        text.contains("race") && text.contains("reads") && text.contains("wrote"),
        "{text}"
    );
    let text = found(EXCHANGE, BARRIER, "barrier.cluster.arrive.aligned;");
    assert!(
        text.contains("race") || text.contains("before it has waited"),
        "{text}"
    );
    let text = found(EXCHANGE, BARRIER, "barrier.cluster.wait.aligned;");
    assert!(text.contains("where it has not arrived"), "{text}");
    // The first that ends takes its memory along.
    let last = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; // last";
    let text = found(EXCHANGE, last, "");
    assert!(
        text.contains("misuse") && text.contains("has ended"),
        "{text}"
    );
    // A block that is not there.
    let text = found(EXCHANGE, "xor.b32 %r6, %r6, 1;", "add.u32 %r6, %r6, 1;");
    assert!(text.contains("reaches block 2 of a cluster of 2"), "{text}");
}

#[test]
fn ranks_that_no_cluster_has_are_refused() {
    for rank in ["255", "254", "256", "0xffffffff"] {
        let by = format!("mov.u32 %r6, {rank};");
        let text = found(EXCHANGE, "xor.b32 %r6, %r6, 1;", &by);
        assert!(
            text.contains("reaches block 254 of a cluster of 2"),
            "{rank}: {text}"
        );
    }
}

/// The second warp of a cluster's first block arrives and ends; the first of its second block is late.
#[test]
fn threads_that_arrive_and_end_count_once() {
    let body = "
    mov.u32 %r3, s; mov.u32 %r6, %cluster_ctarank;
    setp.lt.u32 %p2, %r1, 32; setp.eq.u32 %p1, %r6, 0;
    mad.lo.u32 %r4, %r1, 4, %r3;
    @%p2 bra first;
    barrier.cluster.arrive.aligned;
    @%p1 ret;
    barrier.cluster.wait.aligned;
    bra read;
    first:
    mov.u32 %r10, 0; @%p1 bra begun;
    late: add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 5000; @%p3 bra late;
    begun:
    st.shared.u32 [%r4], %r1;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    xor.b32 %r6, %r6, 1;
    mapa.shared::cluster.u32 %r7, %r4, %r6;
    ld.shared::cluster.u32 %r8, [%r7];
    mad.lo.u32 %r5, %r2, 32, %r1;
    mul.wide.u32 %rd5, %r5, 4; add.u64 %rd5, %rd2, %rd5;
    st.global.u32 [%rd5], %r8;
    read:
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
    let y = run(body);
    assert!((0..128).all(|at| y[at as usize] == at % 32));
}

#[test]
fn lanes_that_need_not_come_together_arrive_and_wait_in_two_arms() {
    // Lanes of odd numbers in one arm, of even ones in the other; the second block is late.
    let body = "
    mov.u32 %r3, s; mov.u32 %r6, %cluster_ctarank;
    and.b32 %r9, %r1, 1; setp.eq.u32 %p1, %r9, 0; setp.eq.u32 %p2, %r6, 0;
    mad.lo.u32 %r4, %r1, 4, %r3; mad.lo.u32 %r5, %r2, 64, %r1;
    mov.u32 %r10, 0; @%p2 bra begun;
    late: add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 5000; @%p3 bra late;
    begun:
    st.shared.u32 [%r4], %r5;
    @%p1 bra even;
    barrier.cluster.arrive; barrier.cluster.wait; // odd
    bra met;
    even: barrier.cluster.arrive; barrier.cluster.wait; // even
    met:
    xor.b32 %r6, %r6, 1;
    mapa.shared::cluster.u32 %r7, %r4, %r6;
    ld.shared::cluster.u32 %r8, [%r7];
    barrier.cluster.arrive; barrier.cluster.wait;
    mul.wide.u32 %rd5, %r5, 4; add.u64 %rd5, %rd2, %rd5;
    st.global.u32 [%rd5], %r8;";
    let expected = |at: u32| ((at / 64) ^ 1) * 64 + at % 64;
    let y = run(body);
    assert!((0..256).all(|at| y[at as usize] == expected(at)));
    // Arrivals in two arms, one wait.
    let once = body
        .replace("barrier.cluster.wait; // odd", "")
        .replace("barrier.cluster.wait; // even", "")
        .replace("met:", "met: barrier.cluster.wait;");
    assert_eq!(run(&once), y);
}

#[test]
fn special_registers_tell_of_the_cluster() {
    let body = "
        mov.u32 %r10, %cluster_ctarank; mov.u32 %r11, %cluster_nctarank;
        mov.u32 %r12, %clusterid.x; mov.u32 %r13, %nclusterid.x;
        mad.wide.u32 %rd5, %r2, 16, %rd2;
        st.global.v4.u32 [%rd5], {%r10, %r11, %r12, %r13};";
    let body = format!("setp.ne.u32 %p1, %r1, 0; @%p1 ret; {body}");
    let y = run(&body);
    assert_eq!(y[..16], [0, 2, 0, 2, 1, 2, 0, 2, 0, 2, 1, 2, 1, 2, 1, 2]);
}

/// The first block of a cluster loads 1 KiB for both, and thread 0 of the other tells it that it has read.
pub(crate) const MULTICAST: &str = "
    mov.u32 %r3, s; mov.u32 %r4, bar;
    mov.u32 %r6, %cluster_ctarank;
    mov.u32 %r7, %clusterid.x; mad.wide.u32 %rd3, %r7, 1024, %rd1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra begun;
    mbarrier.init.shared::cta.b64 [%r4], 1; mbarrier.init.shared::cta.b64 [%r4+8], 2;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 1024;
    begun:
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; // begun
    setp.ne.u32 %p3, %r6, 0; or.pred %p3, %p3, %p1;
    @%p3 bra again;
    mov.b16 %h1, 3;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%rd3], 1024, [%r4], %h1;
    again:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;
    @!%p2 bra again;
    mad.lo.u32 %r5, %r1, 16, %r3;
    ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%r5];
    bar.sync 0;
    @%p1 bra told;
    mov.u32 %r14, 0; mapa.shared::cluster.u32 %r15, %r4, %r14;
    mbarrier.arrive.shared::cluster.b64 _, [%r15+8];
    told: setp.ne.u32 %p4, %r6, 0; @%p4 bra read;
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4+8], 0;
    @!%p2 bra told;
    mapa.shared::cluster.u32 %r16, %r5, 1; st.shared::cluster.u32 [%r16], %r6;
    read: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mad.lo.u32 %r8, %r2, 64, %r1; mad.wide.u32 %rd4, %r8, 16, %rd2;
    st.global.v4.b32 [%rd4], {%r10, %r11, %r12, %r13};";

#[test]
fn a_copy_goes_to_all_blocks_of_its_mask() {
    let y = run(MULTICAST);
    for at in 0..1024 {
        let (block, word) = (at / 256, at % 256);
        assert_eq!(y[at as usize], block / 2 * 256 + word);
    }
}

#[test]
fn each_way_to_share_a_copy_wrongly_is_found() {
    let begun = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; // begun";
    let text = found(MULTICAST, begun, "bar.sync 0;");
    assert!(
        text.contains("race") || text.contains("none is there"),
        "{text}"
    );
    let text = found(MULTICAST, "mov.b16 %h1, 3;", "mov.b16 %h1, 1;");
    assert!(text.contains("no end of a phase"), "{text}");
    let text = found(MULTICAST, "mov.b16 %h1, 3;", "mov.b16 %h1, 7;");
    assert!(text.contains("reaches block 2 of a cluster of 2"), "{text}");
    // Nobody waits for the arrival of the other block, whose copy is under way.
    let text = found(MULTICAST, "@!%p2 bra told;", "");
    assert!(
        text.contains("asynchronous copy without a wait") && text.contains("writes"),
        "{text}"
    );
}

#[test]
fn what_is_no_cluster_is_refused() {
    let text = Case::new("bar.sync 0;").grid(3, 32).cluster(2).finding();
    assert!(
        text.contains("clusters of 2 blocks, in a grid of 3"),
        "{text}"
    );
}

#[test]
fn a_request_to_cancel_blocks_comes_too_late() {
    let body = "
        mov.u32 %r3, s; mov.u32 %r4, bar;
        setp.ne.u32 %p1, %r1, 0;
        @%p1 bra end;
        mbarrier.init.shared::cta.b64 [%r4], 1;
        fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 16;
        clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r3], [%r4];
        again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r4], 0;
        @!%p2 bra again;
        .reg .b128 %q;
        ld.shared.b128 %q, [%r3];
        mov.b32 %r5, 5;
        clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q;
        @%p3 clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r5, %q;
        selp.u32 %r6, 1, 2, %p3;
        mad.wide.u32 %rd4, %r2, 8, %rd2;
        st.global.v2.b32 [%rd4], {%r5, %r6};
        end:";
    let case = Case::new(body).on("sm_100a").grid(3, 32);
    assert_eq!(case.run()[..6], [5, 2].repeat(3));
    // The answer is read before it is there.
    let early = case.body(|body| body.replace("@!%p2 bra again;", ""));
    let text = early.finding();
    assert!(text.contains("asynchronous copy without a wait"), "{text}");
}
