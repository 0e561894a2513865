//! Fragments of `wmma` that no compiler writes, and those that are wrong. That elements lie as on a GPU is tested by
//! tests/cli/emulated_runtime.rs with scripts/gpu/fragments.py.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{LaunchError, Module, Options, Schedule, Shape};

use crate::support::launch_checked;

/// A kernel of which %rd0 and %rd1 are the addresses of 1024 bytes each: 0, 1, 2 .. and zeros.
fn ptx(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n.shared .align 32 .b8 tile[1024];\n\
        .visible .entry test(.param .u64 from, .param .u64 to) {{\n.reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<4>;\n\
        .loc 1 1 0\nld.param.u64 %rd0, [from];\nld.param.u64 %rd1, [to];\n{body}\nret;\n}}\n"
    )
}

/// Returns the second buffer's words after a launch of so many threads.
fn run(body: &str, threads: u32, seed: u64) -> Result<Vec<u32>, LaunchError> {
    let memory = Arc::<Memory>::default();
    let module = Module::load(&ptx(body), &memory).expect("PTX");
    let buffers = ["from", "to"].map(|name| {
        let start = memory.allocate(1024, 256, Contents::Defined, Label::new(name, 4));
        start.expect("memory")
    });
    let bytes = |start: u64| {
        let start = std::ptr::with_exposed_provenance_mut::<u8>(start as usize);
        // SAFETY: allocated above with so many bytes; no kernel runs while the slice is used.
        unsafe { std::slice::from_raw_parts_mut(start, 1024) }
    };
    for (index, byte) in bytes(buffers[0]).iter_mut().enumerate() {
        *byte = index as u8;
    }
    bytes(buffers[1]).fill(0);
    let shape = Shape {
        grid: [1; 3],
        block: [threads, 1, 1],
        dynamic_shared: 0,
    };
    let options = Options {
        divergence: true,
        schedule: Schedule::Seeded(seed),
        ..Options::default()
    };
    let parameters: Vec<u8> = buffers.into_iter().flat_map(u64::to_le_bytes).collect();
    let kernel = module.kernel("test").expect("a kernel");
    launch_checked(&kernel, shape, options, &parameters)?;
    let words = bytes(buffers[1]).as_chunks::<4>().0;
    Ok(words.iter().map(|it| u32::from_le_bytes(*it)).collect())
}

fn found(body: &str, threads: u32, seed: u64) -> String {
    match run(body, threads, seed) {
        Ok(_) => panic!("nothing was found: {body}"),
        Err(error) => error.to_string(),
    }
}

const LOADS: &str = "
    wmma.load.a.sync.aligned.row.m16n16k16.global.u8 {%r0, %r1}, [%rd0];
    wmma.load.b.sync.aligned.col.m16n16k16.global.u8 {%r2, %r3}, [%rd0], 16;
    wmma.load.c.sync.aligned.row.m16n16k16.global.s32 {%r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11}, [%rd1], 16;";

const STORE: &str = "wmma.store.d.sync.aligned.row.m16n16k16.global.s32 [%rd1], ";

/// The product of the first buffer's first 256 bytes, by rows and by columns.
fn product() -> Vec<u32> {
    let entry =
        |row: u32, column: u32| (0..16).map(|at| (16 * row + at) * (16 * column + at)).sum();
    (0..256).map(|at| entry(at / 16, at % 16)).collect()
}

#[test]
fn sums_may_go_to_the_registers_of_anything() {
    let mma = "wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32";
    let (sources, c) = (
        "{%r0, %r1}, {%r2, %r3}",
        "{%r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11}",
    );
    for d in [
        "{%r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19}",
        c,
        // Those of the factors, and of the other half of what is added.
        "{%r3, %r2, %r1, %r0, %r16, %r17, %r18, %r19}",
        "{%r8, %r9, %r10, %r11, %r4, %r5, %r6, %r7}",
    ] {
        let body = format!("{LOADS}\n{mma} {d}, {sources}, {c};\n{STORE} {d};");
        assert_eq!(run(&body, 32, 0).expect("it runs"), product(), "{d}");
    }
}

#[test]
fn elements_may_go_to_the_registers_that_say_where() {
    let body = "
        mov.u32 %r0, 16;
        wmma.load.a.sync.aligned.row.m16n16k16.global.u8 {%r0, %r1}, [%rd0], %r0;
        wmma.load.b.sync.aligned.col.m16n16k16.global.u8 {%r2, %r3}, [%rd0];
        mov.u32 %r4, 0;
        wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32 {%r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12},
            {%r0, %r1}, {%r2, %r3}, {%r4, %r4, %r4, %r4, %r4, %r4, %r4, %r4};";
    let body = format!("{body}\n{STORE} {{%r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12}};");
    assert_eq!(run(&body, 32, 0).expect("it runs"), product());
}

#[test]
fn elements_outside_of_a_buffer_are_found() {
    // Rows of 64 bytes, of which the last is the buffer's last; then one more.
    let load = |stride: u32| {
        format!("wmma.load.a.sync.aligned.row.m16n16k16.global.u8 {{%r0, %r1}}, [%rd0], {stride};")
    };
    run(&load(64), 32, 0).expect("inside");
    let found = found(&load(72), 32, 0);
    assert!(
        found.contains("out of bounds") && found.contains("a.cu:1"),
        "{found}"
    );
}

#[test]
fn lanes_that_are_missing_are_found() {
    let body = "mov.u32 %r9, %tid.x; setp.lt.u32 %p1, %r9, 16;
        @%p1 wmma.load.a.sync.aligned.row.m16n16k16.global.u8 {%r0, %r1}, [%rd0];";
    let found = found(body, 32, 0);
    let alone = "lanes 0x0000ffff alone come to an instruction that all of a warp execute together";
    assert!(found.contains(alone), "{found}");
}

#[test]
fn warps_that_store_to_one_tile_race() {
    let body = "
        mov.u32 %r0, %tid.x;
        mov.u64 %rd2, tile;
        wmma.store.d.sync.aligned.row.m16n16k16.shared.s32 [%rd2], {%r0, %r0, %r0, %r0, %r0, %r0, %r0, %r0};";
    run(body, 32, 0).expect("one warp");
    let found = found(body, 64, 1);
    assert!(found.contains("race"), "{found}");
}

#[test]
fn elements_that_nobody_has_written_are_found_where_they_decide() {
    let body = "
        mov.u64 %rd2, tile;
        wmma.load.a.sync.aligned.row.m16n16k16.shared.u8 {%r0, %r1}, [%rd2];
        setp.eq.u32 %p1, %r1, 7;
        @%p1 st.global.u32 [%rd1], %r1;";
    let found = found(body, 32, 0);
    assert!(found.contains("uninitialised"), "{found}");
}
