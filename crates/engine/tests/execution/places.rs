//! Findings in what nvcc makes of nvcc/places.cu name the line, and where it was inlined or called.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{Module, Options, Shape};

use crate::support::launch_checked;

const PTX: &str = include_str!("nvcc/places.ptx");
const SOURCE: &str = include_str!("nvcc/places.cu");

/// Returns the finding of a checked launch of 64 threads, over 64 zeros.
fn finding(kernel: &str) -> String {
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(PTX, &memory).expect("PTX");
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
