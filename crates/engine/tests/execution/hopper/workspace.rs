//! `grid.sync()` of CUDA's cooperative groups, which count blocks at the workspace that %envreg1 and %envreg2 lead to.

use super::harness::Case;

/// Each block writes its word, and thread 0 of each reads those of all blocks behind the grid's barrier. The barrier is
/// what nvcc makes of `grid.sync()`: a count whose highest bit changes when all have come.
const BODY: &str = "
    mul.wide.u32 %rd3, %r2, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
    mov.u32 %r3, %envreg2; cvt.u64.u32 %rd6, %r3;
    mov.u32 %r4, %envreg1; cvt.u64.u32 %rd7, %r4;
    bfi.b64 %rd8, %rd7, %rd6, 32, 32;
    setp.ne.s64 %p1, %rd8, 0; @%p1 bra cooperative;
    trap;
    cooperative:
    setp.ne.u32 %p2, %r1, 0;
    add.u32 %r5, %r2, 1; @!%p2 st.global.b32 [%rd4], %r5;
    bar.sync 0;
    @%p2 bra met;
    mov.u32 %r6, %nctaid.x; sub.u32 %r7, 0x80000001, %r6;
    setp.eq.u32 %p3, %r2, 0; selp.b32 %r8, %r7, 1, %p3;
    atom.add.release.gpu.u32 %r9, [%rd8+4], %r8;
    again: ld.acquire.gpu.u32 %r10, [%rd8+4];
    xor.b32 %r11, %r10, %r9; setp.gt.s32 %p4, %r11, -1; @%p4 bra again;
    met: bar.sync 0;
    @%p2 bra done;
    mov.u32 %r12, 0; mov.u32 %r13, 0; mov.u64 %rd9, %rd1;
    next: ld.global.b32 %r14, [%rd9]; add.u32 %r12, %r12, %r14; add.u64 %rd9, %rd9, 4;
    add.u32 %r13, %r13, 1; setp.lt.u32 %p5, %r13, %r6; @%p5 bra next;
    st.global.b32 [%rd5], %r12;
    ld.b32 %r15, [%rd8]; st.global.b32 [%rd5+1024], %r15;
    done:";

#[test]
fn a_cooperative_grid_meets() {
    for case in [
        Case::new(BODY).grid(6, 64).cooperative(),
        Case::new(BODY).grid(6, 64).cooperative().unchecked(),
        Case::new(BODY).grid(6, 64).cooperative().seeded(7),
    ] {
        let y = case.run();
        assert_eq!(y[..6], [21; 6]);
        // Bytes of the workspace.
        assert_eq!(y[256..262], [8; 6]);
    }
}

#[test]
fn without_the_barrier_blocks_race() {
    let body = BODY.replace(
        "xor.b32 %r11, %r10, %r9; setp.gt.s32 %p4, %r11, -1; @%p4 bra again;",
        "",
    );
    let text = Case::new(&body).grid(6, 64).cooperative().finding();
    assert!(text.contains("race") && text.contains("read it"), "{text}");
}

#[test]
fn another_launch_has_no_workspace() {
    let text = Case::new(BODY).grid(6, 64).finding();
    assert!(text.contains("trap"), "{text}");
}
