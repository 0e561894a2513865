//! Beside `rustc_apfloat`, which is LLVM's.

use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half as ApHalf, Single};
use rustc_apfloat::{Float as _, FloatConvert, Round, StatusAnd};

use super::super::float::{self, Float, Rounding};
use super::super::half::{self, Bf16, F16, Half};
use super::super::{convert, fp8};

const ROUNDINGS: [(Rounding, Round); 5] = [
    (Rounding::Nearest, Round::NearestTiesToEven),
    (Rounding::NearestAway, Round::NearestTiesToAway),
    (Rounding::Zero, Round::TowardZero),
    (Rounding::Down, Round::TowardNegative),
    (Rounding::Up, Round::TowardPositive),
];

/// Bits of a format of `exponent` and `fraction` bits: any, or near a power of two, or of a small exponent.
pub(super) fn random_bits(random: &mut fastrand::Rng, exponent: u32, fraction: u32) -> u64 {
    let width = 1 + exponent + fraction;
    let any = random.u64(..) >> (64 - width);
    let middle = ((1u64 << (exponent - 1)) - 1) << fraction;
    match random.u8(..6) {
        0 => any,
        // Near 1.
        1 => any & !(((1 << exponent) - 1) << fraction) | (middle + (random.u64(..8) << fraction)),
        // Few digits.
        2 => any & !((1 << (fraction - 2)) - 1),
        // Subnormal, or nearly.
        3 => any & !(((1 << exponent) - 1) << fraction) | random.u64(..3) << fraction,
        // Beside a power of two.
        4 => {
            (any >> fraction << fraction)
                .wrapping_add(random.u64(..5))
                .wrapping_sub(2)
                & (u64::MAX >> (64 - width))
        }
        _ => *random
            .choice(&[
                0,
                1,
                middle,
                1 << (width - 1),
                ((1 << exponent) - 1) << fraction,
            ])
            .unwrap_or(&0),
    }
}

fn agrees<A: rustc_apfloat::Float>(ours: u64, theirs: StatusAnd<A>, what: &dyn Fn() -> String) {
    if theirs.value.is_nan() {
        let ours = A::from_bits(ours.into());
        assert!(ours.is_nan(), "{}", what());
    } else {
        assert_eq!(u128::from(ours), theirs.value.to_bits(), "{}", what());
    }
}

fn arithmetic<F: Float + std::fmt::Debug, A: rustc_apfloat::Float>(exponent: u32, fraction: u32) {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..40_000 {
        let bits: [u64; 3] = std::array::from_fn(|_| random_bits(&mut random, exponent, fraction));
        let [a, b, c] = bits.map(F::from_bits);
        let [x, y, z] = bits.map(|x| A::from_bits(x.into()));
        for (ours, theirs) in ROUNDINGS {
            let what = |name: &str| format!("{name} of {a:?}, {b:?}, {c:?}, {ours:?}");
            agrees(
                float::add(a, b, ours).to_bits(),
                x.add_r(y, theirs),
                &|| what("add"),
            );
            agrees(
                float::sub(a, b, ours).to_bits(),
                x.sub_r(y, theirs),
                &|| what("sub"),
            );
            agrees(
                float::mul(a, b, ours).to_bits(),
                x.mul_r(y, theirs),
                &|| what("mul"),
            );
            agrees(
                float::div(a, b, ours).to_bits(),
                x.div_r(y, theirs),
                &|| what("div"),
            );
            agrees(
                float::fma(a, b, c, ours).to_bits(),
                x.mul_add_r(y, z, theirs),
                &|| what("fma"),
            );
        }
    }
}

#[test]
fn arithmetic_of_f32_and_f64() {
    arithmetic::<f32, Single>(8, 23);
    arithmetic::<f64, Double>(11, 52);
}

#[test]
fn a_root_is_next_to_the_exact_one() {
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..100_000 {
        let x = f64::from_bits(random_bits(&mut random, 11, 52) >> 1);
        if !x.is_finite() || x == 0.0 {
            continue;
        }
        let [down, up, zero] =
            [Rounding::Down, Rounding::Up, Rounding::Zero].map(|to| float::sqrt(x, to));
        // The sign of down^2 - x and up^2 - x, exactly, where those are no subnormal numbers.
        if x > 1e-200 {
            assert!(
                down.mul_add(down, -x) <= 0.0 && up.mul_add(up, -x) >= 0.0,
                "{x:e}"
            );
        }
        assert_eq!(down, zero);
        assert!(
            up == down && down * down == x || up == down.next_up(),
            "{x:e}"
        );
    }
}

fn halves<H: Half, A>(fraction: u32)
where
    A: rustc_apfloat::Float,
    Single: FloatConvert<A>,
    Double: FloatConvert<A>,
    A: FloatConvert<Single>,
{
    let exponent = 15 - fraction;
    for bits in 0..=u16::MAX {
        let theirs = FloatConvert::<Single>::convert(A::from_bits(bits.into()), &mut false);
        agrees(H::to_f32(bits).to_bits().into(), theirs, &|| {
            format!("{bits:x}")
        });
    }
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..60_000 {
        let x = random_bits(&mut random, 8, 23);
        let y = random_bits(&mut random, 11, 52);
        // As often near what the format has, and halfway between.
        let near = u64::from(H::to_f32(random.u16(..)).to_bits());
        let near = near.wrapping_add(
            *random
                .choice(&[0, 1, 1 << 12, 1 << 15, 4097, 32769, 4095, 32767])
                .unwrap_or(&0),
        ) & 0xffff_ffff;
        for (ours, theirs) in ROUNDINGS {
            for x in [x, near] {
                let result = half::from_f32::<H>(f32::from_bits(x as u32), ours);
                let reference = Single::from_bits(x.into()).convert_r(theirs, &mut false);
                agrees::<A>(result.into(), reference, &|| format!("{x:x} {ours:?}"));
            }
            let result = half::from_f64::<H>(f64::from_bits(y), ours);
            let reference = Double::from_bits(y.into()).convert_r(theirs, &mut false);
            agrees::<A>(result.into(), reference, &|| format!("{y:x} {ours:?}"));
        }
        let bits: [u16; 3] =
            std::array::from_fn(|_| random_bits(&mut random, exponent, fraction) as u16);
        let [a, b, c] = bits;
        let [x, y, z] = bits.map(|x| A::from_bits(x.into()));
        let nearest = Round::NearestTiesToEven;
        let what = || format!("{a:x} {b:x} {c:x}");
        agrees(half::add::<H>(a, b).into(), x.add_r(y, nearest), &what);
        agrees(half::sub::<H>(a, b).into(), x.sub_r(y, nearest), &what);
        agrees(half::mul::<H>(a, b).into(), x.mul_r(y, nearest), &what);
        agrees(
            half::fma::<H>(a, b, c).into(),
            x.mul_add_r(y, z, nearest),
            &what,
        );
    }
}

#[test]
fn f16_and_bf16() {
    halves::<F16, ApHalf>(10);
    halves::<Bf16, BFloat>(7);
}

#[test]
fn f64_to_f32_and_integers_to_floats() {
    let mut random = fastrand::Rng::with_seed(10);
    for _ in 0..100_000 {
        let x = random_bits(&mut random, 11, 52);
        let shift = random.u32(..64);
        let integer = random.i64(..) >> shift;
        for (ours, theirs) in ROUNDINGS {
            let result = convert::f32_from_f64(f64::from_bits(x), ours).to_bits();
            let reference: StatusAnd<Single> =
                Double::from_bits(x.into()).convert_r(theirs, &mut false);
            agrees(result.into(), reference, &|| format!("{x:x} {ours:?}"));

            let what = || format!("{integer} {ours:?}");
            // There is no conversion of the host that rounds ties away.
            if ours != Rounding::NearestAway {
                let result = convert::from_integer::<_, f32>(integer, ours).to_bits();
                agrees(
                    result.into(),
                    Single::from_i128_r(integer.into(), theirs),
                    &what,
                );
                let unsigned = integer.cast_unsigned();
                let result = convert::from_integer::<_, f64>(unsigned, ours).to_bits();
                agrees(result, Double::from_u128_r(unsigned.into(), theirs), &what);
            }
            let result = convert::half_from_integer::<_, F16>(integer, ours);
            agrees(
                result.into(),
                ApHalf::from_i128_r(integer.into(), theirs),
                &what,
            );
        }
    }
}

#[test]
fn tf32_is_rounded_at_10_digits() {
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..100_000 {
        let x = f32::from_bits(random_bits(&mut random, 8, 23) as u32);
        if !x.is_finite() {
            continue;
        }
        let below = f32::from_bits(x.to_bits() >> 13 << 13);
        let above = f32::from_bits((x.to_bits() >> 13 << 13) + (1 << 13));
        assert_eq!(convert::tf32(x, Rounding::Zero), below);
        let [near, far] = [x - below, above - x].map(f32::abs);
        let away = convert::tf32(x, Rounding::NearestAway);
        let even = convert::tf32(x, Rounding::Nearest);
        if near == far {
            assert_eq!(away, above);
            assert_eq!(even.to_bits() >> 13 & 1, 0);
        } else if above.is_finite() {
            let nearest = if near < far { below } else { above };
            assert_eq!([away, even], [nearest; 2], "{x:e}");
        }
    }
    let infinite = convert::tf32(f32::MAX, Rounding::Nearest);
    assert_eq!(convert::tf32_satfinite(infinite).to_bits(), 0x7f7f_e000);
}

/// The value of a small float, from the definition.
fn value(code: u8, exponent: u32, fraction: u32) -> f64 {
    let digits = f64::from(code & ((1 << fraction) - 1)) / f64::from(1 << fraction);
    let power = i32::from(code >> fraction & ((1 << exponent) - 1));
    let bias = (1 << (exponent - 1)) - 1;
    let magnitude = if power == 0 {
        digits * 2f64.powi(1 - bias)
    } else {
        (1.0 + digits) * 2f64.powi(power - bias)
    };
    if code >> (exponent + fraction) & 1 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

#[test]
fn small_floats() {
    let formats = [
        (fp8::E4M3, 0x7e),
        (fp8::E5M2, 0x7b),
        (fp8::E2M3, 0x1f),
        (fp8::E3M2, 0x1f),
        (fp8::E2M1, 7),
    ];
    let mut random = fastrand::Rng::with_seed(12);
    for (format, max) in formats {
        let (exponent, fraction) = (format.exponent, format.fraction);
        let sign = 1u8 << (exponent + fraction);
        let codes: Vec<u8> = (0..=max).collect();
        for &code in &codes {
            for code in [code, code | sign] {
                let x = value(code, exponent, fraction);
                assert_eq!(
                    f64::from(F16::to_f32(fp8::decode(code, format))).to_bits(),
                    x.to_bits()
                );
                assert_eq!(fp8::encode(x as f32, format), code);
            }
        }
        let greatest = value(max, exponent, fraction);
        for _ in 0..20_000 {
            let scale = random.f64() * greatest * 1.1;
            let x = scale * *random.choice(&[1.0, 0.1, 0.001]).unwrap_or(&1.0);
            // Rounded to few digits, so that ties occur.
            let x = f64::from(Bf16::to_f32(half::from_f32::<Bf16>(
                x as f32,
                Rounding::Zero,
            )));
            let error = |code: u8| (value(code, exponent, fraction) - x).abs();
            let best = codes
                .iter()
                .copied()
                .min_by(|&a, &b| error(a).total_cmp(&error(b)).then((a & 1).cmp(&(b & 1))));
            assert_eq!(
                Some(fp8::encode(x as f32, format)),
                best,
                "{x:e} {format:?}"
            );
            assert_eq!(
                Some(fp8::encode(-x as f32, format) ^ sign),
                best,
                "-{x:e} {format:?}"
            );
        }
        assert_eq!(fp8::encode(f32::INFINITY, format), max);
        assert_eq!(fp8::encode(f32::NEG_INFINITY, format), max | sign);
    }
    for code in 0..=u8::MAX {
        let four = Float8E4M3FN::from_bits(code.into());
        assert_eq!(four.is_nan(), fp8::decode(code, fp8::E4M3) == half::NAN);
        let five = Float8E5M2::from_bits(code.into());
        assert_eq!(five.is_nan(), fp8::decode(code, fp8::E5M2) == half::NAN);
        assert_eq!(
            five.is_infinite(),
            fp8::decode(code, fp8::E5M2) & 0x7fff == F16::INFINITY
        );
    }
    assert_eq!(
        [fp8::E4M3, fp8::E5M2, fp8::E2M1].map(|format| fp8::encode(f32::NAN, format)),
        [0x7f, 0x7f, 7]
    );
}

#[test]
fn powers_of_two() {
    for code in 0..=254u8 {
        let x = 2f64.powi(i32::from(code) - 127);
        assert_eq!(f64::from(Bf16::to_f32(fp8::bf16_from_ue8m0(code))), x);
        for rounding in [Rounding::Zero, Rounding::Up] {
            assert_eq!(fp8::ue8m0(x as f32, rounding), code);
        }
        if code < 254 {
            let between = (x * 1.5) as f32;
            assert_eq!(fp8::ue8m0(between, Rounding::Zero), code);
            assert_eq!(fp8::ue8m0(between, Rounding::Up), code + 1);
        }
    }
    assert_eq!(fp8::ue8m0_satfinite(f32::INFINITY, Rounding::Up), 0xfe);
    assert_eq!(fp8::ue8m0_satfinite(f32::NAN, Rounding::Up), 0xff);
}

#[test]
fn random_rounding_has_the_value_as_its_mean() {
    let x = f32::from_bits(0x3f80_0a00);
    let sum: f64 = (0..1 << 13)
        .map(|random| f64::from(F16::to_f32(fp8::half_random::<F16>(x, random))))
        .sum();
    assert_eq!(sum / f64::from(1 << 13), f64::from(x));
    let tiny = 2f32.powi(-25) * 1.5;
    let sum: f64 = (0..1 << 13)
        .map(|random| f64::from(F16::to_f32(fp8::half_random::<F16>(tiny, random))))
        .sum();
    assert_eq!(sum / f64::from(1 << 13), f64::from(tiny));
    let sum: f64 = (0..1 << 16)
        .map(|random| value(fp8::encode_random(1.3125, fp8::E2M1, random, 8), 2, 1))
        .sum();
    assert_eq!(sum / 65536.0, 1.3125);
    assert_eq!(fp8::encode_random(1e9, fp8::E4M3, 0, 16), 0x7e);
}
