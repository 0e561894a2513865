//! Functions of `f32`.

use crate::tables::{
    INVERSE_ROOT, INVERSE_ROOT_OF_DOUBLE, LOGARITHM, POWER, RECIPROCAL, ROOT, ROOT_OF_DOUBLE,
};

const NAN: f32 = f32::from_bits(0x7fff_ffff);
const ONE: u32 = 0x3f80_0000;
const MANTISSA: u32 = 0x007f_ffff;
const POW2_23: f32 = 8_388_608.0;
const POW2_24: f32 = 16_777_216.0;
const POW2_126: f32 = f32::from_bits((126 + 127) << 23);

/// `ex2.approx.f32`: 2 to the power `x`.
#[inline]
pub fn ex2(x: f32) -> f32 {
    if x < -126.0 {
        let root = ex2_of_normal(x * 0.5);
        root * root
    } else {
        ex2_of_normal(x)
    }
}

/// Where the result is a normal number, or 0 below.
#[inline]
fn ex2_of_normal(x: f32) -> f32 {
    if x.is_nan() {
        return NAN;
    }
    if x >= 128.0 {
        return f32::INFINITY;
    }
    if x < -126.0 {
        return 0.0;
    }
    // In 2^-23, rounded towards 0; of a negative number that is no integer the one's complement.
    let magnitude = (x.abs() * POW2_23) as i32;
    let fixed = match x < 0.0 {
        true if magnitude as u32 & MANTISSA == 0 => -magnitude,
        true => !magnitude,
        false => magnitude,
    };
    let mantissa = POWER.rounded_down(fixed as u32 & MANTISSA);
    f32::from_bits((((fixed >> 23) + 127) << 23).wrapping_add(mantissa) as u32)
}

/// `lg2.approx.f32`: the logarithm to base 2.
#[inline]
pub fn lg2(x: f32) -> f32 {
    if x.is_subnormal() && x > 0.0 {
        return lg2_of_normal(x * POW2_24) - 24.0;
    }
    lg2_of_normal(x)
}

#[inline]
fn lg2_of_normal(x: f32) -> f32 {
    if x.is_nan() || x < 0.0 {
        return NAN;
    }
    if x == 0.0 {
        return f32::NEG_INFINITY;
    }
    if x == f32::INFINITY || x == 1.0 {
        return x - 1.0;
    }
    let bits = x.to_bits();
    let exponent = i64::from(bits >> 23) - 127;
    // In 2^-36: four bits fewer than the table's.
    let fixed = (exponent << 36) + (LOGARITHM.at(bits & MANTISSA) >> 4);
    let magnitude = if fixed < 0 { !fixed } else { fixed } as u64;
    let excess = (64 - magnitude.leading_zeros()).saturating_sub(24);
    let truncated = (magnitude >> excess << excess) as f32 / (1_u64 << 36) as f32;
    if fixed < 0 { -truncated } else { truncated }
}

/// `rcp.approx.f32`: one over `x`.
#[inline]
pub fn rcp(x: f32) -> f32 {
    let scale = scale_of_divisor(x);
    scale * rcp_of_normal(scale * x)
}

/// Returns the factor by which a divisor becomes, with its reciprocal, a normal number.
#[inline]
fn scale_of_divisor(y: f32) -> f32 {
    if y.abs() > POW2_126 {
        0.25
    } else if y.abs() < f32::MIN_POSITIVE {
        POW2_24
    } else {
        1.0
    }
}

/// Of a number whose reciprocal is normal, or 0 beyond.
#[inline]
fn rcp_of_normal(x: f32) -> f32 {
    if x.is_nan() {
        return NAN;
    }
    if x.abs() < f32::MIN_POSITIVE {
        return f32::INFINITY.copysign(x);
    }
    if x.abs() > POW2_126 {
        return 0_f32.copysign(x);
    }
    let bits = x.abs().to_bits();
    let mantissa = RECIPROCAL.rounded_down(bits & MANTISSA);
    let exponent = (bits >> 23 << 23).wrapping_sub(ONE);
    f32::from_bits(ONE.wrapping_add_signed(mantissa).wrapping_sub(exponent)).copysign(x)
}

/// `div.approx.f32`: `x` times the reciprocal of `y`, which is 0 above 2^126.
#[inline]
pub fn div(x: f32, y: f32) -> f32 {
    let scale = if y.abs() < f32::MIN_POSITIVE {
        POW2_24
    } else {
        1.0
    };
    canonical(rcp_of_normal(y * scale) * (x * scale))
}

/// `div.full.f32`: `x` times the reciprocal of `y`.
#[inline]
pub fn div_full(x: f32, y: f32) -> f32 {
    let scale = scale_of_divisor(y);
    canonical(rcp_of_normal(y * scale) * (x * scale))
}

/// `rsqrt.approx.f32`: one over the square root.
#[inline]
pub fn rsqrt(x: f32) -> f32 {
    if x.is_subnormal() && x > 0.0 {
        return rsqrt_of_normal(x * POW2_24) * 4096.0;
    }
    rsqrt_of_normal(x)
}

#[inline]
fn rsqrt_of_normal(x: f32) -> f32 {
    if x == 0.0 {
        return f32::INFINITY.copysign(x);
    }
    if x.is_nan() || x < 0.0 {
        return NAN;
    }
    if x == f32::INFINITY {
        return 0.0;
    }
    let (twos, is_odd, fraction) = parts(x);
    let mantissa = match (is_odd, fraction) {
        (false, 0) => ONE,
        (false, _) => ONE.wrapping_add_signed(INVERSE_ROOT.rounded_down(fraction)),
        (true, _) => {
            (ONE - (1 << 23)).wrapping_add_signed(INVERSE_ROOT_OF_DOUBLE.rounded_down(fraction))
        }
    };
    f32::from_bits(mantissa.wrapping_add_signed(-twos << 23))
}

/// `sqrt.approx.f32`: the square root.
#[inline]
pub fn sqrt(x: f32) -> f32 {
    if x.is_subnormal() && x > 0.0 {
        return sqrt_of_normal(x * POW2_24) / 4096.0;
    }
    sqrt_of_normal(x)
}

#[inline]
fn sqrt_of_normal(x: f32) -> f32 {
    if x == 0.0 || x == f32::INFINITY {
        return x;
    }
    if x.is_nan() || x < 0.0 {
        return NAN;
    }
    let (twos, is_odd, fraction) = parts(x);
    // The tables' unit is half of the result's.
    let mantissa = match is_odd {
        false => ROOT.rounded_down(fraction) >> 1,
        true => ROOT_OF_DOUBLE.rounded_down(fraction) >> 1,
    };
    f32::from_bits(ONE.wrapping_add_signed(mantissa + (twos << 23)))
}

/// A positive normal number as 4^twos, 2 if odd, and 1 and a fraction in 2^-23.
#[inline]
fn parts(x: f32) -> (i32, bool, u32) {
    let exponent = (x.to_bits() >> 23) as i32 - 127;
    (exponent >> 1, exponent & 1 == 1, x.to_bits() & MANTISSA)
}

#[inline]
fn canonical(x: f32) -> f32 {
    if x.is_nan() { NAN } else { x }
}
