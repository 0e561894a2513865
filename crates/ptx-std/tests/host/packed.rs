//! Two 16-bit floats at once: on the host each half is the exact result, rounded once.

use ptx_std::packed::{Bf16x2, F16x2};
use ptx_std::{bf16, f16};

/// Values are compared as multiples of 2^-80, which all products of the tests are.
const LAST: i32 = 40;

fn fixed(value: f64) -> i128 {
    (value * f64::from(LAST).exp2()) as i128
}

/// Fails where a neighbour of the result is nearer to the exact `a * b + c`, or as near and even.
fn assert_rounded_once([a, b, c]: [f64; 3], result: u16, number: impl Fn(u16) -> f64) {
    let exact = fixed(a) * fixed(b) + (fixed(c) << LAST);
    let distance = |bits: u16| ((fixed(number(bits)) << LAST) - exact).abs();
    for neighbour in [result.wrapping_sub(1), result + 1] {
        let (own, other) = (distance(result), distance(neighbour));
        assert!(
            own < other || own == other && result.is_multiple_of(2),
            "{a:e} * {b:e} + {c:e} = {:e}, and not {:e}",
            number(result),
            number(neighbour)
        );
    }
}

macro_rules! rounds_once {
    ($($test:ident: $packed:ident of $float:ident, $exponents:expr;)*) => {$(
        #[test]
        fn $test() {
            let mut random = fastrand::Rng::with_seed(7);
            let number = |bits| $float::from_bits(bits).to_f64();
            let mut value = || {
                let magnitude = 1.0 + random.f64();
                let value = magnitude * f64::from(random.i32($exponents)).exp2();
                $float::from_f64(if random.bool() { value } else { -value })
            };
            for _ in 0..200_000 {
                let low = [value(), value(), value()];
                let high = [value(), value(), value()];
                let [a, b, c] = [0, 1, 2].map(|i| $packed::new(low[i], high[i]));
                let one = $float::ONE;
                let zero = $float::ZERO;
                let results = [
                    (a.mul_add(b, c), low, high),
                    (a + b, [low[0], one, low[1]], [high[0], one, high[1]]),
                    (a * b, [low[0], low[1], zero], [high[0], high[1], zero]),
                ];
                for (result, low, high) in results {
                    for (operands, half) in [(low, result.low()), (high, result.high())] {
                        assert_rounded_once(operands.map($float::to_f64), half.to_bits(), number);
                    }
                }
            }
        }
    )*};
}

rounds_once! {
    halves_of_f16_round_once: F16x2 of f16, -8..7;
    halves_of_bf16_round_once: Bf16x2 of bf16, -12..12;
}

#[test]
fn what_is_far_below_a_tie_decides_it() {
    let splat = |value: f32| Bf16x2::splat(bf16::from_f32(value));
    let least = Bf16x2::splat(bf16::MIN_POSITIVE_SUBNORMAL);
    // 1.5 (1 + 3/128) lies halfway between 1.5 + 4/128 and 1.5 + 5/128.
    let product_and = |c| {
        splat(1.0 + 3.0 / 128.0)
            .mul_add(splat(1.5), c)
            .low()
            .to_f64()
    };
    assert_eq!(product_and(splat(0.0)), 1.5 + 4.0 / 128.0);
    assert_eq!(product_and(least), 1.5 + 5.0 / 128.0);
    // 1.5 (1 + 1/128) lies halfway between 1.5 + 1/128 and 1.5 + 2/128.
    let product_less = |c| {
        splat(1.0 + 1.0 / 128.0)
            .mul_add(splat(-1.5), c)
            .low()
            .to_f64()
    };
    assert_eq!(product_less(splat(0.0)), -1.5 - 2.0 / 128.0);
    assert_eq!(product_less(least), -1.5 - 1.0 / 128.0);
}

#[test]
fn infinities_zeros_and_nan_are_kept() {
    let of = |low: f32, high: f32| F16x2::new(f16::from_f32(low), f16::from_f32(high));
    let result = of(f32::INFINITY, 60_000.0).mul_add(of(-1.0, 60_000.0), of(1.0, 0.0));
    assert_eq!(result.low(), f16::NEG_INFINITY);
    assert_eq!(result.high(), f16::INFINITY);
    let result = of(f32::INFINITY, -0.0).mul_add(of(0.0, 1.0), of(0.0, -0.0));
    assert!(result.low().is_nan());
    assert_eq!(result.high().to_bits(), 0x8000);
    let zeros = of(-0.0, 0.0);
    assert_eq!((zeros + zeros).to_bits(), zeros.to_bits());
    assert_eq!((zeros * of(1.0, -1.0)).to_bits(), of(-0.0, -0.0).to_bits());
    assert_eq!(
        F16x2::from_bits(0x4000_3C00).to_bits(),
        of(1.0, 2.0).to_bits()
    );
}

#[test]
fn conversions_round_to_the_nearest_and_keep_their_halves() {
    // Ties go to the even neighbour: 1 + 2^-11 between 1 and 1 + 2^-10, and 1 + 2^-8 between 1 and 1 + 2^-7.
    let half = F16x2::from_f32(1.0 + f32::powi(2.0, -11), -65_520.0);
    assert_eq!(half.to_bits(), 0xFC00_3C00);
    assert_eq!(half.to_f32s(), (1.0, f32::NEG_INFINITY));
    let brain = Bf16x2::from_f32(1.0 + f32::powi(2.0, -8) + f32::powi(2.0, -20), -2.5);
    assert_eq!(brain.to_bits(), 0xC020_3F81);
    assert_eq!(brain.to_f32s(), (1.007_812_5, -2.5));
}
