//! Launches of one kernel after another, which get registers from those before.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{Kernel, Module, Options, Shape};

/// Each thread writes `add`, its x, y of the block, the block's width, and what the first thread of the block has left in
/// shared memory and in a local variable before it writes there.
const PTX: &str = "
.version 8.0
.target sm_90
.address_size 64
.shared .align 4 .b8 word[4];
.func (.param .b32 r) width()
{
    .reg .b32 %r<2>;
    mov.u32 %r1, %ntid.x;
    st.param.b32 [r], %r1;
    ret;
}
.visible .entry tells(.param .u64 to, .param .u32 add)
{
    .local .align 4 .b8 own[4];
    .reg .pred %p<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [add];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %tid.y;
    { .param .b32 r; call (r), width; ld.param.b32 %r4, [r]; }
    ld.shared.u32 %r5, [word];
    ld.local.u32 %r6, [own];
    bar.sync 0;
    st.shared.u32 [word], 7;
    st.local.u32 [own], 8;
    mov.u32 %r7, %ntid.x;
    mad.lo.u32 %r8, %r3, %r7, %r2;
    mul.wide.u32 %rd2, %r8, 24;
    add.u64 %rd3, %rd1, %rd2;
    st.global.v2.u32 [%rd3], {%r1, %r2};
    st.global.v2.u32 [%rd3+8], {%r3, %r4};
    st.global.v2.u32 [%rd3+16], {%r5, %r6};
    ret;
}
.visible .entry fails(.param .u64 to, .param .u32 add)
{
    .reg .b64 %rd<2>;
    mov.b64 %rd1, 0;
    st.global.u32 [%rd1], 1;
    ret;
}";

fn told(memory: &Arc<Memory>, kernel: &Kernel, block: [u32; 3], add: u32) -> Vec<[u32; 6]> {
    let threads: u32 = block.iter().product();
    let bytes = u64::from(threads) * 24;
    let label = Label::new("to", 24);
    let to = memory.allocate(bytes, 256, Contents::Defined, label);
    let to = to.expect("memory");
    let mut parameters = to.to_le_bytes().to_vec();
    parameters.extend(add.to_le_bytes());
    let shape = Shape {
        grid: [1; 3],
        block,
        dynamic_shared: 0,
    };
    let options = Options {
        cores: 1,
        ..Options::default()
    };
    let ran = kernel.launch(shape, options, &parameters, &|_| {}, None);
    ran.expect("it runs");
    let told = std::ptr::with_exposed_provenance::<[u32; 6]>(to as usize);
    // SAFETY: allocated above, and nothing runs.
    unsafe { std::slice::from_raw_parts(told, threads as usize) }.to_vec()
}

#[test]
fn a_launch_finds_nothing_of_the_one_before() {
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(PTX, &memory).expect("PTX");
    let tells = module.kernel("tells").expect("it is there");
    let fails = module.kernel("fails").expect("it is there");
    // As many threads each time, so that each could run in the room of the one before.
    for (add, block) in [
        (3, [64, 1, 1]),
        (4, [64, 1, 1]),
        (5, [16, 4, 1]),
        (6, [2, 32, 1]),
    ] {
        let expected = (0..64).map(|thread| {
            let (x, y) = (thread % block[0], thread / block[0]);
            [add, x, y, block[0], u32::MAX, u32::MAX]
        });
        let all = told(&memory, &tells, block, add);
        assert!(all.iter().copied().eq(expected), "{block:?}: {all:?}");
        let shape = Shape {
            grid: [1; 3],
            block,
            dynamic_shared: 0,
        };
        let failed = fails.launch(shape, Options::default(), &[0; 12], &|_| {}, None);
        failed.expect_err("it writes to a null pointer");
    }
    // The module's code may be gone, and another kernel's in its place.
    drop((tells, fails, module));
    let module = Module::load(&PTX.replace("own], 8", "own], 9"), &memory).expect("PTX");
    let tells = module.kernel("tells").expect("it is there");
    assert_eq!(
        told(&memory, &tells, [32, 2, 1], 1)[33],
        [1, 1, 1, 32, u32::MAX, u32::MAX]
    );
}
