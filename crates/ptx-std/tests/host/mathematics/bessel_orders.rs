//! The Bessel functions of any order against values computed with mpmath 1.3, and where they vanish or
//! are infinite.

use ptx_std::FloatExt;

/// Order, argument and the values of both kinds.
#[rustfmt::skip]
const ORDERS: &[(i32, f64, f64, f64)] = &[
    (2, 0.5, 0.03060402345868264, -5.441370837174266),
    (2, 1.5, 0.23208767214421472, -0.9321937597629739),
    (2, 12.25, -0.13364198989922613, 0.1864503487055511),
    (2, 50.5, -0.0978194114079707, 0.05519934870663757),
    (3, 0.5, 0.002563729994587244, -42.059494304723884),
    (3, 1.5, 0.06096395114113963, -2.073541399060686),
    (3, 12.25, 0.15671899797243422, 0.1702208206119003),
    (3, 50.5, 0.050314804230590336, 0.10048095322580583),
    (5, 0.5, 8.053627241357474e-06, -7946.301478807473),
    (5, 1.5, 0.001799421767360611, -37.190308395498086),
    (5, 12.25, -0.019313404217825292, -0.23753633770493016),
    (5, 50.5, -0.03387165049590217, -0.10733418374149759),
    (20, 0.5, 3.7272019617047145e-31, -4.271430121565906e+28),
    (20, 1.5, 1.268997218933256e-21, -1.2577301772964243e+19),
    (20, 12.25, 0.0003506179637325237, -57.55346512053792),
    (20, 50.5, -0.1112597196249516, -0.03671988569414654),
    (-3, 0.5, -0.002563729994587244, 42.059494304723884),
    (-3, 1.5, -0.06096395114113963, 2.073541399060686),
    (-3, 12.25, -0.15671899797243422, -0.1702208206119003),
    (-3, 50.5, -0.050314804230590336, -0.10048095322580583),
    // Of x below 1 and of x as great as the order.
    (2, 0.4375, 0.023546428001228036, -6.995548865989687),
    (40, 0.75, 1.117161609406167e-65, -7.124436746867239e+62),
    (12, 12.0, 0.19528018273883224, -0.3385582640956756),
];

#[test]
fn orders() {
    for &(n, x, first, second) in ORDERS {
        for (name, single, double, value) in [
            ("jn", (x as f32).jn(n), x.jn(n), first),
            ("yn", (x as f32).yn(n), x.yn(n), second),
        ] {
            // The recurrence's bounds are absolute where the function is below 1.
            let scale = if name == "yn" {
                value.abs().max(1.0)
            } else {
                1.0
            };
            assert!(
                (double - value).abs() <= 2e-14 * scale,
                "{name}({n}, {x}): {double}"
            );
            if value.abs() < f32::MAX.into() {
                let error = (f64::from(single) - value).abs();
                assert!(error <= 5e-6 * scale, "{name}({n}, {x}): {single}");
            }
        }
    }
}

#[test]
fn orders_too_high_for_any_number() {
    for x in [0.0_f64, 1e-300, 0.999] {
        assert_eq!(x.jn(171).to_bits(), 0);
        assert_eq!(x.jn(1_000_000).to_bits(), 0);
    }
}

/// Order, argument and the value of the first kind below its turning point.
const SMALL: &[(i32, f32, f64)] = &[
    (330, 202.22088623046875, 1.0000025510986634e-42),
    (400, 256.37921142578125, 2.9999648743205507e-45),
    (5000, 4639.6318359375, 1.0000685180285191e-43),
    (5000, 4719.01513671875, 1.0000053578314133e-30),
    (2300, 1346.63671875, 9.9999924261618924e-321),
    (5000, 3673.62646484375, 1.2000558756346773e-323),
    (5000, 3731.77392578125, 1.0000184426163898e-300),
    (5000, 4876.091796875, 9.9998898279007488e-11),
];

/// Numbers below the smallest normal number, but not 0, are not taken for 0.
#[test]
fn small_values_of_high_orders() {
    for &(n, x, value) in SMALL {
        let double = f64::from(x).jn(n);
        assert!(
            (double - value).abs() <= (1e-11 * value).max(5e-324),
            "jn({n}, {x}) in f64: {double:e}"
        );
        let single = f64::from(x.jn(n));
        assert!(
            (single - value).abs() <= (1e-3 * value).max(1.5e-45),
            "jn({n}, {x}) in f32: {single:e}"
        );
    }
}

/// Without as many steps as the order says.
#[test]
fn huge_orders() {
    for n in [1 << 20, (1 << 24) + 1, 1 << 30, i32::MAX, i32::MIN] {
        for x in [0.5_f32, 1.0, 100.0, 1e6] {
            assert_eq!(x.jn(n), 0.0, "jn({n}, {x}) in f32");
            assert_eq!(f64::from(x).jn(n), 0.0, "jn({n}, {x}) in f64");
            assert_eq!(x.yn(n), f32::NEG_INFINITY, "yn({n}, {x}) in f32");
            assert_eq!(f64::from(x).yn(n), f64::NEG_INFINITY, "yn({n}, {x}) in f64");
        }
    }
    // An odd order, negative.
    assert_eq!(1.0_f64.jn(-i32::MAX).to_bits(), (-0.0_f64).to_bits());
    assert_eq!(1.0_f64.yn(-i32::MAX), f64::INFINITY);
    // More than 2^24 steps, after which a count in f32 would stand still.
    assert_eq!(17_000_000.0_f32.yn(i32::MAX), f32::NEG_INFINITY);
}
