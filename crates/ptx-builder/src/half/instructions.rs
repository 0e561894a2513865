//! Conversions and arithmetic by the GPU's instructions. ptx-builder puts this into its copy of the crate.

/// Returns the nearest number. `f16` is the language's own type here, which LLVM has instructions for.
#[inline(always)]
pub(crate) fn f32_to_f16(value: f32) -> u16 {
    (value as f16).to_bits()
}

#[inline(always)]
pub(crate) fn f64_to_f16(value: f64) -> u16 {
    (value as f16).to_bits()
}

#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    f16::from_bits(bits) as f32
}

#[inline(always)]
pub(crate) fn f16_to_f64(bits: u16) -> f64 {
    f16::from_bits(bits) as f64
}

/// Returns the number whose upper half this is. A signalling NaN stays one.
#[inline(always)]
pub(crate) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

#[cfg(not(target_feature = "compute_80"))]
pub(crate) use before_80::*;

#[cfg(not(target_feature = "compute_80"))]
mod before_80 {
    use super::bf16_to_f32;
    pub(crate) use crate::bfloat::convert::f32_to_bf16;

    #[inline(always)]
    pub(crate) fn add_bf16(a: u16, b: u16) -> u16 {
        f32_to_bf16(bf16_to_f32(a) + bf16_to_f32(b))
    }

    #[inline(always)]
    pub(crate) fn subtract_bf16(a: u16, b: u16) -> u16 {
        f32_to_bf16(bf16_to_f32(a) - bf16_to_f32(b))
    }
}

#[cfg(target_feature = "compute_80")]
pub(crate) use from_80::*;

#[cfg(target_feature = "compute_80")]
mod from_80 {
    const ONE: u16 = 0x3f80;
    const MINUS_ONE: u16 = 0xbf80;

    #[inline(always)]
    pub(crate) fn f32_to_bf16(value: f32) -> u16 {
        let bits;
        // SAFETY: the instruction computes one register from another.
        unsafe {
            core::arch::asm!(
                "cvt.rn.bf16.f32 {}, {};",
                out(reg16) bits,
                in(reg32) value,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        bits
    }

    /// As an `f32` the sum has more than twice the digits: rounded once more, it is what one rounding gives. (A product is
    /// not: it may be a subnormal `f32`.)
    #[inline(always)]
    pub(crate) fn add_bf16(a: u16, b: u16) -> u16 {
        fma(a, ONE, b)
    }

    #[inline(always)]
    pub(crate) fn subtract_bf16(a: u16, b: u16) -> u16 {
        fma(b, MINUS_ONE, a)
    }

    #[inline(always)]
    fn fma(a: u16, b: u16, c: u16) -> u16 {
        let bits;
        // SAFETY: the instruction computes one register from three others.
        unsafe {
            core::arch::asm!(
                "fma.rn.bf16 {}, {}, {}, {};",
                out(reg16) bits,
                in(reg16) a,
                in(reg16) b,
                in(reg16) c,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        bits
    }
}
