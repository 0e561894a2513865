//! Messages of errors.

use crate::common::error;

#[test]
fn of_instructions() {
    for (text, message) in [
        ("frob.b32 r1, r2;", "column 1: unknown instruction `frob`"),
        (
            "add.frob.u32 r1, r2, r3;",
            "column 5: unknown modifier `.frob` of `add`",
        ),
        (
            "add.f33 r1, r2, r3;",
            "column 1: `add` lacks a type, and `.f33` is none",
        ),
        ("add r1, r2, r3;", "column 1: `add` lacks a type"),
        (
            "mul.u32 r1, r2, r3;",
            "column 1: `mul` lacks `.lo`, `.hi` or `.wide`",
        ),
        ("add.u32 r1, r2;", "column 15: expected `,`, found `;`"),
        (
            "add.u32 r1, r2, r3, r4;",
            "column 19: expected `;` at the end of `add`, found `,`",
        ),
        (
            "add.u32 r1, r2, r3",
            "column 1: expected `;` at the end of `add`, found `}`",
        ),
        ("add.u32 r1, r2, zz;", "column 17: `zz` is not declared"),
        ("add.u32 r1, r2, r40;", "column 17: `r40` is not declared"),
        ("add.u32 r1, r2, r01;", "column 17: `r01` is not declared"),
        (
            "add.u32 data, r2, r3;",
            "column 9: expected a register, and `data` is none",
        ),
        (
            "mov.u32 r1, %tod;",
            "column 13: `%tod` is not declared, and no register of the hardware",
        ),
        (
            "add.f32 f1, f2, 1;",
            "column 17: an integer where `.f32` is wanted",
        ),
        (
            "add.u32 r1, r2, 1.5;",
            "column 17: a float where `.u32` is wanted",
        ),
        (
            "add.u32 r1, r2, 0xG;",
            "column 17: `0xG` is no number of PTX",
        ),
        (
            "mov.u32 r1, 1 / 0;",
            "column 15: `/` of these constants is not defined",
        ),
        (
            "ld.global.v2.u32 {r1, r2, r3}, [d1];",
            "column 30: expected 2 registers before this, found 3",
        ),
        (
            "bra NOWHERE;",
            "column 5: label `NOWHERE` is nowhere in this function",
        ),
        ("A: ret; A: ret;", "column 9: label `A` is there twice"),
        ("call nobody;", "column 6: no function `nobody` is declared"),
        (
            "brx.idx r1, table;",
            "column 13: no `.branchtargets` list `table` is before this",
        ),
        (
            ".reg .u32 x; .reg .u64 x;",
            "column 24: `x` is declared twice",
        ),
        (".frob 3;", "column 1: unknown directive `.frob`"),
        ("mov.b32 r1, \"text;", "column 13: this string has no end"),
        ("mov.b32 r1, é;", "column 13: PTX has no such character"),
    ] {
        let line = crate::common::LINES_BEFORE + if message.contains("found `}`") { 2 } else { 1 };
        let shown = if message.contains("found `}`") {
            "}"
        } else {
            text
        };
        assert_eq!(error(text), format!("PTX line {line}, {message}: {shown}"));
    }
}

#[test]
fn of_modules() {
    let message = |text: &str| ptx::parse(text).expect_err(text).to_string();
    let head = ".version 8.0\n.target sm_80\n";
    assert_eq!(
        message(""),
        "PTX line 1, column 1: expected `.version`, which begins each module, found the end of the text: "
    );
    assert_eq!(
        message(".version 8.0\n"),
        "PTX line 2, column 1: expected `.target`, found the end of the text: "
    );
    for (text, expected) in [
        (
            ".global .u32 x[2] = {1, 2, 3};",
            "column 28: more values than the variable has",
        ),
        (".global .b8 x = y;", "column 17: `y` is not declared"),
        (
            ".global .align 3 .b8 x;",
            "column 16: an alignment is a power of two",
        ),
        (".global .u33 x;", "column 9: unknown type `.u33`"),
        (
            ".entry k() .frob { ret; }",
            "column 12: unknown directive `.frob`",
        ),
        (
            ".entry k() { ret; } .entry k() { ret; }",
            "column 28: `k` is declared twice",
        ),
        (
            ".entry k() { ret;",
            "column 18: expected an instruction, a label or a directive, found the end of the text",
        ),
        ("/* open", "column 1: this comment has no end `*/`"),
        (
            ".entry k() { wgmma.fence.sync.aligned; ret; }",
            "column 14: `wgmma.fence.sync.aligned`: it needs `.target sm_90` or newer, and the module's is `sm_80`",
        ),
    ] {
        assert_eq!(
            message(&format!("{head}{text}")),
            format!("PTX line 3, {expected}: {text}")
        );
    }
}
