//! Places of mutants: copies of a line, the author's code and a library's, and functions that were made from one line.

use std::collections::BTreeSet;

use engine::mutation::{Mutants, Operator};

use super::mutants;

#[test]
fn copies_of_a_line_are_one_mutant_and_lines_are_those_of_findings() {
    let line = ".loc 1 7 3; ";
    let body = format!(
        ".file 1 \"/home/me/k.cu\" \n {0} add.s32 %r3, %r1, 5; {0} st.shared.u32 [tile], %r3; {0} add.s32 %r4, %r1, 9; \
         {0} st.shared.u32 [tile+4], %r4;",
        line.replace(';', "\n")
    );
    let mutants = mutants(&body);
    let of = |operator| mutants.all.iter().find(|it| it.operator == operator);
    let constant = of(Operator::Constant).expect("a constant");
    assert_eq!(
        (constant.copies, constant.after.as_str()),
        (2, "add.s32 %r3, %r1, 6;")
    );
    assert_eq!(
        (constant.place.line, constant.place.file.as_deref()),
        (7, Some("/home/me/k.cu"))
    );
    assert_eq!(of(Operator::Index).expect("an index").copies, 2);
}

#[test]
fn code_of_a_library_is_told_from_the_author_s() {
    let is_in_library = |file: &str| {
        let body = format!(".file 1 \"{file}\" \n .loc 1 7 3\n st.shared.u32 [tile], %r3;");
        let places = mutants(&body)
            .all
            .into_iter()
            .map(|it| it.place.is_in_library);
        let mut places: Vec<bool> = places.collect();
        places.dedup();
        places
    };
    assert_eq!(
        is_in_library("/rustc/58cf8f9/library/core/src/fmt/mod.rs"),
        [true]
    );
    assert_eq!(is_in_library("/home/me/crates/ptx-std/src/io.rs"), [true]);
    let registry =
        "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/sha2-0.11.1/src/lib.rs";
    assert_eq!(is_in_library(registry), [true]);
    let git = "/home/me/.cargo/git/checkouts/k-4bc11a7c23486fb2/d6a0c9d/src/lib.rs";
    assert_eq!(is_in_library(git), [true]);
    assert_eq!(is_in_library("/home/me/k.cu"), [false]);
}

/// Of an access of the author's by functions of these files, each of which calls the next: each kind of change, and whether it is
/// a library's.
fn of_access(files: &[&str]) -> Vec<(Operator, bool)> {
    let mut body = ".file 1 \"/home/me/k.rs\"\n .loc 1 7 3\n".to_owned();
    let mut from = "1 7 3".to_owned();
    for (number, file) in (2..).zip(files) {
        body += &format!(
            ".file {number} \"{file}\"\n .loc {number} 9 {number}, function_name $name, inlined_at {from}\n"
        );
        from = format!("{number} 9 {number}");
    }
    body += "st.relaxed.sys.global.u32 [%rd1], %r1;";
    let all = mutants(&body).all.into_iter();
    let mut all: Vec<_> = all
        .filter(|it| it.operator != Operator::Guard)
        .map(|it| (it.operator, it.place.is_in_library))
        .collect();
    all.dedup();
    all
}

const CORE: &str = "/rustc/58cf8f9/library/core/src/sync/atomic.rs";
const ATOMIC: &str = "/home/me/crates/ptx-std/src/arch/nvptx/atomic.rs";
const TILE: &str = "/home/me/crates/ptx-std/src/shared/tile.rs";
const WORDS: &str = "/home/me/crates/ptx-std/src/group/element.rs";

#[test]
fn orders_that_ptx_std_has_chosen_are_a_library_s() {
    let (order, index) = (Operator::Order, Operator::Index);
    for by in [CORE, ATOMIC] {
        for tile in [&[TILE, by][..], &[TILE, WORDS, TILE, by]] {
            assert_eq!(of_access(tile), [(order, true), (index, false)], "{tile:?}");
        }
        let given = "/home/me/.cargo/registry/src/i/ridgepoint-ptx-std-1.0.0/src/atomic/mid.rs";
        for authors in [&["/home/me/words.rs", by][..], &[given, by]] {
            let of = of_access(authors);
            assert_eq!(of, [(order, false), (index, false)], "{authors:?}");
        }
    }
}

#[test]
fn steps_of_algorithms_of_ptx_std_are_a_library_s() {
    let (order, index) = (Operator::Order, Operator::Index);
    let of_file = |name: &str| format!("/home/me/crates/ptx-std/src/{name}");
    let [barrier, thread, threads, lanes] = [
        "arch/nvptx/warp.rs",
        "thread.rs",
        "group/threads.rs",
        "group/lanes.rs",
    ]
    .map(of_file);
    let (barrier, thread) = (barrier.as_str(), thread.as_str());
    let (threads, lanes) = (threads.as_str(), lanes.as_str());
    let vectors = "/home/me/.cargo/registry/src/i/glam-0.30.1/src/u32/uvec3.rs";
    let [grid, print] = ["cooperative.rs", "io.rs"].map(of_file);
    for steps in [
        &[threads, lanes, barrier][..],
        &[threads, threads, thread, barrier],
        &[grid.as_str(), barrier],
        &[grid.as_str(), vectors, barrier],
        &[
            "/home/me/.cargo/registry/src/i/ridgepoint-ptx-std-1.0.0/src/cooperative.rs",
            barrier,
        ],
        &[print.as_str(), barrier],
    ] {
        let of = of_access(steps);
        assert!(of.iter().all(|it| it.1), "{steps:?}: {of:?}");
    }
    // Functions that the author has called for by their names, and one of the author's that a group calls.
    for called in [
        &[thread, barrier][..],
        &[threads, thread, barrier],
        &[lanes, barrier],
        &[threads, lanes, "/home/me/own.rs"],
    ] {
        let of = of_access(called);
        assert_eq!(of, [(order, false), (index, false)], "{called:?}");
    }
}

#[test]
fn a_change_of_a_line_is_known_in_each_function_that_was_made_from_it() {
    let instance = |name: &str, kind: &str| {
        format!(
            ".visible .entry {name}(.param .u64 p) {{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
    .loc 1 7 1
    ld.param.u64 %rd1, [p];
    ld.global.{kind} %r1, [%rd1];
    setp.lt.{kind} %p1, %r1, 5;
    @%p1 st.global.{kind} [%rd1], %r1;
    .loc 1 9 1
    membar.gl;
    membar.gl;
    st.global.{kind} [%rd1], %r1;
    ret;
}}
"
        )
    };
    let header = ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n";
    let text = [
        header,
        &instance("a", "u32"),
        &instance("b", "u32"),
        &instance("c", "s32"),
    ];
    let mutants = Mutants::of(&text.concat()).expect("PTX").all;
    let of = |function: &str| -> Vec<Option<u64>> {
        let all = mutants.iter().filter(|it| it.place.function == function);
        all.map(|it| it.of_line).collect()
    };
    let (a, b, c) = (of("a"), of("b"), of("c"));
    assert!(a.len() > 5 && a.iter().all(Option::is_some), "{mutants:#?}");
    assert_eq!(a, b);
    // Each change of a line has its own, as each fence has.
    assert_eq!(a.iter().collect::<BTreeSet<_>>().len(), a.len());
    // Fences and guards without a type are of all three.
    let alike = a.iter().zip(&c).filter(|(a, c)| a == c).count();
    assert!(0 < alike && alike < a.len(), "{alike}");
}
