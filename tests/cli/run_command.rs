//! `ridgepoint run` as a user types it: kernels that nvcc and Triton compiled, wrong arguments, and findings.

mod structures;

use crate::support;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Runs `ridgepoint run` in a folder.
fn run_in(folder: &Path, words: &str) -> Output {
    Command::new(support::ridgepoint())
        .arg("run")
        .args(words.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}

#[track_caller]
fn ends(output: &Output, status: i32, expected: &[&str]) -> String {
    let text = text(output);
    assert_eq!(output.status.code(), Some(status), "{text}");
    for part in expected {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
    text
}

/// nvcc's saxpy over 1000 elements.
const SAXPY: &str = "examples/benches/nvcc.ptx saxpy --grid 4 --block 256 --arg i32:1000 --arg f32:2.5 \
                     --arg f32[1000]=iota --arg f32[1000]=ones";

#[test]
fn nvccs_kernel_computes_and_is_checked() {
    let folder = folder();
    let file = folder.path().join("y.bin");
    let words = format!("{SAXPY} --out 3={}", file.display());
    let output = run_in(tree(), &words);
    ends(
        &output,
        0,
        &[
            "saxpy of examples/benches/nvcc.ptx, 4 blocks of 256 threads, on CPU emulator",
            "Checked saxpy: 5 launches, in order and under 4 seeds; nothing was found.",
            "argument 3, f32[1000], changed: 1, 3.5, 6, 8.5, 11, 13.5, 16, 18.5, .. (crc32 ",
        ],
    );
    let bytes = fs::read(&file).expect("it was written");
    let y = bytes.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it));
    let y: Vec<f32> = y.collect();
    let expected: Vec<f32> = (0..1000).map(|i| 2.5f32.mul_add(i as f32, 1.0)).collect();
    assert_eq!(y, expected);
}

#[test]
fn a_launch_file_says_the_same_and_options_count_before_it() {
    let folder = folder();
    fs::copy(
        tree().join("examples/benches/nvcc.ptx"),
        folder.path().join("nvcc.ptx"),
    )
    .expect("copied");
    let launch = "file = \"nvcc.ptx\"\nkernel = \"saxpy\"\ngrid = 4\nblock = 256\n\
        args = [\"i32:1000\", \"f32:2.5\", \"f32[1000]=iota\", \"f32[1000]=ones\"]\nout = [\"3=y.bin\"]\n";
    fs::write(folder.path().join("saxpy.toml"), launch).expect("written");
    let at = folder.path().join("saxpy.toml");
    let output = run_in(
        Path::new("/"),
        &format!("--launch {} --seeds 1", at.display()),
    );
    ends(
        &output,
        0,
        &["2 launches, in order and under 1 seed;", "1, 3.5, 6"],
    );
    assert_eq!(
        fs::read(folder.path().join("y.bin"))
            .expect("written")
            .len(),
        4000
    );
    let fewer = run_in(
        folder.path(),
        "--launch saxpy.toml --seeds 0 --grid 1,1 --block 32",
    );
    ends(&fewer, 0, &["1 block of 32 threads", "1 launch, in order"]);
    fs::write(folder.path().join("bad.toml"), "gird = 4\n").expect("written");
    let bad = run_in(folder.path(), "--launch bad.toml");
    ends(&bad, 2, &["bad.toml", "unknown field `gird`"]);
}

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

/// Stores -1 in each element but the first `left_out`.
const MINUS_ONE: &str = ".version 7.0\n.target sm_70\n.address_size 64\n
.visible .entry minus_one(.param .u64 x, .param .u32 left_out) {
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [left_out]; mov.u32 %r2, %tid.x;
    setp.lt.u32 %p1, %r2, %r1; @%p1 bra END;
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; mov.u32 %r3, -1; st.global.u32 [%rd3], %r3;
END: ret; }\n";

#[test]
fn memory_in_which_all_bits_are_set_may_have_been_written() {
    let folder = folder();
    fs::write(folder.path().join("k.ptx"), MINUS_ONE).expect("written");
    let run = |arguments: &str| {
        let words = format!("k.ptx minus_one --grid 1 --block 32 --seeds 0 {arguments}");
        ends(&run_in(folder.path(), &words), 0, &["nothing was found"])
    };
    let says = "argument 0, i32[32], not written, or all bits set: -1, -1";
    for left_out in ["0", "32"] {
        let text = run(&format!("--arg i32[32] --arg u32:{left_out}"));
        assert!(
            text.contains(says) && !text.contains("No argument"),
            "{text}"
        );
    }
    let written = run("--arg i32[32]=zeros --arg u32:0");
    assert!(
        written.contains("argument 0, i32[32], changed: -1, -1"),
        "{written}"
    );
    let same = run("--arg i32[32]=-1 --arg u32:0");
    assert!(same.contains("No argument has changed."), "{same}");
}

#[test]
fn without_checks_it_runs_once() {
    let words = format!("{SAXPY} --no-check");
    let text = ends(&run_in(tree(), &words), 0, &["Not checked:", "1, 3.5, 6"]);
    assert!(!text.contains("Checked"), "{text}");
}

#[test]
fn what_is_wrong_with_the_arguments_is_told_before_anything_runs() {
    let nvcc = "examples/benches/nvcc.ptx";
    for (words, expected) in [
        (
            String::new(),
            "the PTX file, the first argument or `file` of a launch file, is missing",
        ),
        (
            format!("{nvcc} saxpy"),
            "--grid, the number of blocks, is missing",
        ),
        (
            format!("{nvcc} --grid 1 --block 1"),
            "no kernel is named: it has saxpy, horner; name one of them",
        ),
        (
            format!("{nvcc} scale --grid 1 --block 1"),
            "no kernel scale: it has saxpy, horner",
        ),
        (
            format!("{nvcc} saxpy --grid 1 --block 1 --arg i32:1"),
            "saxpy takes 4 arguments, and 1 is given",
        ),
        (
            SAXPY.replace("f32:2.5", "f64:2.5"),
            "argument 1 of saxpy is f64:2.5, and the PTX has .f32",
        ),
        (SAXPY.replace("f32:2.5", "i32:2"), "that is floating point"),
        (SAXPY.replace("f32:2.5", "2.5"), "\"2.5\" has no type"),
        (
            SAXPY.replace("=iota", "=noise"),
            "expected zeros, ones, iota",
        ),
        (
            SAXPY.replace("--block 256", "--block 2048"),
            "block of 2048 threads",
        ),
        (
            SAXPY.replace("--block 256", "--block 0"),
            "block of 0 threads",
        ),
        (
            SAXPY.replace("--grid 4", "--grid 4x4"),
            "such as 64, 2^10 or 64,8",
        ),
        (
            format!("{SAXPY} --shared 300000"),
            "300000 bytes of dynamic shared memory",
        ),
        (
            format!("{SAXPY} --out 1"),
            "--out 1: argument 1 is not a buffer",
        ),
        (
            format!("{SAXPY} --no-check --seeds 2"),
            "cannot be used with",
        ),
    ] {
        ends(&run_in(tree(), &words), 2, &[expected]);
    }
    for (words, expected) in [
        (
            SAXPY.replace("nvcc.ptx", "no.ptx"),
            "cannot read examples/benches/no.ptx",
        ),
        (
            SAXPY.replace("nvcc.ptx", "nvcc.cu"),
            "examples/benches/nvcc.cu: ",
        ),
        (SAXPY.replace("=iota", "=no.bin"), "cannot read no.bin"),
    ] {
        ends(&run_in(tree(), &words), 3, &[expected]);
    }
}

/// Each thread adds to one number, without an atomic; and a second kernel whose lanes reach beyond `p`.
const WRONG: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry racy(.param .u64 p)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry beyond(.param .u64 p)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
";

#[test]
fn findings_are_told_with_their_schedule_and_end_with_1() {
    let folder = folder();
    fs::write(folder.path().join("wrong.ptx"), WRONG).expect("written");
    let racy = run_in(
        folder.path(),
        "wrong.ptx racy --grid 2 --block 32 --arg u32[1]=zeros",
    );
    ends(
        &racy,
        1,
        &[
            "racy: ",
            "argument 0",
            "line 9 of the PTX",
            "(in order)",
            "something was found in 5 of them",
            "  in all of them: race on `argument 0` at line 11 of the PTX and line 9 of the PTX",
            "finding",
        ],
    );
    let first = "  replay: ridgepoint run wrong.ptx racy --grid 2 --block 32 --arg 'u32[1]=zeros' --seeds 0\n";
    assert!(text(&racy).contains(first), "{}", text(&racy));
    let beyond = run_in(
        folder.path(),
        "wrong.ptx beyond --grid 1 --block 64 --arg u32[40]",
    );
    ends(&beyond, 1, &["argument 0", "line 22 of the PTX"]);
    let inside = run_in(
        folder.path(),
        "wrong.ptx beyond --grid 1 --block 32 --arg u32[40]",
    );
    ends(
        &inside,
        0,
        &["nothing was found", "u32[40], changed: 0, 1, 2"],
    );
    let once = run_in(
        folder.path(),
        "wrong.ptx beyond --grid 1 --block 64 --arg u32[40] --no-check",
    );
    ends(&once, 1, &["argument 0"]);
    // An element that nobody has written is told where it is read.
    let unwritten = run_in(
        folder.path(),
        "wrong.ptx racy --grid 1 --block 1 --arg u32[1]",
    );
    ends(&unwritten, 1, &["line 9 of the PTX"]);
}

#[test]
fn the_command_of_a_finding_replays_it_alone() {
    let folder = folder();
    fs::write(folder.path().join("aba.ptx"), ABA).expect("written");
    let all = run_in(
        folder.path(),
        "aba.ptx --grid 1 --block 64 --arg u32[8]=zeros --search 3600",
    );
    let told = text(&all);
    let seeded: Vec<(&str, &str)> = told
        .lines()
        .zip(told.lines().skip(1))
        .filter(|(finding, _)| finding.contains("(seed "))
        .collect();
    assert!(!seeded.is_empty(), "{told}");
    for (finding, command) in seeded {
        let words = command.strip_prefix("  replay: ridgepoint run ");
        let words = words.expect("a command").replace('\'', "");
        let alone = run_in(folder.path(), &words);
        let seed = words.rsplit(' ').next().unwrap_or_default();
        let ended = format!("1 launch, under seed {seed}; something was found in 1 of them");
        ends(&alone, 1, &[finding, command, &ended, "error: 1 finding"]);
    }
}

/// A stack without version tags: a thread that has looked at its top pops after another has popped two nodes and pushed the
/// first again.
const ABA: &str = include_str!("run_command/aba.ptx");

#[test]
fn further_seeds_are_tried_for_a_kernel_that_swaps_atomics() {
    let folder = folder();
    fs::write(folder.path().join("aba.ptx"), ABA).expect("written");
    let launch = "aba.ptx --grid 1 --block 64 --arg u32[8]=zeros";
    let few = run_in(folder.path(), &format!("{launch} --seeds 20"));
    ends(&few, 0, &["under 20 seeds; nothing was found"]);
    // Until it is found: an hour is more than enough.
    let searched = run_in(folder.path(), &format!("{launch} --search 3600"));
    let told = ends(
        &searched,
        1,
        &[
            "thread [0, 0, 0]: trap, at line 38 of the PTX (seed ",
            "something was found in 1 of them",
            "further seeds were tried, for at most 3600 s (--search)",
        ],
    );
    assert!(!told.contains("--search 3600 --seed"), "{told}");
    // Of a kernel that neither swaps nor waits there are no more than it is asked for.
    fs::write(
        folder.path().join("plain.ptx"),
        LANES_STORE.replace("VALUE", "%nwarpid"),
    )
    .expect("written");
    let plain = "plain.ptx --grid 1 --block 32 --arg u32[4]=zeros --search 3600";
    ends(
        &run_in(folder.path(), plain),
        0,
        &["in order and under 4 seeds; nothing was found."],
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

const LANES_STORE: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry equal(.param .u64 p)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, VALUE;
    st.global.u32 [%rd1], %r1;
    ret;
}
";

#[test]
fn lanes_of_a_warp_may_store_equal_values_at_once() {
    let folder = folder();
    let of_warps = "stores of equal values on element 0 of `argument 0` (of 4): block [0, 0, 0], thread [32, 0, 0] writes it";
    for (value, block, strict, status, said) in [
        ("%nwarpid", 32, "", 0, "nothing was found."),
        ("%laneid", 32, "", 1, "thread [1, 0, 0] writes it"),
        // Two warps.
        ("5", 64, "", 0, of_warps),
        ("5", 64, "", 0, "nothing was found; 1 benign finding."),
        ("5", 64, "--strict", 1, of_warps),
        ("5", 64, "--strict", 1, "something was found in 1 of them."),
    ] {
        fs::write(
            folder.path().join("equal.ptx"),
            LANES_STORE.replace("VALUE", value),
        )
        .expect("written");
        let words =
            format!("equal.ptx --grid 1 --block {block} --arg u32[4]=zeros --seeds 0 {strict}");
        let told = ends(&run_in(folder.path(), words.trim_end()), status, &[said]);
        let is_benign = told.contains("\nbenign: ");
        assert_eq!(is_benign, status == 0 && block == 64, "{told}");
    }
}

/// Element 1024 of a buffer of 4, where a seed's launch finds the buffers of the launch before.
#[test]
fn a_far_index_is_out_of_bounds_in_every_launch() {
    const FAR: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry far(.param .u64 p, .param .u64 q)
{
    .reg .b64 %rd<5>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3+4096];
    st.global.u32 [%rd3], %r2;
    ret;
}
";
    let folder = folder();
    fs::write(folder.path().join("far.ptx"), FAR).expect("written");
    let words = "far.ptx --grid 1 --block 4 --arg u32[4]=zeros --arg u32[2048]=zeros --seeds 3";
    let output = run_in(folder.path(), words);
    ends(
        &output,
        1,
        &["out of bounds", "something was found in 4 of them"],
    );
    assert!(
        !text(&output).contains("use after free"),
        "{}",
        text(&output)
    );
}

/// Two words, of which the first is what VALUE loads.
const STORES: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry stores(.param .u64 p, .param .u64 q)
{
    .reg .b64 %rd<5>;
    .reg .b32 %r<3>;
    .reg .pred %p;
    ld.param.u64 %rd1, [p];
    VALUE
    st.global.u64 [%rd1], %rd2;
    ret;
}
";

#[test]
fn addresses_are_others_in_each_launch_and_no_result_of_the_order() {
    const NOTE: &str = "note: the result depends on the order of threads: argument 0 under seed ";
    let folder = folder();
    for (value, is_by_order) in [
        ("ld.param.u64 %rd2, [q];", false),
        ("ld.param.u64 %rd2, [q]; add.s64 %rd2, %rd2, 64;", false),
        // Which thread comes first, as an offset.
        (
            "ld.param.u64 %rd2, [q]; mov.u32 %r1, %ctaid.x; add.u32 %r1, %r1, 1; \
             atom.global.cas.b32 %r2, [%rd2], 0, %r1; setp.ne.u32 %p, %r2, 0; @%p ret; \
             mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd2, %rd3;",
            true,
        ),
    ] {
        fs::write(
            folder.path().join("stores.ptx"),
            STORES.replace("VALUE", value),
        )
        .expect("written");
        let blocks = if is_by_order { 8 } else { 1 };
        let words = format!(
            "stores.ptx --grid {blocks} --block 1 --arg u64[2]=zeros --arg u32[16]=zeros --seeds 8"
        );
        let output = run_in(folder.path(), &words);
        ends(&output, 0, &["nothing was found"]);
        assert_eq!(
            text(&output).contains(NOTE),
            is_by_order,
            "{}",
            text(&output)
        );
    }
}

/// nvcc's output of benches/peers/examples.cu: `nvcc -ptx -arch=sm_80 benches/peers/examples.cu`, 13.0.
const PEERS: &str = "tests/machines/nvcc/examples.ptx";

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

/// A module of one kernel `k`.
fn module(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .pred %p<2>;\n\
        .reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\n{body}\nret;\n}}\n"
    )
}

#[test]
fn a_launch_without_end_ends_with_what_it_waits_for_and_no_other_order_is_run() {
    let folder = folder();
    let write = |name: &str, body: &str| {
        fs::write(folder.path().join(name), module(body)).expect("written");
    };
    let wait = "ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;";
    write("spin.ptx", &format!("L: {wait}"));
    write("sleep.ptx", &format!("L: nanosleep.u32 100;\n{wait}"));
    write("loop.ptx", "L: bra L;");
    write("nothing.ptx", "");
    let waits = "waits for ever for what nobody writes: it reads element 0 of `argument 0` (of 1) again and again; \
        of 1 block, 1 began and 0 ended, and all that are left only wait, at ";
    let not_run = "note: not run: 4 launches in other orders, which may go on for as long";
    let checked = "Checked k: 1 launch, in order; something was found in 1 of them.";
    for (words, expected) in [
        ("spin.ptx --grid 1 --block 64", [waits, not_run, checked]),
        ("sleep.ptx --grid 1 --block 64", [waits, not_run, checked]),
        (
            "spin.ptx --grid 1 --block 64 --no-check",
            [waits, "error: on the emulator: k: block [0, 0, 0]", ""],
        ),
        (
            "loop.ptx --grid 1 --block 32 --max-steps 100000",
            [
                "goes on for ever, or for more than 100000 steps",
                "--max-steps 100000",
                not_run,
            ],
        ),
        (
            "loop.ptx --grid 1 --block 32 --time-limit 1",
            [
                "has not ended after 1 s; of 1 block, 1 began and 0 ended, at ",
                "--time-limit 1",
                not_run,
            ],
        ),
        (
            "nothing.ptx --grid 2147483647,65535,65535 --block 1024 --time-limit 1",
            [
                "k: the launch has not ended after 1 s; of 9223090559730712575 blocks, ",
                "--time-limit 1",
                not_run,
            ],
        ),
        (
            "nothing.ptx --grid 2147483647,65535,65535 --block 1024 --time-limit 1 --seed 3",
            [
                "k: the launch has not ended after 1 s; of 9223090559730712575 blocks, ",
                "--time-limit 1",
                "",
            ],
        ),
    ] {
        let begun = std::time::Instant::now();
        let output = run_in(folder.path(), &format!("{words} --arg u32[1]=zeros"));
        ends(&output, 1, &expected);
        let took = begun.elapsed();
        assert!(took.as_secs() < 30, "{words} took {took:?}");
    }
}

#[test]
fn blocks_that_wait_for_each_other_take_a_cooperative_launch() {
    let folder = folder();
    // As CUDA C++'s `grid.sync` begins; and the first block waits for the second.
    let sync = "mov.u32 %r1, %envreg1;\nmov.u32 %r2, %envreg2;\nor.b32 %r1, %r1, %r2;\nsetp.ne.u32 %p1, %r1, 0;\n\
        @%p1 bra DONE;\ntrap;\nDONE: st.global.u32 [%rd1], 7;";
    let wait = "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra LAST;\n\
        L: ld.acquire.gpu.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nret;\n\
        LAST: st.release.gpu.global.u32 [%rd1], 7;";
    fs::write(folder.path().join("sync.ptx"), module(sync)).expect("written");
    fs::write(folder.path().join("wait.ptx"), module(wait)).expect("written");
    for (file, blocks, said) in [
        (
            "sync.ptx",
            1,
            "trap, with which `grid.sync` ends a launch that is not cooperative",
        ),
        (
            "wait.ptx",
            2,
            "only a cooperative launch has all of its blocks running at once",
        ),
    ] {
        let words = format!("{file} --grid {blocks} --block 1 --seeds 2 --arg u32[1]=zeros");
        let alone = run_in(folder.path(), &words);
        ends(&alone, 1, &[said, "; --cooperative makes the launch one"]);
        let together = run_in(folder.path(), &format!("{words} --cooperative"));
        ends(
            &together,
            0,
            &["nothing was found", "argument 0, u32[1], changed: 7"],
        );
    }
    fs::write(
        folder.path().join("wait.toml"),
        "file = \"wait.ptx\"\ngrid = 2\nblock = 1\ncooperative = true\nargs = [\"u32[1]=zeros\"]\n",
    )
    .expect("written");
    ends(
        &run_in(folder.path(), "--launch wait.toml"),
        0,
        &["nothing was found"],
    );
}

#[test]
fn files_that_are_too_large_are_not_read() {
    let folder = folder();
    let large = |name: &str, bytes: u64| {
        let file = fs::File::create(folder.path().join(name)).expect("created");
        file.set_len(bytes).expect("a file of holes");
    };
    large("large.ptx", 300 << 20);
    large("large.toml", 2 << 20);
    let output = run_in(folder.path(), "large.ptx --grid 1 --block 1");
    let said = "cannot read large.ptx: it has 314572800 bytes, and at most 268435456 are read";
    ends(&output, 3, &[said]);
    let output = run_in(folder.path(), "--launch large.toml");
    ends(
        &output,
        3,
        &["large.toml: it has 2097152 bytes, and at most 1048576 are read"],
    );
    large("large.csv", 300 << 20);
    let merge = Command::new(support::ridgepoint())
        .args(["merge", "large.csv", "--output", "all.csv"])
        .current_dir(folder.path())
        .output();
    ends(
        &merge.expect("it starts"),
        3,
        &["it has 314572800 bytes, and at most 268435456 are read"],
    );
}
