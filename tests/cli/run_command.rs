//! `ridgepoint run` as a user types it: kernels that nvcc and Triton compiled, wrong arguments, and findings.

mod foreign;
mod limits;
mod several;
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

/// A module of one kernel `k`.
fn module(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .pred %p<2>;\n\
        .reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\n{body}\nret;\n}}\n"
    )
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

/// The heap is the device's: what one order's launch has allocated is no leak of another's.
#[test]
fn a_kernel_that_frees_what_it_allocates_leaks_nothing_in_any_order() {
    let folder = folder();
    let head = "\
        .extern .func (.param .b64 r) malloc (.param .b64 bytes);\n\
        .extern .func free (.param .b64 pointer);\n";
    let kernel = module(
        "{ .param .b64 bytes; .param .b64 r; st.param.b64 [bytes], 16;\n\
        call (r), malloc, (bytes); ld.param.b64 %rd2, [r]; }\n\
        mov.u32 %r1, 0;\n\
        AGAIN: st.u32 [%rd2], %r1;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 2000;\n@%p1 bra AGAIN;\n\
        { .param .b64 gone; st.param.b64 [gone], %rd2;\ncall free, (gone); }\nret;",
    );
    let text = kernel.replacen(".visible", &format!("{head}.visible"), 1);
    fs::write(folder.path().join("heap.ptx"), text).expect("written");
    let words = "heap.ptx k --grid 1 --block 64 --arg u32[1] --seeds 12";
    ends(&run_in(folder.path(), words), 0, &["nothing was found"]);
}

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
