//! Functions of one or two elements, for [`map`](crate::elementwise::map) and
//! [`zip`](crate::elementwise::zip).

use cuda_std::prelude::*;

use crate::real::Float;

/// A function of one element. What it captures are its fields.
pub trait Unary<T>: Copy {
    /// Its value at `x`.
    fn of(self, x: T) -> T;
}

/// A function of two elements. What it captures are its fields.
pub trait Binary<T>: Copy {
    /// Its value at `x` and `y`.
    fn of(self, x: T, y: T) -> T;
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;
    )*};
}

functions! {
    /// `x + y`.
    Add;
    /// `x * y`.
    Mul;
    /// The greater of `x` and 0; NaN stays NaN.
    Relu;
    /// `x * Φ(x)`, where Φ is the normal distribution's, by the error function. Within 2e-7 times
    /// `|x|` in `f32`.
    Gelu;
    /// e to the power `x`. Within 2 units in the last place.
    Exp;
    /// The square root, correctly rounded.
    Sqrt;
}

/// `factor * x`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Scale<T> {
    /// The factor of each element.
    pub factor: T,
}

/// `factor * x + y`, rounded once.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Axpy<T> {
    /// The factor of each element of `x`.
    pub factor: T,
}

/// `x / divisor`, by two multiplications: within 1.5 units in the last place, or in that of the
/// smallest normal number.
#[derive(Clone, Copy, Debug)]
pub struct Divide<T> {
    /// A power of two that brings the divisor to where its inverse is a normal number.
    shift: T,
    inverse: T,
}

impl<T: Float> Divide<T> {
    /// Division by this number, which may be as large or as small as it likes.
    #[inline(always)]
    pub fn by(divisor: T) -> Self {
        let one = T::LARGE * T::SMALL;
        let shift = if divisor < T::SMALL { T::LARGE } else { one };
        let shift = if divisor > T::LARGE { T::SMALL } else { shift };
        Divide {
            shift,
            inverse: one / (divisor * shift),
        }
    }
}

impl<T: Float> Unary<T> for Divide<T> {
    #[inline(always)]
    fn of(self, x: T) -> T {
        x * self.shift * self.inverse
    }
}

impl<T: Float> Binary<T> for Add {
    #[inline(always)]
    fn of(self, x: T, y: T) -> T {
        x.add(y)
    }
}

impl<T: Float> Binary<T> for Mul {
    #[inline(always)]
    fn of(self, x: T, y: T) -> T {
        x.mul(y)
    }
}

impl<T: Float> Binary<T> for Axpy<T> {
    #[inline(always)]
    fn of(self, x: T, y: T) -> T {
        self.factor.mul_add(x, y)
    }
}

impl<T: Float> Unary<T> for Scale<T> {
    #[inline(always)]
    fn of(self, x: T) -> T {
        self.factor * x
    }
}

impl<T: Float> Unary<T> for Relu {
    #[inline(always)]
    fn of(self, x: T) -> T {
        if x < T::default() { T::default() } else { x }
    }
}

impl<T: Float> Unary<T> for Sqrt {
    #[inline(always)]
    fn of(self, x: T) -> T {
        GpuFloat::sqrt(x)
    }
}

impl Unary<f32> for Exp {
    #[inline(always)]
    fn of(self, x: f32) -> f32 {
        exp(x)
    }
}

impl Unary<f32> for Gelu {
    #[inline(always)]
    fn of(self, x: f32) -> f32 {
        0.5 * x * (1.0 + erf(x * core::f32::consts::FRAC_1_SQRT_2))
    }
}

/// e to the power `x` without a branch, unlike `libm`'s: lanes of a warp that go different ways wait
/// for each other. The power of 2 of an integer, which is made of its bits, times a polynomial.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_145_75;
    const LN_2_LOW: f32 = 1.428_606_8e-6;
    // Beyond, the result is 0 or infinity all the same. NaN passes.
    let clamped = if x > 89.0 { 89.0 } else { x };
    let clamped = if clamped < -104.0 { -104.0 } else { clamped };
    let power = GpuFloat::round_ties_even(clamped * core::f32::consts::LOG2_E);
    let rest = GpuFloat::mul_add(power, -LN_2_HIGH, clamped);
    let rest = GpuFloat::mul_add(power, -LN_2_LOW, rest);
    // Taylor's: |rest| is at most ln(2) / 2.
    let sum = polynomial(
        rest,
        [
            1.0 / 5040.0,
            1.0 / 720.0,
            1.0 / 120.0,
            1.0 / 24.0,
            1.0 / 6.0,
            0.5,
            1.0,
            1.0,
        ],
    );
    // In two factors, so that neither overflows and the product is rounded once.
    let power = power as i32;
    let half = power >> 1;
    sum * power_of_two(half) * power_of_two(power - half)
}

/// 2 to the power `n`, which is from -126 to 127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) << 23).cast_unsigned())
}

/// The error function, by the two polynomials of N. Juffa's `my_erff`
/// (<https://stackoverflow.com/a/35148199>), of which each lane evaluates its own: without a branch,
/// all lanes go the same way.
#[inline(always)]
fn erf(x: f32) -> f32 {
    const NEAR: [f32; 7] = [
        0.0,
        -5.967_617e-4,
        4.991_194_4e-3,
        -2.676_813_5e-2,
        1.128_199_2e-1,
        -3.761_253_4e-1,
        1.283_791_7e-1,
    ];
    const FAR: [f32; 7] = [
        -1.728_534_7e-5,
        3.831_971_3e-4,
        -3.883_964_4e-3,
        2.425_462_2e-2,
        -1.067_778_8e-1,
        -6.348_467e-1,
        -1.287_175_1e-1,
    ];
    let magnitude = x.abs();
    let is_far = magnitude > 0.927_734_4;
    let mut coefficients = NEAR;
    for n in 0..NEAR.len() {
        coefficients[n] = if is_far { FAR[n] } else { NEAR[n] };
    }
    let sum = polynomial(if is_far { magnitude } else { x * x }, coefficients);
    let far = 1.0 - exp(GpuFloat::mul_add(sum, magnitude, -magnitude));
    if is_far {
        far.copysign(x)
    } else {
        GpuFloat::mul_add(sum, x, x)
    }
}

/// The polynomial of these coefficients, the highest power's first, by Horner's rule.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for n in 1..N {
        sum = GpuFloat::mul_add(sum, x, coefficients[n]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of all magnitudes and both signs.
    fn points(most: f32) -> impl Iterator<Item = f32> {
        (0..400_000).map(move |i| {
            let x = (i as f32 / 200_000.0 - 1.0) * most;
            if i % 3 == 0 {
                x * x * x / (most * most)
            } else {
                x
            }
        })
    }

    #[test]
    fn exp_is_within_two_units() {
        for x in points(88.5) {
            let expected = libm::exp(f64::from(x));
            let unit = f64::from((expected as f32).next_up() - expected as f32);
            let error = (f64::from(exp(x)) - expected).abs() / unit;
            assert!(error <= 2.0, "exp({x}) is wrong by {error} units");
        }
        for (x, expected) in [
            (f32::INFINITY, f32::INFINITY),
            (100.0, f32::INFINITY),
            (f32::NEG_INFINITY, 0.0),
            (-200.0, 0.0),
            (0.0, 1.0),
        ] {
            assert_eq!(exp(x), expected, "exp({x})");
        }
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn gelu_is_near_float64s() {
        for x in points(12.0) {
            let wide = f64::from(x);
            let expected = 0.5 * wide * (1.0 + libm::erf(wide / core::f64::consts::SQRT_2));
            let error = (f64::from(Gelu.of(x)) - expected).abs();
            assert!(
                error <= 2e-7 * wide.abs(),
                "gelu({x}) is wrong by {error:e}"
            );
        }
        assert!(Gelu.of(f32::NAN).is_nan());
    }

    #[test]
    fn relu_keeps_nan() {
        assert_eq!((Relu.of(-1.0f32), Relu.of(2.0f32)), (0.0, 2.0));
        assert!(Relu.of(f64::NAN).is_nan());
    }
}
