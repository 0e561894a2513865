//! How often instructions are issued, for how many lanes.

use engine::count::{Branch, Class, Space};

use super::harness::{Case, OF_HEAD, instruction, memory, warps};

#[test]
fn each_instruction_counts_once_a_warp_hoisted_ones_and_the_last_one_too() {
    let counts = Case::new("add.f32 %f1, %f1, %f2;").grid(3, 80).run();
    assert_eq!((counts.blocks, counts.warps, counts.threads), (3, 9, 240));
    assert_eq!(counts.instructions.len() as u64, OF_HEAD + 2);
    for it in &counts.instructions {
        assert_eq!(
            (it.warps, it.lanes, it.threads),
            (9, 240, 240),
            "{}",
            it.text
        );
    }
    let parameter = memory(&counts, "ld.param.u64 %rd1", Space::Parameters);
    assert_eq!((parameter.requests, parameter.bytes), (9, 240 * 8));
    assert_eq!(warps(&counts, Class::Control), 9);
    assert_eq!(counts.flop(), 240);
}

#[test]
fn a_guard_counts_the_warps_that_come_and_the_lanes_in_which_it_is_true() {
    let body = "
        setp.lt.u32 %p1, %r1, 5;
        @%p1 fma.rn.f32 %f1, %f1, %f2, %f3;
        @!%p1 st.global.f32 [%rd1], %f1;
        setp.lt.u32 %p2, %r1, 0;
        @%p2 ld.global.f32 %f4, [%rd1];";
    let counts = Case::new(body).run();
    let fma = instruction(&counts, "@%p1 fma");
    assert_eq!((fma.warps, fma.lanes, fma.threads), (1, 32, 5));
    assert_eq!((fma.operations(), fma.branch), (10, None));
    let store = instruction(&counts, "@!%p1 st");
    assert_eq!((store.warps, store.threads), (1, 27));
    assert_eq!(store.memory[0].bytes, 27 * 4);
    // Nobody executes it.
    let load = instruction(&counts, "@%p2 ld");
    assert_eq!((load.warps, load.lanes, load.threads), (1, 32, 0));
    assert_eq!(load.memory, []);
}

#[test]
fn a_branch_tells_where_its_lanes_go_and_how_often_they_part() {
    // Lanes below 8 take it in every warp, and in the second one all do.
    let body = "
        and.b32 %r6, %r1, 31;
        setp.lt.u32 %p1, %r6, 8;
        setp.ge.u32 %p2, %r1, 32;
        or.pred %p1, %p1, %p2;
        @%p1 bra THERE;
        mul.f32 %f1, %f1, %f2;
        bra END;
        THERE:
        add.f32 %f1, %f1, %f2;
        END:
        neg.f32 %f1, %f1;";
    let counts = Case::new(body).grid(1, 64).run();
    let branch = instruction(&counts, "@%p1 bra");
    let expected = Branch {
        taken: 40,
        not_taken: 24,
        splits: 1,
    };
    assert_eq!(branch.branch, Some(expected));
    assert_eq!((branch.warps, branch.lanes, branch.threads), (2, 64, 40));
    let of = |text| {
        let it = instruction(&counts, text);
        (it.warps, it.threads)
    };
    assert_eq!((of("mul.f32"), of("bra END")), ((1, 24), (1, 24)));
    assert_eq!(instruction(&counts, "bra END").branch, None);
    assert_eq!(of("add.f32"), (2, 40));
    // They have met again.
    assert_eq!(of("neg.f32"), (2, 64));
}

/// Twice the product of the matrices' sizes, once per warp, and once per four warps.
#[test]
fn products_of_matrices_count_all_their_operations() {
    let mma = "
        mov.b32 %r6, 0x3c003c00;
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r6, %r6, %r6, %r6}, {%r6, %r6},
            {%f1, %f2, %f3, %f4};";
    let counts = Case::new(mma).grid(3, 64).run();
    let product = instruction(&counts, "mma.sync");
    assert_eq!((product.class, product.warps), (Class::Tensor, 6));
    assert_eq!(product.operations(), 6 * 2 * 16 * 8 * 16);
    assert_eq!(counts.flop(), product.operations());

    let wgmma = "
        mov.u64 %rd11, 0;
        setp.eq.u32 %p1, %r1, %r1;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd11, %rd11, %p1, 1, 1, 0, 0;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;";
    let mut case = Case::new(wgmma).grid(2, 256);
    case.ptx = case.ptx.replace(".target sm_90\n", ".target sm_90a\n");
    let counts = case.run();
    let product = instruction(&counts, "wgmma.mma_async");
    assert_eq!((product.class, product.warps), (Class::Tensor, 16));
    assert_eq!(product.operations(), 4 * 2 * 64 * 8 * 16);
    assert_eq!(counts.flop(), product.operations());
}
