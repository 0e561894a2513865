//! Roots and lengths.
//!
//! The inverse roots begin with a guess, and the remainder of the guess improves it by the first terms of the binomial
//! series (Muller, Elementary Functions, chapter 5). The special function unit guesses the inverse square root. The
//! inverse cube root's guess comes from the bits of the argument, of which the binary logarithm's linear approximation is
//! divided by three, and from a minimax polynomial in `f32` (Sollya's `fpminimax`).

use super::bits::{TWO_POW_54, change_sign, from_words, high, power_of_two};
use crate::arch::float::{Exact, rsqrt_approx_ftz_f64};

pub(crate) fn cbrt(x: f64) -> f64 {
    let magnitude = high(x) & 0x7fff_ffff;
    if !is_normal(magnitude) {
        return cbrt_of_special(x);
    }
    change_sign(cbrt_of_normal(x.abs(), magnitude), high(x))
}

pub(crate) fn rcbrt(x: f64) -> f64 {
    let magnitude = high(x) & 0x7fff_ffff;
    if !is_normal(magnitude) {
        return rcbrt_of_special(x);
    }
    change_sign(rcbrt_of_normal(x.abs(), magnitude), high(x))
}

pub(crate) fn rsqrt(x: f64) -> f64 {
    if !is_normal(high(x)) {
        return rsqrt_of_extreme(x, 0.0);
    }
    let y = rsqrt_approx_ftz_f64(x);
    // The square is exact.
    improved_rsqrt(y, Exact::fma(-x, y * y, 1.0))
}

pub(crate) fn hypot(x: f64, y: f64) -> f64 {
    let square = Exact::fma(x, x, y * y);
    if !is_safe_square(square) {
        return length_of_extremes(x, y, 0.0);
    }
    Exact::sqrt(square)
}

pub(crate) fn rhypot(x: f64, y: f64) -> f64 {
    let (square, tail) = sum_of_squares(x, y);
    if !is_safe_square(square) {
        return rhypot_of_extremes(x, y);
    }
    rsqrt_of_sum(square, tail)
}

pub(crate) fn norm3d(x: f64, y: f64, z: f64) -> f64 {
    let square = Exact::fma(x, x, Exact::fma(y, y, z * z));
    if !is_safe_square(square) {
        return length_of_extremes(x, y, z);
    }
    Exact::sqrt(square)
}

/// 2^-900: the rounding errors of what goes into such a sum of squares are nothing against it.
const SQUARE_LEAST: f64 = 1.183053913585119e-271;

/// Whether a sum of squares is finite and at least [`SQUARE_LEAST`], whose lower half is 0.
#[inline(always)]
fn is_safe_square(square: f64) -> bool {
    let least = high(SQUARE_LEAST);
    high(square).wrapping_sub(least) < high(f64::INFINITY) - least
}

/// Whether the upper half of a number's bits is that of a positive normal one.
#[inline(always)]
fn is_normal(high: u32) -> bool {
    high.wrapping_sub(0x0010_0000) < 0x7fe0_0000
}

/// The sum of the squares and what rounding has taken from it.
#[inline(always)]
fn sum_of_squares(x: f64, y: f64) -> (f64, f64) {
    let sum = Exact::fma(x, x, y * y);
    // One of a and b is rounded, but not their sum.
    let a = sum - y * y;
    let b = sum - a;
    (sum, Exact::fma(x, x, -a) + Exact::fma(y, y, -b))
}

/// The inverse square root of the sum of a positive normal number and a far lesser one.
#[inline(always)]
fn rsqrt_of_sum(x: f64, tail: f64) -> f64 {
    let y = rsqrt_approx_ftz_f64(x);
    let square = y * y;
    improved_rsqrt(y, Exact::fma(-tail, square, Exact::fma(-x, square, 1.0)))
}

/// The inverse square root in 21 bits, but for 2^-20 of it; of 0 it is 2^511, so that a product with 0 is 0.
#[inline(always)]
pub(super) fn finite_inverse_root(x: f64) -> f64 {
    // The unit looks at the upper half alone.
    rsqrt_approx_ftz_f64(from_words(high(x).max(high(f64::MIN_POSITIVE)), 0))
}

/// The inverse root y of a number of which `1 - e` is the product with `y^2`, improved.
#[inline(always)]
fn improved_rsqrt(y: f64, e: f64) -> f64 {
    Exact::fma(y * e, Exact::fma(0.375, e, 0.5), y)
}

#[cold]
#[inline(never)]
fn rsqrt_of_extreme(x: f64, tail: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY.copysign(x);
    }
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == f64::INFINITY {
        return 0.0;
    }
    let (x, halves) = if is_normal(high(x)) {
        (x, 0)
    } else {
        (x * TWO_POW_54, 27)
    };
    // Of an even power of two the inverse root is one.
    let twos = ((high(x) >> 20) as i32 - 1023) >> 1;
    let scale = power_of_two(-twos);
    rsqrt_of_sum(x * scale * scale, tail * scale * scale) * power_of_two(halves - twos)
}

/// The inverse cube root, but for 2^-21 of it, of a positive normal number with these upper bits.
#[inline(always)]
fn guessed_rcbrt(high: u32) -> f64 {
    // A third of the exponent, rounded down: so up to 2^15.
    let thirds = ((high >> 20) * 0x5556) >> 16;
    // The argument, multiplied by a power of 8 that takes it to [1, 8).
    let bits = ((high - thirds * 0x30_0000) << 3) + (127 << 23);
    let single = f32::from_bits(bits);
    let third = ((u64::from(bits) * 0x5555_5556) >> 32) as u32;
    let z = f32::from_bits(0x54a1_f000 - third);
    let e = Exact::fma(-single * z, z * z, 1.0);
    let p = Exact::fma(0.145_796_08, e, 0.174_160_72);
    let p = Exact::fma(p, e, 0.222_216_04);
    let p = Exact::fma(p, e, 0.333_331_58);
    let z = Exact::fma(z * e, p, z);
    // 1023 is three times 341; 127 is the bias of what is shifted here.
    f64::from_bits((u64::from(z.to_bits()) << 29) + (u64::from(1023 - 127 + 341 - thirds) << 52))
}

/// `a z^2` in two parts and what `a z^3` lacks of 1, for a guess z of 24 bits.
#[inline(always)]
fn remainder(a: f64, z: f64) -> (f64, f64, f64) {
    // Exact.
    let square = z * z;
    let root = a * square;
    let tail = Exact::fma(a, square, -root);
    (root, tail, Exact::fma(-tail, z, Exact::fma(-root, z, 1.0)))
}

#[inline(always)]
fn cbrt_of_normal(a: f64, high: u32) -> f64 {
    let (root, tail, e) = remainder(a, guessed_rcbrt(high));
    // 5/9 in 21 bits, which an instruction can hold.
    let p = Exact::fma(0.555_555_343_627_929_7, e, 2.0 / 3.0);
    root + Exact::fma(root * e, p, tail)
}

#[inline(always)]
fn rcbrt_of_normal(a: f64, high: u32) -> f64 {
    let z = guessed_rcbrt(high);
    let (_, _, e) = remainder(a, z);
    // 2/9 in 21 bits.
    let p = Exact::fma(0.222_222_208_976_745_6, e, 1.0 / 3.0);
    Exact::fma(z * e, p, z)
}

#[cold]
#[inline(never)]
fn cbrt_of_special(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x + x;
    }
    let a = x.abs() * TWO_POW_54;
    (cbrt_of_normal(a, high(a)) * power_of_two(-18)).copysign(x)
}

#[cold]
#[inline(never)]
fn rcbrt_of_special(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return 1.0 / x;
    }
    let a = x.abs() * TWO_POW_54;
    (rcbrt_of_normal(a, high(a)) * power_of_two(18)).copysign(x)
}

/// The length, for a sum of squares that is too large, too small, or not a number.
#[cold]
#[inline(never)]
fn length_of_extremes(x: f64, y: f64, z: f64) -> f64 {
    if x.is_infinite() || y.is_infinite() || z.is_infinite() {
        return f64::INFINITY;
    }
    let (up, down) = scales(x.abs().max(y.abs()).max(z.abs()));
    let (x, y, z) = (x * up, y * up, z * up);
    Exact::sqrt(Exact::fma(x, x, Exact::fma(y, y, z * z))) * down
}

/// A power of two that takes the greatest of some numbers to where its square does not matter, and its
/// inverse.
#[inline(always)]
fn scales(greatest: f64) -> (f64, f64) {
    let exponent = (high(greatest) >> 20) as i32 - 1023;
    let exponent = exponent.clamp(-1000, 1000);
    (power_of_two(-exponent), power_of_two(exponent))
}

#[cold]
#[inline(never)]
fn rhypot_of_extremes(x: f64, y: f64) -> f64 {
    if x.is_infinite() || y.is_infinite() {
        return 0.0;
    }
    let (up, _) = scales(x.abs().max(y.abs()));
    let (x, y) = (x * up, y * up);
    // A length of 2^1022 or more has a subnormal inverse: rounded by this product.
    let (square, tail) = sum_of_squares(x, y);
    rsqrt_of_extreme(square, tail) * up
}
