//! Sines, arcs, roots and lengths of `f64` at their special values, and values of MPFR.

// Each value is written with the digits that name its f64.
#![allow(clippy::excessive_precision, clippy::approx_constant)]

use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use ptx_std::{FloatExt, GpuFloat};

/// The distance in units in the last place of the reference.
fn units(value: f64, reference: f64) -> f64 {
    let magnitude = reference.abs();
    let unit = f64::from_bits(magnitude.to_bits() + 1) - magnitude;
    (value - reference).abs() / unit
}

fn same_bits(value: f64, expected: f64) -> bool {
    value.to_bits() == expected.to_bits() || (value.is_nan() && expected.is_nan())
}

const INFINITY: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
/// The smallest subnormal number.
const LEAST: f64 = 5e-324;

#[test]
fn special_values_of_one_argument() {
    type Row = (&'static str, fn(f64) -> f64, &'static [(f64, f64)]);
    let rows: &[Row] = &[
        (
            "sin",
            GpuFloat::sin,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (LEAST, LEAST),
                (-LEAST, -LEAST),
                (1e-300, 1e-300),
                (INFINITY, NAN),
                (-INFINITY, NAN),
                (NAN, NAN),
                (FRAC_PI_2, 1.0),
            ],
        ),
        (
            "cos",
            GpuFloat::cos,
            &[
                (0.0, 1.0),
                (-0.0, 1.0),
                (LEAST, 1.0),
                (1e-9, 1.0),
                (INFINITY, NAN),
                (NAN, NAN),
                (PI, -1.0),
            ],
        ),
        (
            "tan",
            GpuFloat::tan,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (LEAST, LEAST),
                (-1e-310, -1e-310),
                (INFINITY, NAN),
                (NAN, NAN),
            ],
        ),
        (
            "sinpi",
            FloatExt::sinpi,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (1.0, 0.0),
                (-1.0, -0.0),
                (2.0, 0.0),
                (0.5, 1.0),
                (1.5, -1.0),
                (-0.5, -1.0),
                (1e300, 0.0),
                (-9007199254740993.0, -0.0),
                (4503599627370495.5, -1.0),
                (INFINITY, NAN),
                (NAN, NAN),
            ],
        ),
        (
            "cospi",
            FloatExt::cospi,
            &[
                (0.0, 1.0),
                (0.5, 0.0),
                (-0.5, 0.0),
                (1.5, 0.0),
                (2.5, 0.0),
                (1.0, -1.0),
                (1e300, 1.0),
                (9007199254740991.0, -1.0),
                (2147483648.5, 0.0),
                (INFINITY, NAN),
                (NAN, NAN),
            ],
        ),
        (
            "asin",
            GpuFloat::asin,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (LEAST, LEAST),
                (1.0, FRAC_PI_2),
                (-1.0, -FRAC_PI_2),
                (1.0000000000000002, NAN),
                (-2.0, NAN),
                (INFINITY, NAN),
                (NAN, NAN),
            ],
        ),
        (
            "acos",
            GpuFloat::acos,
            &[
                (1.0, 0.0),
                (-1.0, PI),
                (0.0, FRAC_PI_2),
                (-0.0, FRAC_PI_2),
                (1.0000000000000002, NAN),
                (-INFINITY, NAN),
                (NAN, NAN),
            ],
        ),
        (
            "atan",
            GpuFloat::atan,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (LEAST, LEAST),
                (1.0, FRAC_PI_4),
                (-1.0, -FRAC_PI_4),
                (INFINITY, FRAC_PI_2),
                (-INFINITY, -FRAC_PI_2),
                (1e300, FRAC_PI_2),
                (-1e30, -FRAC_PI_2),
                (NAN, NAN),
            ],
        ),
        (
            "cbrt",
            GpuFloat::cbrt,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (27.0, 3.0),
                (-1e-300, -1e-100),
                (INFINITY, INFINITY),
                (-INFINITY, -INFINITY),
                (NAN, NAN),
                (1.1125369292536007e-308, 2.2323972485981933e-103),
            ],
        ),
        (
            "rcbrt",
            FloatExt::rcbrt,
            &[
                (0.0, INFINITY),
                (-0.0, -INFINITY),
                (-8.0, -0.5),
                (INFINITY, 0.0),
                (-INFINITY, -0.0),
                (NAN, NAN),
            ],
        ),
        (
            "rsqrt",
            FloatExt::rsqrt,
            &[
                (0.0, INFINITY),
                (-0.0, -INFINITY),
                (4.0, 0.5),
                (1e-300, 1e150),
                (INFINITY, 0.0),
                (-1.0, NAN),
                (-LEAST, NAN),
                (NAN, NAN),
            ],
        ),
    ];
    for (name, function, points) in rows {
        for &(x, expected) in *points {
            let value = function(x);
            assert!(
                same_bits(value, expected),
                "{name}({x:?}) is {value:?}, not {expected:?}"
            );
        }
    }
}

#[test]
fn special_values_of_two_arguments() {
    let quarter = 3.0 * FRAC_PI_4;
    for (y, x, expected) in [
        (0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0),
        (0.0, -0.0, PI),
        (-0.0, -0.0, -PI),
        (0.0, -1.0, PI),
        (-0.0, 2.0, -0.0),
        (1.0, 0.0, FRAC_PI_2),
        (-1.0, -0.0, -FRAC_PI_2),
        (INFINITY, INFINITY, FRAC_PI_4),
        (-INFINITY, -INFINITY, -quarter),
        (1.0, INFINITY, 0.0),
        (-1.0, -INFINITY, -PI),
        (INFINITY, -3.0, FRAC_PI_2),
        (LEAST, LEAST, FRAC_PI_4),
        (LEAST, 1.0, LEAST),
        (1e308, 1e308, FRAC_PI_4),
        (1e-300, 1e10, 1e-310),
        (NAN, 1.0, NAN),
        (0.0, NAN, NAN),
    ] {
        let value = GpuFloat::atan2(y, x);
        assert!(
            same_bits(value, expected),
            "atan2({y:?}, {x:?}) is {value:?}, not {expected:?}"
        );
    }
    for (x, y, hypot, rhypot) in [
        (0.0, 0.0, 0.0, INFINITY),
        (3.0, -4.0, 5.0, 0.2),
        (INFINITY, NAN, INFINITY, 0.0),
        (NAN, -INFINITY, INFINITY, 0.0),
        (NAN, 1.0, NAN, NAN),
        (LEAST, 0.0, LEAST, INFINITY),
        (3e-320, 4e-320, 5e-320, INFINITY),
        (1.7e308, 1.7e308, INFINITY, 4.159451654038517e-309),
        (1e300, 1e-300, 1e300, 1e-300),
    ] {
        let value = GpuFloat::hypot(x, y);
        assert!(
            same_bits(value, hypot),
            "hypot({x:?}, {y:?}) is {value:?}, not {hypot:?}"
        );
        let value = FloatExt::rhypot(x, y);
        assert!(
            same_bits(value, rhypot),
            "rhypot({x:?}, {y:?}) is {value:?}, not {rhypot:?}"
        );
    }
    assert_eq!(FloatExt::norm3d(1e308, -1e308, 0.0), 1.4142135623730951e308);
    assert_eq!(FloatExt::norm3d(NAN, 1.0, -INFINITY), INFINITY);
    assert_eq!(FloatExt::norm3d(2e-320, 3e-320, 6e-320), 7e-320);
}

#[test]
fn arguments_far_from_zero_are_reduced_exactly() {
    // The double nearest to a multiple of pi/2, and others.
    for (x, sine, cosine) in [
        (5.319372648326541e+255, 1.0, -4.687165924254628e-19),
        (1e+22, -0.8522008497671888, 0.523214785395139),
        (1048576.0, 0.3304931400217347, 0.943808393901312),
        (1048575.9999999999, 0.3304931399118609, 0.9438083939397864),
        (
            1.7976931348623157e+308,
            0.004961954789184062,
            -0.9999876894265599,
        ),
        (3.141592653589793, 1.2246467991473532e-16, -1.0),
        (1.5707963267948966, 1.0, 6.123233995736766e-17),
        (-2500000000.0, 0.9919073050007502, -0.12696416142419395),
    ] {
        assert!(units(GpuFloat::sin(x), sine) <= 1.5, "sin({x})");
        assert!(units(GpuFloat::cos(x), cosine) <= 1.5, "cos({x})");
        assert!(units(GpuFloat::tan(x), sine / cosine) <= 4.0, "tan({x})");
        let (s, c) = GpuFloat::sin_cos(x);
        assert!(
            units(s, sine) <= 1.5 && units(c, cosine) <= 1.5,
            "sin_cos({x})"
        );
    }
}

#[test]
fn no_sine_is_greater_than_one() {
    for i in 0..100_000 {
        let x = FRAC_PI_2 + f64::from(i) * 1.3e-9;
        assert!(
            GpuFloat::sin(x) <= 1.0 && GpuFloat::cos(x - FRAC_PI_2) <= 1.0,
            "{x}"
        );
        let f = 0.5 + f64::from(i) * 1.7e-9;
        assert!(
            FloatExt::sinpi(f) <= 1.0 && FloatExt::cospi(f - 0.5) <= 1.0,
            "{f}"
        );
    }
}
