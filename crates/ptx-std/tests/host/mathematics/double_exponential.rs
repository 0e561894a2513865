//! `f64`'s exponentials, logarithms, powers and hyperbolic functions.

use ptx_std::{FloatExt, GpuFloat};

const MIN: f64 = f64::MIN_POSITIVE;
const TINY: f64 = 5e-324;
const INF: f64 = f64::INFINITY;

/// Fails unless the value has these bits, or both are NaN.
#[track_caller]
fn same(value: f64, expected: f64) {
    assert!(
        value.to_bits() == expected.to_bits() || value.is_nan() && expected.is_nan(),
        "{value:?} is not {expected:?}"
    );
}

/// Fails unless the value is at most one float from the expected one.
#[track_caller]
fn near(value: f64, expected: f64) {
    let apart = value.to_bits().abs_diff(expected.to_bits());
    assert!(apart <= 1, "{value:?} is {apart} floats from {expected:?}");
}

#[test]
fn exponentials_at_special_arguments() {
    let functions: [fn(f64) -> f64; 3] = [GpuFloat::exp, GpuFloat::exp2, FloatExt::exp10];
    for function in functions {
        same(function(0.0), 1.0);
        same(function(-0.0), 1.0);
        same(function(TINY), 1.0);
        same(function(INF), INF);
        same(function(-INF), 0.0);
        same(function(f64::NAN), f64::NAN);
        same(function(f64::MAX), INF);
        same(function(f64::MIN), 0.0);
    }
}

#[test]
fn exponentials_overflow_and_underflow_at_their_thresholds() {
    near(GpuFloat::exp(709.782712893384), 1.797693134862273e308);
    same(GpuFloat::exp(709.7827128933841), INF);
    same(GpuFloat::exp(-745.1332191019411), TINY);
    same(GpuFloat::exp(-745.1332191019412), 0.0);
    same(GpuFloat::exp2(1023.0), 2.0 / MIN);
    same(GpuFloat::exp2(1024.0), INF);
    same(GpuFloat::exp2(-1022.0), MIN);
    same(GpuFloat::exp2(-1074.0), TINY);
    same(GpuFloat::exp2(-1075.5), 0.0);
    near(FloatExt::exp10(308.0_f64), 1e308);
    same(FloatExt::exp10(308.3_f64), INF);
    same(FloatExt::exp10(-320.0_f64), 1e-320);
    same(FloatExt::exp10(-324.0_f64), 0.0);
}

#[test]
fn exp_m1_keeps_small_arguments_and_signs() {
    same(GpuFloat::exp_m1(-0.0), -0.0);
    for x in [0.0, TINY, -TINY, MIN, 1e-20, -1e-20] {
        same(GpuFloat::exp_m1(x), x);
    }
    same(GpuFloat::exp_m1(-INF), -1.0);
    same(GpuFloat::exp_m1(-1e5), -1.0);
    same(GpuFloat::exp_m1(INF), INF);
    same(GpuFloat::exp_m1(709.7827128933841), INF);
    near(GpuFloat::exp_m1(709.782712893384), 1.797693134862273e308);
    same(GpuFloat::exp_m1(f64::NAN), f64::NAN);
}

#[test]
fn logarithms_at_special_arguments() {
    let functions: [fn(f64) -> f64; 3] = [GpuFloat::ln, GpuFloat::log2, GpuFloat::log10];
    for function in functions {
        same(function(1.0), 0.0);
        same(function(0.0), -INF);
        same(function(-0.0), -INF);
        same(function(-1.0), f64::NAN);
        same(function(-INF), f64::NAN);
        same(function(INF), INF);
        same(function(f64::NAN), f64::NAN);
    }
    same(GpuFloat::ln(TINY), -744.4400719213812);
    near(GpuFloat::ln(f64::MAX), 709.782712893384);
}

#[test]
fn logarithms_of_powers_of_their_base_are_whole() {
    for n in -1022..1024 {
        same(
            GpuFloat::log2(f64::from_bits(((n + 1023) as u64) << 52)),
            f64::from(n),
        );
    }
    same(GpuFloat::log2(TINY), -1074.0);
    let mut power = 1.0;
    for n in 0..23 {
        same(GpuFloat::log10(power), f64::from(n));
        power *= 10.0;
    }
}

#[test]
fn ln_1p_keeps_small_arguments_and_signs() {
    for x in [0.0, -0.0, TINY, -TINY, MIN, 1e-20, -1e-20] {
        same(GpuFloat::ln_1p(x), x);
    }
    same(GpuFloat::ln_1p(-1.0), -INF);
    same(GpuFloat::ln_1p(-1.5), f64::NAN);
    same(GpuFloat::ln_1p(-INF), f64::NAN);
    same(GpuFloat::ln_1p(INF), INF);
    same(GpuFloat::ln_1p(f64::NAN), f64::NAN);
    near(GpuFloat::ln_1p(f64::MAX), 709.782712893384);
}

#[test]
fn powf_at_special_arguments() {
    let power = <f64 as GpuFloat>::powf;
    for x in [0.0, -0.0, 1.0, -3.0, INF, -INF, f64::NAN] {
        same(power(x, 0.0), 1.0);
        same(power(x, -0.0), 1.0);
        same(power(1.0, x), 1.0);
    }
    for (base, odd, even, fraction) in [(0.0, 0.0, 0.0, 0.0), (-0.0, -0.0, 0.0, 0.0)] {
        same(power(base, 3.0), odd);
        same(power(base, 2.0), even);
        same(power(base, 0.5), fraction);
        same(power(base, -3.0), INF.copysign(odd));
        same(power(base, -2.0), INF);
        same(power(base, -INF), INF);
    }
    same(power(-INF, 3.0), -INF);
    same(power(-INF, 2.0), INF);
    same(power(-INF, -3.0), -0.0);
    same(power(INF, -0.5), 0.0);
    for (base, up, down) in [
        (2.0, INF, 0.0),
        (-2.0, INF, 0.0),
        (0.5, 0.0, INF),
        (-1.0, 1.0, 1.0),
    ] {
        same(power(base, INF), up);
        same(power(base, -INF), down);
    }
    same(power(-2.0, 0.5), f64::NAN);
    same(power(f64::NAN, 1.0), f64::NAN);
    same(power(2.0, f64::NAN), f64::NAN);
}

#[test]
fn powf_of_whole_numbers_and_at_the_ends() {
    let power = <f64 as GpuFloat>::powf;
    same(power(3.0, 4.0), 81.0);
    same(power(-3.0, 3.0), -27.0);
    same(power(-3.0, -1.0), -1.0 / 3.0);
    same(power(10.0, 15.0), 1e15);
    same(power(2.0, 1023.0), 2.0 / MIN);
    same(power(2.0, 1024.0), INF);
    same(power(-2.0, 1025.0), -INF);
    same(power(2.0, -1074.0), TINY);
    same(power(-2.0, -1075.5), f64::NAN);
    same(power(-2.0, -1077.0), -0.0);
    same(power(TINY, 0.5), 2.2227587494850775e-162);
    same(power(2.0, f64::MAX), INF);
    same(power(0.5, f64::MAX), 0.0);
    same(power(-1.0, f64::MAX), 1.0);
    near(power(1.0 + f64::EPSILON, 1e17), 4_398_196_873.945_744_5);
}

#[test]
fn odd_functions_keep_small_arguments_and_signs() {
    let functions: [fn(f64) -> f64; 4] = [
        GpuFloat::sinh,
        GpuFloat::tanh,
        GpuFloat::asinh,
        GpuFloat::atanh,
    ];
    for function in functions {
        for x in [0.0, -0.0, TINY, -TINY, MIN, 1e-20, -1e-20] {
            same(function(x), x);
        }
        for x in [0.1, 0.24, 0.26, 0.62, 0.63, 0.99] {
            same(function(-x), -function(x));
        }
        same(function(f64::NAN), f64::NAN);
    }
}

#[test]
fn hyperbolic_functions_at_the_ends() {
    for x in [710.4758600739439, -710.4758600739439] {
        near(GpuFloat::cosh(x), 1.7976931348621744e308);
        near(GpuFloat::sinh(x), 1.7976931348621744e308_f64.copysign(x));
    }
    for x in [710.475860073944, 1e300, INF] {
        same(GpuFloat::cosh(x), INF);
        same(GpuFloat::cosh(-x), INF);
        same(GpuFloat::sinh(x), INF);
        same(GpuFloat::sinh(-x), -INF);
    }
    same(GpuFloat::cosh(0.0), 1.0);
    same(GpuFloat::cosh(f64::NAN), f64::NAN);
    for x in [20.0, 1e5, 1e300, INF] {
        same(GpuFloat::tanh(x), 1.0);
        same(GpuFloat::tanh(-x), -1.0);
    }
}

#[test]
fn inverse_hyperbolic_functions_at_the_ends() {
    same(GpuFloat::asinh(INF), INF);
    same(GpuFloat::asinh(-INF), -INF);
    near(GpuFloat::asinh(f64::MAX), 710.4758600739439);
    near(GpuFloat::asinh(-f64::MAX), -710.4758600739439);
    same(GpuFloat::acosh(1.0), 0.0);
    same(GpuFloat::acosh(0.5), f64::NAN);
    same(GpuFloat::acosh(-2.0), f64::NAN);
    same(GpuFloat::acosh(-INF), f64::NAN);
    same(GpuFloat::acosh(f64::NAN), f64::NAN);
    same(GpuFloat::acosh(INF), INF);
    near(GpuFloat::acosh(f64::MAX), 710.4758600739439);
    same(GpuFloat::atanh(1.0), INF);
    same(GpuFloat::atanh(-1.0), -INF);
    same(GpuFloat::atanh(1.5), f64::NAN);
    same(GpuFloat::atanh(-INF), f64::NAN);
    near(
        GpuFloat::atanh(1.0 - f64::EPSILON / 2.0),
        18.714973875118524,
    );
}
