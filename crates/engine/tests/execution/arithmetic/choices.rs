//! Comparisons and selections.

use engine::arith::compare as relation;
use engine::arith::float;
use engine::arith::half::{self, Bf16, F16, Half};

use super::harness::{Case, F32, F64, HALVES, INTEGERS, check, refusal};

const TRUTHS: &[u64] = &[0, 1];

/// The comparisons of a type of floats.
macro_rules! of_floats {
    () => {
        [
            ("eq", relation::eq as fn(_, _) -> bool),
            ("ne", relation::ne),
            ("lt", relation::lt),
            ("le", relation::le),
            ("gt", relation::gt),
            ("ge", relation::ge),
            ("equ", relation::equ),
            ("neu", relation::neu),
            ("ltu", relation::ltu),
            ("leu", relation::leu),
            ("gtu", relation::gtu),
            ("geu", relation::geu),
            ("num", relation::num),
            ("nan", relation::nan),
        ]
    };
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[test]
fn integers() {
    macro_rules! test {
        ($ty:literal, $register:literal, $T:ty, $others:expr) => {
            let mut relations: Vec<(&str, fn($T, $T) -> bool)> = vec![
                ("eq", relation::eq),
                ("ne", relation::ne),
                ("lt", relation::lt),
                ("le", relation::le),
                ("gt", relation::gt),
                ("ge", relation::ge),
            ];
            let others: Vec<(&str, fn($T, $T) -> bool)> = $others;
            relations.extend(others);
            for (name, f) in relations {
                let text = format!("setp.{name}.{} %d, %a, %b;", $ty);
                check(&text, "pred", [$register; 2], [INTEGERS; 2], |[a, b]| {
                    f(a as $T, b as $T).into()
                });
            }
        };
    }
    macro_rules! unsigned {
        ($T:ty) => {
            vec![
                ("lo", relation::lt as fn($T, $T) -> bool),
                ("ls", relation::le),
                ("hi", relation::gt),
                ("hs", relation::ge),
            ]
        };
    }
    test!("u16", "b16", u16, unsigned!(u16));
    test!("s16", "b16", i16, vec![]);
    test!("u32", "b32", u32, unsigned!(u32));
    test!("s32", "b32", i32, vec![]);
    test!("u64", "b64", u64, unsigned!(u64));
    test!("s64", "b64", i64, vec![]);
    for register in ["b16", "b32", "b64"] {
        check(
            &format!("setp.eq.{register} %d, %a, %b;"),
            "pred",
            [register; 2],
            [INTEGERS; 2],
            |[a, b]| (a == b).into(),
        );
        check(
            &format!("setp.ne.{register} %d, %a, %b;"),
            "pred",
            [register; 2],
            [INTEGERS; 2],
            |[a, b]| (a != b).into(),
        );
    }
    check(
        "setp.lt.s32 %d, %a, -1;",
        "pred",
        ["b32"],
        [INTEGERS],
        |[a]| ((a as i32) < -1).into(),
    );
}

#[test]
fn floats() {
    for (name, f) in of_floats!() {
        check(
            &format!("setp.{name}.f32 %d, %a, %b;"),
            "pred",
            ["b32"; 2],
            [F32; 2],
            |[a, b]| f(f32_of(a), f32_of(b)).into(),
        );
        check(
            &format!("setp.{name}.ftz.f32 %d, %a, %b;"),
            "pred",
            ["b32"; 2],
            [F32; 2],
            |[a, b]| f(float::flush(f32_of(a)), float::flush(f32_of(b))).into(),
        );
        let text = format!("set.{name}.ftz.u32.f32 %d, %a, %b;");
        check(&text, "b32", ["b32"; 2], [F32; 2], |[a, b]| {
            u64::from(f(float::flush(f32_of(a)), float::flush(f32_of(b)))).wrapping_neg()
        });
    }
    for (name, f) in of_floats!() {
        let of = f64::from_bits;
        check(
            &format!("setp.{name}.f64 %d, %a, %b;"),
            "pred",
            ["b64"; 2],
            [F64; 2],
            |[a, b]| f(of(a), of(b)).into(),
        );
    }
}

/// A half as `f32`.
fn widened<H: Half>(bits: u64, ftz: bool) -> f32 {
    H::to_f32(if ftz {
        half::flush::<H>(bits as u16)
    } else {
        bits as u16
    })
}

#[test]
fn halves() {
    macro_rules! test {
        ($H:ty, $ty:literal, $one:literal) => {
            // `.ftz` is of `f16` alone.
            let modifiers = if $ty == "f16" { 2 } else { 1 };
            for (modifier, ftz) in [("", false), (".ftz", true)].into_iter().take(modifiers) {
                for (name, f) in of_floats!() {
                    let of = |it| widened::<$H>(it, ftz);
                    let low = |a, b| u64::from(f(of(a), of(b)));
                    let high = |a, b| u64::from(f(of(a >> 16), of(b >> 16)));
                    let two = [HALVES; 2];
                    check(
                        &format!("setp.{name}{modifier}.{} %d, %a, %b;", $ty),
                        "pred",
                        ["b16"; 2],
                        two,
                        |[a, b]| low(a, b),
                    );
                    let text = format!("setp.{name}{modifier}.{}x2 %d|%e, %a, %b;", $ty);
                    let case = Case {
                        text: &text,
                        written: &["pred", "pred"],
                        read: ["b32"; 2],
                    };
                    case.check(two, |[a, b]| vec![low(a, b), high(a, b)]);
                    check(
                        &format!("set.{name}{modifier}.{}.{} %d, %a, %b;", $ty, $ty),
                        "b16",
                        ["b16"; 2],
                        two,
                        |[a, b]| low(a, b) * $one,
                    );
                    let text = format!("set.{name}{modifier}.{}x2.{}x2 %d, %a, %b;", $ty, $ty);
                    check(&text, "b32", ["b32"; 2], two, |[a, b]| {
                        (low(a, b) | high(a, b) << 16) * $one
                    });
                    let text = format!("set.{name}{modifier}.u32.{}x2 %d, %a, %b;", $ty);
                    check(&text, "b32", ["b32"; 2], two, |[a, b]| {
                        (low(a, b) | high(a, b) << 16) * 0xFFFF
                    });
                    check(
                        &format!("set.{name}{modifier}.u16.{} %d, %a, %b;", $ty),
                        "b16",
                        ["b16"; 2],
                        two,
                        |[a, b]| low(a, b) * 0xFFFF,
                    );
                }
            }
        };
    }
    test!(F16, "f16", 0x3C00);
    test!(Bf16, "bf16", 0x3F80);
}

#[test]
fn combined() {
    type Operator = fn(u64, u64) -> u64;
    let operators: [(&str, Operator); 3] = [
        ("and", |a, b| a & b),
        ("or", |a, b| a | b),
        ("xor", |a, b| a ^ b),
    ];
    for (name, f) in operators {
        for (negation, flip) in [("", 0), ("!", 1)] {
            let text = format!("setp.lt.{name}.s32 %d|%e, %a, %b, {negation}%c;");
            let case = Case {
                text: &text,
                written: &["pred", "pred"],
                read: ["b32", "b32", "pred"],
            };
            case.check([INTEGERS, INTEGERS, TRUTHS], |[a, b, c]| {
                let less = u64::from((a as i32) < b as i32);
                vec![f(less, c ^ flip), f(less ^ 1, c ^ flip)]
            });
            // What it is combined with is overwritten.
            let text = format!("mov.pred %d, %c; setp.lt.{name}.s32 %d|%e, %a, %b, {negation}%d;");
            let case = Case {
                text: &text,
                written: &["pred", "pred"],
                read: ["b32", "b32", "pred"],
            };
            case.check([INTEGERS, INTEGERS, TRUTHS], |[a, b, c]| {
                let less = u64::from((a as i32) < b as i32);
                vec![f(less, c ^ flip), f(less ^ 1, c ^ flip)]
            });
            let text = format!("set.lt.{name}.f32.u32 %d, %a, %b, {negation}%c;");
            check(
                &text,
                "b32",
                ["b32", "b32", "pred"],
                [INTEGERS, INTEGERS, TRUTHS],
                |[a, b, c]| f(u64::from(a < b), c ^ flip) * 0x3F80_0000,
            );
        }
        // Of packed halves q is of the upper ones.
        let text = format!("setp.lt.{name}.f16x2 %d|%e, %a, %b, %c;");
        let case = Case {
            text: &text,
            written: &["pred", "pred"],
            read: ["b32", "b32", "pred"],
        };
        case.check([HALVES, HALVES, TRUTHS], |[a, b, c]| {
            let of = |it: u64| F16::to_f32(it as u16);
            vec![
                f((of(a) < of(b)).into(), c),
                f((of(a >> 16) < of(b >> 16)).into(), c),
            ]
        });
    }
    let case = Case {
        text: "setp.eq.u32 %d|%e, %a, %b;",
        written: &["pred", "pred"],
        read: ["b32"; 2],
    };
    case.check([INTEGERS; 2], |[a, b]| {
        vec![(a == b).into(), (a != b).into()]
    });
    check(
        "setp.eq.u32 _|%d, %a, %b;",
        "pred",
        ["b32"; 2],
        [INTEGERS; 2],
        |[a, b]| (a != b).into(),
    );
    check(
        "set.gt.s32.s64 %d, %a, %b;",
        "b32",
        ["b64"; 2],
        [INTEGERS; 2],
        |[a, b]| u64::from(a as i64 > b as i64).wrapping_neg(),
    );
    check(
        "set.ge.f32.f64 %d, %a, %b;",
        "b32",
        ["b64"; 2],
        [F64; 2],
        |[a, b]| u64::from(f64::from_bits(a) >= f64::from_bits(b)) * 0x3F80_0000,
    );
}

#[test]
fn selected() {
    for (ty, register) in [
        ("b16", "b16"),
        ("u16", "b16"),
        ("s32", "b32"),
        ("f32", "b32"),
        ("u64", "b64"),
        ("f64", "b64"),
    ] {
        let (read, values) = ([register, register, "pred"], [INTEGERS, INTEGERS, TRUTHS]);
        check(
            &format!("selp.{ty} %d, %a, %b, %c;"),
            register,
            read,
            values,
            |[a, b, c]| if c == 1 { a } else { b },
        );
    }
    check(
        "selp.u32 %d, %a, 7, %b;",
        "b32",
        ["b32", "pred"],
        [INTEGERS, TRUTHS],
        |[a, b]| if b == 1 { a } else { 7 },
    );
    for (ty, register) in [
        ("u16", "b16"),
        ("b32", "b32"),
        ("f32", "b32"),
        ("s64", "b64"),
        ("f64", "b64"),
    ] {
        let values = [INTEGERS, INTEGERS, F32];
        let read = [register, register, "b32"];
        check(
            &format!("slct.{ty}.s32 %d, %a, %b, %c;"),
            register,
            read,
            values,
            |[a, b, c]| relation::slct(a, b, c as i32),
        );
        check(
            &format!("slct.{ty}.f32 %d, %a, %b, %c;"),
            register,
            read,
            values,
            |[a, b, c]| relation::slct_f32(a, b, f32_of(c)),
        );
        check(
            &format!("slct.ftz.{ty}.f32 %d, %a, %b, %c;"),
            register,
            read,
            values,
            |[a, b, c]| relation::slct_f32(a, b, float::flush(f32_of(c))),
        );
    }
}

#[test]
fn refused() {
    assert_eq!(
        refusal("setp.lo.f32 %d, %a, %b;", "pred", &["b32"; 2]),
        "`setp.lo.f32`: `.lo` does not go with `.f32` here"
    );
    assert_eq!(
        refusal("setp.nan.u32 %d, %a, %b;", "pred", &["b32"; 2]),
        "`setp.nan.u32`: `.nan` does not go with `.u32` here"
    );
}
