//! Structures and pointers to pointers as arguments.

use std::fs;

use super::{ends, folder, run_in};

/// One thread: `s.p[0] = s.n + *s.inner.q`, where `s` has 24 bytes; and `out[0] = list[1][at]`.
const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .entry both(.param .align 8 .b8 s[24], .param .u64 list, .param .u32 at, .param .u64 out) {\n\
    .reg .b32 %r<5>;\n.reg .b64 %rd<8>;\n\
    ld.param.u64 %rd1, [s];\nld.param.u32 %r1, [s+8];\nld.param.u64 %rd2, [s+16];\n\
    ld.global.u32 %r2, [%rd2];\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%rd1], %r1;\n\
    ld.param.u64 %rd3, [list];\nld.global.u64 %rd4, [%rd3+8];\n\
    ld.param.u32 %r3, [at];\nmul.wide.u32 %rd5, %r3, 4;\nadd.u64 %rd6, %rd4, %rd5;\n\
    ld.global.u32 %r4, [%rd6];\nld.param.u64 %rd7, [out];\nst.global.u32 [%rd7], %r4;\nret;\n}\n";

const LIST: &str = "--arg &{u32[8]=zeros,u32[4]=iota}";

#[test]
fn a_structure_holds_values_and_pointers_and_a_pointer_points_to_pointers() {
    let folder = folder();
    fs::write(folder.path().join("both.ptx"), PTX).expect("written");
    let with = |more: &str| {
        let words = format!(
            "both.ptx --grid 1 --block 1 --arg {{u32[1],u32:5,{{u32[2]=7}}}} {LIST} --arg u32:3 --arg u32[1] {more}"
        );
        run_in(folder.path(), &words)
    };
    let text = ends(
        &with(""),
        0,
        &[
            "nothing was found",
            "argument 0.0, u32[1], changed: 12 (",
            "argument 3, u32[1], changed: 3 (",
        ],
    );
    assert!(!text.contains("argument 0.2.0"), "{text}");
    ends(
        &with("--out 0.2.0=q.bin --format json"),
        0,
        &[r#""argument":"0.2.0","shape":"u32[2]","change":"as it was","values":"7, 7""#],
    );
    let written = fs::read(folder.path().join("q.bin")).expect("written");
    assert_eq!(written, [7, 0, 0, 0, 7, 0, 0, 0]);
    ends(
        &with("--out 0.1"),
        2,
        &["--out 0.1: argument 0.1 is not a buffer"],
    );
}

#[test]
fn memory_behind_a_pointer_is_checked_under_its_place() {
    let folder = folder();
    fs::write(folder.path().join("both.ptx"), PTX).expect("written");
    let words = format!(
        "both.ptx --grid 1 --block 1 --arg {{u32[1],u32:5,u32[1]=7}} {LIST} --arg u32:4 --arg u32[1]"
    );
    ends(
        &run_in(folder.path(), &words),
        1,
        &["out of bounds", "reads element 4 of `argument 1.1` (of 4)"],
    );
    let short = words.replace("u32:5,u32[1]=7", "u32:5");
    ends(
        &run_in(folder.path(), &short),
        2,
        &["argument 0 of both is {u32[1],u32:5}, and the PTX has .b8[24]: it has 16 bytes, not 24"],
    );
}
