//! Exact results and their rounding to any format in any direction: slow, for all that the host's own
//! arithmetic does not do.

use super::float::{Float, settled};

/// Where to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// `.rn`: to the nearest, ties to even.
    Nearest,
    /// `.rna`: to the nearest, ties away from 0.
    NearestAway,
    /// `.rz`.
    Zero,
    /// `.rm`.
    Down,
    /// `.rp`.
    Up,
}

/// A binary floating-point format: a sign, an exponent and a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the fraction.
    pub fraction: u32,
    /// Bits of the exponent.
    pub exponent: u32,
    /// The greatest finite number's bits.
    pub max: u64,
}

impl Format {
    /// `f64`.
    pub const F64: Format = Format::ieee(52, 11);
    /// `f32`.
    pub const F32: Format = Format::ieee(23, 8);
    /// `f16`.
    pub const F16: Format = Format::ieee(10, 5);
    /// `bf16`.
    pub const BF16: Format = Format::ieee(7, 8);

    /// A format whose greatest exponent stands for infinity and NaN.
    #[must_use]
    pub const fn ieee(fraction: u32, exponent: u32) -> Format {
        let infinity = ((1 << exponent) - 1) << fraction;
        Format {
            fraction,
            exponent,
            max: infinity - 1,
        }
    }

    /// The exponent of a subnormal's last digit.
    const fn least(self) -> i32 {
        2 - (1 << (self.exponent - 1)) - self.fraction.cast_signed()
    }

    /// The sign's bit.
    pub(super) const fn sign(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }
}

/// A number: `significand * 2^exponent`, of which the significand is below 2^126.
///
/// Where a result has more digits, those are cut off and the last one is made odd instead: so it is
/// on the same side of every number of a format as the exact result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    is_negative: bool,
    significand: u128,
    exponent: i32,
}

impl Exact {
    /// A finite number of a format.
    pub(super) fn of_bits(bits: u64, format: Format) -> Exact {
        let fraction = bits & ((1 << format.fraction) - 1);
        let digits = match bits >> format.fraction & ((1 << format.exponent) - 1) {
            0 => (fraction, 0),
            exponent => (fraction | 1 << format.fraction, exponent as i32 - 1),
        };
        Exact {
            is_negative: bits & format.sign() != 0,
            significand: digits.0.into(),
            exponent: format.least() + digits.1,
        }
    }

    /// A finite float.
    pub(super) fn of<F: Float>(x: F) -> Exact {
        Exact::of_bits(x.to_bits(), F::FORMAT)
    }

    /// An integer of 64 bits.
    pub(super) fn of_integer(x: i128) -> Exact {
        Exact {
            is_negative: x < 0,
            significand: x.unsigned_abs(),
            exponent: 0,
        }
    }

    pub(super) fn is_zero(self) -> bool {
        self.significand == 0
    }

    fn times(self, other: Exact) -> Exact {
        Exact {
            is_negative: self.is_negative ^ other.is_negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
        }
    }

    /// With the significand's first digit in the place of 2^125, or 0.
    fn normalised(self) -> Exact {
        let shift = self.significand.leading_zeros().saturating_sub(2) % 126;
        Exact {
            significand: self.significand << shift,
            exponent: self.exponent - shift.cast_signed(),
            ..self
        }
    }

    /// A sum with the sign of its greater part. The lesser one loses digits only where it is so small that
    /// the last digit of the greater one is far below all that matters.
    fn plus(self, other: Exact) -> Exact {
        let [a, b] = [self, other].map(Exact::normalised);
        let is_ordered = b.is_zero()
            || !a.is_zero() && (a.exponent, a.significand) >= (b.exponent, b.significand);
        let (greater, lesser) = if is_ordered { (a, b) } else { (b, a) };
        if lesser.is_zero() {
            return greater;
        }
        let lesser_digits = shift_to_odd(
            lesser.significand,
            (greater.exponent - lesser.exponent).cast_unsigned(),
        );
        let significand = if greater.is_negative == lesser.is_negative {
            greater.significand + lesser_digits
        } else {
            greater.significand - lesser_digits
        };
        // A digit is given up for the carry: 2^126 and more would be too great for the next sum.
        Exact {
            significand: shift_to_odd(significand, 1),
            exponent: greater.exponent + 1,
            ..greater
        }
    }

    /// A quotient. The divisor is not 0.
    fn over(self, other: Exact) -> Exact {
        let [a, b] = [self, other].map(Exact::normalised);
        // Both have at most 53 digits, all on top, so that the quotient has at least 63.
        let divisor = b.significand >> 64;
        let [quotient, rest] = [a.significand / divisor, a.significand % divisor];
        Exact {
            is_negative: self.is_negative ^ other.is_negative,
            significand: quotient | u128::from(rest != 0),
            exponent: a.exponent - b.exponent - 64,
        }
    }

    /// A square root, of a positive number.
    fn root(self) -> Exact {
        let x = self.normalised();
        let odd = x.exponent & 1;
        let square = x.significand << odd;
        let root = square.isqrt();
        Exact {
            is_negative: false,
            significand: root | u128::from(root * root != square),
            exponent: (x.exponent - odd) / 2,
        }
    }

    /// The bits of the format's number that it is rounded to; beyond the greatest, those after it, where
    /// `f64`, `f32`, `f16` and `bf16` have infinity.
    pub(super) fn round(self, format: Format, rounding: Rounding) -> u64 {
        let is_towards_zero = match rounding {
            Rounding::Nearest | Rounding::NearestAway => false,
            Rounding::Zero => true,
            Rounding::Down => !self.is_negative,
            Rounding::Up => self.is_negative,
        };
        let beyond = format.max + u64::from(!is_towards_zero);
        self.round_by(format, beyond, |shift| self.rounded(shift, rounding))
    }

    /// The bits of the format's number below or above in magnitude: above, if the first digits that are cut off and
    /// the random ones, `digits` of each, have a carry.
    pub(super) fn round_randomly(self, format: Format, random: u32, digits: u32) -> u64 {
        let random = u128::from(random) & ((1 << digits) - 1);
        self.round_by(format, format.max + 1, |shift| {
            let whole = self.significand.checked_shr(shift).unwrap_or(0);
            let part = self.significand ^ whole.checked_shl(shift).unwrap_or(0);
            // An f32 has 24 digits, so that none is lost to the left.
            let first = (part << digits).checked_shr(shift).unwrap_or(0);
            whole + ((first + random) >> digits)
        })
    }

    /// As [`round`](Exact::round) says, by a function of how many digits are cut off, with the bits for what is beyond.
    fn round_by(self, format: Format, beyond: u64, rounded: impl Fn(u32) -> u128) -> u64 {
        let sign = if self.is_negative { format.sign() } else { 0 };
        if self.is_zero() {
            return sign;
        }
        let digits = (128 - self.significand.leading_zeros()).cast_signed();
        let last = (self.exponent + digits - 1 - format.fraction.cast_signed()).max(format.least());
        let shift = last - self.exponent;
        let kept = match shift {
            ..=0 => self.significand << -shift,
            _ => rounded(shift.cast_unsigned()),
        };
        // The fraction's leading 1 adds 1 to the exponent, as does a carry.
        let exponent = (last - format.least()).cast_unsigned();
        let magnitude = (u128::from(exponent) << format.fraction) + kept;
        match u64::try_from(magnitude) {
            Ok(magnitude) if magnitude <= format.max => sign | magnitude,
            _ => sign | beyond,
        }
    }

    /// The significand without its last digits, rounded.
    fn rounded(self, shift: u32, rounding: Rounding) -> u128 {
        let whole = self.significand.checked_shr(shift).unwrap_or(0);
        let part = self.significand ^ whole.checked_shl(shift).unwrap_or(0);
        let half = 1u128.checked_shl(shift - 1).unwrap_or(u128::MAX);
        let is_up = match rounding {
            Rounding::Nearest => part > half || part == half && whole & 1 == 1,
            Rounding::NearestAway => part >= half,
            Rounding::Zero => false,
            Rounding::Down => part > 0 && self.is_negative,
            Rounding::Up => part > 0 && !self.is_negative,
        };
        whole + u128::from(is_up)
    }
}

/// Shifted right, with the last digit 1 if any lost one was.
fn shift_to_odd(digits: u128, shift: u32) -> u128 {
    let kept = digits.checked_shr(shift).unwrap_or(0);
    let is_exact = kept.checked_shl(shift).unwrap_or(0) == digits;
    kept | u128::from(!is_exact)
}

fn round<F: Float>(exact: Exact, rounding: Rounding) -> F {
    F::from_bits(exact.round(F::FORMAT, rounding))
}

fn is_finite<F: Float>(x: F) -> bool {
    x.magnitude() < F::INFINITY
}

/// `a + b`, rounded.
#[inline(never)]
pub(super) fn add<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    if !(is_finite(a) && is_finite(b)) {
        return settled(a + b, [b, a]);
    }
    fma(a, F::ONE, b, rounding)
}

/// `a - b`, rounded.
#[inline(never)]
pub(super) fn sub<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    if !(is_finite(a) && is_finite(b)) {
        return settled(a - b, [b, a]);
    }
    fma(a, F::ONE, -b, rounding)
}

/// `a * b`, rounded.
#[inline(never)]
pub(super) fn mul<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    if !(is_finite(a) && is_finite(b)) {
        return settled(a * b, [b, a]);
    }
    round(Exact::of(a).times(Exact::of(b)), rounding)
}

/// `a * b + c`, rounded.
#[inline(never)]
pub(super) fn fma<F: Float>(a: F, b: F, c: F, rounding: Rounding) -> F {
    if !(is_finite(a) && is_finite(b) && is_finite(c)) {
        return settled(a.mul_add(b, c), [b, c, a]);
    }
    let product = Exact::of(a).times(Exact::of(b));
    let addend = Exact::of(c);
    let sum = product.plus(addend);
    if !sum.is_zero() {
        return round(sum, rounding);
    }
    // Of numbers that cancel each other the sum is -0 downwards, otherwise 0.
    let is_negative = match (product.is_negative, addend.is_negative) {
        (true, true) => true,
        (false, false) => false,
        _ => rounding == Rounding::Down,
    };
    if is_negative { -F::ZERO } else { F::ZERO }
}

/// `a / b`, rounded.
#[inline(never)]
pub(super) fn div<F: Float>(a: F, b: F, rounding: Rounding) -> F {
    if !(is_finite(a) && is_finite(b)) || b == F::ZERO {
        return settled(a / b, [a, b]);
    }
    round(Exact::of(a).over(Exact::of(b)), rounding)
}

/// The square root, rounded.
#[inline(never)]
pub(super) fn sqrt<F: Float>(a: F, rounding: Rounding) -> F {
    if !(is_finite(a) && a > F::ZERO) {
        return settled(a.sqrt(), [a]);
    }
    round(Exact::of(a).root(), rounding)
}
