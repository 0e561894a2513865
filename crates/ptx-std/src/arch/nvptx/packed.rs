//! Arithmetic on two 16-bit floats at once.

use core::arch::asm;

#[cfg(not(target_feature = "compute_80"))]
pub(crate) use crate::packed::software::fma_bf16x2;

macro_rules! fused {
    ($($(#[$attribute:meta])* $name:ident = $instruction:literal;)*) => {$(
        $(#[$attribute])*
        #[inline(always)]
        pub(crate) fn $name(a: u32, b: u32, c: u32) -> u32 {
            let result;
            // SAFETY: the instruction computes one register from three others.
            unsafe {
                asm!(
                    concat!($instruction, " {}, {}, {}, {};"),
                    out(reg32) result,
                    in(reg32) a,
                    in(reg32) b,
                    in(reg32) c,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            result
        }
    )*};
}

fused! {
    fma_f16x2 = "fma.rn.f16x2";
    #[cfg(target_feature = "compute_80")]
    fma_bf16x2 = "fma.rn.bf16x2";
}
