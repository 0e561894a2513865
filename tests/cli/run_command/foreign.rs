//! Kernels that nvcc and Triton compiled.

use std::fs;

use super::{ends, folder, module, run_in, tree};

/// nvcc's output of benches/peers/examples.cu: `nvcc -ptx -arch=sm_80 benches/peers/examples.cu`, 13.0.
const PEERS: &str = "tests/machines/nvcc/examples.ptx";

#[test]
fn tritons_kernel_computes() {
    let words = "crates/ptx/tests/corpus/triton_add_75.ptx --grid 1 --block 128 --seeds 1 \
                 --arg f32[1024]=iota --arg f32[1024]=ones --arg f32[1024] --arg u32:1000 --arg u64:0 \
                 --arg u64:0 --out 2";
    ends(
        &run_in(tree(), words),
        0,
        &["argument 2, f32[1024], changed: 1, 2, 3, 4, 5"],
    );
}

/// As docs/testing-kernels.md has it: all lanes of a warp store its sum, and without the barrier behind it the other
/// warps' reads race with that.
#[test]
fn tritons_reduction_stores_a_warps_sum_from_all_lanes() {
    const LAUNCH: &str = "--grid 1 --block 128 --shared 1024 --seeds 2 --arg f32[1024]=random --arg f32[1024] \
                          --arg u32:1024 --arg u32:1000 --arg u64:0 --arg u64:0";
    let softmax = "crates/ptx/tests/corpus/triton_softmax_90.ptx";
    let output = run_in(tree(), &format!("{softmax} {LAUNCH}"));
    ends(
        &output,
        0,
        &["nothing was found", "argument 1, f32[1024], changed: "],
    );
    let folder = folder();
    let ptx = fs::read_to_string(tree().join(softmax)).expect("the file");
    assert!(ptx.contains("bar.sync"), "{ptx}");
    fs::write(
        folder.path().join("softmax.ptx"),
        ptx.replace("bar.sync", "// bar.sync"),
    )
    .expect("written");
    let output = run_in(folder.path(), &format!("softmax.ptx {LAUNCH}"));
    ends(
        &output,
        1,
        &["race on ", " of the dynamic shared memory (of 1024 bytes)"],
    );
}

#[test]
fn kernels_are_found_by_the_names_that_their_authors_wrote() {
    let folder = folder();
    let kernel = |name: &str| {
        module("st.global.u32 [%rd1], 7;").replace(".entry k(", &format!(".entry {name}("))
    };
    let header = kernel("_Z4fillIfEvPT_");
    let more = kernel("_ZN2ns4fillEPj");
    let more = &more[more.find(".visible").expect("an entry")..];
    fs::write(folder.path().join("names.ptx"), header.clone() + more).expect("written");
    for (name, status, said) in [
        ("_Z4fillIfEvPT_", 0, "fill<float> of names.ptx"),
        ("fill<float>", 0, "Checked fill<float>: 5 launches"),
        ("ns::fill", 0, "Checked ns::fill: 5 launches"),
        (
            "fill",
            2,
            "several kernels are called fill; name one of _Z4fillIfEvPT_, _ZN2ns4fillEPj",
        ),
        (
            "scale",
            2,
            "there is no kernel scale: it has fill<float>, ns::fill",
        ),
    ] {
        let words = format!("names.ptx {name} --grid 1 --block 1 --arg u32[1]=zeros");
        ends(&run_in(folder.path(), &words), status, &[said]);
    }
}

#[test]
fn nvccs_kernels_with_shared_memory_and_barriers_compute_and_are_checked() {
    for (words, expected) in [
        // Shuffles, shared memory and barriers; the last tile is not full.
        (
            "tile_sums --grid 3 --block 256 --arg u32[12288]=ones --arg u64:12000 --arg u32[3]",
            "argument 2, u32[3], changed: 4096, 4096, 3808 (crc32 ",
        ),
        (
            "scan_tiles --grid 2 --block 256 --arg u32[8192]=ones --arg u64:8192 --arg u32[2]=iota --arg u32[8192]",
            "argument 3, u32[8192], changed: 0, 1, 2, 3",
        ),
        // Atomics in shared memory.
        (
            "histogram --grid 2 --block 256 --arg u8[8192]=ones --arg u64:8192 --arg u32[256]=zeros",
            "argument 2, u32[256], changed: 0, 8192, 0, 0",
        ),
        // Tiles in shared memory, on a grid of two dimensions.
        (
            "matmul --grid 1,2 --block 16,16 --arg f32[4096]=ones --arg f32[2048]=ones --arg f32[8192] --arg u32:32",
            "argument 2, f32[8192], changed: 32, 32, 32",
        ),
    ] {
        let output = run_in(tree(), &format!("{PEERS} {words} --seeds 1"));
        ends(&output, 0, &["nothing was found", expected]);
    }
}

#[test]
fn a_barrier_that_nvccs_kernel_lacks_is_missed() {
    let folder = folder();
    let ptx = fs::read_to_string(tree().join(PEERS)).expect("the file");
    let begin = ptx.find(".entry tile_sums").expect("the kernel");
    let (before, kernel) = ptx.split_at(begin);
    assert!(kernel.contains("bar.sync"), "{kernel}");
    let text = before.to_owned() + &kernel.replacen("bar.sync", "// bar.sync", 1);
    fs::write(folder.path().join("peers.ptx"), text).expect("written");
    let words =
        "peers.ptx tile_sums --grid 1 --block 256 --arg u32[4096]=ones --arg u64:4096 --arg u32[1]";
    ends(&run_in(folder.path(), words), 1, &["race on"]);
}

#[test]
fn a_refused_call_is_told_on_one_line() {
    let folder = folder();
    let call = "{\n.param .b64 a;\nst.param.b64 [a], %rd1;\ncall.uni\n helper,\n (\n a\n );\n}";
    let text = module(call).replace(".visible", ".extern .func helper(.param .b64 a);\n.visible");
    fs::write(folder.path().join("call.ptx"), text).expect("written");
    let output = run_in(
        folder.path(),
        "call.ptx --grid 1 --block 1 --arg u32[1]=zeros",
    );
    ends(&output, 3, &["`call.uni helper, ( a );` in k, line "]);
}
