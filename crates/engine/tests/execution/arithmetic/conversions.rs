//! Conversions.

use engine::arith::convert;
use engine::arith::float::{self, Rounding};
use engine::arith::fp8;
use engine::arith::half::{self, Bf16, F16, Half};

use super::harness::{F32, F64, HALVES, INTEGERS, check, refusal};

/// Each type of integers with its registers, the narrowest first.
macro_rules! for_integers {
    ($test:ident $(, $more:tt)*) => {
        $test!($($more,)* "u8", 8, u8);
        $test!($($more,)* "s8", 8, i8);
        $test!($($more,)* "u16", 16, u16);
        $test!($($more,)* "s16", 16, i16);
        $test!($($more,)* "u32", 32, u32);
        $test!($($more,)* "s32", 32, i32);
        $test!($($more,)* "u64", 64, u64);
        $test!($($more,)* "s64", 64, i64);
    };
}

/// Registers of so many bits and more.
fn registers(bits: u32) -> impl Iterator<Item = &'static str> {
    [(8, "b8"), (16, "b16"), (32, "b32"), (64, "b64")]
        .into_iter()
        .filter(move |it| it.0 >= bits)
        .map(|it| it.1)
}

#[test]
fn between_integers() {
    macro_rules! from {
        ($from:literal, $from_bits:literal, $F:ty) => {
            for_integers!(to, $from, $from_bits, $F);
        };
    }
    macro_rules! to {
        ($from:literal, $from_bits:literal, $F:ty, $to:literal, $bits:literal, $T:ty) => {
            for source in registers($from_bits) {
                for d in registers($bits) {
                    check(
                        concat!("cvt.", $to, ".", $from, " %d, %a;"),
                        d,
                        [source],
                        [INTEGERS],
                        |[a]| a as $F as $T as u64,
                    );
                    // Where the destination has every value there is nothing to saturate, and no `.sat`.
                    let saturates = <$T>::MIN as i128 > <$F>::MIN as i128
                        || (<$T>::MAX as i128) < <$F>::MAX as i128;
                    if saturates {
                        check(
                            concat!("cvt.sat.", $to, ".", $from, " %d, %a;"),
                            d,
                            [source],
                            [INTEGERS],
                            |[a]| convert::integer_sat::<$F, $T>(a as $F) as u64,
                        );
                    }
                }
            }
        };
    }
    for_integers!(from);
    check("cvt.s8.s32 %d, %a;", "b32", ["b32"], [&[0x1FF]], |_| {
        0xFFFF_FFFF
    });
    check("cvt.u8.s32 %d, %a;", "b16", ["b32"], [&[0x1FF]], |_| 0xFF);
}

const ROUNDINGS: [(&str, Rounding); 4] = [
    ("n", Rounding::Nearest),
    ("z", Rounding::Zero),
    ("m", Rounding::Down),
    ("p", Rounding::Up),
];

#[test]
fn from_integers() {
    macro_rules! test {
        ($from:literal, $bits:literal, $F:ty) => {
            for (name, how) in ROUNDINGS {
                let source = registers($bits).next().unwrap();
                check(
                    &format!("cvt.r{name}.f32.{} %d, %a;", $from),
                    "b32",
                    [source],
                    [INTEGERS],
                    |[a]| {
                        convert::from_integer::<$F, f32>(a as $F, how)
                            .to_bits()
                            .into()
                    },
                );
                check(
                    &format!("cvt.r{name}.f64.{} %d, %a;", $from),
                    "b64",
                    [source],
                    [INTEGERS],
                    |[a]| convert::from_integer::<$F, f64>(a as $F, how).to_bits(),
                );
                check(
                    &format!("cvt.r{name}.f16.{} %d, %a;", $from),
                    "b16",
                    [source],
                    [INTEGERS],
                    |[a]| convert::half_from_integer::<$F, F16>(a as $F, how).into(),
                );
                check(
                    &format!("cvt.r{name}.bf16.{} %d, %a;", $from),
                    "b16",
                    [source],
                    [INTEGERS],
                    |[a]| convert::half_from_integer::<$F, Bf16>(a as $F, how).into(),
                );
            }
        };
    }
    for_integers!(test);
    check(
        "cvt.rn.sat.f32.s32 %d, %a;",
        "b32",
        ["b32"],
        [INTEGERS],
        |[a]| float::saturate(a as i32 as f32).to_bits().into(),
    );
}

#[test]
fn to_integers() {
    macro_rules! test {
        ($to:literal, $bits:literal, $T:ty) => {
            for (name, how) in ROUNDINGS {
                for d in registers($bits) {
                    check(
                        &format!("cvt.r{name}i.{}.f32 %d, %a;", $to),
                        d,
                        ["b32"],
                        [F32],
                        |[a]| convert::to_integer::<f32, $T>(f32::from_bits(a as u32), how) as u64,
                    );
                    check(
                        &format!("cvt.r{name}i.ftz.{}.f32 %d, %a;", $to),
                        d,
                        ["b32"],
                        [F32],
                        |[a]| {
                            convert::to_integer::<f32, $T>(
                                float::flush(f32::from_bits(a as u32)),
                                how,
                            ) as u64
                        },
                    );
                    check(
                        &format!("cvt.r{name}i.{}.f64 %d, %a;", $to),
                        d,
                        ["b64"],
                        [F64],
                        |[a]| convert::to_integer::<f64, $T>(f64::from_bits(a), how) as u64,
                    );
                    check(
                        &format!("cvt.r{name}i.{}.f16 %d, %a;", $to),
                        d,
                        ["b16"],
                        [HALVES],
                        |[a]| convert::to_integer::<f32, $T>(F16::to_f32(a as u16), how) as u64,
                    );
                }
                check(
                    &format!("cvt.r{name}i.{}.bf16 %d, %a;", $to),
                    registers($bits).next().unwrap(),
                    ["b16"],
                    [HALVES],
                    |[a]| convert::to_integer::<f32, $T>(Bf16::to_f32(a as u16), how) as u64,
                );
            }
        };
    }
    for_integers!(test);
}

#[test]
fn between_floats() {
    let f32_of = |bits: u64| f32::from_bits(bits as u32);
    check("cvt.f64.f32 %d, %a;", "b64", ["b32"], [F32], |[a]| {
        convert::f64_from_f32(f32_of(a)).to_bits()
    });
    check("cvt.ftz.f64.f32 %d, %a;", "b64", ["b32"], [F32], |[a]| {
        convert::f64_from_f32(float::canonical(float::flush(f32_of(a)))).to_bits()
    });
    for (name, how) in ROUNDINGS {
        check(
            &format!("cvt.r{name}.f32.f64 %d, %a;"),
            "b32",
            ["b64"],
            [F64],
            |[a]| {
                convert::f32_from_f64(f64::from_bits(a), how)
                    .to_bits()
                    .into()
            },
        );
        check(
            &format!("cvt.r{name}.ftz.sat.f32.f64 %d, %a;"),
            "b32",
            ["b64"],
            [F64],
            |[a]| {
                float::saturate(float::flush(convert::f32_from_f64(f64::from_bits(a), how)))
                    .to_bits()
                    .into()
            },
        );
        check(
            &format!("cvt.r{name}i.f32.f32 %d, %a;"),
            "b32",
            ["b32"],
            [F32],
            |[a]| convert::round_to_integral(f32_of(a), how).to_bits().into(),
        );
        check(
            &format!("cvt.r{name}i.f64.f64 %d, %a;"),
            "b64",
            ["b64"],
            [F64],
            |[a]| convert::round_to_integral(f64::from_bits(a), how).to_bits(),
        );
        check(
            &format!("cvt.r{name}i.f16.f16 %d, %a;"),
            "b16",
            ["b16"],
            [HALVES],
            |[a]| F16::nearest(convert::round_to_integral(F16::to_f32(a as u16), how)).into(),
        );
        check(
            &format!("cvt.r{name}.f16.f32 %d, %a;"),
            "b16",
            ["b32"],
            [F32],
            |[a]| half::from_f32::<F16>(f32_of(a), how).into(),
        );
        // On an H100 `.ftz` does nothing here: 0x2447 becomes 1 by `.rp`, 0x8000_0001 becomes 0x8001 by `.rm`.
        check(
            &format!("cvt.r{name}.ftz.f16.f32 %d, %a;"),
            "b16",
            ["b32"],
            [&[
                0,
                0x2447,
                0xED53,
                0x8000_0000,
                0x8000_0001,
                0x807F_FFFF,
                0x3F80_0001,
            ]],
            |[a]| half::from_f32::<F16>(f32_of(a), how).into(),
        );
        check(
            &format!("cvt.r{name}.bf16.f32 %d, %a;"),
            "b16",
            ["b32"],
            [F32],
            |[a]| half::from_f32::<Bf16>(f32_of(a), how).into(),
        );
        check(
            &format!("cvt.r{name}.f16.f64 %d, %a;"),
            "b16",
            ["b64"],
            [F64],
            |[a]| half::from_f64::<F16>(f64::from_bits(a), how).into(),
        );
        check(
            &format!("cvt.r{name}.bf16.f16 %d, %a;"),
            "b16",
            ["b16"],
            [HALVES],
            |[a]| half::from_f32::<Bf16>(F16::to_f32(a as u16), how).into(),
        );
    }
    check(
        "cvt.rn.relu.satfinite.f16.f32 %d, %a;",
        "b16",
        ["b32"],
        [F32],
        |[a]| {
            half::satfinite::<F16>(half::relu::<F16>(half::from_f32::<F16>(
                f32_of(a),
                Rounding::Nearest,
            )))
            .into()
        },
    );
    check("cvt.sat.f32.f32 %d, %a;", "b32", ["b32"], [F32], |[a]| {
        float::saturate(f32_of(a)).to_bits().into()
    });
    check("cvt.ftz.f32.f32 %d, %a;", "b32", ["b32"], [F32], |[a]| {
        float::canonical(float::flush(f32_of(a))).to_bits().into()
    });
    check("cvt.f32.f16 %d, %a;", "b32", ["b16"], [HALVES], |[a]| {
        convert::f32_from_half::<F16>(a as u16).to_bits().into()
    });
    check("cvt.f32.bf16 %d, %a;", "b32", ["b16"], [HALVES], |[a]| {
        convert::f32_from_half::<Bf16>(a as u16).to_bits().into()
    });
    check("cvt.f64.f16 %d, %a;", "b64", ["b16"], [HALVES], |[a]| {
        convert::f64_from_half::<F16>(a as u16).to_bits()
    });
    check("cvt.f64.bf16 %d, %a;", "b64", ["b16"], [HALVES], |[a]| {
        convert::f64_from_half::<Bf16>(a as u16).to_bits()
    });
    // A wider register than the source's type.
    check(
        "cvt.f32.f16 %d, %a;",
        "b32",
        ["b32"],
        [&[0x1234_3C00]],
        |_| 0x3F80_0000,
    );
}

#[test]
fn packed() {
    let f32_of = |bits: u64| f32::from_bits(bits as u32);
    macro_rules! test {
        ($H:ty, $ty:literal, $digits:literal) => {
            for (name, how) in [("rn", Rounding::Nearest), ("rz", Rounding::Zero)] {
                let pack = |it: [u64; 2], f: &dyn Fn(u16) -> u16| {
                    let [a, b] = it.map(|it| u64::from(f(half::from_f32::<$H>(f32_of(it), how))));
                    a << 16 | b
                };
                check(
                    &format!("cvt.{name}.{}.f32 %d, %a, %b;", $ty),
                    "b32",
                    ["b32"; 2],
                    [F32; 2],
                    |it| pack(it, &|x| x),
                );
                check(
                    &format!("cvt.{name}.relu.{}.f32 %d, %a, %b;", $ty),
                    "b32",
                    ["b32"; 2],
                    [F32; 2],
                    |it| pack(it, &half::relu::<$H>),
                );
                check(
                    &format!("cvt.{name}.satfinite.{}.f32 %d, %a, %b;", $ty),
                    "b32",
                    ["b32"; 2],
                    [F32; 2],
                    |it| pack(it, &half::satfinite::<$H>),
                );
            }
            let random = &[0, 0xFFFF_FFFF, 0x1234_5678, 0x8000_0001];
            check(
                concat!("cvt.rs.", $ty, ".f32 %d, %a, %b, %c;"),
                "b32",
                ["b32"; 3],
                [F32, F32, random],
                |[a, b, c]| {
                    let of = |x, c: u64| {
                        u64::from(fp8::half_random::<$H>(
                            f32_of(x),
                            c as u32 & ((1 << $digits) - 1),
                        ))
                    };
                    of(a, c >> 16) << 16 | of(b, c)
                },
            );
        };
    }
    test!(F16, "f16x2", 13);
    test!(Bf16, "bf16x2", 16);
}

#[test]
fn few_bits() {
    let f32_of = |bits: u64| f32::from_bits(bits as u32);
    let bytes: Vec<u64> = (0..0x1_0000)
        .step_by(0x101)
        .chain([0x1234, 0xFF80, 0x7F00, 0x7C83])
        .collect();
    macro_rules! test {
        ($format:expr, $ty:literal, $bits:literal, $register:literal) => {
            for (name, relu) in [("", false), (".relu", true)] {
                let relu = |x: f32| if relu { float::relu(x) } else { x };
                let pack = |a, b| {
                    let [a, b] = [a, b].map(|x| u64::from(fp8::encode(relu(x), $format)));
                    a << $bits | b
                };
                let text = format!("cvt.rn.satfinite{name}.{}.f32 %d, %a, %b;", $ty);
                check(&text, $register, ["b32"; 2], [F32; 2], |[a, b]| {
                    pack(f32_of(a), f32_of(b))
                });
                let text = format!("cvt.rn.satfinite{name}.{}.f16x2 %d, %a;", $ty);
                check(&text, $register, ["b32"], [HALVES], |[a]| {
                    pack(F16::to_f32((a >> 16) as u16), F16::to_f32(a as u16))
                });
                let text = format!("cvt.rn{name}.f16x2.{} %d, %a;", $ty);
                let is_relu = !name.is_empty();
                check(&text, "b32", [$register], [&bytes], |[a]| {
                    let of = |a: u64| {
                        let decoded = fp8::decode((a & ((1 << $bits) - 1)) as u8, $format);
                        u64::from(if is_relu {
                            half::relu::<F16>(decoded)
                        } else {
                            decoded
                        })
                    };
                    of(a >> $bits) << 16 | of(a)
                });
            }
        };
    }
    test!(fp8::E4M3, "e4m3x2", 8, "b16");
    test!(fp8::E5M2, "e5m2x2", 8, "b16");
    test!(fp8::E2M3, "e2m3x2", 8, "b16");
    test!(fp8::E3M2, "e3m2x2", 8, "b16");
    test!(fp8::E2M1, "e2m1x2", 4, "b8");
    for (name, how) in [("rz", Rounding::Zero), ("rp", Rounding::Up)] {
        check(
            &format!("cvt.{name}.ue8m0x2.f32 %d, %a, %b;"),
            "b16",
            ["b32"; 2],
            [F32; 2],
            |it| {
                let [a, b] = it.map(|x| u64::from(fp8::ue8m0(f32_of(x), how)));
                a << 8 | b
            },
        );
        check(
            &format!("cvt.{name}.satfinite.ue8m0x2.bf16x2 %d, %a;"),
            "b16",
            ["b32"],
            [HALVES],
            |[a]| {
                let of = |x: u64| u64::from(fp8::ue8m0_satfinite(Bf16::to_f32(x as u16), how));
                of(a >> 16) << 8 | of(a)
            },
        );
    }
    check(
        "cvt.rn.bf16x2.ue8m0x2 %d, %a;",
        "b32",
        ["b16"],
        [&bytes],
        |[a]| {
            let of = |x: u64| u64::from(fp8::bf16_from_ue8m0(x as u8));
            of(a >> 8) << 16 | of(a)
        },
    );
}

#[test]
fn tf32() {
    for (name, how) in [
        ("rn", Rounding::Nearest),
        ("rna", Rounding::NearestAway),
        ("rz", Rounding::Zero),
    ] {
        check(
            &format!("cvt.{name}.tf32.f32 %d, %a;"),
            "b32",
            ["b32"],
            [F32],
            |[a]| {
                convert::tf32(f32::from_bits(a as u32), how)
                    .to_bits()
                    .into()
            },
        );
        check(
            &format!("cvt.{name}.satfinite.relu.tf32.f32 %d, %a;"),
            "b32",
            ["b32"],
            [F32],
            |[a]| {
                convert::tf32_satfinite(convert::tf32(float::relu(f32::from_bits(a as u32)), how))
                    .to_bits()
                    .into()
            },
        );
    }
}

#[test]
fn saturated_and_packed() {
    macro_rules! test {
        ($to:literal, $T:ty, $bits:literal) => {
            check(
                concat!("cvt.pack.sat.", $to, ".s32.b32 %d, %a, %b, %c;"),
                "b32",
                ["b32"; 3],
                [INTEGERS; 3],
                |[a, b, c]| convert::pack::<$T>(a as i32, b as i32, c as u32, $bits).into(),
            );
        };
    }
    test!("u8", u32, 8);
    test!("s8", i32, 8);
    test!("u4", u32, 4);
    test!("s4", i32, 4);
    test!("u2", u32, 2);
    test!("s2", i32, 2);
    for (name, low, high) in [("u16", 0, 0xFFFF), ("s16", -0x8000, 0x7FFF)] {
        check(
            &format!("cvt.pack.sat.{name}.s32 %d, %a, %b;"),
            "b32",
            ["b32"; 2],
            [INTEGERS; 2],
            |it| {
                let [a, b] = it.map(|x| (x as i32).clamp(low, high) as u64 & 0xFFFF);
                a << 16 | b
            },
        );
    }
}

#[test]
fn refused() {
    assert_eq!(
        refusal("cvt.rn.f32.f32 %d, %a;", "b32", &["b32"]),
        "`cvt.rn.f32.f32`: a conversion from `.f32` to `.f32` takes `.rni`, `.rzi`, `.rmi`, `.rpi` or no rounding"
    );
    assert_eq!(
        refusal("cvt.rn.e4m3x2.f32 %d, %a, %b;", "b16", &["b32"; 2]),
        "a modifier"
    );
}

/// By the PTX ISA's words: a and b are rounded by the upper 16 random bits, e and f by the lower 16, and a is the highest
/// byte.
#[test]
fn four_of_few_bits_are_rounded_by_sixteen_random_bits() {
    let known = |text: &str, random: u64, numbers: [f32; 4], expected: u64| {
        let [a, b, e, f] = numbers.map(|it| format!("0f{:08x}", it.to_bits()));
        let text = format!("cvt.rs.{text}.f32 %d, {{{a}, {b}, {e}, {f}}}, %a;");
        check(&text, "b32", ["b32"], [&[random]], |_| expected);
    };
    // 1.5 is a number of each: no random bits change it.
    for random in [0, 0xFFFF_FFFF] {
        known(
            "satfinite.e4m3x4",
            random,
            [1.5, -1.5, 0.5, 448.0],
            0x3CBC_307E,
        );
        known(
            "satfinite.e5m2x4",
            random,
            [1.5, -1.5, 0.5, 57344.0],
            0x3EBE_387B,
        );
        known(
            "satfinite.e2m3x4",
            random,
            [1.5, -1.5, 0.5, 7.5],
            0x0C2C_041F,
        );
        known(
            "satfinite.e3m2x4",
            random,
            [1.5, -1.5, 0.5, 28.0],
            0x0E2E_081F,
        );
    }
    // A quarter above 1 in units of the last digit, 2^-3 and 2^-2: up for the upper quarter of the random numbers.
    let quarter = [1.0 + 1.0 / 32.0; 4];
    known("satfinite.e4m3x4", 0xBFFF_C000, quarter, 0x3838_3939);
    known("satfinite.e4m3x4", 0xC000_BFFF, quarter, 0x3939_3838);
    let quarter = [1.0 + 1.0 / 16.0; 4];
    known("satfinite.e5m2x4", 0xC000_BFFF, quarter, 0x3D3D_3C3C);
    // Saturated, and 0 where it is negative.
    known(
        "satfinite.e4m3x4",
        0,
        [1e9, -1e9, f32::NAN, -1.0],
        0x7EFE_7FB8,
    );
    known(
        "relu.satfinite.e4m3x4",
        0,
        [1e9, -1e9, -1.0, 1.0],
        0x7E00_0038,
    );
}

#[test]
fn a_rounding_of_what_is_exact_changes_nothing() {
    for rounding in ["rn", "rz", "rm", "rp"] {
        check(
            &format!("cvt.{rounding}.f64.bf16 %d, %a;"),
            "b64",
            ["b16"],
            [HALVES],
            |[a]| {
                let x = f32::from_bits((a as u32) << 16);
                match x.is_nan() {
                    true => convert::f64_from_half::<Bf16>(a as u16).to_bits(),
                    false => f64::from(x).to_bits(),
                }
            },
        );
    }
}
