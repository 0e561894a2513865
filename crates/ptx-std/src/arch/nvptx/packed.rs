//! Arithmetic on two 16-bit floats at once.

use core::arch::nvptx::{f16x2, f16x2_fma};
use core::mem::transmute;

/// An intrinsic and no `asm!`, so that the compiler sees one instruction where it unrolls loops.
#[inline(always)]
pub(crate) fn fma_f16x2(a: u32, b: u32, c: u32) -> u32 {
    // SAFETY: both types are 32 bits, all of which are valid in both; the instruction touches no
    // memory.
    unsafe {
        let [a, b, c] = [a, b, c].map(|bits| transmute::<u32, f16x2>(bits));
        transmute::<f16x2, u32>(f16x2_fma(a, b, c))
    }
}

/// A `bf16` is the upper half of an `f32`.
#[inline(always)]
pub(crate) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    let result;
    // SAFETY: the instruction computes one register from another.
    unsafe {
        core::arch::asm!(
            "cvt.f32.f16 {}, {};",
            out(reg32) result,
            in(reg16) bits,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    result
}

#[cfg(not(target_feature = "compute_80"))]
pub(crate) use crate::packed::software::{bf16x2_from_f32, f16x2_from_f32, fma_bf16x2};

#[cfg(target_feature = "compute_80")]
macro_rules! conversions {
    ($($name:ident = $instruction:literal;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(low: f32, high: f32) -> u32 {
            let result;
            // SAFETY: the instruction computes one register from two others.
            unsafe {
                core::arch::asm!(
                    concat!($instruction, " {}, {}, {};"),
                    out(reg32) result,
                    in(reg32) high,
                    in(reg32) low,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            result
        }
    )*};
}

#[cfg(target_feature = "compute_80")]
conversions! {
    bf16x2_from_f32 = "cvt.rn.bf16x2.f32";
    f16x2_from_f32 = "cvt.rn.f16x2.f32";
}

#[cfg(target_feature = "compute_80")]
#[inline(always)]
pub(crate) fn fma_bf16x2(a: u32, b: u32, c: u32) -> u32 {
    let result;
    // SAFETY: the instruction computes one register from three others.
    unsafe {
        core::arch::asm!(
            "fma.rn.bf16x2 {}, {}, {}, {};",
            out(reg32) result,
            in(reg32) a,
            in(reg32) b,
            in(reg32) c,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    result
}
