//! Arithmetic on `f16` and `bf16`, single and packed.

use engine::arith::approx;
use engine::arith::half::{self, Bf16, F16, Half};

use super::harness::{HALVES, check};

/// The modifiers of a test.
#[derive(Clone, Copy)]
struct How {
    ftz: bool,
    sat: bool,
    relu: bool,
}

const PLAIN: How = How {
    ftz: false,
    sat: false,
    relu: false,
};

/// A function with modifiers around it, on one half or on both.
fn modified<H: Half, const N: usize>(
    how: How,
    operands: [u64; N],
    f: impl Fn([u16; N]) -> u16,
) -> u64 {
    let flush = |x| if how.ftz { half::flush::<H>(x) } else { x };
    let of_one = |operands: [u16; N]| {
        let result = flush(f(operands.map(flush)));
        let result = if how.sat {
            half::saturate::<H>(result)
        } else {
            result
        };
        if how.relu {
            half::relu::<H>(result)
        } else {
            result
        }
    };
    half::packed(operands.map(|it| it as u32), of_one).into()
}

/// `.ftz` or not, which `f16` alone has.
fn modifiers(ty: &str) -> impl Iterator<Item = (&'static str, bool)> {
    let has_ftz = ty.starts_with("f16");
    [("", false), (".ftz", true)]
        .into_iter()
        .filter(move |it| has_ftz || !it.1)
}

/// Runs a test for both formats, single and packed.
macro_rules! for_formats {
    ($test:ident) => {
        $test!(F16, "f16", "b16");
        $test!(F16, "f16x2", "b32");
        $test!(Bf16, "bf16", "b16");
        $test!(Bf16, "bf16x2", "b32");
    };
}

#[test]
fn rounded() {
    macro_rules! test {
        ($H:ty, $ty:literal, $register:literal) => {
            let two = [HALVES; 2];
            for rounding in ["", ".rn"] {
                check(
                    &format!("add{rounding}.{} %d, %a, %b;", $ty),
                    $register,
                    [$register; 2],
                    two,
                    |it| modified::<$H, 2>(PLAIN, it, |[a, b]| half::add::<$H>(a, b)),
                );
                check(
                    &format!("sub{rounding}.{} %d, %a, %b;", $ty),
                    $register,
                    [$register; 2],
                    two,
                    |it| modified::<$H, 2>(PLAIN, it, |[a, b]| half::sub::<$H>(a, b)),
                );
                check(
                    &format!("mul{rounding}.{} %d, %a, %b;", $ty),
                    $register,
                    [$register; 2],
                    two,
                    |it| modified::<$H, 2>(PLAIN, it, |[a, b]| half::mul::<$H>(a, b)),
                );
            }
            for (modifiers, how) in [
                ("", PLAIN),
                (
                    ".relu",
                    How {
                        relu: true,
                        ..PLAIN
                    },
                ),
            ] {
                check(
                    &format!("fma.rn{modifiers}.{} %d, %a, %b, %c;", $ty),
                    $register,
                    [$register; 3],
                    [HALVES; 3],
                    |it| modified::<$H, 3>(how, it, |[a, b, c]| half::fma::<$H>(a, b, c)),
                );
                let values = [HALVES, &[0x3C00_7FF7, 0xFFF7_4000], HALVES];
                check(
                    &format!("fma.rn.oob{modifiers}.{} %d, %a, %b, %c;", $ty),
                    $register,
                    [$register; 3],
                    values,
                    |it| {
                        modified::<$H, 3>(PLAIN, it, |[a, b, c]| {
                            let result = half::fma::<$H>(a, b, c);
                            half::or_out_of_bounds(
                                a,
                                b,
                                if how.relu {
                                    half::relu::<$H>(result)
                                } else {
                                    result
                                },
                            )
                        })
                    },
                );
            }
        };
    }
    for_formats!(test);
    // 1 + 1 and 1 + 2 in the halves of a register.
    check(
        "add.f16x2 %d, %a, %b;",
        "b32",
        ["b32"; 2],
        [&[0x3C00_3C00], &[0x3C00_4000]],
        |_| 0x4000_4200,
    );
}

#[test]
fn flushed() {
    for (ty, register) in [("f16", "b16"), ("f16x2", "b32")] {
        for (modifiers, ftz, sat) in [
            (".ftz", true, false),
            (".sat", false, true),
            (".ftz.sat", true, true),
        ] {
            let two = [HALVES; 2];
            let how = How { ftz, sat, ..PLAIN };
            let own = How { ftz: false, ..how };
            check(
                &format!("add{modifiers}.{ty} %d, %a, %b;"),
                register,
                [register; 2],
                two,
                |it| modified::<F16, 2>(how, it, |[a, b]| half::add::<F16>(a, b)),
            );
            check(
                &format!("sub{modifiers}.{ty} %d, %a, %b;"),
                register,
                [register; 2],
                two,
                |it| modified::<F16, 2>(how, it, |[a, b]| half::sub::<F16>(a, b)),
            );
            check(
                &format!("mul{modifiers}.{ty} %d, %a, %b;"),
                register,
                [register; 2],
                two,
                |it| {
                    modified::<F16, 2>(own, it, |[a, b]| {
                        if ftz {
                            half::mul_ftz(a, b)
                        } else {
                            half::mul::<F16>(a, b)
                        }
                    })
                },
            );
            check(
                &format!("fma.rn{modifiers}.{ty} %d, %a, %b, %c;"),
                register,
                [register; 3],
                [HALVES; 3],
                |it| {
                    modified::<F16, 3>(own, it, |[a, b, c]| match ftz {
                        true => half::fma_ftz(a, b, c),
                        false => half::fma::<F16>(a, b, c),
                    })
                },
            );
        }
        let relu = How {
            relu: true,
            ..PLAIN
        };
        check(
            &format!("fma.rn.ftz.relu.{ty} %d, %a, %b, %c;"),
            register,
            [register; 3],
            [HALVES; 3],
            |it| modified::<F16, 3>(relu, it, |[a, b, c]| half::fma_ftz(a, b, c)),
        );
    }
}

#[test]
fn extremes() {
    type Function = fn(u16, u16) -> u16;
    macro_rules! test {
        ($H:ty, $ty:literal, $register:literal) => {
            let functions: [(&str, &str, Function); 4] = [
                ("min", "", half::min::<$H>),
                ("max", "", half::max::<$H>),
                ("min", ".NaN", half::min_nan::<$H>),
                ("max", ".NaN", half::max_nan::<$H>),
            ];
            for (op, nan, f) in functions {
                for (modifier, ftz) in modifiers($ty) {
                    let how = How { ftz, ..PLAIN };
                    let two = [HALVES; 2];
                    check(
                        &format!("{op}{modifier}{nan}.{} %d, %a, %b;", $ty),
                        $register,
                        [$register; 2],
                        two,
                        |it| modified::<$H, 2>(how, it, |[a, b]| f(a, b)),
                    );
                    let text = format!("{op}{modifier}{nan}.xorsign.abs.{} %d, %a, %b;", $ty);
                    check(&text, $register, [$register; 2], two, |it| {
                        modified::<$H, 2>(how, it, |[a, b]| half::xorsign_abs::<$H>(a, b, f))
                    });
                }
            }
        };
    }
    for_formats!(test);
}

#[test]
fn of_one() {
    macro_rules! test {
        ($H:ty, $ty:literal, $register:literal) => {
            for (modifier, ftz) in modifiers($ty) {
                let how = How { ftz, ..PLAIN };
                check(
                    &format!("abs{modifier}.{} %d, %a;", $ty),
                    $register,
                    [$register],
                    [HALVES],
                    |it| modified::<$H, 1>(how, it, |[a]| half::abs::<$H>(a)),
                );
                check(
                    &format!("neg{modifier}.{} %d, %a;", $ty),
                    $register,
                    [$register],
                    [HALVES],
                    |it| modified::<$H, 1>(how, it, |[a]| half::neg::<$H>(a)),
                );
            }
            // `bf16` has it with `.ftz` alone, `f16` without.
            let flushed = [(".ftz", true)]
                .into_iter()
                .filter(|_| $ty.starts_with('b'));
            let kept = [("", false)].into_iter().filter(|_| $ty.starts_with('f'));
            for (modifier, ftz) in flushed.chain(kept) {
                let how = How { ftz, ..PLAIN };
                check(
                    &format!("ex2.approx{modifier}.{} %d, %a;", $ty),
                    $register,
                    [$register],
                    [HALVES],
                    |it| modified::<$H, 1>(how, it, |[a]| approx::ex2_half::<$H>(a)),
                );
            }
            check(
                &format!("tanh.approx.{} %d, %a;", $ty),
                $register,
                [$register],
                [HALVES],
                |it| modified::<$H, 1>(PLAIN, it, |[a]| approx::tanh_half::<$H>(a)),
            );
        };
    }
    for_formats!(test);
}
