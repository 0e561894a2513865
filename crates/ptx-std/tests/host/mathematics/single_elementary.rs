//! `f32`: angles, arcs, roots and lengths; both types: remainders, fractions and exponents.

use ptx_std::{FloatExt, GpuFloat};

const INFINITY: f32 = f32::INFINITY;
const TINIEST: f32 = f32::from_bits(1);

/// Asserts values to the bit, or NaN for NaN.
#[track_caller]
fn exactly(cases: &[(&str, f32, f32)]) {
    for (name, value, expected) in cases {
        assert!(
            value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan(),
            "{name} is {value:e}, not {expected:e}"
        );
    }
}

/// A function of an `f32`, its exact form, and the error allowed in units in the last place.
type Checked = (&'static str, fn(f32) -> f32, fn(f64) -> f64, f64);

/// How far a value is from the true one in units in the last place.
fn units(value: f32, exact: f64) -> f64 {
    let size = exact.abs() as f32;
    let unit = f64::from(size.next_up()) - f64::from(size);
    (f64::from(value) - exact).abs() / unit
}

/// Floats of every exponent from one to another, some thousand, of both signs.
fn floats(from: f32, to: f32) -> impl Iterator<Item = f32> {
    (from.to_bits()..=to.to_bits())
        .step_by(((to.to_bits() - from.to_bits()) / 3_001 + 1) as usize)
        .map(f32::from_bits)
        .flat_map(|x| [x, -x])
}

#[track_caller]
fn within(functions: &[Checked], from: f32, to: f32) {
    for (name, function, exact, allowed) in functions {
        for x in floats(from, to) {
            let (value, exact) = (function(x), exact(f64::from(x)));
            let error = units(value, exact);
            assert!(
                error <= *allowed,
                "{name}({x:e}) is {value:e}, {error:.2} units off"
            );
        }
    }
}

#[test]
fn errors_are_within_their_bounds() {
    let angles: [Checked; 5] = [
        ("sin", GpuFloat::sin, f64::sin, 1.6),
        ("cos", GpuFloat::cos, f64::cos, 1.6),
        ("sin_cos.0", |x| GpuFloat::sin_cos(x).0, f64::sin, 1.6),
        ("sin_cos.1", |x| GpuFloat::sin_cos(x).1, f64::cos, 1.6),
        ("tan", GpuFloat::tan, f64::tan, 3.0),
    ];
    within(&angles, TINIEST, f32::MAX);
    within(&angles, 0.1, 10.0);
    let arcs: [Checked; 1] = [("atan", GpuFloat::atan, f64::atan, 1.6)];
    within(&arcs, TINIEST, f32::MAX);
    within(&arcs, 0.1, 10.0);
    let arcs: [Checked; 2] = [
        ("asin", GpuFloat::asin, f64::asin, 2.0),
        ("acos", GpuFloat::acos, f64::acos, 2.0),
    ];
    within(&arcs, TINIEST, 1.0);
    within(&arcs, 0.1, 1.0);
    let roots: [Checked; 2] = [
        ("cbrt", GpuFloat::cbrt, f64::cbrt, 1.0),
        ("rcbrt", FloatExt::rcbrt, |x| 1.0 / x.cbrt(), 1.0),
    ];
    within(&roots, TINIEST, f32::MAX);
    let of_pi: [Checked; 2] = [
        ("sinpi", FloatExt::sinpi, FloatExt::sinpi, 1.0),
        ("cospi", FloatExt::cospi, FloatExt::cospi, 1.0),
    ];
    within(&of_pi, TINIEST, 0.49);
    within(&of_pi, 0.51, 0.99);
    within(&of_pi, 100_000.1, 100_010.4);
}

#[test]
fn pairs_are_their_functions() {
    for x in floats(TINIEST, f32::MAX) {
        let (sine, cosine) = GpuFloat::sin_cos(x);
        let (of_pi, cosine_of_pi) = x.sincospi();
        exactly(&[
            ("sin_cos.0", sine, GpuFloat::sin(x)),
            ("sin_cos.1", cosine, GpuFloat::cos(x)),
            ("sincospi.0", of_pi, x.sinpi()),
            ("sincospi.1", cosine_of_pi, x.cospi()),
        ]);
    }
}

#[test]
fn angles_at_the_ends() {
    for x in [INFINITY, -INFINITY, f32::NAN] {
        exactly(&[
            ("sin", GpuFloat::sin(x), f32::NAN),
            ("cos", GpuFloat::cos(x), f32::NAN),
            ("tan", GpuFloat::tan(x), f32::NAN),
            ("sinpi", x.sinpi(), f32::NAN),
            ("cospi", x.cospi(), f32::NAN),
        ]);
    }
    exactly(&[
        ("sin(-0)", GpuFloat::sin(-0.0_f32), -0.0),
        ("tan(-0)", GpuFloat::tan(-0.0_f32), -0.0),
        ("cos(-0)", GpuFloat::cos(-0.0_f32), 1.0),
        ("sin of the least", GpuFloat::sin(-TINIEST), -TINIEST),
        ("tan of the least", GpuFloat::tan(TINIEST), TINIEST),
        ("sin of the greatest", GpuFloat::sin(f32::MAX), -0.521_876_5),
        ("cos of the greatest", GpuFloat::cos(f32::MAX), 0.853_021),
        ("sinpi(-0)", (-0.0_f32).sinpi(), -0.0),
        ("sinpi(1)", 1.0_f32.sinpi(), 0.0),
        ("sinpi(-1)", (-1.0_f32).sinpi(), -0.0),
        ("sinpi(-2)", (-2.0_f32).sinpi(), -0.0),
        ("sinpi(0.5)", 0.5_f32.sinpi(), 1.0),
        ("sinpi(2097153.5)", 2_097_153.5_f32.sinpi(), -1.0),
        ("sinpi(1e30)", 1e30_f32.sinpi(), 0.0),
        ("cospi(0.5)", 0.5_f32.cospi(), 0.0),
        ("cospi(-1.5)", (-1.5_f32).cospi(), 0.0),
        ("cospi(8388609)", 8_388_609.0_f32.cospi(), -1.0),
        ("cospi(1e30)", 1e30_f32.cospi(), 1.0),
    ]);
}

#[test]
fn arcs_at_the_ends() {
    let (half, whole) = (core::f32::consts::FRAC_PI_2, core::f32::consts::PI);
    exactly(&[
        ("asin(1)", GpuFloat::asin(1.0_f32), half),
        ("asin(-1)", GpuFloat::asin(-1.0_f32), -half),
        ("asin(-0)", GpuFloat::asin(-0.0_f32), -0.0),
        ("asin of the least", GpuFloat::asin(TINIEST), TINIEST),
        ("asin beyond 1", GpuFloat::asin(1.0_f32.next_up()), f32::NAN),
        ("asin(nan)", GpuFloat::asin(f32::NAN), f32::NAN),
        ("acos(1)", GpuFloat::acos(1.0_f32), 0.0),
        ("acos(0)", GpuFloat::acos(0.0_f32), half),
        ("acos(-1)", GpuFloat::acos(-1.0_f32), whole),
        (
            "acos beyond -1",
            GpuFloat::acos((-1.0_f32).next_down()),
            f32::NAN,
        ),
        ("acos(nan)", GpuFloat::acos(f32::NAN), f32::NAN),
        ("atan(inf)", GpuFloat::atan(INFINITY), half),
        ("atan(-inf)", GpuFloat::atan(-INFINITY), -half),
        ("atan of the greatest", GpuFloat::atan(f32::MAX), half),
        ("atan(-0)", GpuFloat::atan(-0.0_f32), -0.0),
        ("atan(nan)", GpuFloat::atan(f32::NAN), f32::NAN),
        ("atan2(0, 0)", GpuFloat::atan2(0.0_f32, 0.0), 0.0),
        ("atan2(-0, 0)", GpuFloat::atan2(-0.0_f32, 0.0), -0.0),
        ("atan2(0, -0)", GpuFloat::atan2(0.0_f32, -0.0), whole),
        ("atan2(-0, -1)", GpuFloat::atan2(-0.0_f32, -1.0), -whole),
        ("atan2(1, -0)", GpuFloat::atan2(1.0_f32, -0.0), half),
        (
            "atan2(inf, inf)",
            GpuFloat::atan2(INFINITY, INFINITY),
            0.5 * half,
        ),
        (
            "atan2(inf, -inf)",
            GpuFloat::atan2(INFINITY, -INFINITY),
            1.5 * half,
        ),
        ("atan2(1, inf)", GpuFloat::atan2(1.0, INFINITY), 0.0),
        ("atan2(-1, -inf)", GpuFloat::atan2(-1.0, -INFINITY), -whole),
        ("atan2(inf, -1)", GpuFloat::atan2(INFINITY, -1.0), half),
        ("atan2(nan, 1)", GpuFloat::atan2(f32::NAN, 1.0), f32::NAN),
        ("atan2(1, nan)", GpuFloat::atan2(1.0, f32::NAN), f32::NAN),
        ("atan2 of the least", GpuFloat::atan2(TINIEST, 1.0), TINIEST),
    ]);
}

#[test]
fn roots_and_lengths_at_the_ends() {
    // 2^-148.
    let quarter = f32::from_bits(2);
    exactly(&[
        ("cbrt(-0)", GpuFloat::cbrt(-0.0_f32), -0.0),
        ("cbrt(-inf)", GpuFloat::cbrt(-INFINITY), -INFINITY),
        ("cbrt(nan)", GpuFloat::cbrt(f32::NAN), f32::NAN),
        ("cbrt(-27)", GpuFloat::cbrt(-27.0_f32), -3.0),
        ("rcbrt(-0)", (-0.0_f32).rcbrt(), -INFINITY),
        ("rcbrt(-inf)", (-INFINITY).rcbrt(), -0.0),
        ("rcbrt(nan)", f32::NAN.rcbrt(), f32::NAN),
        ("rcbrt(-8)", (-8.0_f32).rcbrt(), -0.5),
        (
            "rcbrt, subnormal",
            (2.0 * quarter).rcbrt(),
            2.0_f32.powi(49),
        ),
        ("hypot(3, -4)", GpuFloat::hypot(3.0_f32, -4.0), 5.0),
        ("hypot(0, -0)", GpuFloat::hypot(0.0_f32, -0.0), 0.0),
        (
            "hypot(nan, -inf)",
            GpuFloat::hypot(f32::NAN, -INFINITY),
            INFINITY,
        ),
        ("hypot(nan, 1)", GpuFloat::hypot(f32::NAN, 1.0), f32::NAN),
        (
            "hypot, too great",
            GpuFloat::hypot(f32::MAX, f32::MAX),
            INFINITY,
        ),
        (
            "hypot of the greatest",
            GpuFloat::hypot(f32::MAX, 1.0),
            f32::MAX,
        ),
        ("hypot of the least", GpuFloat::hypot(TINIEST, 0.0), TINIEST),
        (
            "hypot, subnormal",
            GpuFloat::hypot(3.0 * quarter, 4.0 * quarter),
            5.0 * quarter,
        ),
        ("norm3d(2, 3, 6)", 2.0_f32.norm3d(3.0, 6.0), 7.0),
        (
            "norm3d(nan, inf, 1)",
            f32::NAN.norm3d(INFINITY, 1.0),
            INFINITY,
        ),
        ("norm3d(1, 1, nan)", 1.0_f32.norm3d(1.0, f32::NAN), f32::NAN),
        ("norm3d of the least", 0.0_f32.norm3d(0.0, TINIEST), TINIEST),
        ("rhypot(3, 4)", 3.0_f32.rhypot(4.0), 0.2),
        ("rhypot(0, 0)", 0.0_f32.rhypot(-0.0), INFINITY),
        ("rhypot(nan, inf)", f32::NAN.rhypot(INFINITY), 0.0),
        ("rhypot(nan, 1)", f32::NAN.rhypot(1.0), f32::NAN),
        // The squares vanish or overflow.
        (
            "rhypot, tiny",
            2.0_f32.powi(-80).rhypot(0.0),
            2.0_f32.powi(80),
        ),
        (
            "rhypot, great",
            0.0_f32.rhypot(2.0_f32.powi(80)),
            2.0_f32.powi(-80),
        ),
        ("rhypot of the least", TINIEST.rhypot(TINIEST), INFINITY),
        // Its inverse is beyond the greatest number.
        ("rhypot, subnormal", f32::MAX.rhypot(f32::MAX), 2.078e-39),
    ]);
}

#[test]
fn remainders_fractions_and_exponents() {
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        3.0,
        1e-45,
        1e-40,
        1e30,
        -3e38,
        INFINITY,
        -INFINITY,
        f32::NAN,
    ];
    for x in values {
        for y in values {
            let (value, exact) = (GpuFloat::rem_euclid(x, y), x.rem_euclid(y));
            exactly(&[("rem_euclid", value, exact)]);
            let (x, y) = (f64::from(x), f64::from(y));
            let (value, exact) = (GpuFloat::rem_euclid(x, y), x.rem_euclid(y));
            assert!(
                value == exact || value.is_nan() && exact.is_nan(),
                "{x:e}, {y:e}"
            );
        }
        let (fraction, exponent) = x.frexp();
        exactly(&[("frexp", fraction.ldexp(exponent), x)]);
        assert!(!x.is_normal() || (0.5..1.0).contains(&fraction.abs()));
    }
    exactly(&[
        ("ldexp, rounded once", 0.75_f32.ldexp(-149), TINIEST),
        ("ldexp, a tie", 0.5_f32.ldexp(-149), 0.0),
        ("ldexp to the least", f32::MAX.ldexp(-277), TINIEST),
        ("ldexp to nothing", f32::MAX.ldexp(i32::MIN), 0.0),
        (
            "ldexp to the greatest",
            TINIEST.ldexp(276),
            2.0_f32.powi(127),
        ),
        ("ldexp beyond", TINIEST.ldexp(i32::MAX), INFINITY),
        ("ldexp(-0)", (-0.0_f32).ldexp(i32::MAX), -0.0),
    ]);
    assert_eq!(f64::from_bits(1).ldexp(2097), 2.0_f64.powi(1023));
    assert_eq!(f64::MAX.ldexp(-2098), f64::from_bits(1));
    assert_eq!(f64::from_bits(1).frexp(), (0.5, -1073));
    assert_eq!(TINIEST.frexp(), (0.5, -148));
    assert_eq!(f64::from_bits(1).unbiased_exp(), -1074);
    assert_eq!(f32::MAX.unbiased_exp(), 127);
    assert_eq!(f32::MIN_POSITIVE.unbiased_exp(), -126);
    assert_eq!(TINIEST.unbiased_exp(), -149);
    assert_eq!((-0.0_f32).unbiased_exp(), i32::MIN);
    assert_eq!((-INFINITY).unbiased_exp(), i32::MAX);
    assert_eq!(f32::NAN.unbiased_exp(), i32::MIN);
}
