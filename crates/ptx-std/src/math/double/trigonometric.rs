//! Sines, cosines and tangents.
//!
//! Arguments are reduced after Cody and Waite with three parts of pi, large ones after Payne and Hanek
//! with those bits of 1/(2 pi) that their exponents ask for (Muller et al., Handbook of
//! Floating-Point Arithmetic, chapter 11). The period of a sine alone or a cosine alone is taken as
//! pi: one polynomial on [-pi/2, pi/2] has two terms more than one on [-pi/4, pi/4], and choosing
//! between two of those costs more. The polynomials are from Sollya's `fpminimax`, the tangent's
//! quotient is a least-squares fit at Chebyshev's points. An instruction holds a constant of 21
//! significant bits, and others take two moves each: coefficients have only 21 where that suffices.

use core::f64::consts::{FRAC_2_PI, FRAC_PI_2, PI};

use super::bits::{ROUNDER, change_sign, high, is_below};
use crate::arch::float::Exact;

/// From here on arguments are reduced after Payne and Hanek: three parts of pi no longer do.
const LARGE: f64 = 1048576.0;

/// Pi without `PI`.
const PI_TAIL: f64 = 1.2246467991473532e-16;

/// Pi/2 in parts.
const QUARTER_TURN: [f64; 3] = [FRAC_PI_2, 0.5 * PI_TAIL, -1.4973851116957393e-33];

#[inline]
pub(crate) fn sin(x: f64) -> f64 {
    let (r, quarters) = less_quarter_turns(x);
    change_sign(sine(r, quarters, 0), quarters << 30 ^ high(x))
}

#[inline]
pub(crate) fn cos(x: f64) -> f64 {
    let (r, quarters) = less_quarter_turns(x);
    let quarters = quarters.wrapping_add(1);
    sine(r, quarters, quarters << 30)
}

#[inline]
pub(crate) fn sin_cos(x: f64) -> (f64, f64) {
    let (r, quarters) = less_quarter_turns(x);
    let s = r * r;
    let p = Exact::fma(1.5895684768452156e-10, s, -2.5050738372556225e-08);
    let p = Exact::fma(p, s, 2.7557313561121852e-06);
    let p = Exact::fma(p, s, -0.0001984126982941249);
    let p = Exact::fma(p, s, 0.008333333333321886);
    let p = Exact::fma(p, s, -0.1666666666666663);
    let sine = Exact::fma(r * s, p, r);
    let p = Exact::fma(-1.1290461621182857e-11, s, 2.0874288964023435e-09);
    let p = Exact::fma(p, s, -2.755730292847147e-07);
    let p = Exact::fma(p, s, 2.480158724619653e-05);
    let p = Exact::fma(p, s, -0.0013888888888797133);
    let p = Exact::fma(p, s, 0.041666666666666095);
    let p = Exact::fma(p, s, -0.5);
    let cosine = Exact::fma(p, s, 1.0);
    let (sine, cosine) = turned(sine, cosine, quarters);
    (change_sign(sine, high(x)), cosine)
}

#[inline]
pub(crate) fn tan(x: f64) -> f64 {
    if !is_below(x, LARGE) {
        return tan_of_large(x);
    }
    let n = Exact::fma(x.abs(), FRAC_2_PI, ROUNDER);
    let (r, tail) = reduced_exactly_by(QUARTER_TURN, n - ROUNDER, x.abs());
    change_sign(tangent(r, tail, n.to_bits() as u32), high(x))
}

#[cold]
#[inline(never)]
fn tan_of_large(x: f64) -> f64 {
    let (r, tail, quarters) = reduced_in_parts(x.abs());
    change_sign(tangent(r, tail, quarters), high(x))
}

#[inline]
pub(crate) fn sinpi(x: f64) -> f64 {
    let (f, quarters) = less_halves(less_twos(x));
    change_sign(sine(half_turns(f), quarters, quarters << 30), high(x))
}

#[inline]
pub(crate) fn cospi(x: f64) -> f64 {
    let (f, quarters) = less_halves(less_twos(x));
    let quarters = quarters.wrapping_add(1);
    sine(half_turns(f), quarters, quarters << 30)
}

/// Sine and cosine of `pi * x`.
#[inline]
pub(crate) fn sincospi(x: f64) -> (f64, f64) {
    let (f, quarters) = less_halves(less_twos(x));
    let s = f * f;
    let p = Exact::fma(0.000461566261947155, s, -0.007370028644800186);
    let p = Exact::fma(p, s, 0.08214586973190308);
    let p = Exact::fma(p, s, -0.5992645289600169);
    let p = Exact::fma(p, s, 2.5501640398737293);
    let p = Exact::fma(p, s, -5.167712780049957);
    let p = Exact::fma(p, s, 1.1577193383512574e-16);
    let sine = Exact::fma(f, PI, f * p);
    let p = Exact::fma(-0.00010293768718838692, s, 0.001929328776896);
    let p = Exact::fma(p, s, -0.02580687403678894);
    let p = Exact::fma(p, s, 0.23533062970912522);
    let p = Exact::fma(p, s, -1.3352627688419503);
    let p = Exact::fma(p, s, 4.058712126416656);
    let p = Exact::fma(p, s, -4.934802200544679);
    let cosine = Exact::fma(p, s, 1.0);
    let (sine, cosine) = turned(sine, cosine, quarters);
    // Zeros of the sine have the sign of x, those of the cosine are positive.
    (change_sign(sine + 0.0, high(x)), cosine + 0.0)
}

/// The sine of r and so many quarter-turns, but for its sign: that is the topmost bit of `sign`. With
/// that and r of 0, it is +0.
#[inline(always)]
fn sine(r: f64, quarters: u32, sign: u32) -> f64 {
    let odd = quarters & 1;
    let (first, last) = if odd == 0 {
        (r, -7.485574660126559e-13)
    } else {
        (1.0, -1.135860849821313e-11)
    };
    let first = change_sign(first, sign);
    // SAFETY: there are two rows.
    let Row(row) = unsafe { POLYNOMIALS.get_unchecked(odd as usize) };
    let s = r * r;
    let p = Exact::fma(last, s, row[5]);
    let p = Exact::fma(p, s, row[4]);
    let p = Exact::fma(p, s, row[3]);
    let p = Exact::fma(p, s, row[2]);
    let p = Exact::fma(p, s, row[1]);
    let p = Exact::fma(p, s, row[0]);
    Exact::fma(first * s, p, first)
}

/// Aligned for loads of two coefficients at once.
#[repr(align(16))]
struct Row([f64; 8]);

/// Of `(sin(r) / r - 1) / r^2` and of `(cos(r) - 1) / r^2` as polynomials in `r^2` on [-pi/4, pi/4]
/// all coefficients but the last.
static POLYNOMIALS: [Row; 2] = [
    Row([
        -0.16666666666666666,
        0.0083333333333331,
        -0.0001984126984105729,
        2.755731912946943e-06,
        -2.5052086044768926e-08,
        1.6056260825063892e-10,
        0.0,
        0.0,
    ]),
    Row([
        -0.5,
        0.041666666666666595,
        -0.001388888888887331,
        2.480158728896587e-05,
        -2.755731420284678e-07,
        2.0875703042139663e-09,
        0.0,
        0.0,
    ]),
];

/// `pi * f`.
#[inline(always)]
fn half_turns(f: f64) -> f64 {
    Exact::fma(f, PI, f * PI_TAIL)
}

/// The tangent of `r + tail` and so many quarter-turns.
#[inline(always)]
fn tangent(r: f64, tail: f64, quarters: u32) -> f64 {
    let s = r * r;
    let cube = r * s;
    let p = Exact::fma(4.981525307812262e-07, s, -0.00031180656515061855);
    let p = Exact::fma(p, s, 0.02566363535111835);
    let p = Exact::fma(p, s, -0.46671640013785576);
    let cosine = Exact::fma(p, s, 1.0);
    let lost = Exact::fma(p, s, 1.0 - cosine);
    // What was lost of the angle and of the denominator, as parts of the numerator. The factors,
    // derivatives of the quotient, are within 4 % with these coefficients.
    let tail = Exact::fma(tail * s, 0.71875, tail);
    let tail = Exact::fma(-lost, Exact::fma(cube, 0.4375, r), tail);
    let p = Exact::fma(-1.7860831576399505e-05, s, 0.0034248353051677576);
    let p = Exact::fma(p, s, -0.13338306680452253);
    let sine = r + Exact::fma(cube, p, tail);
    let (above, below) = if quarters & 1 == 0 {
        (sine, cosine)
    } else {
        (cosine, sine)
    };
    change_sign(above / below, quarters << 31)
}

/// Sine and cosine of the angle that lies this number of quarter-turns further.
#[inline(always)]
fn turned(sine: f64, cosine: f64, quarters: u32) -> (f64, f64) {
    let (s, c) = if quarters & 1 == 0 {
        (sine, cosine)
    } else {
        (cosine, sine)
    };
    let sine_sign = quarters << 30;
    (
        change_sign(s, sine_sign),
        change_sign(c, sine_sign ^ quarters << 31),
    )
}

/// The magnitude of x less so many quarter-turns that at most half a one is left, and their number.
#[inline(always)]
fn less_quarter_turns(x: f64) -> (f64, u32) {
    let a = x.abs();
    if is_below(x, LARGE) {
        let n = Exact::fma(a, FRAC_2_PI, ROUNDER);
        (reduced_by(QUARTER_TURN, n - ROUNDER, a), n.to_bits() as u32)
    } else {
        reduced(a)
    }
}

/// `x - n * period` where that is about half a period or less. The first difference is exact.
#[inline(always)]
fn reduced_by(period: [f64; 3], n: f64, x: f64) -> f64 {
    let r = Exact::fma(-n, period[0], x);
    let r = Exact::fma(-n, period[1], r);
    Exact::fma(-n, period[2], r)
}

/// As [`reduced_by`], in two parts: the second is what rounding has taken from the first.
#[inline(always)]
fn reduced_exactly_by(period: [f64; 3], n: f64, x: f64) -> (f64, f64) {
    let exact = Exact::fma(-n, period[0], x);
    let r = Exact::fma(-n, period[1], exact);
    let tail = Exact::fma(-n, period[1], exact - r);
    (r, Exact::fma(-n, period[2], tail))
}

/// The magnitude of x less the nearest multiple of 2 below; NaN for infinities.
#[inline(always)]
fn less_twos(x: f64) -> f64 {
    let a = x.abs();
    Exact::fma(-2.0, Exact::trunc(0.5 * a), a)
}

/// A magnitude less so many halves that at most a quarter is left, and their number.
#[inline(always)]
fn less_halves(a: f64) -> (f64, u32) {
    const HALF_ROUNDER: f64 = ROUNDER / 2.0;
    let n = a + HALF_ROUNDER;
    (a - (n - HALF_ROUNDER), n.to_bits() as u32)
}

#[cold]
#[inline(never)]
fn reduced(x: f64) -> (f64, u32) {
    let (r, _, quarters) = reduced_in_parts(x);
    (r, quarters)
}

/// The angle x less so many quarter-turns that at most half a one is left, what rounding has taken from
/// that, and their number modulo 4.
#[inline(always)]
fn reduced_in_parts(x: f64) -> (f64, f64, u32) {
    if !x.is_finite() {
        return (f64::NAN, 0.0, 0);
    }
    let turn = fraction_of_turn(x);
    let quarters = turn.wrapping_add(1 << 125) >> 126;
    let rest = (turn << 2) as i128;
    let zeros = rest.unsigned_abs().leading_zeros();
    let leading = ((rest.unsigned_abs() << zeros) >> 64) as u64;
    // pi in 64 bits.
    let product = ((u128::from(leading) * 0xc90f_daa2_2168_c234) >> 64) as u64;
    let unit = f64::from_bits(u64::from(1023 - 63 - zeros) << 52);
    let unit = if rest < 0 { -unit } else { unit };
    let rounded = product as f64;
    let tail = product.wrapping_sub(rounded as u64) as i64 as f64;
    (rounded * unit, tail * unit, quarters as u32)
}

/// `x / (2 * pi)` modulo 1 as a multiple of 2^-128, a few of them too small, for finite x of at
/// least [`LARGE`].
#[inline(always)]
fn fraction_of_turn(x: f64) -> u128 {
    let exponent = (high(x) >> 20) as usize;
    let significand = x.to_bits() << 11 | 1 << 63;
    // Bits of 1/(2 pi) that make whole turns only, and the 64 that the table begins with.
    let skipped = exponent + 64 - 1023 - 63;
    let words: [u64; 4] = core::array::from_fn(|i| {
        // SAFETY: the exponent is from 1043 to 2046, so that the index is at most 16 + 3.
        unsafe { *TURNS.get_unchecked(skipped / 64 + i) }
    });
    let shift = skipped as u32 % 64;
    let word = |i: usize| words[i] << shift | words[i + 1] >> 1 >> (63 - shift);
    let low = (u128::from(significand) * u128::from(word(2))) >> 64;
    (u128::from(significand.wrapping_mul(word(0))) << 64)
        .wrapping_add(u128::from(significand) * u128::from(word(1)))
        .wrapping_add(low)
}

/// 1/(2 pi) in bits, after 64 bits before the binary point.
static TURNS: [u64; 20] = [
    0,
    0x28be_60db_9391_054a,
    0x7f09_d5f4_7d4d_3770,
    0x36d8_a566_4f10_e410,
    0x7f94_58ea_f7ae_f158,
    0x6dc9_1b8e_9093_74b8,
    0x0192_4bba_8274_6487,
    0x3f87_7ac7_2c4a_69cf,
    0xba20_8d7d_4bae_d121,
    0x3a67_1c09_ad17_df90,
    0x4e64_758e_60d4_ce7d,
    0x2721_17e2_ef7e_4a0e,
    0xc7fe_25ff_f781_6603,
    0xfbcb_c462_d682_9b47,
    0xdb4d_9fb3_c9f2_c26d,
    0xd3d1_8fd9_a797_fa8b,
    0x5d49_eeb1_faf9_7c5e,
    0xcf41_ce7d_e294_a4ba,
    0x9afe_d7ec_47e3_5742,
    0x1580_cc11_bf1e_daea,
];
