//! Whole kernels: reductions, calls, several cores, checks, other schedules, nvcc's PTX.

use engine::Schedule;
use engine::count::{Class, Counts, Space};

use super::harness::{Case, instruction, memory, warps};

/// Each block sums its threads' numbers: by shuffles in a warp, by shared memory among warps.
pub(crate) const REDUCTION: &str = "
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd3, %rd3, %rd1;
    ld.global.f32 %f1, [%rd3];
    mov.u32 %r6, 16;
    HALVE:
    shfl.sync.down.b32 %r7, %f1, %r6, 31, 0xFFFFFFFF;
    mov.b32 %f2, %r7;
    add.f32 %f1, %f1, %f2;
    shr.u32 %r6, %r6, 1;
    setp.ne.u32 %p1, %r6, 0;
    @%p1 bra HALVE;
    and.b32 %r8, %r1, 31;
    shr.u32 %r9, %r1, 5;
    mul.lo.u32 %r10, %r9, 4;
    mov.u32 %r11, s;
    add.u32 %r11, %r11, %r10;
    setp.eq.u32 %p2, %r8, 0;
    @%p2 st.shared.f32 [%r11], %f1;
    bar.sync 0;
    setp.ne.u32 %p3, %r1, 0;
    @%p3 bra END;
    ld.shared.v4.f32 {%f3, %f4, %f5, %f6}, [s];
    add.f32 %f3, %f3, %f4;
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd4, %rd4, %rd2;
    st.global.f32 [%rd4], %f3;
    END:";

#[test]
fn a_reduction_has_its_shuffles_barriers_and_stores() {
    let counts = Case::new(REDUCTION).grid(5, 128).run();
    let all = 5 * 4;
    assert_eq!(warps(&counts, Class::Shuffle), all * 5);
    assert_eq!(warps(&counts, Class::Barrier), all);
    assert_eq!(instruction(&counts, "shfl").threads, 5 * 128 * 5);
    let store = instruction(&counts, "@%p2 st.shared");
    assert_eq!((store.warps, store.threads), (all, all));
    let store = instruction(&counts, "st.global");
    assert_eq!((store.warps, store.threads), (5, 5));
    assert_eq!(counts.flop(), 5 * 128 * 5 + 5);
    assert_eq!(counts.bytes(Space::Global), 5 * 128 * 4 + 5 * 4);
    let leaves = instruction(&counts, "@%p3 bra");
    let branch = leaves.branch.expect("it is one");
    assert_eq!(
        (branch.taken, branch.not_taken, branch.splits),
        (5 * 127, 5, 5)
    );
    // The last thread comes to the end apart, where the others have waited for it.
    assert_eq!(instruction(&counts, "ret").warps, all);
}

#[test]
fn the_order_the_cores_and_the_checks_change_no_count() {
    let y = (0..4096)
        .map(|index| 2_654_435_761_u32.wrapping_mul(index) % 4096 * 4)
        .collect::<Vec<u32>>();
    let gather = "
        mul.wide.u32 %rd3, %r3, 4;
        add.s64 %rd3, %rd3, %rd2;
        ld.global.u32 %r6, [%rd3];
        cvt.u64.u32 %rd4, %r6;
        add.s64 %rd5, %rd4, %rd1;
        setp.lt.u32 %p1, %r6, 5000;
        @%p1 bra SMALL;
        ld.global.f32 %f1, [%rd5];
        SMALL:
        ld.global.f32 %f2, [%rd5];
        atom.global.add.u32 %r7, [%rd1+102400], 0;";
    for (body, y) in [(REDUCTION, Vec::new()), (gather, y)] {
        let case = || Case::new(body).y(y.clone()).grid(32, 128);
        let one = case().run();
        assert_eq!(one, case().cores(2).run());
        let mut checked = case();
        checked.is_checked = true;
        assert_eq!(one, checked.run());
    }
    let mut other = Case::new(REDUCTION).grid(32, 128);
    let lanes = |counts: &Counts| -> Vec<(u64, u64)> {
        counts
            .instructions
            .iter()
            .map(|it| (it.lanes, it.threads))
            .collect()
    };
    let in_order = lanes(&other.run());
    for seed in 0..5 {
        other.schedule = Schedule::Seeded(seed);
        assert_eq!(lanes(&other.run()), in_order, "seed {seed}");
    }
}

#[test]
fn launches_of_a_kernel_are_added_up() {
    let small = Case::new(REDUCTION).grid(2, 128).run();
    let mut sum = Case::new(REDUCTION).grid(3, 128).run();
    sum.add(&small);
    let whole = Case::new(REDUCTION).grid(5, 128).run();
    assert_eq!(sum.launches, 2);
    assert_eq!(sum.instructions, whole.instructions);
    assert_eq!((sum.blocks, sum.threads), (whole.blocks, whole.threads));
    assert_eq!(sum.footprint.read, whole.footprint.read);
}

#[test]
fn a_tally_is_added_as_its_counts_are() {
    // The first launch skips what the second comes by.
    let body = "
        setp.lt.u32 %p1, %r4, 1;
        @%p1 bra SKIP;
        mul.wide.u32 %rd3, %r3, 4;
        add.s64 %rd3, %rd3, %rd1;
        ld.global.u32 %r6, [%rd3];
        st.global.u32 [%rd3], %r6;
        SKIP:";
    let launches = [0, 1, 0, 1].map(|n| Case::new(body).grid(3, 64).n(n));
    let mut by_counts = launches[0].run();
    let mut by_tallies = by_counts.clone();
    for case in &launches[1..] {
        by_counts.add(&case.run());
        case.with_kernel(|kernel, parameters| {
            let (shape, options) = (case.shape(), case.options());
            let tallied = kernel.tally(shape, options, parameters, &|_| {}, None);
            tallied.expect("it runs").add_to(&mut by_tallies);
        });
    }
    assert_eq!(by_tallies, by_counts);
    // 6 warps a launch, in two of which they store.
    assert_eq!((by_tallies.launches, by_tallies.warps), (4, 24));
    assert_eq!(warps(&by_tallies, Class::Store), 12);
}

#[test]
fn a_callee_counts_for_itself_and_a_call_is_one() {
    let ptx = "
.version 8.3
.target sm_90
.address_size 64
.func (.param .b32 r) twice(.param .b32 a)
{
.reg .f32 %f<3>;
ld.param.f32 %f1, [a];
add.f32 %f2, %f1, %f1;
st.param.f32 [r], %f2;
ret;
}
.visible .entry kernel(.param .u64 x, .param .u64 y, .param .u32 n)
{
.reg .f32 %f<3>;
mov.f32 %f1, 0f3F800000;
{
.param .b32 a;
.param .b32 r;
st.param.f32 [a], %f1;
call (r), twice, (a);
ld.param.f32 %f2, [r];
}
ret;
}
";
    let counts = Case::of_module(ptx.to_owned()).grid(1, 64).run();
    assert_eq!(warps(&counts, Class::Call), 2);
    let add = instruction(&counts, "add.f32");
    assert_eq!(
        (&add.function[..], add.warps, add.threads),
        ("twice", 2, 64)
    );
    assert_eq!(counts.instructions[0].function, "kernel");
    // The callee's two parameters, and the call's.
    assert_eq!(counts.bytes(Space::Parameters), 4 * 64 * 4);
}

#[test]
fn a_switch_parts_a_warp_once() {
    let body = "
        and.b32 %r6, %r1, 3;
        ts: .branchtargets ZERO, ONE, ONE, END;
        brx.idx %r6, ts;
        ZERO:
        add.f32 %f1, %f1, %f1;
        ONE:
        mul.f32 %f1, %f1, %f1;
        END:";
    let counts = Case::new(body).run();
    let branch = instruction(&counts, "brx.idx").branch.expect("it is one");
    assert_eq!((branch.taken, branch.not_taken, branch.splits), (32, 0, 1));
    assert_eq!(instruction(&counts, "add.f32").threads, 8);
    assert_eq!(instruction(&counts, "mul.f32").threads, 24);
}

/// Returns a kernel of nvcc/execution.cu, as nvcc compiles it.
fn by_nvcc(kernel: &'static str) -> Case {
    let ptx = include_str!("../nvcc/execution.ptx").to_owned();
    Case {
        kernel,
        ..Case::of_module(ptx)
    }
}

#[test]
fn nvccs_reduction_counts_by_the_lines_of_its_source() {
    let counts = by_nvcc("block_sum").grid(3, 256).n(3 * 256).run();
    let (warps_of_launch, halvings) = (3 * 8, 3);
    assert_eq!(
        warps(&counts, Class::Barrier),
        warps_of_launch * (1 + halvings)
    );
    // A warp of each block takes part.
    assert_eq!(warps(&counts, Class::Shuffle), 3 * 5);
    let additions = 128 + 64 + 32 + 5 * 32;
    assert_eq!(counts.flop(), 3 * additions);
    let load = memory(&counts, "ld.global", Space::Global);
    assert_eq!(
        (load.requests, load.sectors),
        (warps_of_launch, warps_of_launch * 4)
    );
    let line = |text| instruction(&counts, text).source.as_ref().map(|it| it.line);
    assert_eq!(line("ld.global"), Some(21));
    let source = instruction(&counts, "ld.global")
        .source
        .clone()
        .expect("nvcc tells");
    assert!(source.file.ends_with("execution.cu"), "{source:?}");
    // A header of CUDA's, inlined at line 29.
    let shuffle = counts
        .instructions
        .iter()
        .find(|it| it.text.starts_with("shfl"));
    let shuffle = shuffle.expect("it has some");
    assert_eq!(shuffle.source.as_ref().map(|it| it.line), Some(29));
    let callee = shuffle.callee.as_ref().expect("it is inlined");
    assert!(callee.file.ends_with("sm_30_intrinsics.hpp"), "{callee:?}");
    let shared = counts.instructions.iter().flat_map(|it| &it.memory);
    let shared = shared.filter(|it| it.space == Space::Shared);
    assert_eq!(shared.map(|it| it.conflicts).sum::<u64>(), 0);
}

#[test]
fn lanes_of_an_indirect_call_count_once_however_many_targets_it_has() {
    // The first buffer is zero: all lanes call one function.
    let one = by_nvcc("indirect").run();
    let call = instruction(&one, "call");
    assert_eq!((call.warps, call.lanes), (1, 32));
    for it in one
        .instructions
        .iter()
        .filter(|it| it.function == "indirect")
    {
        assert_eq!((it.warps, it.lanes), (1, 32), "{}", it.text);
    }
    let mut several = by_nvcc("indirect");
    several.x = (0..32).map(|lane| lane % 3).collect();
    let several = several.run();
    assert_eq!(instruction(&several, "call").warps, 1);
    let before = instruction(&several, "mov.u32 \t%r1");
    assert_eq!((before.warps, before.threads), (1, 32));
    for it in several
        .instructions
        .iter()
        .filter(|it| it.function == "indirect")
    {
        assert_eq!(it.lanes, 32, "{}", it.text);
    }
    assert_eq!(
        several
            .instructions
            .iter()
            .filter(|it| it.text.starts_with("ret"))
            .count(),
        4
    );
}

#[test]
fn a_function_of_the_driver_is_one_call() {
    let counts = by_nvcc("say").grid(2, 64).run();
    // A thread of each block says it.
    assert_eq!(warps(&counts, Class::Call), 2);
    assert_eq!(instruction(&counts, "call").threads, 2);
}
