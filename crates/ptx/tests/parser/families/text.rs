//! Constants, names, and where an instruction is from.

use ptx::*;

use crate::common::{body, module, one};

#[test]
fn constants() {
    let value = |text: &str, ty: &str| match one(&format!(
        "mov.{ty} {}, {text};",
        if ty.ends_with("64") { "d1" } else { "r1" }
    )) {
        Operation::Mov(Mov {
            a: Operand::Immediate(bits),
            ..
        }) => bits,
        other => panic!("{other:?}"),
    };
    for (text, bits) in [
        ("017", 15),
        ("0b101U", 5),
        ("0xFFFFFFFFF", 0xffff_ffff),
        ("-1", 0xffff_ffff),
        ("(1 << 4) | 3 + 2 * 4", 27),
        ("~0 & 0xF0", 0xf0),
        ("WARP_SZ / 2 - 1", 15),
        ("1 ? 2 : 3", 2),
        ("!0 + (3 > 2) + (7 == 7 && 0)", 2),
        ("(.u64) -1 >> 60", 15),
        ("(.s64) -16 >> 2", 0xffff_fffc),
        ("-7 / 2", 0xffff_fffd),
        ("0", 0),
    ] {
        assert_eq!(value(text, "u32"), bits, "{text}");
    }
    assert_eq!(value("1.5", "b64"), 1.5f64.to_bits());
    assert_eq!(value("0xFFFFFFFFFFFFFFFF >> 4", "u64"), u64::MAX >> 4);
}

#[test]
fn places_of_instructions() {
    let instructions = "add.u32 r1,\n  r2, 1; /* a\n comment */ @p1 ret;";
    let (text, body) = (crate::common::text(instructions), body(instructions));
    let [first, second] = &body.instructions[..] else {
        panic!()
    };
    assert_eq!(
        (first.line, first.text(&text)),
        (crate::common::LINES_BEFORE + 1, "add.u32 r1,\n  r2, 1;")
    );
    assert_eq!(
        (second.line, second.text(&text)),
        (crate::common::LINES_BEFORE + 3, "@p1 ret;")
    );
    assert_eq!(
        (second.uses(), second.definitions()),
        (vec![Reg(2)], vec![])
    );
}

#[test]
fn scopes() {
    let body = body(
        "mov.u32 r1, 1;
         { .reg .u64 r1; .reg .v2 .f32 v; mov.u64 r1, 2; mov.b64 r1, v; add.f32 v.y, v.x, v.x; bra X; bra OUT; X: ret; }
         { X: bra X; { bra X; } }
         mov.u32 r1, 3;
         OUT: ",
    );
    let target = |index: usize| match body.instructions[index].operation {
        Operation::Branch(Branch { target, .. }) => body.labels[target.0 as usize].position,
        ref other => panic!("{other:?}"),
    };
    assert_eq!([4, 5, 7, 8].map(target), [6, 10, 7, 7]);
    let defined =
        |index: usize| &body.registers[body.instructions[index].definitions()[0].0 as usize];
    assert_eq!((defined(0).ty, defined(1).ty), (Type::B32, Type::U64));
    assert_eq!(
        body.instructions[0].definitions(),
        body.instructions[9].definitions()
    );
    assert_eq!(
        defined(3),
        &Register {
            name: "v.y".to_owned(),
            ty: Type::F32
        }
    );
    assert!(matches!(&body.instructions[2].operation, Operation::Pack(pack) if pack.a.len() == 2));
}

#[test]
fn guards_and_locations() {
    let module = module(
        ".file 1 \"a.rs\"
         .loc 1 10 3
         mov.u32 r1, 1;
         .loc 1 5 7, function_name $name+2, inlined_at 1 10 3
         mov.u32 r1, 2;
         .loc 1 10 3
         mov.u32 r1, 3; }
         .section .debug_str { $name: .b8 95,95,105,110
         .b8 0 }
         .func last() {",
    );
    let body = module.functions[1].body.as_ref().expect("a body");
    let locations: Vec<_> = body
        .instructions
        .iter()
        .map(|instruction| instruction.location)
        .collect();
    assert_eq!(locations, [Some(0), Some(1), Some(0)]);
    assert_eq!(
        body.locations[1],
        Location {
            file: 1,
            line: 5,
            column: 7,
            function: Some("in".to_owned()),
            inlined_at: Some(0)
        }
    );
    assert_eq!(module.file(1), Some("a.rs"));
}
