//! Mutants of PTX: which there are, what is left out, and which synchronization is proved superfluous.

mod places;

use std::fs;
use std::path::Path;

use engine::mutation::{Mutants, Operator};

/// A kernel with this body.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {{
    .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<5>;
    .shared .align 16 .b8 tile[128];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    {body}
    ret;
}}
"
    )
}

fn mutants(body: &str) -> Mutants {
    Mutants::of(&kernel(body)).unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// Accesses.
const LOAD: &str = "ld.shared.u32 %r3, [tile];";
const COPY: &str = "cp.async.ca.shared.global [tile], [%rd1], 4;";
const FENCE: &str = "wgmma.fence.sync.aligned;";
const PRODUCT: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p1, 1, 1, 0, 0;";
const STORE: &str = "st.shared.u32 [tile], %r3;";

/// The operators of a body's changes.
fn operators(body: &str) -> Vec<Operator> {
    mutants(body).all.iter().map(|it| it.operator).collect()
}

/// Accesses on both sides of an instruction, which use what it computes, and may come to it again.
fn between_accesses(instruction: &str) -> String {
    format!(
        "setp.ne.u32 %p1, %r1, %r2; setp.eq.u32 %p2, %r1, %r2;
         LOOP: st.shared.u32 [tile], %r3; {instruction} st.shared.f32 [tile], %f1;
         cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 16;
         @%p1 st.shared.u32 [tile], %r3; @%p2 bra LOOP; END:"
    )
}

#[test]
fn each_instruction_has_the_changes_of_its_kind() {
    use Operator::*;
    let cases: [(&str, &[(Operator, &str)]); 28] = [
        ("bar.sync 0;", &[(Synchronization, "")]),
        ("bar.sync 1, 64;", &[(Synchronization, "")]),
        ("bar.red.popc.u32 %r3, 0, %p1;", &[]),
        ("fence.proxy.async;", &[(Synchronization, "")]),
        ("cp.async.commit_group;", &[(Synchronization, "")]),
        (
            "@%p2 mbarrier.try_wait.parity.shared.b64 %p1, [tile], %r1;",
            &[
                (Synchronization, "@%p2 setp.eq.u32 %p1, 0, 0;"),
                (
                    Guard,
                    "mbarrier.try_wait.parity.shared.b64 %p1, [tile], %r1;",
                ),
            ],
        ),
        (
            "membar.gl;",
            &[(Synchronization, ""), (Order, "membar.cta;")],
        ),
        (
            "ld.acquire.gpu.global.u32 %r3, [%rd1];",
            &[
                (Order, "ld.relaxed.gpu.global.u32 %r3, [%rd1];"),
                (Order, "ld.acquire.cta.global.u32 %r3, [%rd1];"),
                (Index, "ld.acquire.gpu.global.u32 %r3, [%rd1+4];"),
            ],
        ),
        (
            "st.relaxed.sys.global.u32 [%rd1], %r1;",
            &[
                (Order, "st.relaxed.cta.global.u32 [%rd1], %r1;"),
                (Order, "st.global.u32 [%rd1], %r1;"),
                (Index, "st.relaxed.sys.global.u32 [%rd1+4], %r1;"),
            ],
        ),
        (
            "atom.acq_rel.gpu.global.add.u32 %r3, [%rd1], %r1;",
            &[
                (Order, "atom.relaxed.gpu.global.add.u32 %r3, [%rd1], %r1;"),
                (Order, "atom.acq_rel.cta.global.add.u32 %r3, [%rd1], %r1;"),
                (Index, "atom.acq_rel.gpu.global.add.u32 %r3, [%rd1+4], %r1;"),
            ],
        ),
        (
            "ld.volatile.global.u32 %r3, [%rd1+-8];",
            &[
                (Order, "ld.global.u32 %r3, [%rd1+-8];"),
                (Index, "ld.volatile.global.u32 %r3, [%rd1-4];"),
            ],
        ),
        ("@%p1 bra END;", &[(Guard, ""), (Guard, "bra END;")]),
        ("@!%p1 bra LOOP;", &[(Guard, "")]),
        ("@!%p1 mov.u32 %r3, %r1;", &[(Guard, "mov.u32 %r3, %r1;")]),
        (
            "setp.lt.u32 %p1, %r1, 9;",
            &[(Comparison, "setp.le.u32 %p1, %r1, 9;")],
        ),
        (
            "setp.neu.f32 %p1, %f1, %f2;",
            &[(Comparison, "setp.equ.f32 %p1, %f1, %f2;")],
        ),
        ("ld.param.u64 %rd1, [p];", &[]),
        (
            "st.shared.v2.f32 [tile+16], {%f1, %f2};",
            &[(Index, "st.shared.v2.f32 [tile+24], {%f1, %f2};")],
        ),
        (
            "cp.async.cg.shared.global [tile], [%rd1], 16;",
            &[
                (Index, "cp.async.cg.shared.global [tile+16], [%rd1], 16;"),
                (Index, "cp.async.cg.shared.global [tile], [%rd1+16], 16;"),
            ],
        ),
        (
            "shfl.sync.down.b32 %r3, %r1, 16, 31, -1;",
            &[(Shuffle, "shfl.sync.down.b32 %r3, %r1, 17, 31, -1;")],
        ),
        (
            "shfl.sync.bfly.b32 %r3, %r1, 16, 31, -1;",
            &[(Shuffle, "shfl.sync.bfly.b32 %r3, %r1, 8, 31, -1;")],
        ),
        (
            "shfl.sync.bfly.b32 %r3, %r1, 1, 31, -1;",
            &[(Shuffle, "shfl.sync.bfly.b32 %r3, %r1, 2, 31, -1;")],
        ),
        (
            "and.b32 %r3, %r1, 31;",
            &[(Constant, "and.b32 %r3, %r1, 32;")],
        ),
        (
            "selp.f32 %f1, 0f7FC00000, %f2, %p1;",
            &[(Constant, "selp.f32 %f1, 0f3F800000, %f2, %p1;")],
        ),
        (
            "mul.f32 %f1, %f2, 0f3F800000;",
            &[(Constant, "mul.f32 %f1, %f2, 0f40000000;")],
        ),
        (
            "selp.b32 %r3, 1, 0, %p1;",
            &[
                (Constant, "selp.b32 %r3, 0, 0, %p1;"),
                (Constant, "selp.b32 %r3, 1, 1, %p1;"),
            ],
        ),
        (
            "sub.s32 %r3, %r1, %r2;",
            &[(Arithmetic, "add.s32 %r3, %r1, %r2;")],
        ),
        (
            "max.f32 %f1, %f1, %f2;",
            &[(Arithmetic, "min.f32 %f1, %f1, %f2;")],
        ),
    ];
    for (instruction, expected) in cases {
        let all = mutants(&between_accesses(instruction)).all;
        let own = all.iter().filter(|it| it.before == instruction);
        let actual: Vec<(Operator, &str)> = own.map(|it| (it.operator, &*it.after)).collect();
        assert_eq!(actual, expected, "{instruction}");
    }
}

#[test]
fn what_no_launch_without_a_panic_shows_is_left_out() {
    let trap =
        "setp.ge.u32 %p1, %r1, 100; @%p1 bra PANIC; st.shared.u32 [tile], %r1; ret; PANIC: trap;";
    assert_eq!(operators(trap), [Operator::Index]);
    assert_eq!(mutants(trap).equivalent, 3);

    let unused = "add.s32 %r3, %r1, 1; mul.lo.s32 %r4, %r3, 7; st.shared.u32 [tile], %r1;";
    assert_eq!(operators(unused), [Operator::Index]);
    assert_eq!(mutants(unused).equivalent, 2);

    let fixed = "mov.pred %p1, -1; @%p1 st.shared.u32 [tile], %r1;";
    assert!(!operators(fixed).contains(&Operator::Guard));
}

/// The instructions of a body that are superfluous.
fn superfluous(body: &str) -> Vec<String> {
    let all = mutants(body).superfluous.into_iter();
    all.map(|it| it.text).collect()
}

#[test]
fn synchronization_is_superfluous_where_dataflow_shows_it_and_nowhere_else() {
    let one = |text: &str| vec![text.to_owned()];
    for (body, expected) in [
        // At the end, at the beginning, and behind another.
        (format!("{STORE} bar.sync 0;"), one("bar.sync 0;")),
        (format!("bar.sync 0; {STORE}"), one("bar.sync 0;")),
        (
            format!("{STORE} bar.sync 0; add.s32 %r2, %r1, 1; bar.sync 0; {STORE}"),
            vec!["bar.sync 0;".to_owned(); 2],
        ),
        (format!("{STORE} bar.sync 0; {STORE}"), vec![]),
        // On one of two ways it is needed.
        (
            format!("{STORE} bar.sync 0; @%p1 bra END; {STORE} END:"),
            vec![],
        ),
        // Around the loop it comes back to accesses.
        (format!("LOOP: {STORE} bar.sync 0; @%p1 bra LOOP;"), vec![]),
        (
            format!("{STORE} LOOP: bar.sync 0; @%p1 bra LOOP;"),
            one("bar.sync 0;"),
        ),
        // Reads on both sides; but what a wait ends was written.
        (
            format!("{STORE} bar.sync 0; {LOAD} bar.sync 0; {LOAD} bar.sync 0; {STORE}"),
            one("bar.sync 0;"),
        ),
        (
            format!(
                "{COPY} bar.sync 0; cp.async.wait_all; {LOAD} bar.sync 0; {LOAD} bar.sync 0; {STORE}"
            ),
            vec![],
        ),
        // Another barrier orders other threads, and so does one of a part of the lanes.
        (
            format!("{STORE} bar.sync 0; bar.sync 1, 64; {STORE}"),
            vec![],
        ),
        (
            format!("{STORE} bar.sync 0; @%p1 bar.sync 0; {STORE}"),
            vec![],
        ),
        (
            format!("{STORE} bar.warp.sync -1; bar.sync 0; {STORE}"),
            one("bar.warp.sync -1;"),
        ),
        (
            format!("{STORE} bar.warp.sync 15; bar.sync 0; {STORE}"),
            vec![],
        ),
        // What is loaded of parameters and local memory no other thread writes; the clock shows when a barrier ended.
        (
            format!("{STORE} bar.sync 0; ld.param.u64 %rd2, [p];"),
            one("bar.sync 0;"),
        ),
        (format!("{STORE} bar.sync 0; mov.u32 %r2, %clock;"), vec![]),
        (format!("{STORE} membar.gl;"), one("membar.gl;")),
        (format!("{STORE} membar.gl; {STORE}"), vec![]),
        (
            format!("{STORE} fence.proxy.async;"),
            one("fence.proxy.async;"),
        ),
        (
            format!(
                "{STORE} fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 16;"
            ),
            vec![],
        ),
        (
            format!("{COPY} cp.async.wait_all; {LOAD} cp.async.wait_group 0;"),
            one("cp.async.wait_group 0;"),
        ),
        (
            format!("{COPY} cp.async.wait_group 1; cp.async.wait_group 0; {LOAD}"),
            one("cp.async.wait_group 1;"),
        ),
        (
            format!(
                "{COPY} cp.async.wait_group 1; cp.async.commit_group; cp.async.wait_group 0; {LOAD}"
            ),
            vec![],
        ),
    ] {
        assert_eq!(superfluous(&body), expected, "{body}");
    }
    // Of fences in front of products, which orders an access of their registers.
    for (body, expected) in [
        (format!("{FENCE} {PRODUCT} {PRODUCT}"), 0),
        (format!("{PRODUCT} {FENCE}"), 1),
        (format!("{FENCE} {PRODUCT} {FENCE} {PRODUCT}"), 1),
        (
            format!("{FENCE} {PRODUCT} mov.f32 %f1, 0f00000000; {FENCE} {PRODUCT}"),
            0,
        ),
        (
            format!("{FENCE} {PRODUCT} mov.f32 %f1, %f2; {FENCE} {PRODUCT}"),
            0,
        ),
        // A read alone, too.
        (
            format!("{FENCE} {PRODUCT} st.shared.f32 [tile], %f2; {FENCE} {PRODUCT}"),
            0,
        ),
        (
            format!("{FENCE} {PRODUCT} add.f32 %f4, %f1, %f2; mov.f32 %f1, %f4; {FENCE} {PRODUCT}"),
            0,
        ),
        // A register of no product, and one that is written on one of two ways.
        (
            format!("{FENCE} {PRODUCT} mov.f32 %f4, 0f00000000; {FENCE} {PRODUCT}"),
            1,
        ),
        (
            format!(
                "{FENCE} {PRODUCT} @%p2 bra ON; mov.f32 %f3, 0f00000000; ON: {FENCE} {PRODUCT}"
            ),
            0,
        ),
        // The first fence of one way.
        (format!("@%p2 bra ON; {FENCE} ON: {FENCE} {PRODUCT}"), 1),
    ] {
        let fences = vec![FENCE.to_owned(); expected];
        assert_eq!(superfluous(&body), fences, "{body}");
    }
    // A function does not know what is around its call.
    let function = kernel("").replace(
        ".visible .entry",
        ".func f() { .shared .b32 s; .reg .b32 %r; st.shared.b32 [s], %r; bar.sync 0; ret; } .visible .entry",
    );
    assert!(
        Mutants::of(&function)
            .expect("it is PTX")
            .superfluous
            .is_empty()
    );
}

#[test]
fn every_change_of_compilers_texts_is_ptx_again() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ptx/tests/corpus");
    let mut count = 0;
    for entry in fs::read_dir(corpus).expect("the corpus") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|it| it != "ptx") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let mutants = Mutants::of(&text).expect("it is PTX");
        // A text with thousands of instructions is read again for some of its changes.
        for mutant in mutants.all.iter().step_by(1 + mutants.all.len() / 100) {
            let changed = mutant.change.make(&text).expect("it is of this text");
            let read = ptx::parse(&changed);
            assert!(
                read.is_ok(),
                "{path:?}: {mutant:?}: {}",
                read.expect_err("wrong")
            );
            assert_ne!(changed, text, "{mutant:?}");
            count += 1;
        }
    }
    assert!(count > 500, "{count}");
}

#[test]
fn scopes_of_shared_memory_stay_where_no_block_maps_another_s() {
    let orders = |body: &str| -> Vec<String> {
        let all = mutants(body).all.into_iter();
        all.filter(|it| it.operator == Operator::Order)
            .map(|it| it.after)
            .collect()
    };
    let store = "st.relaxed.sys.shared.u32 [tile], %r1;";
    let narrow = "st.relaxed.cta.shared.u32 [tile], %r1;";
    let weak = "st.shared.u32 [tile], %r1;";
    assert_eq!(orders(store), [weak]);
    let mapped = "mapa.shared::cluster.u32 %r2, tile, 1; st.shared::cluster.u32 [%r2], %r1;";
    assert_eq!(orders(&format!("{store} {mapped}")), [narrow, weak]);
    assert_eq!(mutants(store).equivalent, 1 + mutants("").equivalent);
    let acquire = "ld.acquire.gpu.shared.u32 %r3, [tile]; st.shared.u32 [tile], %r3;";
    assert_eq!(orders(acquire), ["ld.relaxed.gpu.shared.u32 %r3, [tile];"]);
    let add = "red.relaxed.gpu.shared.add.u32 [tile], %r1;";
    assert_eq!(orders(add), [""; 0]);
}

/// The texts that a body's constants may be changed to.
fn constants(body: &str) -> Vec<String> {
    let of_constants = |it: &engine::mutation::Mutant| it.operator == Operator::Constant;
    let all = mutants(body).all.into_iter().filter(of_constants);
    all.map(|it| it.after).collect()
}

#[test]
fn a_mask_of_bits_that_are_zero_has_no_other() {
    let uses = "st.shared.u32 [tile], %r3;";
    for zero in [
        "and.b32 %r2, %r4, -16; and.b32 %r3, %r2, -16;",
        "shl.b32 %r2, %r1, 4; and.b32 %r3, %r2, -16;",
        "mul.lo.u32 %r2, %r1, 24; and.b32 %r3, %r2, 248;",
        "shl.b32 %r2, %r1, 4; add.u32 %r2, %r2, 32; or.b32 %r2, %r2, 64; and.b32 %r3, %r2, -16;",
        "mul.lo.u32 %r4, %r1, 24; shr.u32 %r2, %r4, 2; and.b32 %r3, %r2, 6;",
        "mov.b32 %r2, 0; L: add.u32 %r2, %r2, 2; setp.lt.u32 %p1, %r2, 9; @%p1 bra L; and.b32 %r3, %r2, 6;",
    ] {
        let body = format!("{zero} {uses}");
        let masks = constants(&body);
        let is_mask = |it: &&String| it.starts_with("and.b32 %r3");
        assert_eq!(masks.iter().find(is_mask), None, "{body}");
        assert!(mutants(&body).equivalent > 0, "{body}");
    }
    for other in [
        "and.b32 %r3, %r1, -16;",
        // Another value comes there, too.
        "shl.b32 %r2, %r1, 4; @%p1 mov.u32 %r2, %r1; and.b32 %r3, %r2, -16;",
        "shl.b32 %r2, %r1, 3; add.u32 %r2, %r2, 1; and.b32 %r3, %r2, -16;",
        "ld.shared.u32 %r2, [tile]; shr.s32 %r2, %r2, 28; and.b32 %r3, %r2, -16;",
        "shl.b32 %r2, %r1, %r4; and.b32 %r3, %r2, -16;",
        // The next mask has other bits that are not 0.
        "shl.b32 %r2, %r1, 2; and.b32 %r3, %r2, 7;",
    ] {
        let body = format!("{other} {uses}");
        let masks = constants(&body);
        assert!(
            masks.iter().any(|it| it.starts_with("and.b32 %r3")),
            "{body}: {masks:?}"
        );
    }
}

#[test]
fn a_zero_that_is_added_as_a_float_becomes_one() {
    for (body, after) in [
        (
            "mov.b32 %r2, 0; add.rn.f32 %f1, %r2, %f2;",
            "mov.b32 %r2, 0x3F800000;",
        ),
        (
            "mov.b32 %r2, 0; mov.b32 %r3, %r2; fma.rn.f16x2 %r3, %r3, %r4, %r3;",
            "mov.b32 %r2, 0x3C003C00;",
        ),
        (
            "mov.b64 %rd2, 0; mul.rn.f64 %rd2, %rd2, %rd3;",
            "mov.b64 %rd2, 0x3FF0000000000000;",
        ),
        ("mov.b32 %r2, 0; add.u32 %r3, %r2, %r4;", "mov.b32 %r2, 1;"),
        (
            "mov.u32 %r2, 0; add.rn.f32 %f1, %r2, %f2;",
            "mov.u32 %r2, 1;",
        ),
        (
            "mov.b32 %r2, 7; add.rn.f32 %f1, %r2, %f2;",
            "mov.b32 %r2, 8;",
        ),
    ] {
        let body = format!(
            "{body} st.shared.f32 [tile], %f1; st.shared.u32 [tile], %r3; st.shared.u64 [tile], %rd2;"
        );
        assert_eq!(constants(&body)[0], after, "{body}");
    }
}
