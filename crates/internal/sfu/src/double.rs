//! Functions of `f64`: those of `f32` for the upper half of an argument's bits, cut off after 20 bits of a mantissa.

use crate::tables::{INVERSE_ROOT, INVERSE_ROOT_OF_DOUBLE, RECIPROCAL};

const NAN: f64 = f64::from_bits(0x7fff_ffff << 32);
/// Upper half of 1.0.
const ONE: u32 = 0x3ff0_0000;
const MANTISSA: u32 = 0x000f_ffff;

/// `rcp.approx.ftz.f64`: one over `x`, from the upper half of its bits, the lower half of the result's being 0.
#[inline]
pub fn rcp_f64(x: f64) -> f64 {
    let x = without_lower(x);
    if x.is_nan() {
        return NAN;
    }
    if x.abs() < f64::MIN_POSITIVE {
        return f64::INFINITY.copysign(x);
    }
    let upper = (x.abs().to_bits() >> 32) as u32;
    // 2^1022, whose reciprocal is the least normal number.
    if upper > 0x7fd0_0000 {
        return 0_f64.copysign(x);
    }
    let mantissa = RECIPROCAL.rounded_down((upper & MANTISSA) << 3) >> 3;
    let exponent = (upper >> 20 << 20).wrapping_sub(ONE);
    from_upper(ONE.wrapping_add_signed(mantissa).wrapping_sub(exponent)).copysign(x)
}

/// `rsqrt.approx.ftz.f64`: one over the square root, from the upper half of the argument's bits, the lower half of the
/// result's being 0.
#[inline]
pub fn rsqrt_f64(x: f64) -> f64 {
    let x = without_lower(x);
    if x.abs() < f64::MIN_POSITIVE {
        return f64::INFINITY.copysign(x);
    }
    if x.is_nan() || x < 0.0 {
        return NAN;
    }
    if x == f64::INFINITY {
        return 0.0;
    }
    let upper = (x.to_bits() >> 32) as u32;
    let exponent = (upper >> 20) as i32 - 1023;
    let fraction = (upper & MANTISSA) << 3;
    let mantissa = match (exponent & 1, fraction) {
        (0, 0) => ONE,
        (0, _) => ONE.wrapping_add_signed(INVERSE_ROOT.rounded_down(fraction) >> 3),
        _ => (ONE - (1 << 20))
            .wrapping_add_signed(INVERSE_ROOT_OF_DOUBLE.rounded_down(fraction) >> 3),
    };
    from_upper(mantissa.wrapping_add_signed(-(exponent >> 1) << 20))
}

/// Without the lower half of its bits: a NaN that has no others is infinite.
fn without_lower(x: f64) -> f64 {
    from_upper((x.to_bits() >> 32) as u32)
}

fn from_upper(upper: u32) -> f64 {
    f64::from_bits(u64::from(upper) << 32)
}
