//! The error function's family at special values, and within CUDA's errors at a few others. The
//! references are of mpmath at 60 digits.

use core::fmt::Debug;

use ptx_std::FloatExt;

/// Arguments and values, which are these bits.
fn exactly<T: Copy + Debug, const N: usize>(
    function: fn(T) -> T,
    bits: fn(T) -> u64,
    cases: [(T, T); N],
) {
    for (x, expected) in cases {
        let value = function(x);
        assert_eq!(
            bits(value),
            bits(expected),
            "of {x:?}: {value:?}, not {expected:?}"
        );
    }
}

/// A test in both types.
macro_rules! special {
    ($($test:ident: $function:ident, [$(($x:expr, $value:expr)),* $(,)?], nan of [$($nan:expr),*];)*) => {$(
        #[test]
        fn $test() {
            exactly(<f32 as FloatExt>::$function, |v| v.to_bits().into(), [$(($x as f32, $value as f32)),*]);
            exactly(<f64 as FloatExt>::$function, f64::to_bits, [$(($x, $value)),*]);
            for x in [f64::NAN, $($nan),*] {
                assert!(<f32 as FloatExt>::$function(x as f32).is_nan(), "f32 of {x}");
                assert!(<f64 as FloatExt>::$function(x).is_nan(), "f64 of {x}");
            }
        }
    )*};
}

const INFINITY: f64 = f64::INFINITY;

special! {
    erf: error_function, [(0.0, 0.0), (-0.0, -0.0), (6.0, 1.0), (-1e30, -1.0), (INFINITY, 1.0), (-INFINITY, -1.0)], nan of [];
    erfc: complementary_error_function,
        [(0.0, 1.0), (-0.0, 1.0), (28.0, 0.0), (-7.0, 2.0), (1e30, 0.0), (INFINITY, 0.0), (-INFINITY, 2.0)], nan of [];
    norm_cdf: norm_cdf,
        [(0.0, 0.5), (-0.0, 0.5), (9.0, 1.0), (-40.0, 0.0), (INFINITY, 1.0), (-INFINITY, 0.0)], nan of [];
    erfcx: scaled_complementary_error_function,
        [(0.0, 1.0), (-0.0, 1.0), (-27.0, INFINITY), (INFINITY, 0.0), (-INFINITY, INFINITY)], nan of [];
    erf_inv: inv_error_function,
        [(0.0, 0.0), (-0.0, -0.0), (1.0, INFINITY), (-1.0, -INFINITY)], nan of [1.5, -1.5, INFINITY, -INFINITY];
    erfc_inv: inv_complementary_error_function,
        [(0.0, INFINITY), (1.0, 0.0), (2.0, -INFINITY)], nan of [-0.5, 2.5, INFINITY, -INFINITY];
    norm_cdf_inv: inv_norm_cdf,
        [(0.0, -INFINITY), (0.5, 0.0), (1.0, INFINITY)], nan of [-0.5, 1.5, INFINITY, -INFINITY];
}

/// The distance in units in the last place of the reference, of at least the smallest subnormal.
fn units(value: f32, reference: f64) -> f64 {
    let exponent = ((reference.abs().to_bits() >> 52) as i32 - 1023).max(-126) - 23;
    (f64::from(value) - reference).abs() / f64::from_bits(((1023 + exponent) as u64) << 52)
}

#[test]
fn subnormal_arguments_and_values() {
    let cases: [(f32, f64, f64); 9] = [
        (
            FloatExt::error_function(1e-40_f32),
            f64::from(1e-40_f32) * 1.1283791670955126,
            2.0,
        ),
        (
            FloatExt::inv_error_function(1e-40_f32),
            f64::from(1e-40_f32) * 0.886226925452758,
            2.0,
        ),
        (
            FloatExt::complementary_error_function(9.75_f32),
            2.9857008328005783e-43,
            4.0,
        ),
        (
            FloatExt::complementary_error_function(10.0_f32),
            2.0884875837625448e-45,
            4.0,
        ),
        (FloatExt::norm_cdf(-14.0_f32), 7.7935368191928e-45, 5.0),
        (
            FloatExt::scaled_complementary_error_function(3e38_f32),
            1.8806319417127693e-39,
            4.0,
        ),
        (
            FloatExt::inv_complementary_error_function(f32::from_bits(1)),
            10.019834265884623,
            4.0,
        ),
        (
            FloatExt::inv_norm_cdf(f32::from_bits(1)),
            -14.121426613350499,
            5.0,
        ),
        (
            FloatExt::scaled_complementary_error_function(-9.25_f32),
            2.0 * (9.25_f64 * 9.25).exp(),
            4.0,
        ),
    ];
    for (i, (value, reference, limit)) in cases.into_iter().enumerate() {
        let distance = units(value, reference);
        assert!(
            distance <= limit,
            "case {i}: {value:e} is {distance} units from {reference:e}"
        );
    }
}

/// On both sides of the border between the polynomial and the tails, which f64 has at 1 - x^2 = 2^-9.
#[test]
fn inverses_at_the_border() {
    type Case = (fn(f64) -> f64, f64, f64);
    let cases: [Case; 12] = [
        (FloatExt::inv_error_function, 0.99902, 2.3307698729470356),
        (FloatExt::inv_error_function, 0.99903, 2.332806469869509),
        (FloatExt::inv_error_function, -0.99902, -2.3307698729470356),
        (FloatExt::inv_error_function, -0.99903, -2.332806469869509),
        (
            FloatExt::inv_complementary_error_function,
            0.000976,
            2.3315821920731112,
        ),
        (
            FloatExt::inv_complementary_error_function,
            0.000978,
            2.331175647946502,
        ),
        (
            FloatExt::inv_complementary_error_function,
            1.99902,
            -2.3307698729470356,
        ),
        (
            FloatExt::inv_complementary_error_function,
            1.99903,
            -2.3328064698695314,
        ),
        (FloatExt::inv_norm_cdf, 0.000488, -3.297355157817384),
        (FloatExt::inv_norm_cdf, 0.000489, -3.2967802175998306),
        (FloatExt::inv_norm_cdf, 0.99951, 3.2962063650923135),
        (FloatExt::inv_norm_cdf, 0.99952, 3.3019943613003098),
    ];
    for (function, x, value) in cases {
        let error = (function(x) - value).abs();
        assert!(error <= 5.0 * f64::EPSILON * value.abs(), "{x}: {error:e}");
    }
}
