//! The floating-point functions against values computed with mpmath 1.3 at 60 digits, and at the
//! points where such functions go wrong.

// Each value is written with the digits that name its f64.
#![allow(clippy::excessive_precision, clippy::approx_constant)]

use ptx_std::{ApproxFloat, FloatExt, GpuFloat};

/// The distance between two values in units in the last place of the second.
fn units(value: f64, reference: f64) -> f64 {
    let magnitude = reference.abs();
    let unit = f64::from_bits(magnitude.to_bits() + 1) - magnitude;
    (value - reference).abs() / unit
}

/// The functions under test, the units that their documentation allows, arguments and values.
type Row = (
    &'static str,
    fn(f64) -> f64,
    fn(f32) -> f32,
    f64,
    &'static [(f64, f64)],
);

#[rustfmt::skip]
const REFERENCE: &[Row] = &[
    ("sinpi", FloatExt::sinpi, FloatExt::sinpi, 2.0, &[
        (0.1, 0.30901699437494745),
        (0.25, 0.7071067811865476),
        (0.75, 0.7071067811865476),
        (-1.3, 0.8090169943749475),
        (1e-20, 3.141592653589793e-20),
        (12345.6789, -0.8461745647196608),
    ]),
    ("cospi", FloatExt::cospi, FloatExt::cospi, 2.0, &[
        (0.1, 0.9510565162951535),
        (0.25, 0.7071067811865476),
        (0.4999999999, 3.1415929135263347e-10),
        (-1.3, -0.587785252292473),
        (12345.6789, 0.5329058134619029),
    ]),
    ("inv_error_function", FloatExt::inv_error_function, FloatExt::inv_error_function, 8.0, &[
        (1e-10, 8.862269254527581e-11),
        (0.3, 0.2724627147267543),
        (-0.849, -1.0154111558190084),
        (0.86, 1.0435418436397588),
        (0.999999, 3.458910737275499),
        (-0.9999999999999999, -5.8635847487551676),
    ]),
    ("inv_complementary_error_function", FloatExt::inv_complementary_error_function, FloatExt::inv_complementary_error_function, 8.0, &[
        (0.5, 0.4769362762044699),
        (0.9999999, 8.862269249862897e-08),
        (1.3, -0.2724627147267544),
        (1.999999, -3.4589107372909473),
        (0.01, 1.8213863677184496),
        (1e-20, 6.601580622355143),
        (1e-300, 26.209469960516124),
    ]),
    ("scaled_complementary_error_function", FloatExt::scaled_complementary_error_function, FloatExt::scaled_complementary_error_function, 4.0, &[
        (-26.5, 1.924553162418569e+305),
        (-5.5, 27443409954929.71),
        (-0.3, 1.4537492328427655),
        (0.0, 1.0),
        (0.7, 0.525930337349441),
        (3.75, 0.14558972127503855),
        (28.0, 0.020136801964214277),
        (100000.0, 5.6418958351954685e-06),
    ]),
    ("norm_cdf", FloatExt::norm_cdf, FloatExt::norm_cdf, 5.0, &[
        (-37.5, 4.605353009581955e-308),
        (-20.0, 2.7536241186062337e-89),
        (-5.0, 2.866515718791939e-07),
        (-1.2, 0.11506967022170828),
        (0.0, 0.5),
        (0.4, 0.6554217416103242),
        (3.0, 0.9986501019683699),
    ]),
    ("inv_norm_cdf", FloatExt::inv_norm_cdf, FloatExt::inv_norm_cdf, 8.0, &[
        (1e-300, -37.0470962993612),
        (1e-20, -9.262340089798407),
        (0.001, -3.0902323061678136),
        (0.07, -1.4757910281791706),
        (0.3, -0.5244005127080408),
        (0.50001, 2.506628274882086e-05),
        (0.95, 1.6448536269514722),
        (0.9999999, 5.199337582290661),
    ]),
    ("cyl_bessel_i0", FloatExt::cyl_bessel_i0, FloatExt::cyl_bessel_i0, 6.0, &[
        (0.0, 1.0),
        (0.5, 1.0634833707413236),
        (-3.0, 4.8807925858650245),
        (8.0, 427.5641157218048),
        (8.1, 469.5006067101215),
        (40.0, 1.48947747934199e+16),
        (712.0, 2.4684110577627523e+307),
    ]),
    ("cyl_bessel_i1", FloatExt::cyl_bessel_i1, FloatExt::cyl_bessel_i1, 6.0, &[
        (1e-09, 5e-10),
        (0.5, 0.2578943053908963),
        (-3.0, -3.9533702174026093),
        (8.0, 399.8731367825601),
        (8.1, 439.48430891035844),
        (40.0, 1.4707396163259352e+16),
        (712.0, 2.4666770135246153e+307),
    ]),
    ("rcbrt", FloatExt::rcbrt, FloatExt::rcbrt, 2.0, &[
        (8.0, 0.5),
        (-0.3, -1.4938015821857216),
        (1e-300, 1e+100),
        (7e+200, 1.126247880443606e-67),
    ]),
    ("rsqrt", FloatExt::rsqrt, FloatExt::rsqrt, 2.0, &[
        (4.0, 0.5),
        (0.3, 1.8257418583505538),
        (1e-300, 1e+150),
        (7e+200, 3.779644730092272e-101),
    ]),
];

#[test]
fn functions_that_libm_lacks_are_as_accurate_as_documented() {
    for (name, function, _, allowed, points) in REFERENCE {
        for &(x, expected) in *points {
            let value = function(x);
            // The reference is itself rounded: half a unit more.
            assert!(
                units(value, expected) <= allowed + 0.5,
                "{name}({x}) is {value}, not {expected}"
            );
        }
    }
}

#[test]
fn f32_has_the_same_functions_rounded() {
    for (name, function, single, _, points) in REFERENCE {
        for &(x, _) in *points {
            let x = x as f32;
            let (value, expected) = (single(x), function(f64::from(x)) as f32);
            let near = (value - expected).abs() <= 2e-7 * expected.abs();
            assert!(
                near || value == expected,
                "{name}({x}) is {value}, not {expected}"
            );
        }
    }
}

#[test]
fn zeros_infinities_and_nan() {
    let infinity = f64::INFINITY;
    let cases: &[(&str, f64, f64)] = &[
        ("sinpi(1)", 1.0_f64.sinpi(), 0.0),
        ("sinpi(-1)", (-1.0_f64).sinpi(), -0.0),
        ("sinpi(-2)", (-2.0_f64).sinpi(), -0.0),
        ("sinpi(1e300)", 1e300_f64.sinpi(), 0.0),
        ("sinpi(-0.5)", (-0.5_f64).sinpi(), -1.0),
        ("cospi(0.5)", 0.5_f64.cospi(), 0.0),
        ("cospi(-1.5)", (-1.5_f64).cospi(), 0.0),
        ("cospi(1)", 1.0_f64.cospi(), -1.0),
        ("cospi(1e300)", 1e300_f64.cospi(), 1.0),
        ("cospi(f64::MAX)", f64::MAX.cospi(), 1.0),
        (
            "inv_error_function(-0)",
            (-0.0_f64).inv_error_function(),
            -0.0,
        ),
        (
            "inv_error_function(1)",
            1.0_f64.inv_error_function(),
            infinity,
        ),
        (
            "inv_error_function(-1)",
            (-1.0_f64).inv_error_function(),
            -infinity,
        ),
        (
            "erfcinv(0)",
            0.0_f64.inv_complementary_error_function(),
            infinity,
        ),
        (
            "erfcinv(2)",
            2.0_f64.inv_complementary_error_function(),
            -infinity,
        ),
        (
            "erfcinv(1)",
            1.0_f64.inv_complementary_error_function(),
            0.0,
        ),
        ("inv_norm_cdf(0)", 0.0_f64.inv_norm_cdf(), -infinity),
        ("inv_norm_cdf(0.5)", 0.5_f64.inv_norm_cdf(), 0.0),
        ("inv_norm_cdf(1)", 1.0_f64.inv_norm_cdf(), infinity),
        ("norm_cdf(-inf)", (-infinity).norm_cdf(), 0.0),
        ("norm_cdf(inf)", infinity.norm_cdf(), 1.0),
        (
            "erfcx(inf)",
            infinity.scaled_complementary_error_function(),
            0.0,
        ),
        (
            "erfcx(-27)",
            (-27.0_f64).scaled_complementary_error_function(),
            infinity,
        ),
        ("i0(-inf)", (-infinity).cyl_bessel_i0(), infinity),
        ("i1(-inf)", (-infinity).cyl_bessel_i1(), -infinity),
        ("i1(-0)", (-0.0_f64).cyl_bessel_i1(), -0.0),
        ("saturate(-0)", (-0.0_f64).saturate(), 0.0),
        ("saturate(2)", 2.0_f64.saturate(), 1.0),
        ("saturate(nan)", f64::NAN.saturate(), 0.0),
        ("norm3d", 2.0_f64.norm3d(3.0, 6.0), 7.0),
        ("rhypot", 3.0_f64.rhypot(4.0), 0.2),
    ];
    for (name, value, expected) in cases {
        assert_eq!(value.to_bits(), expected.to_bits(), "{name} is {value}");
    }
    for (name, function, ..) in REFERENCE {
        assert!(function(f64::NAN).is_nan(), "{name}");
    }
    let beyond = [
        infinity.sinpi(),
        infinity.cospi(),
        1.5_f64.inv_error_function(),
        (-0.1_f64).inv_complementary_error_function(),
        1.1_f64.inv_norm_cdf(),
        (-0.1_f64).inv_norm_cdf(),
    ];
    assert!(beyond.iter().all(|value| value.is_nan()), "{beyond:?}");
}

/// A name, our function and that of `std`.
type Pair<T> = (&'static str, fn(T) -> T, fn(T) -> T);

/// `T: GpuFloat` keeps the compiler from taking the methods of `std`.
fn same_as_std<T: GpuFloat + core::fmt::Debug>(
    values: &[T],
    pairs: &[Pair<T>],
    bits: fn(T) -> u64,
) {
    for (name, ours, std) in pairs {
        for &x in values {
            let (ours, std) = (ours(x), std(x));
            assert_eq!(bits(ours), bits(std), "{name}({x:?}): {ours:?}, {std:?}");
        }
    }
}

#[test]
fn rounding_is_that_of_std() {
    macro_rules! compare {
        ($float:ident, $edge:literal) => {{
            let values = [
                0.0,
                -0.0,
                0.25,
                0.5,
                -0.5,
                $edge,
                -$edge,
                1.5,
                2.5,
                -2.5,
                1e6 + 0.5,
                -3.7,
                1e30,
                0.5 / $float::EPSILON + 0.5,
                1.0 / $float::EPSILON - 1.0,
                $float::INFINITY,
                $float::MIN_POSITIVE,
            ];
            same_as_std::<$float>(
                &values,
                &[
                    ("floor", GpuFloat::floor, $float::floor),
                    ("ceil", GpuFloat::ceil, $float::ceil),
                    ("round", GpuFloat::round, $float::round),
                    (
                        "round_ties_even",
                        GpuFloat::round_ties_even,
                        $float::round_ties_even,
                    ),
                    ("trunc", GpuFloat::trunc, $float::trunc),
                    ("abs", GpuFloat::abs, $float::abs),
                    ("signum", GpuFloat::signum, $float::signum),
                    ("sqrt", |x| GpuFloat::sqrt(x.abs()), |x| x.abs().sqrt()),
                ],
                |x| u64::from(x.to_bits()),
            );
        }};
    }
    compare!(f32, 0.49999997);
    compare!(f64, 0.49999999999999994);
}

#[test]
fn euclidean_division_is_that_of_std() {
    let values = [7.5_f64, -7.5, 4.0, -4.0, 0.5, -0.1, 1e17];
    for x in values {
        for y in values {
            assert_eq!(GpuFloat::div_euclid(x, y), x.div_euclid(y), "{x} / {y}");
            assert_eq!(GpuFloat::rem_euclid(x, y), x.rem_euclid(y), "{x} % {y}");
        }
    }
    // Deterministic bits of all magnitudes, subnormals and infinities among them.
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        f64::from_bits(state.rotate_left(32)).abs()
    };
    for _ in 0..100_000 {
        let (x, y) = (next(), next());
        let (ours, std) = (GpuFloat::rem_euclid(x, y), x % y);
        assert!(
            ours == std || (ours.is_nan() && std.is_nan()),
            "{x:e} % {y:e}: {ours:e}, {std:e}"
        );
    }
    assert!(GpuFloat::div_euclid(f64::NAN, 1.0).is_nan());
}

#[test]
fn cube_roots_are_those_of_libm_to_the_last_unit() {
    let mut x = f64::from_bits(1);
    while x < 1e308 {
        let (ours, exact) = (GpuFloat::cbrt(-x), libm::cbrt(-x));
        assert!(
            units(ours, exact) <= 1.0,
            "cbrt(-{x:e}) is {ours:e}, not {exact:e}"
        );
        let single = x as f32;
        let (ours, exact) = (GpuFloat::cbrt(single), libm::cbrt(f64::from(single)));
        let rounded = exact as f32;
        let unit = f64::from(rounded.next_up() - rounded);
        assert!(
            ours == rounded || (f64::from(ours) - exact).abs() < unit,
            "cbrt({single:e}) is {ours:e}, not {exact:e}"
        );
        x *= 1.173;
        x = f64::from_bits(x.to_bits() + 1);
    }
    for x in [0.0, -0.0, f64::INFINITY, -f64::INFINITY] {
        assert_eq!(GpuFloat::cbrt(x).to_bits(), x.to_bits());
    }
    assert!(GpuFloat::cbrt(f64::NAN).is_nan());
}

#[test]
fn powers_and_exponents() {
    assert_eq!(GpuFloat::powi(3.0_f64, 4), 81.0);
    assert_eq!(GpuFloat::powi(2.0_f32, -3), 0.125);
    assert_eq!(GpuFloat::powi(0.0_f64, 0), 1.0);
    assert_eq!(GpuFloat::powi(1.0_f64, i32::MIN), 1.0);
    assert_eq!(GpuFloat::log(8.0_f64, 2.0), 3.0);
    assert_eq!(GpuFloat::log2(0.125_f32), -3.0);
    assert_eq!(12.0_f64.frexp(), (0.75, 4));
    assert_eq!(0.75_f32.ldexp(4), 12.0);
    assert_eq!(0.75_f32.scale_by_n(-1), 0.375);
    assert_eq!(0.75_f32.unbiased_exp(), -1);
    assert_eq!(f32::from_bits(1).unbiased_exp(), -149);
    assert_eq!(0.0_f64.unbiased_exp(), i32::MIN);
    assert_eq!(f64::INFINITY.unbiased_exp(), i32::MAX);
    assert_eq!(3.0_f64.exp10(), 1000.0);
}

/// One call of each function that is `libm`'s, against the C library's within a few units: that
/// the names lead where they say.
#[test]
fn names_lead_to_their_functions() {
    let x = 0.6_f64;
    let pairs = [
        (GpuFloat::exp(x), x.exp()),
        (GpuFloat::exp2(x), x.exp2()),
        (GpuFloat::ln(x), x.ln()),
        (GpuFloat::log10(x), x.log10()),
        (GpuFloat::cbrt(x), x.cbrt()),
        (GpuFloat::hypot(x, 2.0), x.hypot(2.0)),
        (GpuFloat::powf(x, 2.5), x.powf(2.5)),
        (GpuFloat::sin(x), x.sin()),
        (GpuFloat::cos(x), x.cos()),
        (GpuFloat::sin_cos(x).0, x.sin()),
        (GpuFloat::sin_cos(x).1, x.cos()),
        (GpuFloat::tan(x), x.tan()),
        (GpuFloat::asin(x), x.asin()),
        (GpuFloat::acos(x), x.acos()),
        (GpuFloat::atan(x), x.atan()),
        (GpuFloat::atan2(x, -2.0), x.atan2(-2.0)),
        (GpuFloat::exp_m1(x), x.exp_m1()),
        (GpuFloat::ln_1p(x), x.ln_1p()),
        (FloatExt::log1p(x), x.ln_1p()),
        (GpuFloat::sinh(x), x.sinh()),
        (GpuFloat::cosh(x), x.cosh()),
        (GpuFloat::tanh(x), x.tanh()),
        (GpuFloat::asinh(x), x.asinh()),
        (GpuFloat::acosh(1.0 + x), (1.0 + x).acosh()),
        (GpuFloat::atanh(x), x.atanh()),
        (x.sincospi().0, x.sinpi()),
        (x.sincospi().1, x.cospi()),
        (x.error_function(), 0.6038560908479259),
        (x.complementary_error_function(), 0.3961439091520741),
        (FloatExt::gamma(x), 1.489192248812817),
        (x.log_gamma(), 0.39823385806923495),
        (x.j0(), 0.9120048634972108),
        (x.j1(), 0.28670098806391575),
        (x.jn(3), 0.004399656708362192),
        (x.y0(), -0.3085098701155904),
        (x.y1(), -1.2603913471773875),
        (x.yn(3), -24.691572789327292),
        (x.exp10(), 3.9810717055349722),
    ];
    for (index, (ours, expected)) in pairs.into_iter().enumerate() {
        assert!(
            units(ours, expected) <= 4.0,
            "pair {index}: {ours}, {expected}"
        );
    }
}

#[test]
fn approximations_are_accurate_on_the_host() {
    let x = 0.6_f32;
    let pairs = [
        (x.fast_sin(), x.sin()),
        (x.fast_cos(), x.cos()),
        (x.fast_exp2(), x.exp2()),
        (x.fast_exp2_ftz(), x.exp2()),
        ((-127.0_f32).fast_exp2_ftz(), 0.0),
        (x.fast_log2(), x.log2()),
        (x.fast_tanh(), x.tanh()),
        (x.fast_rcp(), 1.0 / x),
        (x.fast_sqrt(), x.sqrt()),
        (x.fast_rsqrt(), 1.0 / x.sqrt()),
        (x.fast_div(7.0), x / 7.0),
    ];
    for (index, (ours, expected)) in pairs.into_iter().enumerate() {
        let error = (ours - expected).abs();
        assert!(
            error <= 2e-7 * expected.abs(),
            "pair {index}: {ours}, {expected}"
        );
    }
}
