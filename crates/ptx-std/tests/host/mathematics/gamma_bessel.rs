//! The gamma and Bessel functions against values computed with mpmath 1.3 at 300 bits, at their zeros,
//! poles and ends. Every argument is an f32, so that both types have the same.

#![allow(clippy::excessive_precision, clippy::approx_constant)]

use ptx_std::FloatExt;

/// The distance between a value and the true one in units in the last place of an f32 or f64.
fn units(value: f64, reference: f64, digits: i32) -> f64 {
    if value == reference {
        return 0.0;
    }
    let exponent = (reference.abs().to_bits() >> 52) as i32 - 1023 - (digits - 1);
    (value - reference).abs() / 2.0_f64.powi(exponent)
}

/// A function, the greatest errors of its f32 and f64 forms in units, arguments and values.
type Row = (
    &'static str,
    fn(f32) -> f32,
    fn(f64) -> f64,
    f64,
    f64,
    &'static [(f64, f64)],
);

#[rustfmt::skip]
const VALUES: &[Row] = &[
    ("gamma", FloatExt::gamma, FloatExt::gamma, 5.0, 10.0, &[
        (-170.5, -3.3127395215386074e-308),
        (-30.25, -7.120020598361713e-33),
        (-7.75, 0.0001874782417004247),
        (-2.625, -0.8891306420668862),
        (-2.25, -1.7428148657282527),
        (-1.25, 3.9213334478885686),
        (-0.375, -3.8253835949081516),
        (0.0625, 15.481281081592398),
        (0.75, 1.2254167024651776),
        (1.75, 0.9190625268488832),
        (2.375, 1.2222561575898099),
        (2.625, 1.4569332050919717),
        (7.125, 910.9984887224346),
        (33.5, 1.505856975626702e+36),
        (170.25, 1.540656022718819e+305),
    ]),
    ("log_gamma", FloatExt::log_gamma, FloatExt::log_gamma, 6.0, 4.0, &[
        (-30.25, -74.02239745035548),
        (-1.75, 1.0160888092144358),
        (-0.875, 2.152949750178319),
        (-0.25, 1.589575312551186),
        (9.999999974752427e-07, 13.81550998327419),
        (0.5, 0.5723649429247001),
        (0.875, 0.08585870722533433),
        (1.25, -0.09827183642181316),
        (1.75, -0.08440112102048555),
        (2.5, 0.2846828704729192),
        (5.25, 3.561375910386697),
        (9.5, 11.689333420797269),
        (10000000000.0, 220258509288.81058),
    ]),
    ("j0", FloatExt::j0, FloatExt::j0, 9.0, 7.0, &[
        (0.25, 0.9844359292958527),
        (1.5, 0.5118276717359181),
        (2.5, -0.048383776468198),
        (5.625, 0.03530131981075585),
        (7.75, 0.22523406912010668),
        (9.25, -0.14741426284123627),
        (100.5, 0.054436573814413594),
        (3000000.0, -0.00013053162249034237),
        (1.0000000150474662e+30, -7.914272141241796e-16),
    ]),
    ("j1", FloatExt::j1, FloatExt::j1, 9.0, 7.0, &[
        (0.25, 0.12402597732272692),
        (1.5, 0.5579365079100996),
        (4.0, -0.06604332802354913),
        (6.875, -0.04248340333660137),
        (7.75, 0.1916025921891178),
        (9.25, 0.20914665047012113),
        (100.5, -0.05779112399693202),
        (3000000.0, -0.00044177834435523116),
        (1.0000000150474662e+30, -1.0130512095499822e-16),
    ]),
    ("y0", FloatExt::y0, FloatExt::y0, 9.0, 7.0, &[
        (9.999999974752427e-07, -8.869031483266754),
        (0.25, -0.9315730249300587),
        (1.5, 0.38244892379775886),
        (2.5, 0.4980703596152319),
        (5.625, -0.33392268365039857),
        (7.75, 0.17676987751364717),
        (9.25, 0.21678127961896876),
        (100.5, -0.05806122757035575),
        (3000000.0, -0.0004417783225999546),
        (1.0000000150474662e+30, -1.0130512095499822e-16),
    ]),
    ("y1", FloatExt::y1, FloatExt::y1, 9.0, 7.0, &[
        (9.999999974752427e-07, -636619.7739794854),
        (0.25, -2.7041052293152825),
        (1.5, -0.4123086269739113),
        (2.5, 0.1459181379667858),
        (5.625, -0.06490204395688395),
        (7.75, -0.21433222865940804),
        (9.25, 0.15931077634755317),
        (100.5, -0.05472610209468349),
        (3000000.0, 0.00013053154886062375),
        (1.0000000150474662e+30, 7.914272141241796e-16),
    ]),
    ("cyl_bessel_i0", FloatExt::cyl_bessel_i0, FloatExt::cyl_bessel_i0, 6.0, 6.0, &[
        (0.25, 1.015686141223608),
        (3.5, 7.3782034322254795),
        (8.5, 683.1619269901156),
        (10.5, 4527.441714638888),
        (14.25, 164684.71911035423),
        (80.5, 4.068146021846918e+33),
        (90.5, 8.449667035760072e+37),
        (700.25, 1.9636859833070837e+302),
    ]),
    ("cyl_bessel_i1", FloatExt::cyl_bessel_i1, FloatExt::cyl_bessel_i1, 6.0, 6.0, &[
        (-3.5, -6.205834922258365),
        (0.25, 0.12597910894546793),
        (8.5, 641.6199025400667),
        (10.5, 4306.134875096274),
        (14.25, 158796.89764548233),
        (80.5, 4.0427985678883193e+33),
        (90.5, 8.402853383084631e+37),
        (700.25, 1.962283349924181e+302),
    ]),
];

#[test]
fn values() {
    for &(name, single, double, single_units, double_units, points) in VALUES {
        // Beyond 8 a Bessel function is as exact as its greatest values are.
        let oscillates = name.starts_with(['j', 'y']);
        for &(x, value) in points {
            let error = units(double(x), value, 53);
            let close = oscillates && x > 8.0 && (double(x) - value).abs() < 1e-15;
            assert!(
                error <= double_units || close,
                "{name}({x}) in f64: {error} units"
            );
            if value.abs() < f32::MAX.into() && value.abs() > f32::MIN_POSITIVE.into() {
                let computed: f64 = single(x as f32).into();
                let error = units(computed, value, 24);
                let close = oscillates && x > 8.0 && (computed - value).abs() < 2e-7;
                assert!(
                    error <= single_units || close,
                    "{name}({x}) in f32: {error} units"
                );
            }
        }
    }
}

/// A function, the float nearest to one of its zeros, and its value there.
type Zero<T> = (fn(T) -> T, T, f64);

/// At the floats nearest to a zero of each: the argument as f32 and the value, and those of f64.
#[test]
fn zeros() {
    let zeros: [Zero<f32>; 4] = [
        (FloatExt::j0, 2.404825448989868, 5.6434399591553125e-08),
        (FloatExt::j1, 3.8317060470581055, -3.0952298147342295e-08),
        (FloatExt::y0, 0.893576979637146, 1.1747284061988444e-08),
        (FloatExt::y1, 5.429680824279785, 7.368374188089669e-08),
    ];
    for (function, x, value) in zeros {
        assert!(units(function(x).into(), value, 24) <= 9.0, "{x}");
    }
    let zeros: [Zero<f64>; 4] = [
        (FloatExt::j0, 2.404825557695773, -6.10876525973673e-17),
        (FloatExt::j1, 3.8317059702075125, -6.149807356994906e-17),
        (FloatExt::y0, 0.8935769662791675, -2.3389279284062102e-17),
        (FloatExt::y1, 5.429681040794135, 1.4165786380203692e-16),
    ];
    for (function, x, value) in zeros {
        assert!(units(function(x), value, 53) <= 7.0, "{x}");
    }
}

/// A function, and arguments with their values.
type Special<'a, T> = (&'a str, fn(T) -> T, &'a [(f32, f32)]);

/// The functions at the ends and poles of both types; NaN equals NaN here.
fn special_values<T>(number: fn(f32) -> T, bits: impl Fn(T) -> u64)
where
    T: FloatExt + Copy + PartialEq + std::fmt::Debug,
{
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    let unary: [Special<'_, T>; 8] = [
        (
            "gamma",
            FloatExt::gamma,
            &[
                (0.0, infinity),
                (-0.0, -infinity),
                (-1.0, nan),
                (-2.0, nan),
                (-7.0, nan),
                (-1e9, nan),
                (1.0, 1.0),
                (2.0, 1.0),
                (3.0, 2.0),
                (4.0, 6.0),
                (5.0, 24.0),
                (infinity, infinity),
                (-infinity, nan),
                (200.0, infinity),
                (-200.5, -0.0),
                (-201.5, 0.0),
            ],
        ),
        (
            "log_gamma",
            FloatExt::log_gamma,
            &[
                (0.0, infinity),
                (-0.0, infinity),
                (-1.0, infinity),
                (-7.0, infinity),
                (2.0, 0.0),
                (infinity, infinity),
                (-infinity, infinity),
            ],
        ),
        (
            "j0",
            FloatExt::j0,
            &[(0.0, 1.0), (-0.0, 1.0), (infinity, 0.0), (-infinity, 0.0)],
        ),
        (
            "j1",
            FloatExt::j1,
            &[(0.0, 0.0), (-0.0, -0.0), (infinity, 0.0)],
        ),
        (
            "y0",
            FloatExt::y0,
            &[
                (0.0, -infinity),
                (-0.0, -infinity),
                (-1.0, nan),
                (-infinity, nan),
                (infinity, 0.0),
            ],
        ),
        (
            "y1",
            FloatExt::y1,
            &[
                (0.0, -infinity),
                (-0.0, -infinity),
                (-1.0, nan),
                (-infinity, nan),
                (infinity, 0.0),
            ],
        ),
        (
            "i0",
            FloatExt::cyl_bessel_i0,
            &[
                (0.0, 1.0),
                (-0.0, 1.0),
                (infinity, infinity),
                (-infinity, infinity),
            ],
        ),
        (
            "i1",
            FloatExt::cyl_bessel_i1,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (infinity, infinity),
                (-infinity, -infinity),
            ],
        ),
    ];
    for (name, function, points) in unary {
        for &(x, value) in points.iter().chain(&[(nan, nan)]) {
            let (computed, value) = (function(number(x)), number(value));
            assert_eq!(bits(computed), bits(value), "{name}({x}) is {computed:?}");
        }
    }
    for (name, function, points) in [
        (
            "jn",
            FloatExt::jn as fn(T, i32) -> T,
            [(0.0, 0.0), (infinity, 0.0), (nan, nan)],
        ),
        (
            "yn",
            FloatExt::yn as fn(T, i32) -> T,
            [(0.0, -infinity), (-1.0, nan), (infinity, 0.0)],
        ),
    ] {
        for (x, value) in points {
            let (computed, value) = (function(number(x), 4), number(value));
            assert_eq!(
                bits(computed),
                bits(value),
                "{name}(4, {x}) is {computed:?}"
            );
        }
    }
}

#[test]
fn special() {
    let word = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    special_values(|x: f32| x, |x| word(x.into()));
    special_values(f64::from, word);
}

/// The gamma function overflows where it should.
#[test]
fn thresholds() {
    let gamma: fn(f32) -> f32 = FloatExt::gamma;
    let largest = 35.040_096_f32;
    assert!(gamma(largest) < f32::INFINITY);
    assert_eq!(gamma(f32::from_bits(largest.to_bits() + 1)), f32::INFINITY);
    let gamma: fn(f64) -> f64 = FloatExt::gamma;
    let largest = 171.6243769563027_f64;
    assert!(gamma(largest) < f64::INFINITY);
    assert_eq!(gamma(f64::from_bits(largest.to_bits() + 1)), f64::INFINITY);
}
