//! Findings in what nvcc makes of nvcc/places.cu name the line, and where it was inlined or called.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{Module, Options, Shape};

use crate::support::launch_checked;

const PTX: &str = include_str!("nvcc/places.ptx");
const SOURCE: &str = include_str!("nvcc/places.cu");

/// Returns the finding of a checked launch of 64 threads, over 64 zeros.
fn finding(kernel: &str) -> String {
    finding_in(PTX, kernel)
}

/// The same of a kernel of other PTX.
fn finding_in(text: &str, kernel: &str) -> String {
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(text, &memory).expect("PTX");
    let label = Label::new("y", 4);
    let y = memory.allocate(256, 256, Contents::Defined, label);
    let shape = Shape {
        grid: [1; 3],
        block: [64, 1, 1],
        dynamic_shared: 0,
    };
    let options = Options {
        divergence: true,
        ..Options::default()
    };
    let parameters = y.expect("memory").to_le_bytes();
    let kernel = module.kernel(kernel).expect("a kernel");
    let ran = launch_checked(&kernel, shape, options, &parameters);
    ran.expect_err("something is found").to_string()
}

/// `places.cu:LINE` of the line that has a text, the first behind another.
fn at(behind: &str, text: &str) -> String {
    let mut lines = (1..).zip(SOURCE.lines());
    lines
        .by_ref()
        .find(|it| it.1.contains(behind))
        .expect("the line before");
    let (line, _) = lines.find(|it| it.1.contains(text)).expect("the line");
    format!("places.cu:{line}")
}

#[track_caller]
fn says(kernel: &str, parts: &[String]) {
    let found = finding(kernel);
    for part in parts {
        assert!(found.contains(part.as_str()), "{found}\n  without {part}");
    }
}

#[test]
fn what_was_inlined_is_named_with_where() {
    let (line, call) = (at("void put(", "y[i]"), at("void inlined(", "put("));
    says(
        "inlined",
        &[
            format!(
                "race on element 0 of `y` (of 64): block [0, 0, 0], thread [1, 0, 0] writes it at {line} (inlined at {call}), and"
            ),
            format!("thread [0, 0, 0] wrote it at {line} (inlined at {call})"),
        ],
    );
    let again = at("void put_again(", "put(");
    let call = at("void inlined_twice(", "put_again(");
    says(
        "inlined_twice",
        &[format!(
            "writes it at {line} (inlined at {again}, inlined at {call}), and"
        )],
    );
}

#[test]
fn what_was_called_is_named_with_the_call() {
    let line = at("void put_apart(", "y[i]");
    let call = at("void called(", "put_apart(");
    says(
        "called",
        &[format!(
            "thread [63, 0, 0] writes element 64 of `y` (of 64) at {line} (called at {call})"
        )],
    );
    let (one, other) = (
        at("void called_twice(", "threadIdx.x)"),
        at("void called_twice(", "threadIdx.x + 1)"),
    );
    says(
        "called_twice",
        &[format!("at {line} (called at {one} or {other})")],
    );
    let (inner, outer) = (
        at("void deeper(", "put_apart("),
        at("void called_deeper(", "deeper("),
    );
    says(
        "called_deeper",
        &[format!("at {line} (called at {inner}, called at {outer})")],
    );
}

#[test]
fn both_sides_of_a_race_name_their_calls_and_the_variable() {
    let (write, read) = (at("void fill(", "tile["), at("unsigned opposite(", "tile["));
    let (fill, opposite) = (
        at("void two_sides(", "fill("),
        at("void two_sides(", "opposite("),
    );
    says(
        "two_sides",
        &[
            "race on element 32 of the shared `tile` (of 64)".to_owned(),
            format!("{write} (called at {fill})"),
            format!("{read} (called at {opposite})"),
        ],
    );
}

#[test]
fn all_kinds_of_findings_name_both_lines() {
    let (read, call) = (
        at("unsigned neighbour(", "tile["),
        at("void not_written(", "neighbour("),
    );
    says(
        "not_written",
        &[format!(
            "uninitialised: block [0, 0, 0], thread [63, 0, 0] reads element 64 of the shared `tile` (of 65) at {read} (inlined at {call})"
        )],
    );
    let (barrier, call) = (
        at("void meet(", "__syncthreads"),
        at("void meets(", "meet("),
    );
    says(
        "meets",
        &[format!(
            "wait at the barrier at {barrier} (inlined at {call})"
        )],
    );
}

#[test]
fn the_lines_of_libraries_are_named_beside_the_authors() {
    let (small, large) = (at("void mixed(", "1u"), at("void mixed(", "1ull"));
    let header = "(inlined: device_atomic_functions.hpp:";
    says(
        "mixed",
        &[
            format!("accesses it at {large} {header}226)"),
            format!("accessed it at {small} {header}112)"),
        ],
    );
}

/// A kernel whose threads read at no line, and one that takes the heap for itself.
const OTHERS: &str = r#"
.version 7.8
.target sm_80
.address_size 64
.file 1 "author.cu"
.extern .func (.param .b64 block) malloc(.param .b64 bytes);
.visible .entry races(.param .u64 y) {
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    .loc 1 40 3
    ld.param.u64 %rd1, [y];
    mov.u32 %r1, %tid.x;
    setp.eq.u32 %p1, %r1, 0;
    .loc 1 42 7
    @%p1 st.global.u32 [%rd1], 1;
    .loc 1 0 0
    ld.global.u32 %r2, [%rd1];
    ret;
}
.visible .entry fills(.param .u64 y) {
    .reg .pred %p<2>;
    .reg .b64 %rd<3>;
    .param .b64 bytes;
    .param .b64 block;
    ld.param.u64 %rd1, [y];
    .loc 1 50 3
    st.param.b64 [bytes], 1048576;
AGAIN:
    call.uni (block), malloc, (bytes);
    ld.param.b64 %rd2, [block];
    setp.ne.u64 %p1, %rd2, 0;
    @%p1 bra AGAIN;
    .loc 1 52 5
    trap;
}
"#;

#[test]
fn an_instruction_of_no_line_is_told_by_the_line_of_the_ptx() {
    let found = finding_in(OTHERS, "races");
    let line = 1 + OTHERS
        .lines()
        .position(|it| it.contains("ld.global"))
        .expect("a line");
    assert!(
        found.contains(&format!("at line {line} of the PTX")),
        "{found}"
    );
    assert!(found.contains("wrote it at author.cu:42"), "{found}");
}

#[test]
fn a_trap_where_the_heap_is_full_says_so() {
    let found = finding_in(OTHERS, "fills");
    let full = "trap, after an allocation of 1048576 bytes found no room: ";
    assert!(found.contains(full), "{found}");
    assert!(
        found.contains(" of 8388608 bytes of the device's heap are in use, at author.cu:52"),
        "{found}"
    );
}
