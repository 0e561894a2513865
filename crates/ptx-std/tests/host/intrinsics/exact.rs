//! On which side of a rounded result the exact one lies, decided with integers that hold both.

use std::cmp::Ordering;

/// The facts that a directed rounding must know besides the nearest number.
#[derive(Clone, Copy)]
pub(crate) struct Exact {
    /// The exact result, compared with the nearest number.
    pub(crate) order: Ordering,
    /// Whether 0 is -0 when rounded down: the sum of numbers that cancel each other.
    pub(crate) has_negative_zero: bool,
}

/// The sum of products.
pub(crate) fn sum(products: &[(f64, f64)], nearest: f64) -> Exact {
    let are_finite = products.iter().all(|(a, b)| a.is_finite() && b.is_finite());
    let is_negative = |&(a, b): &(f64, f64)| a.is_sign_negative() != b.is_sign_negative();
    Exact {
        order: order(products, (nearest, -1.0), are_finite),
        has_negative_zero: products.iter().any(is_negative),
    }
}

pub(crate) fn quotient(x: f64, y: f64, nearest: f64) -> Exact {
    let is_finite = x.is_finite() && y.is_finite() && y != 0.0;
    // Times the divisor's magnitude, which keeps the order.
    Exact {
        order: order(&[(x, y.signum())], (-nearest, y.abs()), is_finite),
        has_negative_zero: false,
    }
}

pub(crate) fn root(x: f64, nearest: f64) -> Exact {
    Exact {
        order: order(&[(x, 1.0)], (-nearest, nearest), x.is_finite()),
        has_negative_zero: false,
    }
}

/// An integer of 64 bits, signed or not.
pub(crate) fn integer(x: i128, nearest: f64) -> Exact {
    Exact {
        order: x.cmp(&(nearest as i128)),
        has_negative_zero: false,
    }
}

/// The sign of the sum of all products, of which the last contains the nearest number. That is infinite
/// for a finite sum if it overflows.
fn order(products: &[(f64, f64)], nearest: (f64, f64), is_finite: bool) -> Ordering {
    if !is_finite || nearest.0.is_nan() {
        return Ordering::Equal;
    }
    if nearest.0.is_infinite() {
        return (nearest.0 * nearest.1).total_cmp(&0.0);
    }
    let (mut positive, mut negative) = ([0; WORDS], [0; WORDS]);
    for &(a, b) in products.iter().chain([&nearest]) {
        let ((a, m), (b, n)) = (digits(a), digits(b));
        let side = if (a < 0) == (b < 0) {
            &mut positive
        } else {
            &mut negative
        };
        add(side, a.unsigned_abs() * b.unsigned_abs(), m + n);
    }
    positive.iter().rev().cmp(negative.iter().rev())
}

/// Of 128 bits each: room for sums of a few products, below 2^2050, in units of 2^-2148.
const WORDS: usize = 33;

/// Adds `digits * 2^exponent`, of which 2^-2148 is the lowest digit of a product.
fn add(number: &mut [u128; WORDS], digits: u128, exponent: i32) {
    let place = (exponent + 2148) as usize;
    let (word, shift) = (place / 128, place % 128);
    // In two steps, as a shift by 128 is none.
    let parts = [digits << shift, digits >> 1 >> (127 - shift)];
    let mut carry = false;
    for (i, word) in number[word..].iter_mut().enumerate() {
        let part = parts.get(i).copied().unwrap_or(0);
        if i > 1 && !carry {
            break;
        }
        let (sum, overflow) = word.overflowing_add(part);
        let (sum, second) = sum.overflowing_add(carry.into());
        (*word, carry) = (sum, overflow || second);
    }
}

/// A finite number's significand, and the exponent of its last digit.
fn digits(x: f64) -> (i128, i32) {
    let fraction = i128::from(x.to_bits() & ((1 << 52) - 1));
    let (digits, exponent) = match (x.to_bits() >> 52 & 0x7ff) as i32 {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, exponent - 1075),
    };
    (if x < 0.0 { -digits } else { digits }, exponent)
}

/// The integers to the nearest, towards 0, down and up. Infinity has the digits of 2^1024, and what is
/// beyond 2^100 stays so.
pub(crate) fn integers(x: f64) -> [i128; 4] {
    let (digits, exponent) = digits(x);
    if exponent >= 0 {
        return [digits << exponent.min(70); 4];
    }
    // The digits are below 2^53: any more places behind the point change no result.
    let places = (-exponent).min(100);
    let down = digits >> places;
    let rest = digits - (down << places);
    let up = down + i128::from(rest != 0);
    let nearest = match (2 * rest).cmp(&(1 << places)) {
        Ordering::Less => down,
        Ordering::Greater => up,
        Ordering::Equal => down + (down & 1),
    };
    [nearest, if x < 0.0 { up } else { down }, down, up]
}
