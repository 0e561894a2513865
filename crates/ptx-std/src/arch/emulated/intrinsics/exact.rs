//! Arithmetic of `f64` that rounds in a given direction, on integers that hold the exact results.

use super::Direction;

pub(super) fn add(x: f64, y: f64, to: Direction) -> f64 {
    fma(x, 1.0, y, to)
}

pub(super) fn fma(x: f64, y: f64, z: f64, to: Direction) -> f64 {
    if !(x.is_finite() && y.is_finite() && z.is_finite()) {
        return x.mul_add(y, z);
    }
    let product = Exact::of(x).times(Exact::of(y));
    let sum = product.plus(Exact::of(z));
    if sum.significand != 0 {
        return sum.round(to);
    }
    // Of zeros with different signs, and of numbers that cancel each other.
    match to {
        Direction::Down if product.is_negative || z.is_sign_negative() => -0.0,
        _ => x.mul_add(y, z),
    }
}

pub(super) fn mul(x: f64, y: f64, to: Direction) -> f64 {
    if !(x.is_finite() && y.is_finite()) {
        return x * y;
    }
    Exact::of(x).times(Exact::of(y)).round(to)
}

pub(super) fn div(x: f64, y: f64, to: Direction) -> f64 {
    if !(x.is_finite() && y.is_finite()) || y == 0.0 {
        return x / y;
    }
    Exact::of(x).over(Exact::of(y)).round(to)
}

pub(super) fn sqrt(x: f64, to: Direction) -> f64 {
    if x > 0.0 && x.is_finite() {
        Exact::of(x).root().round(to)
    } else {
        x.sqrt()
    }
}

/// A number: `significand * 2^exponent`, of which the significand is below 2^126.
///
/// Where a result has more digits, those are cut off and the last one is made odd instead: so it is
/// on the same side of every `f64` as the exact result.
#[derive(Clone, Copy)]
struct Exact {
    is_negative: bool,
    significand: u128,
    exponent: i32,
}

/// The exponents of the last digit of a subnormal and of the greatest number.
const LEAST: i32 = -1074;
const GREATEST: i32 = 971;

impl Exact {
    fn of(x: f64) -> Exact {
        let fraction = x.to_bits() & ((1 << 52) - 1);
        let (significand, exponent) = match (x.to_bits() >> 52 & 0x7ff) as i32 {
            0 => (fraction, LEAST),
            exponent => (fraction | 1 << 52, LEAST - 1 + exponent),
        };
        Exact {
            is_negative: x.is_sign_negative(),
            significand: significand.into(),
            exponent,
        }
    }

    fn times(self, other: Exact) -> Exact {
        Exact {
            is_negative: self.is_negative ^ other.is_negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
        }
    }

    /// `other` is not 0, and has at most 53 digits: the quotient then has at least 72.
    fn over(self, other: Exact) -> Exact {
        let dividend = self.with_digits(125);
        let (quotient, rest) = (
            dividend.significand / other.significand,
            dividend.significand % other.significand,
        );
        Exact {
            is_negative: self.is_negative ^ other.is_negative,
            significand: odd_if(rest != 0, quotient),
            exponent: dividend.exponent - other.exponent,
        }
    }

    /// The square root, of at least 62 digits.
    fn root(self) -> Exact {
        let even = |x: Exact| x.exponent % 2 == 0;
        let square = Some(self.with_digits(125)).filter(|&x| even(x));
        let square = square.unwrap_or_else(|| self.with_digits(124));
        let root = square.significand.isqrt();
        Exact {
            is_negative: false,
            significand: odd_if(root * root != square.significand, root),
            exponent: square.exponent / 2,
        }
    }

    /// The sum of numbers of at most 106 digits: what is cut off one of them lies far below the last
    /// digit of the other, and of the result's first 53.
    fn plus(self, other: Exact) -> Exact {
        if self.significand == 0 {
            return other;
        }
        if other.significand == 0 {
            return self;
        }
        let (a, b) = (self.with_digits(125), other.with_digits(125));
        let (great, small) = if a.exponent > b.exponent {
            (a, b)
        } else {
            (b, a)
        };
        let shift = great.exponent.abs_diff(small.exponent).min(127);
        let kept = small.significand >> shift;
        let aligned = Exact {
            significand: odd_if(kept << shift != small.significand, kept),
            ..small
        };
        let sum = great.signed() + aligned.signed();
        Exact {
            is_negative: sum < 0,
            significand: sum.unsigned_abs(),
            exponent: great.exponent,
        }
    }

    /// The same number, unless it is 0, with a significand of so many digits.
    fn with_digits(self, digits: u32) -> Exact {
        let shift = (self.significand.leading_zeros() + digits).saturating_sub(128);
        Exact {
            significand: self.significand << shift,
            exponent: self.exponent - shift as i32,
            ..self
        }
    }

    fn signed(self) -> i128 {
        let magnitude = self.significand.cast_signed();
        if self.is_negative {
            -magnitude
        } else {
            magnitude
        }
    }

    fn round(self, to: Direction) -> f64 {
        let sign = if self.is_negative { -0.0 } else { 0.0 };
        if self.significand == 0 {
            return sign;
        }
        let outwards = to.is_down(sign) == self.is_negative;
        let digits = (128 - self.significand.leading_zeros()) as i32;
        let last = (self.exponent + digits - 53).max(LEAST);
        let magnitude = if last > GREATEST {
            if outwards { f64::INFINITY } else { f64::MAX }
        } else {
            // A significand below 2^126 is gone after 127 places.
            let cut = (last - self.exponent).clamp(0, 127);
            let kept = self.significand >> cut;
            let is_inexact = kept << cut != self.significand;
            let kept = kept << (self.exponent - last).max(0);
            let rounded = kept as u64 + u64::from(outwards && is_inexact);
            // The first digit of a normal number, which is not stored, adds 1 to the exponent.
            f64::from_bits((((last - LEAST) as u64) << 52) + rounded)
        };
        magnitude.copysign(sign)
    }
}

fn odd_if(condition: bool, significand: u128) -> u128 {
    significand | u128::from(condition)
}
