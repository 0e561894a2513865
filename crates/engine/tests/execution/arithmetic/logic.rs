//! Logic and shifts.

use engine::arith::bits::{self, Excess, Permutation};

use super::harness::{Case, INTEGERS, check};

const AMOUNTS: &[u64] = &[
    0,
    1,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    255,
    256,
    0xFFFF_FFFF,
];
const TRUTHS: &[u64] = &[0, 1];

#[test]
fn of_bits() {
    for register in ["b16", "b32", "b64"] {
        let two = [INTEGERS; 2];
        check(
            &format!("and.{register} %d, %a, %b;"),
            register,
            [register; 2],
            two,
            |[a, b]| a & b,
        );
        check(
            &format!("or.{register} %d, %a, %b;"),
            register,
            [register; 2],
            two,
            |[a, b]| a | b,
        );
        check(
            &format!("xor.{register} %d, %a, %b;"),
            register,
            [register; 2],
            two,
            |[a, b]| a ^ b,
        );
        check(
            &format!("not.{register} %d, %a;"),
            register,
            [register],
            [INTEGERS],
            |[a]| !a,
        );
        check(
            &format!("cnot.{register} %d, %a;"),
            register,
            [register],
            [INTEGERS],
            |[a]| (a == 0).into(),
        );
    }
    // Nothing is left above 16 bits.
    check(
        "not.b16 %a, %a; cvt.u32.u16 %d, %a;",
        "b32",
        ["b16"],
        [INTEGERS],
        |[a]| !a & 0xFFFF,
    );
}

#[test]
fn of_predicates() {
    let two = [TRUTHS; 2];
    check(
        "and.pred %d, %a, %b;",
        "pred",
        ["pred"; 2],
        two,
        |[a, b]| a & b,
    );
    check("or.pred %d, %a, %b;", "pred", ["pred"; 2], two, |[a, b]| {
        a | b
    });
    check(
        "xor.pred %d, %a, %b;",
        "pred",
        ["pred"; 2],
        two,
        |[a, b]| a ^ b,
    );
    check("not.pred %d, %a;", "pred", ["pred"], [TRUTHS], |[a]| a ^ 1);
}

#[test]
fn shifts() {
    let two = [INTEGERS, AMOUNTS];
    macro_rules! test {
        ($register:literal, $U:ty, $unsigned:literal, $S:ty, $signed:literal) => {
            let read = [$register, "b32"];
            check(
                concat!("shl.", $register, " %d, %a, %b;"),
                $register,
                read,
                two,
                |[a, b]| bits::shl(a as $U, b as u32).into(),
            );
            check(
                concat!("shr.", $register, " %d, %a, %b;"),
                $register,
                read,
                two,
                |[a, b]| bits::shr(a as $U, b as u32).into(),
            );
            check(
                concat!("shr.", $unsigned, " %d, %a, %b;"),
                $register,
                read,
                two,
                |[a, b]| bits::shr(a as $U, b as u32).into(),
            );
            check(
                concat!("shr.", $signed, " %d, %a, %b;"),
                $register,
                read,
                two,
                |[a, b]| bits::shr(a as $S, b as u32) as u64,
            );
        };
    }
    test!("b16", u16, "u16", i16, "s16");
    test!("b32", u32, "u32", i32, "s32");
    test!("b64", u64, "u64", i64, "s64");
    for (name, excess) in [("clamp", Excess::Clamp), ("wrap", Excess::Wrap)] {
        let three = [INTEGERS, INTEGERS, AMOUNTS];
        check(
            &format!("shf.l.{name}.b32 %d, %a, %b, %c;"),
            "b32",
            ["b32"; 3],
            three,
            |[a, b, c]| bits::shf_l(a as u32, b as u32, c as u32, excess).into(),
        );
        check(
            &format!("shf.r.{name}.b32 %d, %a, %b, %c;"),
            "b32",
            ["b32"; 3],
            three,
            |[a, b, c]| bits::shf_r(a as u32, b as u32, c as u32, excess).into(),
        );
    }
}

#[test]
fn three_inputs() {
    let sources: [&[u64]; 3] = [
        &[0xF0F0_F0F0, 0x1234_5678],
        &[0xCCCC_CCCC, 0x9ABC_DEF0],
        &[0xAAAA_AAAA, 0x0F1E_2D3C],
    ];
    for table in 0..=255u8 {
        check(
            &format!("lop3.b32 %d, %a, %b, %c, {table};"),
            "b32",
            ["b32"; 3],
            sources,
            |[a, b, c]| {
                let bit = |i: u32| {
                    u64::from(table) >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1
                };
                (0..32).map(|i| bit(i) << i).sum()
            },
        );
    }
    for (name, is_and) in [("and", true), ("or", false)] {
        let combined = |any: bool, with: u64| {
            u64::from(if is_and {
                any & (with != 0)
            } else {
                any | (with != 0)
            })
        };
        let text = format!("lop3.{name}.b32 %d|%e, %a, %b, %c, 0x80, %f;");
        let case = Case {
            text: &text,
            written: &["b32", "pred"],
            read: ["b32", "b32", "b32", "pred"],
        };
        let values = [&INTEGERS[..16], &INTEGERS[..16], &INTEGERS[..16], TRUTHS];
        case.check(values, |[a, b, c, f]| {
            let all = a & b & c & 0xFFFF_FFFF;
            vec![all, combined(all != 0, f)]
        });
        let text = format!("lop3.{name}.b32 _|%d, %a, %b, %c, 0x80, !%f;");
        let case = Case {
            text: &text,
            written: &["pred"],
            read: ["b32", "b32", "b32", "pred"],
        };
        case.check(values, |[a, b, c, f]| {
            vec![combined(a & b & c & 0xFFFF_FFFF != 0, f ^ 1)]
        });
    }
}

#[test]
fn bytes() {
    use Permutation as P;
    let selectors = &[
        0x3210,
        0x5410,
        0x7632,
        0xFEDC,
        0x89AB,
        0x0123,
        0xFFFF_7777,
        1,
        2,
        3,
    ];
    let modes = [
        ("", P::Named),
        (".f4e", P::Forward4),
        (".b4e", P::Backward4),
        (".rc8", P::Replicate8),
        (".ecl", P::ClampLeft),
        (".ecr", P::ClampRight),
        (".rc16", P::Replicate16),
    ];
    for (name, mode) in modes {
        check(
            &format!("prmt.b32{name} %d, %a, %b, %c;"),
            "b32",
            ["b32"; 3],
            [INTEGERS, INTEGERS, selectors],
            |[a, b, c]| bits::prmt(a as u32, b as u32, c as u32, mode).into(),
        );
    }
    check(
        "prmt.b32 %d, %a, %b, 0x5410;",
        "b32",
        ["b32"; 2],
        [INTEGERS; 2],
        |[a, b]| a & 0xFFFF | (b & 0xFFFF) << 16,
    );
}
