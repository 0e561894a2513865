//! Arithmetic on `f32` and `f64`.

use engine::arith::approx;
use engine::arith::convert;
use engine::arith::float::{self, Class, Rounding};
use engine::arith::half::{Bf16, F16};

use super::harness::{F32, F64, HALVES, check, refusal};

const ROUNDINGS: [(&str, Rounding); 5] = [
    ("", Rounding::Nearest),
    (".rn", Rounding::Nearest),
    (".rz", Rounding::Zero),
    (".rm", Rounding::Down),
    (".rp", Rounding::Up),
];

/// `.ftz` and `.sat`, whether they are given.
const MODIFIERS: [(&str, bool, bool); 4] = [
    ("", false, false),
    (".ftz", true, false),
    (".sat", false, true),
    (".ftz.sat", true, true),
];

fn of_bits(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// Results with `.sat` or without.
fn saturated(sat: bool, result: f32) -> u64 {
    u64::from(if sat { float::saturate(result) } else { result }.to_bits())
}

/// A function with `.ftz` and `.sat` around it.
fn modified<const N: usize>(
    ftz: bool,
    sat: bool,
    operands: [u64; N],
    f: impl Fn([f32; N]) -> f32,
) -> u64 {
    let flush = |x: f32| if ftz { float::flush(x) } else { x };
    let result = flush(f(operands.map(|it| flush(of_bits(it)))));
    u64::from(if sat { float::saturate(result) } else { result }.to_bits())
}

#[test]
fn of_f32() {
    for (rounding, how) in ROUNDINGS {
        for (modifiers, ftz, sat) in MODIFIERS {
            let name = format!("{rounding}{modifiers}.f32");
            let (two, three) = ([F32; 2], [F32; 3]);
            check(
                &format!("add{name} %d, %a, %b;"),
                "b32",
                ["b32"; 2],
                two,
                |it| modified(ftz, sat, it, |[a, b]| float::add(a, b, how)),
            );
            check(
                &format!("sub{name} %d, %a, %b;"),
                "b32",
                ["b32"; 2],
                two,
                |it| modified(ftz, sat, it, |[a, b]| float::sub(a, b, how)),
            );
            check(
                &format!("mul{name} %d, %a, %b;"),
                "b32",
                ["b32"; 2],
                two,
                |it| {
                    let [a, b] = it.map(of_bits);
                    saturated(
                        sat,
                        if ftz {
                            float::mul_ftz(a, b, how)
                        } else {
                            float::mul(a, b, how)
                        },
                    )
                },
            );
            if rounding.is_empty() {
                continue;
            }
            for op in ["fma", "mad"] {
                check(
                    &format!("{op}{name} %d, %a, %b, %c;"),
                    "b32",
                    ["b32"; 3],
                    three,
                    |it| {
                        let [a, b, c] = it.map(of_bits);
                        saturated(
                            sat,
                            if ftz {
                                float::fma_ftz(a, b, c, how)
                            } else {
                                float::fma(a, b, c, how)
                            },
                        )
                    },
                );
            }
        }
    }
    check(
        "add.f32 %d, %a, 0f3F800000;",
        "b32",
        ["b32"],
        [F32],
        |[a]| {
            float::add(of_bits(a), 1.0, Rounding::Nearest)
                .to_bits()
                .into()
        },
    );
}

#[test]
fn of_f64() {
    let of = |it: u64| f64::from_bits(it);
    for (name, how) in ROUNDINGS {
        let two = [F64; 2];
        check(
            &format!("add{name}.f64 %d, %a, %b;"),
            "b64",
            ["b64"; 2],
            two,
            |[a, b]| float::add(of(a), of(b), how).to_bits(),
        );
        check(
            &format!("sub{name}.f64 %d, %a, %b;"),
            "b64",
            ["b64"; 2],
            two,
            |[a, b]| float::sub(of(a), of(b), how).to_bits(),
        );
        check(
            &format!("mul{name}.f64 %d, %a, %b;"),
            "b64",
            ["b64"; 2],
            two,
            |[a, b]| float::mul(of(a), of(b), how).to_bits(),
        );
        if name.is_empty() {
            continue;
        }
        check(
            &format!("fma{name}.f64 %d, %a, %b, %c;"),
            "b64",
            ["b64"; 3],
            [F64; 3],
            |[a, b, c]| float::fma(of(a), of(b), of(c), how).to_bits(),
        );
        check(
            &format!("div{name}.f64 %d, %a, %b;"),
            "b64",
            ["b64"; 2],
            two,
            |[a, b]| float::div(of(a), of(b), how).to_bits(),
        );
        check(
            &format!("rcp{name}.f64 %d, %a;"),
            "b64",
            ["b64"],
            [F64],
            |[a]| float::rcp(of(a), how).to_bits(),
        );
        check(
            &format!("sqrt{name}.f64 %d, %a;"),
            "b64",
            ["b64"],
            [F64],
            |[a]| float::sqrt(of(a), how).to_bits(),
        );
    }
    check("abs.f64 %d, %a;", "b64", ["b64"], [F64], |[a]| {
        float::abs(of(a)).to_bits()
    });
    check("neg.f64 %d, %a;", "b64", ["b64"], [F64], |[a]| {
        float::neg(of(a)).to_bits()
    });
    check(
        "min.f64 %d, %a, %b;",
        "b64",
        ["b64"; 2],
        [F64; 2],
        |[a, b]| float::min(of(a), of(b)).to_bits(),
    );
    check(
        "max.f64 %d, %a, %b;",
        "b64",
        ["b64"; 2],
        [F64; 2],
        |[a, b]| float::max(of(a), of(b)).to_bits(),
    );
    check(
        "copysign.f64 %d, %a, %b;",
        "b64",
        ["b64"; 2],
        [F64; 2],
        |[a, b]| float::copysign(of(a), of(b)).to_bits(),
    );
}

#[test]
fn packed() {
    let pairs: Vec<u64> = F32
        .iter()
        .zip(F32.iter().rev())
        .map(|(a, b)| a << 32 | b)
        .collect();
    for (rounding, how) in ROUNDINGS {
        for (modifiers, ftz) in [("", false), (".ftz", true)] {
            let name = format!("{rounding}{modifiers}.f32x2");
            let flush = |x: f32| if ftz { float::flush(x) } else { x };
            let (two, three) = ([&pairs[..]; 2], [&pairs[..]; 3]);
            check(
                &format!("add{name} %d, %a, %b;"),
                "b64",
                ["b64"; 2],
                two,
                |it| float::packed(it, |[a, b]| flush(float::add(flush(a), flush(b), how))),
            );
            check(
                &format!("sub{name} %d, %a, %b;"),
                "b64",
                ["b64"; 2],
                two,
                |it| float::packed(it, |[a, b]| flush(float::sub(flush(a), flush(b), how))),
            );
            check(
                &format!("mul{name} %d, %a, %b;"),
                "b64",
                ["b64"; 2],
                two,
                |it| {
                    float::packed(it, |[a, b]| {
                        if ftz {
                            float::mul_ftz(a, b, how)
                        } else {
                            float::mul(a, b, how)
                        }
                    })
                },
            );
            if !rounding.is_empty() {
                check(
                    &format!("fma{name} %d, %a, %b, %c;"),
                    "b64",
                    ["b64"; 3],
                    three,
                    |it| {
                        float::packed(it, |[a, b, c]| match ftz {
                            true => float::fma_ftz(a, b, c, how),
                            false => float::fma(a, b, c, how),
                        })
                    },
                );
            }
        }
    }
}

#[test]
fn of_mixed_precision() {
    for (rounding, how) in ROUNDINGS {
        for (modifiers, _, sat) in MODIFIERS.into_iter().filter(|it| !it.1) {
            macro_rules! test {
                ($H:ty, $source:literal) => {
                    let of = |it: u64| u64::from(convert::f32_from_half::<$H>(it as u16).to_bits());
                    let name = format!("{rounding}{modifiers}.f32.{}", $source);
                    let (read, values) = (["b16", "b32"], [HALVES, F32]);
                    check(
                        &format!("add{name} %d, %a, %b;"),
                        "b32",
                        read,
                        values,
                        |[a, b]| modified(false, sat, [of(a), b], |[a, b]| float::add(a, b, how)),
                    );
                    check(
                        &format!("sub{name} %d, %a, %b;"),
                        "b32",
                        read,
                        values,
                        |[a, b]| modified(false, sat, [of(a), b], |[a, b]| float::sub(a, b, how)),
                    );
                    if !rounding.is_empty() {
                        let (read, values) = (["b16", "b16", "b32"], [HALVES, HALVES, F32]);
                        check(
                            &format!("fma{name} %d, %a, %b, %c;"),
                            "b32",
                            read,
                            values,
                            |[a, b, c]| {
                                modified(false, sat, [of(a), of(b), c], |[a, b, c]| {
                                    float::fma(a, b, c, how)
                                })
                            },
                        );
                    }
                };
            }
            test!(F16, "f16");
            test!(Bf16, "bf16");
        }
    }
}

#[test]
fn extremes() {
    type Function = fn(f32, f32) -> f32;
    let functions: [(&str, &str, Function); 4] = [
        ("min", "", float::min),
        ("max", "", float::max),
        ("min", ".NaN", float::min_nan),
        ("max", ".NaN", float::max_nan),
    ];
    for (op, nan, f) in functions {
        for (modifier, ftz) in [("", false), (".ftz", true)] {
            check(
                &format!("{op}{modifier}{nan}.f32 %d, %a, %b;"),
                "b32",
                ["b32"; 2],
                [F32; 2],
                |it| modified(ftz, false, it, |[a, b]| f(a, b)),
            );
            check(
                &format!("{op}{modifier}{nan}.xorsign.abs.f32 %d, %a, %b;"),
                "b32",
                ["b32"; 2],
                [F32; 2],
                |it| modified(ftz, false, it, |[a, b]| float::xorsign_abs(a, b, f)),
            );
            check(
                &format!("{op}{modifier}{nan}.f32 %d, %a, %b, %c;"),
                "b32",
                ["b32"; 3],
                [F32; 3],
                |it| modified(ftz, false, it, |[a, b, c]| f(f(a, b), c)),
            );
            check(
                &format!("{op}{modifier}{nan}.abs.f32 %d, %a, %b, %c;"),
                "b32",
                ["b32"; 3],
                [F32; 3],
                |it| {
                    modified(ftz, false, it, |it| {
                        let [a, b, c] = it.map(f32::abs);
                        f(f(a, b), c)
                    })
                },
            );
        }
    }
    check(
        "min.f32 %d, %a, %b;",
        "b32",
        ["b32"; 2],
        [&[0], &[0x8000_0000]],
        |_| 0x8000_0000,
    );
    check(
        "max.f32 %d, %a, %b;",
        "b32",
        ["b32"; 2],
        [&[0x7FC0_0000], &[1]],
        |_| 1,
    );
}

#[test]
fn signs_and_classes() {
    for (name, ftz) in [("", false), (".ftz", true)] {
        check(
            &format!("abs{name}.f32 %d, %a;"),
            "b32",
            ["b32"],
            [F32],
            |it| modified(ftz, false, it, |[a]| float::abs(a)),
        );
        check(
            &format!("neg{name}.f32 %d, %a;"),
            "b32",
            ["b32"],
            [F32],
            |it| modified(ftz, false, it, |[a]| float::neg(a)),
        );
    }
    check(
        "copysign.f32 %d, %a, %b;",
        "b32",
        ["b32"; 2],
        [F32; 2],
        |[a, b]| a & 0x8000_0000 | b & 0x7FFF_FFFF,
    );
    let classes = [
        ("finite", Class::Finite),
        ("infinite", Class::Infinite),
        ("number", Class::Number),
        ("notanumber", Class::NotANumber),
        ("normal", Class::Normal),
        ("subnormal", Class::Subnormal),
    ];
    for (name, class) in classes {
        check(
            &format!("testp.{name}.f32 %d, %a;"),
            "pred",
            ["b32"],
            [F32],
            |[a]| float::testp(of_bits(a), class).into(),
        );
        check(
            &format!("testp.{name}.f64 %d, %a;"),
            "pred",
            ["b64"],
            [F64],
            |[a]| float::testp(f64::from_bits(a), class).into(),
        );
    }
}

#[test]
fn functions() {
    type Function = fn(f32) -> f32;
    let functions: [(&str, Function); 8] = [
        ("rcp", approx::rcp),
        ("sqrt", approx::sqrt),
        ("rsqrt", approx::rsqrt),
        ("sin", approx::sin),
        ("cos", approx::cos),
        ("lg2", approx::lg2),
        ("ex2", approx::ex2),
        ("tanh", approx::tanh),
    ];
    for (modifier, ftz) in [("", false), (".ftz", true)] {
        // All but the last have `.ftz`.
        let known = functions.len() - usize::from(ftz);
        for (name, f) in functions.into_iter().take(known) {
            check(
                &format!("{name}.approx{modifier}.f32 %d, %a;"),
                "b32",
                ["b32"],
                [F32],
                |it| modified(ftz, false, it, |[a]| f(a)),
            );
        }
        check(
            &format!("div.approx{modifier}.f32 %d, %a, %b;"),
            "b32",
            ["b32"; 2],
            [F32; 2],
            |it| {
                let [a, b] = it.map(of_bits);
                saturated(
                    false,
                    if ftz {
                        approx::div_ftz(a, b)
                    } else {
                        approx::div(a, b)
                    },
                )
            },
        );
        check(
            &format!("div.full{modifier}.f32 %d, %a, %b;"),
            "b32",
            ["b32"; 2],
            [F32; 2],
            |it| {
                let [a, b] = it.map(of_bits);
                saturated(
                    false,
                    if ftz {
                        approx::div_full_ftz(a, b)
                    } else {
                        approx::div_full(a, b)
                    },
                )
            },
        );
        for (name, how) in ROUNDINGS.into_iter().skip(1) {
            check(
                &format!("div{name}{modifier}.f32 %d, %a, %b;"),
                "b32",
                ["b32"; 2],
                [F32; 2],
                |it| {
                    let [a, b] = it.map(of_bits);
                    saturated(
                        false,
                        if ftz {
                            float::div_ftz(a, b, how)
                        } else {
                            float::div(a, b, how)
                        },
                    )
                },
            );
            check(
                &format!("rcp{name}{modifier}.f32 %d, %a;"),
                "b32",
                ["b32"],
                [F32],
                |it| modified(ftz, false, it, |[a]| float::rcp(a, how)),
            );
            check(
                &format!("sqrt{name}{modifier}.f32 %d, %a;"),
                "b32",
                ["b32"],
                [F32],
                |it| modified(ftz, false, it, |[a]| float::sqrt(a, how)),
            );
        }
    }
    let of = |it: u64| f64::from_bits(it);
    check(
        "rcp.approx.ftz.f64 %d, %a;",
        "b64",
        ["b64"],
        [F64],
        |[a]| approx::rcp_f64(of(a)).to_bits(),
    );
    check(
        "rsqrt.approx.ftz.f64 %d, %a;",
        "b64",
        ["b64"],
        [F64],
        |[a]| approx::rsqrt_ftz_f64(of(a)).to_bits(),
    );
    check("rsqrt.approx.f64 %d, %a;", "b64", ["b64"], [F64], |[a]| {
        approx::rsqrt_f64(of(a)).to_bits()
    });
}

#[test]
fn refused() {
    assert_eq!(
        refusal("add.sat.f64 %d, %a, %b;", "b64", &["b64"; 2]),
        "`add.sat.f64`: `.sat` does not go with `.f64` here"
    );
    assert_eq!(
        refusal("fma.rn.sat.bf16 %d, %a, %b, %c;", "b16", &["b16"; 3]),
        "`fma.rn.sat.bf16`: `.sat` does not go with `.bf16` here"
    );
    assert_eq!(
        refusal("sin.approx.f64 %d, %a;", "b64", &["b64"]),
        "`sin.approx.f64`: it has no `.f64`: expected one of `.f32`"
    );
}
