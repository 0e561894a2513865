//! Sectors and wavefronts of accesses whose addresses are known.

use engine::count::{Memory, Space};

use super::harness::{Case, instruction, memory};

/// A warp reads global memory: `bytes` times what is asked of the thread's index, and an offset.
fn load(ty: &str, stride: u32, offset: u32) -> Memory {
    let body = format!(
        "mul.wide.u32 %rd3, %r1, {stride};
        add.s64 %rd3, %rd3, %rd1;
        ld.global.{ty} [%rd3+{offset}];"
    );
    let registers = match ty {
        "v4.f32" => "{%f1, %f2, %f3, %f4}",
        "v2.f64" => "{%fd1, %fd2}",
        "f64" => "%fd1",
        "u8" => "%r9",
        _ => "%f1",
    };
    let body = body.replace(" [%rd3+", &format!(" {registers}, [%rd3+"));
    memory(&Case::new(&body).run(), "ld.global", Space::Global)
}

/// Sectors, the least for the same bytes, and the stride.
fn sectors(of: Memory) -> (u64, u64, Option<i64>) {
    assert_eq!((of.requests, of.wavefronts, of.conflicts), (1, 0, 0));
    assert_eq!(of.new_sectors, of.sectors, "nobody has read them before");
    (of.sectors, of.least_sectors, of.stride)
}

#[test]
fn coalesced_strided_misaligned_and_vector_loads_have_their_sectors() {
    assert_eq!(sectors(load("f32", 4, 0)), (4, 4, Some(4)));
    assert_eq!(sectors(load("f32", 8, 0)), (8, 4, Some(8)));
    assert_eq!(sectors(load("f32", 128, 0)), (32, 4, Some(128)));
    assert_eq!(sectors(load("f32", 4, 4)), (5, 4, Some(4)));
    assert_eq!(sectors(load("f32", 4, 32)), (4, 4, Some(4)));
    assert_eq!(sectors(load("f32", 0, 0)), (1, 1, Some(0)));
    assert_eq!(sectors(load("f64", 8, 0)), (8, 8, Some(8)));
    assert_eq!(sectors(load("f64", 8, 8)), (9, 8, Some(8)));
    assert_eq!(sectors(load("v4.f32", 16, 0)), (16, 16, Some(16)));
    assert_eq!(sectors(load("v4.f32", 32, 0)), (32, 16, Some(32)));
    assert_eq!(sectors(load("v2.f64", 16, 16)), (17, 16, Some(16)));
    assert_eq!(sectors(load("u8", 1, 0)), (1, 1, Some(1)));
    let bytes = |of: Memory| of.bytes;
    assert_eq!(
        (bytes(load("u8", 1, 0)), bytes(load("v2.f64", 16, 0))),
        (32, 512)
    );
}

#[test]
fn part_of_a_warp_reaches_as_many_sectors_as_it_needs() {
    let body = "
        mul.wide.u32 %rd3, %r3, 4;
        add.s64 %rd3, %rd3, %rd1;
        ld.global.f32 %f1, [%rd3];
        st.global.f32 [%rd3], %f1;";
    let counts = Case::new(body).grid(2, 40).run();
    let load = memory(&counts, "ld.global", Space::Global);
    // A block's warps read 128 and 32 bytes; the second block begins at byte 160.
    assert_eq!((load.requests, load.bytes), (4, 2 * 160));
    assert_eq!((load.sectors, load.least_sectors), (10, 10));
    let footprint = &counts.footprint;
    assert_eq!(
        (footprint.read, footprint.written, footprint.either),
        (10, 10, 10)
    );
    assert_eq!(
        (footprint.read_by_blocks, footprint.written_by_blocks),
        (10, 10)
    );
    let [x] = &footprint.buffers[..] else {
        panic!("{footprint:?}");
    };
    assert_eq!((&x.name[..], x.bytes, x.read), ("x", 1 << 20, 10));
}

#[test]
fn what_a_block_reads_again_is_new_only_once_and_blocks_share_what_the_launch_reads() {
    let body = "
        mul.wide.u32 %rd3, %r1, 4;
        add.s64 %rd3, %rd3, %rd1;
        mov.u32 %r6, 0;
        AGAIN:
        ld.global.f32 %f1, [%rd3];
        add.u32 %r6, %r6, 1;
        setp.lt.u32 %p1, %r6, 10;
        @%p1 bra AGAIN;";
    let counts = Case::new(body).grid(3, 64).run();
    let load = memory(&counts, "ld.global", Space::Global);
    assert_eq!(
        (load.requests, load.sectors, load.new_sectors),
        (60, 240, 24)
    );
    let footprint = &counts.footprint;
    assert_eq!((footprint.read, footprint.read_by_blocks), (8, 24));
    assert_eq!(footprint.written, 0);
    let branch = instruction(&counts, "@%p1 bra").branch.expect("it is one");
    assert_eq!(
        (branch.taken, branch.not_taken, branch.splits),
        (9 * 192, 192, 0)
    );
}

#[test]
fn atomics_read_and_write() {
    let body = "
        atom.global.add.u32 %r6, [%rd1], 1;
        red.shared.add.u32 [s], 1;";
    let counts = Case::new(body).run();
    let global = memory(&counts, "atom", Space::Global);
    assert_eq!((global.sectors, global.bytes), (1, 128));
    let footprint = &counts.footprint;
    assert_eq!(
        (footprint.read, footprint.written, footprint.either),
        (1, 1, 1)
    );
    // One after another.
    let shared = memory(&counts, "red", Space::Shared);
    assert_eq!((shared.wavefronts, shared.conflicts), (32, 31));
}

#[test]
fn local_memory_lies_word_by_word_for_all_lanes() {
    let body = "
        mov.u64 %rd3, l;
        st.local.f32 [%rd3], %f1;
        st.local.f64 [%rd3+8], %fd1;";
    let counts = Case::new(body).grid(1, 40).run();
    let word = memory(&counts, "st.local.f32", Space::Local);
    assert_eq!((word.requests, word.sectors, word.bytes), (2, 5, 160));
    let double = memory(&counts, "st.local.f64", Space::Local);
    assert_eq!((double.sectors, double.bytes), (10, 320));
    assert_eq!(counts.footprint.either, 0);
}

/// Wavefronts and conflicts of a warp that reads shared memory with a stride.
fn shared(ty: &str, stride: u32) -> (u64, u64) {
    let registers = match ty {
        "v4.f32" => "{%f1, %f2, %f3, %f4}",
        "f64" => "%fd1",
        _ => "%f1",
    };
    let body = format!(
        "mul.lo.u32 %r6, %r1, {stride};
        mov.u32 %r7, s;
        add.u32 %r7, %r7, %r6;
        ld.shared.{ty} {registers}, [%r7];"
    );
    let of = memory(&Case::new(&body).run(), "ld.shared", Space::Shared);
    assert_eq!(
        (of.requests, of.sectors, of.stride),
        (1, 0, Some(i64::from(stride)))
    );
    (of.wavefronts, of.conflicts)
}

#[test]
fn banks_conflict_where_lanes_reach_different_words_of_one() {
    assert_eq!(shared("f32", 4), (1, 0));
    assert_eq!(shared("f32", 8), (2, 1));
    assert_eq!(shared("f32", 12), (1, 0));
    assert_eq!(shared("f32", 16), (4, 3));
    assert_eq!(shared("f32", 128), (32, 31));
    assert_eq!(shared("f32", 132), (1, 0));
    // All lanes read one word.
    assert_eq!(shared("f32", 0), (1, 0));
    // Half-warps and quarter-warps pass one after another.
    assert_eq!(shared("f64", 8), (2, 0));
    assert_eq!(shared("f64", 16), (4, 2));
    assert_eq!(shared("f64", 0), (1, 0));
    assert_eq!(shared("v4.f32", 16), (4, 0));
    assert_eq!(shared("v4.f32", 32), (8, 4));
    assert_eq!(shared("v4.f32", 0), (2, 0));
}

#[test]
fn a_copy_reads_global_and_writes_shared_memory_and_a_generic_load_tells_which() {
    let body = "
        mul.wide.u32 %rd3, %r1, 16;
        add.s64 %rd4, %rd3, %rd1;
        mov.u64 %rd5, s;
        add.s64 %rd6, %rd5, %rd3;
        cp.async.cg.shared.global [%rd6], [%rd4], 16;
        cp.async.wait_all;
        bar.sync 0;
        cvta.shared.u64 %rd7, %rd6;
        setp.lt.u32 %p1, %r1, 8;
        selp.b64 %rd8, %rd7, %rd4, %p1;
        ld.f32 %f1, [%rd8];";
    let counts = Case::new(body).run();
    let from = memory(&counts, "cp.async.cg", Space::Global);
    assert_eq!((from.bytes, from.sectors), (512, 16));
    let to = memory(&counts, "cp.async.cg", Space::Shared);
    assert_eq!((to.bytes, to.wavefronts, to.conflicts), (512, 4, 0));
    let shared = memory(&counts, "ld.f32", Space::Shared);
    assert_eq!((shared.bytes, shared.wavefronts), (32, 1));
    let global = memory(&counts, "ld.f32", Space::Global);
    assert_eq!(
        (global.bytes, global.sectors, global.stride),
        (96, 12, Some(16))
    );
}
