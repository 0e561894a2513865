//! `f32`'s exponentials, logarithms, powers and hyperbolic functions: special values, ends of the range
//! and samples against the host's `f64` functions.

use ptx_std::{ApproxFloat, FloatExt, GpuFloat};

const INFINITY: f32 = f32::INFINITY;
const LEAST: f32 = f32::from_bits(1);

/// Functions of one argument under one form, so that the host's methods are not taken.
type Function = fn(f32) -> f32;
type Reference = fn(f64) -> f64;

/// Equal to the bit, or both NaN.
#[track_caller]
fn same(value: f32, expected: f32) {
    assert!(
        value.to_bits() == expected.to_bits() || (value.is_nan() && expected.is_nan()),
        "{value:e} for {expected:e}"
    );
}

/// How far a value is from the true one, in units in the last place of a number of its magnitude.
fn units(value: f32, true_value: f64) -> f64 {
    let exponent = ((true_value.abs().to_bits() >> 52) as i32 - 1023).max(-126) - 23;
    (f64::from(value) - true_value).abs() / 2.0_f64.powi(exponent)
}

/// Asserts the error of samples over a range of bits and its mirror image.
#[track_caller]
fn within(limit: f64, function: Function, true_function: Reference, range: [f32; 2]) {
    let [first, last] = range.map(f32::to_bits);
    for bits in (first..last).step_by(100_003) {
        for x in [f32::from_bits(bits), -f32::from_bits(bits)] {
            let true_value = true_function(x.into());
            if true_value.is_nan() {
                assert!(function(x).is_nan(), "NaN expected at {x:e}");
            } else if (true_value as f32).is_finite() {
                let error = units(function(x), true_value);
                assert!(error <= limit, "{error} units at {x:e}");
            }
        }
    }
}

#[test]
fn arguments_that_once_were_furthest_off() {
    let cases: [(Function, Reference, f32); 3] = [
        (GpuFloat::ln_1p, f64::ln_1p, 0.499_999_97),
        (GpuFloat::exp_m1, f64::exp_m1, 18.390_793),
        (GpuFloat::exp_m1, f64::exp_m1, 18.404_724),
    ];
    for (function, true_function, x) in cases {
        assert!(units(function(x), true_function(x.into())) < 0.75);
    }
}

#[test]
fn exponentials_end_as_they_must() {
    let cases: [(Function, f32, f32); 3] = [
        (GpuFloat::exp, 88.722_83, -103.972_08),
        (GpuFloat::exp2, 128.0_f32.next_down(), -150.0),
        (FloatExt::exp10, 38.531_837, -45.154_5),
    ];
    for (function, largest, zero) in cases {
        assert!(function(largest).is_finite());
        same(function(largest + 0.1), INFINITY);
        same(function(1e30), INFINITY);
        same(function(INFINITY), INFINITY);
        assert!(function(zero + 0.4) > 0.0);
        same(function(zero - 0.1), 0.0);
        same(function(-1e30), 0.0);
        same(function(-INFINITY), 0.0);
        same(function(f32::NAN), f32::NAN);
        same(function(0.0), 1.0);
        same(function(-0.0), 1.0);
        same(function(LEAST), 1.0);
    }
    same(GpuFloat::exp(-103.972_084), 0.0);
    same(GpuFloat::exp(-103.972_08), LEAST);
    same(GpuFloat::exp2(-149.0), LEAST);
    same(GpuFloat::exp2(-150.0), 0.0);
    for n in -149..128 {
        assert_eq!(f64::from(GpuFloat::exp2(n as f32)), 2.0_f64.powi(n));
    }
}

#[test]
fn exp_m1_keeps_zeros_and_ends() {
    same(GpuFloat::exp_m1(-0.0), -0.0);
    same(GpuFloat::exp_m1(0.0), 0.0);
    same(GpuFloat::exp_m1(LEAST), LEAST);
    same(GpuFloat::exp_m1(-LEAST), -LEAST);
    same(GpuFloat::exp_m1(-20.0), -1.0);
    same(GpuFloat::exp_m1(-INFINITY), -1.0);
    same(GpuFloat::exp_m1(INFINITY), INFINITY);
    same(GpuFloat::exp_m1(88.73), INFINITY);
    assert!(GpuFloat::exp_m1(88.722_83_f32).is_finite());
    same(GpuFloat::exp_m1(f32::NAN), f32::NAN);
}

#[test]
fn logarithms_of_zero_negatives_and_infinity() {
    let functions: [Function; 3] = [GpuFloat::ln, GpuFloat::log2, GpuFloat::log10];
    for function in functions {
        same(function(0.0), -INFINITY);
        same(function(-0.0), -INFINITY);
        same(function(-1.0), f32::NAN);
        same(function(-LEAST), f32::NAN);
        same(function(-INFINITY), f32::NAN);
        same(function(INFINITY), INFINITY);
        same(function(f32::NAN), f32::NAN);
        same(function(1.0), 0.0);
    }
    for n in -149..128 {
        same(GpuFloat::log2(2.0_f64.powi(n) as f32), n as f32);
    }
    same(GpuFloat::log10(1000.0), 3.0);
    same(GpuFloat::ln_1p(-0.0), -0.0);
    same(GpuFloat::ln_1p(0.0), 0.0);
    same(GpuFloat::ln_1p(-LEAST), -LEAST);
    same(GpuFloat::ln_1p(-1.0), -INFINITY);
    same(GpuFloat::ln_1p(-1.5), f32::NAN);
    same(GpuFloat::ln_1p(-INFINITY), f32::NAN);
    same(GpuFloat::ln_1p(INFINITY), INFINITY);
    same(GpuFloat::ln_1p(f32::NAN), f32::NAN);
}

#[test]
fn powers_are_those_of_c() {
    let values = [
        0.0,
        LEAST,
        1e-40,
        0.5,
        0.999_999_94,
        1.0,
        1.000_000_1,
        1.5,
        2.0,
        3.0,
        5.0,
        7.0,
        1e30,
        8_388_607.5,
        16_777_215.0,
        16_777_216.0,
        f32::MAX,
        INFINITY,
        f32::NAN,
    ];
    for x in values.into_iter().flat_map(|x: f32| [x, -x]) {
        for y in values.into_iter().flat_map(|y: f32| [y, -y]) {
            let (value, true_value) = (GpuFloat::powf(x, y), f64::from(x).powf(y.into()));
            let rounded = true_value as f32;
            if rounded.is_finite() && rounded != 0.0 {
                let error = units(value, true_value);
                assert!(error <= 3.7, "{x:e} to {y:e}: {error} units");
            } else {
                same(value, rounded);
            }
        }
    }
}

#[test]
fn powers_are_accurate_where_the_exponent_is_large() {
    for step in 0_u16..400 {
        let x = 0.6 + 0.002 * f32::from(step);
        let y = (126.0 / f64::from(x).log2()) as f32;
        if y.is_finite() {
            for y in [y, -y, 0.3 * y] {
                let error = units(GpuFloat::powf(x, y), f64::from(x).powf(y.into()));
                assert!(error <= 3.7, "{x:e} to {y:e}: {error} units");
            }
        }
    }
}

#[test]
fn hyperbolic_functions_at_zeros_and_ends() {
    let odd: [Function; 4] = [
        GpuFloat::sinh,
        GpuFloat::tanh,
        GpuFloat::asinh,
        GpuFloat::atanh,
    ];
    for function in odd {
        same(function(0.0), 0.0);
        same(function(-0.0), -0.0);
        same(function(LEAST), LEAST);
        same(function(-LEAST), -LEAST);
        same(function(f32::NAN), f32::NAN);
    }
    for function in [GpuFloat::sinh as Function, GpuFloat::cosh] {
        assert!(function(89.415_98).is_finite());
        same(function(89.416_1), INFINITY);
        same(function(INFINITY), INFINITY);
    }
    same(GpuFloat::sinh(-INFINITY), -INFINITY);
    same(GpuFloat::cosh(-INFINITY), INFINITY);
    same(GpuFloat::cosh(0.0), 1.0);
    same(GpuFloat::cosh(f32::NAN), f32::NAN);
    same(GpuFloat::tanh(1e30), 1.0);
    same(GpuFloat::tanh(-INFINITY), -1.0);
    same(GpuFloat::asinh(-INFINITY), -INFINITY);
    same(GpuFloat::asinh(f32::NAN), f32::NAN);
    same(GpuFloat::asinh(-f32::MAX), -89.415_985);
    same(GpuFloat::acosh(f32::MAX), 89.415_985);
    same(GpuFloat::acosh(INFINITY), INFINITY);
    same(GpuFloat::acosh(1.0), 0.0);
    same(GpuFloat::acosh(0.999_999_94), f32::NAN);
    same(GpuFloat::acosh(-INFINITY), f32::NAN);
    same(GpuFloat::acosh(f32::NAN), f32::NAN);
    same(GpuFloat::atanh(1.0), INFINITY);
    same(GpuFloat::atanh(-1.0), -INFINITY);
    same(GpuFloat::atanh(1.000_000_1), f32::NAN);
    same(GpuFloat::atanh(INFINITY), f32::NAN);
    same(GpuFloat::atanh(f32::NAN), f32::NAN);
}

#[test]
fn samples_are_within_the_stated_errors() {
    let cases: [(f64, Function, Reference, [f32; 2]); 14] = [
        (2.1, GpuFloat::exp, f64::exp, [1e-9, 104.0]),
        (2.1, GpuFloat::exp2, f64::exp2, [1e-9, 150.0]),
        (
            2.1,
            FloatExt::exp10,
            |x| (x * std::f64::consts::LN_10).exp(),
            [1e-9, 45.0],
        ),
        (1.02, GpuFloat::exp_m1, f64::exp_m1, [1e-44, 89.0]),
        (1.0, GpuFloat::ln, f64::ln, [1e-44, f32::MAX]),
        (1.0, GpuFloat::log2, f64::log2, [1e-44, f32::MAX]),
        (1.0, GpuFloat::log10, f64::log10, [1e-44, f32::MAX]),
        (1.0, GpuFloat::ln_1p, f64::ln_1p, [1e-44, f32::MAX]),
        (3.0, GpuFloat::sinh, f64::sinh, [1e-44, 90.0]),
        (2.5, GpuFloat::cosh, f64::cosh, [1e-9, 90.0]),
        (2.0, GpuFloat::tanh, f64::tanh, [1e-44, 20.0]),
        (
            3.0,
            GpuFloat::asinh,
            |x| x.abs().asinh().copysign(x),
            [1e-4, f32::MAX],
        ),
        (4.0, GpuFloat::acosh, f64::acosh, [0.9, f32::MAX]),
        (3.0, GpuFloat::atanh, f64::atanh, [1e-4, 1.1]),
    ];
    for (limit, function, true_function, range) in cases {
        within(limit, function, true_function, range);
    }
}

#[test]
fn approximations_are_accurate_on_the_host() {
    let cases: [(f64, Function, Reference, [f32; 2]); 2] = [
        (3.0, ApproxFloat::fast_ln, f64::ln, [2.0, f32::MAX]),
        (3.0, ApproxFloat::fast_log10, f64::log10, [2.0, f32::MAX]),
    ];
    for (limit, function, true_function, range) in cases {
        within(limit, function, true_function, range);
    }
    same(ApproxFloat::fast_powf(2.0_f32, 10.0), 1024.0);
    for x in (-80..80).map(|i| i as f32 * 1.037) {
        let error = units(x.fast_exp(), f64::from(x).exp());
        assert!(
            error <= f64::from(x.abs()).mul_add(1.173, 2.0),
            "{error} units at {x}"
        );
        let x = x * 0.4;
        let error = units(
            x.fast_exp10(),
            (f64::from(x) * std::f64::consts::LN_10).exp(),
        );
        assert!(
            error <= f64::from(x.abs()).mul_add(2.97, 2.0),
            "{error} units at {x}"
        );
    }
}
