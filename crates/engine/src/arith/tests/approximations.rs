//! Within the errors that PTX states, of what the C library computes, and exact where PTX says so.

use super::super::approx;
use super::super::half::{self, Bf16, F16, Half};

type Ours = fn(f32) -> f32;
type Reference = fn(f64) -> f64;

fn unit(x: f64) -> f64 {
    (x.abs().log2().floor().max(-126.0) - 23.0).exp2()
}

#[test]
fn errors_are_below_those_stated() {
    type Bound = fn(f64, f64) -> f64;
    let angle: Bound = |_, _| (-20.5f64).exp2();
    let cases: [(&str, Ours, Reference, Bound); 8] = [
        ("rcp", approx::rcp, |x| 1.0 / x, |_, y| unit(y)),
        ("sqrt", approx::sqrt, f64::sqrt, |_, y| y * (-23f64).exp2()),
        (
            "rsqrt",
            approx::rsqrt,
            |x| 1.0 / x.sqrt(),
            |_, y| y * (-22.9f64).exp2(),
        ),
        ("sin", approx::sin, f64::sin, angle),
        ("cos", approx::cos, f64::cos, angle),
        ("lg2", approx::lg2, f64::log2, |x, y| {
            let is_absolute = (0.5..=2.0).contains(&x);
            (-22f64).exp2() * if is_absolute { 1.0 } else { y.abs() }
        }),
        ("ex2", approx::ex2, f64::exp2, |_, y| 2.0 * unit(y)),
        ("tanh", approx::tanh, f64::tanh, |_, y| {
            y.abs() * (-11f64).exp2()
        }),
    ];
    let mut random = fastrand::Rng::with_seed(4);
    for (name, ours, reference, bound) in cases {
        for _ in 0..50_000 {
            let x = if random.bool() {
                f32::from_bits(random.u32(..))
            } else {
                (random.f32() - 0.5) * 40.0
            };
            let exact = reference(x.into());
            let y = ours(x);
            if exact.is_nan() {
                assert_eq!(y.to_bits(), 0x7fff_ffff, "{name} {x:e}");
            } else if !(exact as f32).is_finite() || exact == 0.0 {
                assert_eq!(f64::from(y), f64::from(exact as f32), "{name} {x:e}");
            } else {
                assert!(
                    (f64::from(y) - exact).abs() <= bound(x.into(), exact),
                    "{name} {x:e}"
                );
            }
        }
    }
}

#[test]
fn special_values() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let of = |function: fn(f32) -> f32, inputs: [f32; 5]| inputs.map(|x| function(x).to_bits());
    let bits =
        |values: [f32; 5]| values.map(|x| if x.is_nan() { 0x7fff_ffff } else { x.to_bits() });
    let inputs = [-inf, -0.0, 0.0, inf, nan];
    assert_eq!(of(approx::rcp, inputs), bits([-0.0, -inf, inf, 0.0, nan]));
    assert_eq!(of(approx::sqrt, inputs), bits([nan, -0.0, 0.0, inf, nan]));
    assert_eq!(of(approx::rsqrt, inputs), bits([nan, -inf, inf, 0.0, nan]));
    assert_eq!(of(approx::sin, inputs), bits([nan, -0.0, 0.0, nan, nan]));
    assert_eq!(of(approx::cos, inputs), bits([nan, 1.0, 1.0, nan, nan]));
    assert_eq!(of(approx::lg2, inputs), bits([nan, -inf, -inf, inf, nan]));
    assert_eq!(of(approx::ex2, inputs), bits([0.0, 1.0, 1.0, inf, nan]));
    assert_eq!(of(approx::tanh, inputs), bits([-1.0, -0.0, 0.0, 1.0, nan]));
    assert_eq!(approx::div(3.0, -3e38).to_bits(), (-0f32).to_bits());
    assert!(approx::div(inf, 3e38).is_nan());
    assert_eq!(approx::div(6.0, 4.0), 1.5);
    assert_eq!(approx::div_ftz(f32::from_bits(0xff_ffff), 2.0), 0.0);
}

#[test]
fn halves() {
    fn check<H: Half>(function: fn(u16) -> u16, reference: Reference, digits: i32) {
        for bits in 0..=u16::MAX {
            let exact = reference(H::to_f32(bits).into());
            let y = function(bits);
            if exact.is_nan() {
                assert_eq!(y, half::NAN);
            } else if y & 0x7fff != H::INFINITY {
                let allowed = exact.abs() * 2f64.powi(-digits) + f64::from(H::to_f32(1));
                assert!(
                    (f64::from(H::to_f32(y)) - exact).abs() <= allowed,
                    "{bits:x}"
                );
            } else {
                assert!(
                    half::from_f32::<H>(exact as f32, super::super::directed::Rounding::Nearest)
                        == y
                );
            }
        }
    }
    check::<F16>(approx::ex2_half::<F16>, f64::exp2, 10);
    check::<Bf16>(approx::ex2_half::<Bf16>, f64::exp2, 8);
    check::<F16>(approx::tanh_half::<F16>, f64::tanh, 11);
    check::<Bf16>(approx::tanh_half::<Bf16>, f64::tanh, 8);
}

#[test]
fn of_the_upper_half_of_f64() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..50_000 {
        let x = 2f64.powi(random.i32(-1000..1000)) * (1.0 + random.f64());
        for (y, exact) in [
            (approx::rcp_f64(x), 1.0 / x),
            (approx::rsqrt_ftz_f64(x), 1.0 / x.sqrt()),
        ] {
            assert_eq!(y.to_bits() as u32, 0);
            assert!((y / exact - 1.0).abs() < 2f64.powi(-18), "{x:e}");
        }
        assert!((approx::rsqrt_f64(x) * x.sqrt() - 1.0).abs() < 2f64.powi(-51));
    }
    assert_eq!(approx::rcp_f64(0.0), f64::INFINITY);
    assert_eq!(approx::rsqrt_ftz_f64(f64::INFINITY).to_bits(), 0);
}
