//! Logarithms.
//!
//! x = 2^n m, and a factor c of few bits takes m to 1 + f with a small f, exactly: the logarithm is
//! n ln 2 - ln c + ln (1 + f), where the last is f - f^2/2 and a polynomial from f^3 on (the method
//! of Tang's tables, with a table of three numbers). Near 1 n is 0 and c is 1, so that no other
//! term hides the digits of f. The coefficients are those of Sollya's `fpminimax`.

use core::f64::consts;

use super::bits::{TWO_POW_54, from_words, high, low};
use super::exponential::LN_2;
use crate::arch::float::Exact;
use crate::math::polynomial::polynomial;

/// (ln (1 + f) - f) / f^2 for f in [-0.1346, 0.1255], with an error of 2^-57.6 of ln (1 + f); the
/// highest power's first.
const LN_1P: [f64; 13] = [
    -0.07979094982147217,
    0.0808025598526001,
    -0.08302253484725952,
    0.09082245826721191,
    -0.10000509023666382,
    0.11111205816268921,
    -0.12499995948095818,
    0.1428571376506039,
    -0.16666666681550718,
    0.2000000000129937,
    -0.24999999999980788,
    0.33333333333332293,
    -0.5,
];

/// (log2 (1 + f) - f log2 e) / f^2 in the same way.
const LOG2_1P: [f64; 13] = [
    -0.11572206020355225,
    0.11660259962081909,
    -0.11973750591278076,
    0.1310274600982666,
    -0.14427781105041504,
    0.1603008508682251,
    -0.1803368098288225,
    0.20609928368452338,
    -0.24044917377001662,
    0.2885390081982049,
    -0.36067376022174963,
    0.48089834696297007,
    -0.7213475204444819,
];

/// (log10 (1 + f) - f log10 e) / f^2 in the same way.
const LOG10_1P: [f64; 13] = [
    -0.03495928645133972,
    0.035089194774627686,
    -0.036037981510162354,
    0.039443761110305786,
    -0.0434320867061615,
    0.048255354166030884,
    -0.0542867876641838,
    0.06204206655989776,
    -0.07238241374475518,
    0.08685889638647404,
    -0.1085736204756475,
    0.144764827301079,
    -0.217147240951626,
];

/// Logarithms of e and 2 in two parts; the first of log10 2 has 42 bits.
const LOG2_E: [f64; 2] = [consts::LOG2_E, 2.0355273740931033e-17];
const LOG10_E: [f64; 2] = [consts::LOG10_E, 1.098319650216765e-17];
const LOG10_2: [f64; 2] = [0.30102999566395283, 2.8363394551044964e-14];

/// The high words of the bounds of m: 0.875, 1.125 and 1.385.
const BOUNDS: [u32; 3] = [0x3fec_0000, 0x3ff2_0000, 0x3ff6_2900];
/// The factors between the bounds, and their logarithms' negatives in two parts.
const FACTORS: [f64; 3] = [1.0, 0.8125, 0.625];
const LN_FACTORS: [[f64; 3]; 2] = [
    [0.0, 0.20763933658599854, 0.470003604888916],
    [0.0, 2.819224596645919e-08, 2.4356819538025937e-08],
];
const LOG2_FACTORS: [[f64; 3]; 2] = [
    [0.0, 0.2995603084564209, 0.6780719757080078],
    [0.0, -2.6597513058834314e-08, -7.059537016037032e-08],
];
const LOG10_FACTORS: [[f64; 3]; 2] = [
    [0.0, 0.09017664194107056, 0.20412003993988037],
    [0.0, -1.1591982544992175e-08, -5.7283955590238797e-08],
];

#[inline]
pub(crate) fn ln(x: f64) -> f64 {
    if is_positive_normal(x) {
        ln_of_normal(x, 0)
    } else {
        ln_elsewhere(x)
    }
}

#[cold]
#[inline(never)]
fn ln_elsewhere(x: f64) -> f64 {
    elsewhere(x, ln_of_normal)
}

/// ln (x 2^exponent)
#[inline(always)]
pub(super) fn ln_of_normal(x: f64, exponent: i32) -> f64 {
    let Reduced { n, f, part, .. } = reduce(x, exponent, &BOUNDS, &FACTORS);
    let sum = n.fma(LN_2[0], part.choose_high(&LN_FACTORS[0]));
    let rest = n.fma(LN_2[1], part.choose(&LN_FACTORS[1]));
    let rest = (f * f).fma(polynomial(&LN_1P, f), rest);
    let ln = sum + f;
    ln + ((f - (ln - sum)) + rest)
}

#[inline]
pub(crate) fn log2(x: f64) -> f64 {
    if is_positive_normal(x) {
        log2_of_normal(x, 0)
    } else {
        log2_elsewhere(x)
    }
}

#[cold]
#[inline(never)]
fn log2_elsewhere(x: f64) -> f64 {
    elsewhere(x, log2_of_normal)
}

/// log2 (x 2^exponent)
#[inline(always)]
fn log2_of_normal(x: f64, exponent: i32) -> f64 {
    let Reduced { n, f, part, .. } = reduce(x, exponent, &BOUNDS, &FACTORS);
    let start = n + part.choose_high(&LOG2_FACTORS[0]);
    let start_rest = part.choose(&LOG2_FACTORS[1]);
    in_base(f, start, start_rest, LOG2_E, &LOG2_1P)
}

#[inline]
pub(crate) fn log10(x: f64) -> f64 {
    if is_positive_normal(x) {
        log10_of_normal(x, 0)
    } else {
        log10_elsewhere(x)
    }
}

#[cold]
#[inline(never)]
fn log10_elsewhere(x: f64) -> f64 {
    elsewhere(x, log10_of_normal)
}

/// log10 (x 2^exponent)
#[inline(always)]
fn log10_of_normal(x: f64, exponent: i32) -> f64 {
    let Reduced { n, f, part, .. } = reduce(x, exponent, &BOUNDS, &FACTORS);
    let start = n.fma(LOG10_2[0], part.choose_high(&LOG10_FACTORS[0]));
    let start_rest = n.fma(LOG10_2[1], part.choose(&LOG10_FACTORS[1]));
    in_base(f, start, start_rest, LOG10_E, &LOG10_1P)
}

/// The logarithm of 1 + f and the start's two parts, where `of_e` is the base's logarithm of e in two
/// parts.
#[inline(always)]
fn in_base(f: f64, start: f64, start_rest: f64, of_e: [f64; 2], coefficients: &[f64; 13]) -> f64 {
    let first = f * of_e[0];
    let first_rest = f.fma(of_e[1], f.fma(of_e[0], -first));
    let rest = (f * f).fma(polynomial(coefficients, f), start_rest) + first_rest;
    let sum = start + first;
    sum + ((first - (sum - start)) + rest)
}

#[inline]
pub(crate) fn ln_1p(x: f64) -> f64 {
    // 1 + x in two parts.
    let (greater, less) = if high(x) as i32 >= 0x3ff0_0000 {
        (x, 1.0)
    } else {
        (1.0, x)
    };
    let sum = greater + less;
    let ln = ln_of_sum(sum, less - (sum - greater), 0);
    if is_positive_normal(sum) {
        // The rest, which alone may be -0, has been added to 0.
        ln.copysign(x)
    } else if x == -1.0 {
        f64::NEG_INFINITY
    } else if x < -1.0 {
        f64::NAN
    } else {
        x
    }
}

/// ln ((x + rest) 2^exponent) for a positive normal number and what its rounding has left.
#[inline(always)]
pub(super) fn ln_of_sum(x: f64, rest: f64, exponent: i32) -> f64 {
    let Reduced { n, f, part, scale } = reduce(x, exponent, &BOUNDS, &FACTORS);
    let start = n.fma(LN_2[0], part.choose_high(&LN_FACTORS[0]));
    let start_rest = n.fma(LN_2[1], part.choose(&LN_FACTORS[1]));
    // ln (1 + f + rest) = ln (1 + f) + rest / (1 + f)
    let rest = rest * scale;
    let rest = f.fma(-rest, rest);
    let rest = (f * f).fma(polynomial(&LN_1P, f), start_rest) + rest;
    let ln = start + f;
    ln + ((f - (ln - start)) + rest)
}

/// Whether x is a normal number above 0.
#[inline(always)]
pub(super) fn is_positive_normal(x: f64) -> bool {
    high(x).wrapping_sub(0x0010_0000) < 0x7fe0_0000
}

/// The logarithm of x that is not a positive normal number; `of_normal` is that of `x 2^exponent`.
#[inline(always)]
fn elsewhere(x: f64, of_normal: impl Fn(f64, i32) -> f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x < 0.0 {
        f64::NAN
    } else if x < f64::MIN_POSITIVE {
        of_normal(x * TWO_POW_54, -54)
    } else {
        // Infinity or NaN.
        x
    }
}

/// x = 2^n m, where m is between the first bound and twice that.
pub(super) struct Reduced<const PARTS: usize> {
    pub(super) n: f64,
    /// m times its part's factor, less 1.
    pub(super) f: f64,
    pub(super) part: Part<PARTS>,
    /// The part's factor times 2^-n, or 2^-1000 if n is greater; of x alone.
    pub(super) scale: f64,
}

/// Of x 2^exponent for a positive normal x. The bounds are high words.
#[inline(always)]
pub(super) fn reduce<const PARTS: usize>(
    x: f64,
    exponent: i32,
    bounds: &[u32; PARTS],
    factors: &[f64; PARTS],
) -> Reduced<PARTS> {
    let above = high(x).wrapping_sub(bounds[0]);
    let m = from_words((above & 0x000f_ffff).wrapping_add(bounds[0]), low(x));
    let n = to_f64((above as i32 >> 20).wrapping_add(exponent));
    let part = Part {
        reached: bounds.map(|bound| high(m) >= bound),
    };
    let factor = part.choose_high(factors);
    // Where n is beyond 1000 the power would not be a normal number.
    let exponent_bits = (above as i32).min(1000 << 20) as u32 & 0xfff0_0000;
    let scale = from_words(high(factor).wrapping_sub(exponent_bits), 0);
    Reduced {
        n,
        f: m.fma(factor, -1.0),
        part,
        scale,
    }
}

/// Between which bounds m is.
pub(super) struct Part<const PARTS: usize> {
    /// Which bounds m has reached; the first one always.
    reached: [bool; PARTS],
}

impl<const PARTS: usize> Part<PARTS> {
    #[inline(always)]
    pub(super) fn choose(&self, values: &[f64; PARTS]) -> f64 {
        let choices = self.reached.iter().zip(values);
        choices.fold(
            values[0],
            |chosen, (&reached, &value)| if reached { value } else { chosen },
        )
    }

    /// Of numbers without bits in the low word.
    #[inline(always)]
    pub(super) fn choose_high(&self, values: &[f64; PARTS]) -> f64 {
        let choices = self.reached.iter().zip(values);
        let word = choices.fold(
            high(values[0]),
            |chosen, (&reached, &value)| {
                if reached { high(value) } else { chosen }
            },
        );
        from_words(word, 0)
    }
}

/// An integer, by the bits of 2^52 + 2^31 plus it.
#[inline(always)]
fn to_f64(n: i32) -> f64 {
    from_words(0x4330_0000, n as u32 ^ 0x8000_0000) - 4_503_601_774_854_144.0
}
