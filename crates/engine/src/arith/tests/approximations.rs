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

/// Results of `ex2.approx.f16` on an H100 (CUDA driver 13.0) that are not the nearest number: operand and result.
#[rustfmt::skip]
const EX2_F16: &[(u16, u16)] = &[
    (0x1317, 0x3C00),
    (0x154D, 0x3C00),
    (0x1D1D, 0x3C03),
    (0x1ECB, 0x3C04),
    (0x203E, 0x3C05),
    (0x20BA, 0x3C06),
    (0x2480, 0x3C0C),
    (0x24E6, 0x3C0D),
    (0x2716, 0x3C13),
    (0x2B5E, 0x3C29),
    (0x2D90, 0x3C3F),
    (0x3054, 0x3C64),
    (0x3380, 0x3CB4),
    (0x3EDB, 0x428F),
    (0x4096, 0x44E6),
    (0x409F, 0x44F5),
    (0x4178, 0x46A7),
    (0x4185, 0x46C5),
    (0x419C, 0x46FC),
    (0x41EA, 0x47C3),
    (0x438D, 0x4AD8),
    (0x4438, 0x4CA7),
    (0x462C, 0x5481),
    (0x4788, 0x59C7),
    (0x47C2, 0x5AC3),
    (0x4973, 0x6774),
    (0x49C4, 0x69C7),
    (0x80B7, 0x3BFF),
    (0x810D, 0x3BFF),
    (0x82D0, 0x3BFF),
    (0x8379, 0x3BFF),
    (0x838E, 0x3BFF),
    (0x8476, 0x3BFF),
    (0x84E5, 0x3BFF),
    (0x8618, 0x3BFF),
    (0x865C, 0x3BFF),
    (0x8779, 0x3BFF),
    (0x887D, 0x3BFF),
    (0x8883, 0x3BFF),
    (0x8890, 0x3BFF),
    (0x89C8, 0x3BFF),
    (0x8B39, 0x3BFF),
    (0x8B8B, 0x3BFF),
    (0x8BA0, 0x3BFF),
    (0x8D9D, 0x3BFF),
    (0x8DA5, 0x3BFF),
    (0x8DB8, 0x3BFF),
    (0x927D, 0x3BFE),
    (0x935B, 0x3BFE),
    (0x9427, 0x3BFE),
    (0x96C7, 0x3BFD),
    (0x971C, 0x3BFD),
    (0x98F4, 0x3BFC),
    (0x9C6B, 0x3BF9),
    (0x9C9D, 0x3BF9),
    (0xA01B, 0x3BF4),
    (0xA42F, 0x3BE8),
    (0xA49E, 0x3BE6),
    (0xA589, 0x3BE1),
    (0xA84C, 0x3BD0),
    (0xA8AC, 0x3BCC),
    (0xA924, 0x3BC7),
    (0xA9E8, 0x3BBF),
    (0xAA88, 0x3BB8),
    (0xAAB4, 0x3BB6),
    (0xABA4, 0x3BAC),
    (0xABF8, 0x3BA9),
    (0xAC41, 0x3BA3),
    (0xAD7F, 0x3B89),
    (0xAF3C, 0x3B65),
    (0xB01A, 0x3B51),
    (0xB079, 0x3B42),
    (0xB0E0, 0x3B32),
    (0xB254, 0x3AF9),
    (0xB2B8, 0x3AEA),
    (0xB8E8, 0x393A),
    (0xB92D, 0x391B),
    (0xBA98, 0x3884),
    (0xBD43, 0x366D),
    (0xBF80, 0x345C),
    (0xC15D, 0x30FC),
    (0xC171, 0x30DA),
    (0xC19F, 0x308F),
    (0xC1B8, 0x3068),
    (0xC1F4, 0x3010),
    (0xC203, 0x2FF7),
    (0xC273, 0x2ED8),
    (0xC2CB, 0x2E13),
    (0xC606, 0x23DE),
    (0xC7D2, 0x1C87),
    (0xC7E8, 0x1C44),
    (0xCA36, 0x09F8),
    (0xCC02, 0x00FA),
];

/// The same of `ex2.approx.ftz.bf16`.
#[rustfmt::skip]
const EX2_BF16: &[(u16, u16)] = &[
    (0x3CB2, 0x3F81),
    (0x3D2F, 0x3F83),
    (0x3E3E, 0x3F91),
    (0x3EA3, 0x3F9F),
    (0x3ED0, 0x3FA9),
    (0x4012, 0x409B),
    (0x40ED, 0x4329),
    (0x4132, 0x450B),
    (0x415D, 0x4660),
    (0x4162, 0x468B),
    (0x417D, 0x4760),
    (0x41CB, 0x4C25),
    (0x41CF, 0x4C6A),
    (0x41F1, 0x4E8B),
    (0xB53E, 0x3F7F),
    (0xB630, 0x3F7F),
    (0xB678, 0x3F7F),
    (0xB7A1, 0x3F7F),
    (0xB83A, 0x3F7F),
    (0xB945, 0x3F7F),
    (0xB9A1, 0x3F7F),
    (0xB9F6, 0x3F7F),
    (0xBA3D, 0x3F7F),
    (0xBAD6, 0x3F7F),
    (0xBBC0, 0x3F7E),
    (0xBBE6, 0x3F7E),
    (0xBCCD, 0x3F7B),
    (0xBE4E, 0x3F5E),
    (0xBEF9, 0x3F36),
    (0xBFE2, 0x3E96),
    (0xC046, 0x3DEF),
    (0xC093, 0x3D29),
    (0xC0A9, 0x3CD2),
    (0xC0BC, 0x3C8B),
    (0xC0F9, 0x3B94),
    (0xC11E, 0x3A8B),
    (0xC13A, 0x39A5),
    (0xC14A, 0x3925),
    (0xC1E5, 0x3125),
];

#[test]
fn ex2_of_halves_has_the_bits_of_an_h100() {
    for (x, y) in EX2_F16 {
        assert_eq!(approx::ex2_half::<F16>(*x), *y, "f16 {x:#x}");
    }
    for (x, y) in EX2_BF16 {
        assert_eq!(approx::ex2_half::<Bf16>(*x), *y, "bf16 {x:#x}");
    }
    // Integers, what is next to 0, and what is beyond: 2^16 and less than half of the least `f16` of all.
    for (x, y) in [
        (0x3C00, 0x4000),
        (0x0000, 0x3C00),
        (0x0001, 0x3C00),
        (0x4C00, 0x7C00),
        (0xFC00, 0),
        (0xCE60, 0),
    ] {
        assert_eq!(approx::ex2_half::<F16>(x), y, "f16 {x:#x}");
    }
}

#[test]
fn halves() {
    fn check<H: Half>(function: fn(u16) -> u16, reference: Reference, digits: f64) {
        for bits in 0..=u16::MAX {
            let exact = reference(H::to_f32(bits).into());
            let y = function(bits);
            if exact.is_nan() {
                assert_eq!(y, half::NAN);
            } else if y & 0x7fff != H::INFINITY {
                let allowed = exact.abs() * 2f64.powf(-digits) + f64::from(H::to_f32(1));
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
    check::<F16>(approx::ex2_half::<F16>, f64::exp2, 9.9);
    check::<Bf16>(approx::ex2_half::<Bf16>, f64::exp2, 7.0);
    check::<F16>(approx::tanh_half::<F16>, f64::tanh, 11.0);
    check::<Bf16>(approx::tanh_half::<Bf16>, f64::tanh, 8.0);
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
