//! Functions that take and return registers, and constants that calls pass: as in PTX written by hand.

use std::sync::Arc;

use engine::memory::Memory;
use engine::{Module, Options, Shape};

use crate::support::launch_checked;

/// Functions whose parameters are registers, and a kernel that stores 32 bytes a thread. ptxas takes all of it.
const PTX: &str = "
.version 8.8
.target sm_90
.address_size 64
.func (.reg .b32 o) next(.reg .b32 a) { add.u32 o, a, 1; ret; }
.func (.param .b32 o) in_memory(.param .b32 a) { .reg .b32 %r; ld.param.b32 %r, [a]; st.param.b32 [o], %r; ret; }
.func (.reg .f64 o) several(.reg .f64 a, .reg .f32 x, .reg .f32 y, .reg .b32 h)
{
    .reg .pred %p;
    .reg .f64 %d<4>;
AGAIN:
    cvt.f64.f32 %d1, x;
    cvt.f64.f32 %d2, y;
    add.f64 a, a, %d1;
    mov.f64 o, a;
    cvt.rn.f64.u32 %d3, h;
    add.f64 o, o, %d3;
    setp.lt.f64 %p, a, 0d4010000000000000;
    @%p bra AGAIN;
    setp.gt.f64 %p, %d2, 0d0000000000000000;
    @%p ret;
    neg.f64 o, o;
}
.visible .global .align 8 .b8 out[1024];
.visible .entry kernel()
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<3>;
    .reg .f64 %d;
    .reg .f32 %x, %y;
    .reg .b32 %h;
    .reg .pred %p;
    mov.u64 %rd1, out;
    mov.u32 %r0, %tid.x;
    mad.wide.u32 %rd1, %r0, 32, %rd1;
    mov.u32 %r1, 5;
    call (%r2), next, (%r1);
    mov.u64 %rd2, next;
    pick: .callprototype (.reg .b32 _) _ (.reg .b32 _);
    call (%r3), %rd2, (7), pick;
    call (%r6), in_memory, (%r3);
    setp.gt.u32 %p, %r0, 15;
    mov.u32 %r4, 100;
    @%p call (%r4), next, (%r0);
    mov.f32 %x, 0f3F800000;
    cvt.rn.f32.s32 %y, %r0;
    sub.f32 %y, %y, 0f41800000;
    mov.b32 %h, 9;
    call (%d), several, (0d4000000000000000, %x, %y, %h);
    st.global.v4.b32 [%rd1], {%r2, %r6, %r4, %r3};
    st.global.f64 [%rd1+16], %d;
    ret;
}
";

#[test]
fn registers_and_constants_are_passed() {
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(PTX, &memory).expect("PTX");
    let kernel = module.kernel("kernel").expect("it is there");
    let shape = Shape {
        grid: [1, 1, 1],
        block: [32, 1, 1],
        dynamic_shared: 0,
    };
    let ran = launch_checked(&kernel, shape, Options::default(), &[]);
    ran.expect("nothing is wrong");
    let bytes = module.bytes("out").expect("a variable");
    for thread in 0..32u32 {
        let own = &bytes[32 * thread as usize..];
        let word = |index: usize| u32::from_le_bytes(own[4 * index..][..4].try_into().expect("4"));
        let long = f64::from_le_bytes(own[16..24].try_into().expect("8"));
        let guarded = if thread > 15 { thread + 1 } else { 100 };
        assert_eq!([0, 1, 2, 3].map(word), [6, 8, guarded, 8], "{thread}");
        assert_eq!(long, if thread > 16 { 13.0 } else { -13.0 }, "{thread}");
    }
}
