//! Floating-point operations that the GPU has instructions for.

use core::arch::asm;
use core::intrinsics;

/// Operations that are single instructions, correctly rounded.
pub(crate) trait Exact: Copy {
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn sqrt(self) -> Self;
    fn fma(self, factor: Self, addend: Self) -> Self;
}

macro_rules! exact {
    ($float:ident: $floor:ident $ceil:ident $trunc:ident $rint:ident $sqrt:ident $fma:ident) => {
        impl Exact for $float {
            #[inline(always)]
            fn floor(self) -> Self {
                intrinsics::$floor(self)
            }

            #[inline(always)]
            fn ceil(self) -> Self {
                intrinsics::$ceil(self)
            }

            #[inline(always)]
            fn trunc(self) -> Self {
                intrinsics::$trunc(self)
            }

            #[inline(always)]
            fn round_ties_even(self) -> Self {
                intrinsics::$rint(self)
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                intrinsics::$sqrt(self)
            }

            #[inline(always)]
            fn fma(self, factor: Self, addend: Self) -> Self {
                intrinsics::$fma(self, factor, addend)
            }
        }
    };
}

exact!(f32: floorf32 ceilf32 truncf32 round_ties_even_f32 sqrtf32 fmaf32);
exact!(f64: floorf64 ceilf64 truncf64 round_ties_even_f64 sqrtf64 fmaf64);

macro_rules! approximate {
    ($float:ident $register:ident: $($name:ident = $instruction:literal;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(x: $float) -> $float {
            let result;
            // SAFETY: the instruction computes one register from another.
            unsafe {
                asm!(
                    concat!($instruction, ".", stringify!($float), " {}, {};"),
                    out($register) result,
                    in($register) x,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            result
        }
    )*};
}

approximate! { f32 reg32:
    sin_approx = "sin.approx";
    cos_approx = "cos.approx";
    exp2_approx = "ex2.approx";
    exp2_approx_ftz = "ex2.approx.ftz";
    log2_approx = "lg2.approx";
    log2_approx_ftz = "lg2.approx.ftz";
    tanh_approx = "tanh.approx";
    rcp_approx = "rcp.approx";
    rcp_approx_ftz = "rcp.approx.ftz";
    sqrt_approx = "sqrt.approx";
    rsqrt_approx = "rsqrt.approx";
    rsqrt_approx_ftz = "rsqrt.approx.ftz";
}

approximate! { f64 reg64:
    rcp_approx_ftz_f64 = "rcp.approx.ftz";
    rsqrt_approx_ftz_f64 = "rsqrt.approx.ftz";
}

/// The number whose bits these are. As a shift and an or of 64 bits, LLVM would compute with it, in more instructions than the one.
#[inline(always)]
pub(crate) fn from_words(high: u32, low: u32) -> f64 {
    let result;
    // SAFETY: the instruction computes one register from two others.
    unsafe {
        asm!(
            "mov.b64 {}, {{{}, {}}};",
            out(reg64) result,
            in(reg32) low,
            in(reg32) high,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    result
}

/// `1.0 / x`, correctly rounded, where both are normal numbers. It is what `ptxas` makes of the division, on
/// every architecture, without the branch for other numbers.
#[inline(always)]
pub(crate) fn normal_reciprocal(x: f32) -> f32 {
    let near = rcp_approx_ftz(x);
    near.fma(near.fma(-x, 1.0), near)
}

/// The square root, correctly rounded, of 0 and of numbers from 2^-100 on: below, the remainder is
/// subnormal. It is what `ptxas` makes of the root, on every architecture, without the branch for
/// other numbers. For a negative number the result is unspecified.
#[inline(always)]
pub(crate) fn normal_sqrt(x: f32) -> f32 {
    let (near, root, rest) = root_and_rest(x);
    rest.fma(0.5 * near, root)
}

/// Twice [`normal_sqrt`].
#[inline(always)]
pub(crate) fn double_normal_sqrt(x: f32) -> f32 {
    let (near, root, rest) = root_and_rest(x);
    rest.fma(near, root + root)
}

/// About one over the square root, about the root, and what its square lacks.
#[inline(always)]
fn root_and_rest(x: f32) -> (f32, f32, f32) {
    // Where x is 0, so is the root.
    let near = rsqrt_approx_ftz(x.max(f32::MIN_POSITIVE));
    let root = x * near;
    (near, root, root.fma(-root, x))
}

#[inline(always)]
pub(crate) fn div_approx(x: f32, y: f32) -> f32 {
    let result;
    // SAFETY: the instruction computes one register from two others.
    unsafe {
        asm!(
            "div.approx.f32 {}, {}, {};",
            out(reg32) result,
            in(reg32) x,
            in(reg32) y,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    result
}
