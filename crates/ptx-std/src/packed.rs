//! Two 16-bit floats in one 32-bit register, on which the GPU works with one instruction.
//!
//! A multiprocessor does twice as many operations on them as on `f32`.
//!
//! ```
//! use cuda_std::packed::F16x2;
//! use cuda_std::f16;
//!
//! let x = F16x2::new(f16::from_f32(1.5), f16::from_f32(-2.0));
//! let y = x.mul_add(F16x2::splat(f16::from_f32(2.0)), F16x2::splat(f16::from_f32(0.5)));
//! assert_eq!((y.low().to_f32(), y.high().to_f32()), (3.5, -3.5));
//! ```

use core::ops::{Add, Mul};

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};

use crate::arch::packed as arch;

macro_rules! packed {
    ($($(#[$doc:meta])* $name:ident of $float:ident = $fma:ident, $from_f32:ident, $to_f32:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// ```
        #[doc = concat!("use cuda_std::packed::", stringify!($name), ";")]
        #[doc = concat!("use cuda_std::", stringify!($float), ";")]
        ///
        #[doc = concat!("let [two, half] = [2.0, 0.5].map(", stringify!($float), "::from_f32);")]
        #[doc = concat!("let x = ", stringify!($name), "::from_f32(1.5, -2.0);")]
        #[doc = concat!("let y = x.mul_add(", stringify!($name), "::splat(two), ", stringify!($name), "::splat(half));")]
        /// assert_eq!(y.to_f32s(), (3.5, -3.5));
        /// assert_eq!((x + y).to_f32s(), (5.0, -5.5));
        /// assert_eq!((x * y).to_f32s(), (5.25, 7.0));
        ///
        /// // The low number is in the low half of a register.
        #[doc = concat!("let z = ", stringify!($name), "::new(two, half);")]
        /// assert_eq!(z.to_bits(), u32::from(half.to_bits()) << 16 | u32::from(two.to_bits()));
        #[doc = concat!("assert_eq!(", stringify!($name), "::from_bits(z.to_bits()).low(), two);")]
        /// assert_eq!(z.high(), half);
        /// ```
        #[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// Two numbers: `low` in the low half of the register.
            #[inline(always)]
            #[must_use]
            pub const fn new(low: $float, high: $float) -> Self {
                $name((high.to_bits() as u32) << 16 | low.to_bits() as u32)
            }

            /// Two numbers, each rounded to the nearest.
            #[inline(always)]
            #[must_use]
            pub fn from_f32(low: f32, high: f32) -> Self {
                $name(arch::$from_f32(low, high))
            }

            /// Both numbers, the low one first.
            #[inline(always)]
            #[must_use]
            pub fn to_f32s(self) -> (f32, f32) {
                (arch::$to_f32(self.0 as u16), arch::$to_f32((self.0 >> 16) as u16))
            }

            /// The same number twice.
            #[inline(always)]
            #[must_use]
            pub const fn splat(value: $float) -> Self {
                $name::new(value, value)
            }

            /// The register's bits as two numbers.
            #[inline(always)]
            #[must_use]
            pub const fn from_bits(bits: u32) -> Self {
                $name(bits)
            }

            /// The register's bits.
            #[inline(always)]
            #[must_use]
            pub const fn to_bits(self) -> u32 {
                self.0
            }

            /// The number in the low half.
            #[inline(always)]
            #[must_use]
            pub const fn low(self) -> $float {
                $float::from_bits(self.0 as u16)
            }

            /// The number in the high half.
            #[inline(always)]
            #[must_use]
            pub const fn high(self) -> $float {
                $float::from_bits((self.0 >> 16) as u16)
            }

            /// `self * a + b` in each half, with one rounding.
            #[inline(always)]
            #[must_use]
            pub fn mul_add(self, a: Self, b: Self) -> Self {
                $name(arch::$fma(self.0, a.0, b.0))
            }
        }

        /// The sum in each half, as `self * 1 + other`: one instruction in any case.
        impl Add for $name {
            type Output = Self;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.mul_add(const { $name::splat($float::ONE) }, other)
            }
        }

        /// The product in each half, as `self * other - 0`: one instruction in any case.
        impl Mul for $name {
            type Output = Self;

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.mul_add(other, const { $name::splat($float::NEG_ZERO) })
            }
        }
    )*};
}

packed! {
    /// Two `f16`. `mul_add` is `fma.rn.f16x2`.
    F16x2 of f16 = fma_f16x2, f16x2_from_f32, f16_to_f32;
    /// Two `bf16`. `mul_add` is `fma.rn.bf16x2` from `sm_80` on, and several instructions before.
    Bf16x2 of bf16 = fma_bf16x2, bf16x2_from_f32, bf16_to_f32;
}

/// `a * b + c` in each half with one rounding, where no instruction does it. Inlined, and so optimised
/// as the kernels' crate is.
#[allow(dead_code, reason = "the newest GPUs have instructions for both types")]
pub(crate) mod software {
    use half::{bf16, f16};

    macro_rules! halves {
        ($($name:ident, $from_f32:ident, $to_f32:ident of $float:ident;)*) => {$(
            #[inline]
            pub(crate) fn $from_f32(low: f32, high: f32) -> u32 {
                let bits = |value| u32::from($float::from_f32(value).to_bits());
                bits(high) << 16 | bits(low)
            }

            #[inline]
            pub(crate) fn $to_f32(bits: u16) -> f32 {
                $float::from_bits(bits).to_f32()
            }

            #[inline]
            pub(crate) fn $name(a: u32, b: u32, c: u32) -> u32 {
                let fma = |shift: u32| {
                    let [a, b, c] =
                        [a, b, c].map(|bits| $float::from_bits((bits >> shift) as u16).to_f32());
                    u32::from($float::from_f32(fma_to_odd(a, b, c)).to_bits()) << shift
                };
                fma(0) | fma(16)
            }
        )*};
    }

    halves! {
        fma_f16x2, f16x2_from_f32, f16_to_f32 of f16;
        fma_bf16x2, bf16x2_from_f32, bf16_to_f32 of bf16;
    }

    /// `a * b + c` of 16-bit floats, inexact results with the last bit set. Rounded to 16 bits, it
    /// is what one rounding of the exact result gives: S. Boldo, G. Melquiond, "Emulation of FMA and
    /// correctly rounded sums: proved algorithms using rounding to odd", IEEE Transactions on
    /// Computers 57(4), 2008.
    #[inline]
    fn fma_to_odd(a: f32, b: f32, c: f32) -> f32 {
        let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
        let sum = product + c;
        // Knuth's two-sum: what the sum lost.
        let of_c = sum - product;
        let lost = (product - (sum - of_c)) + (c - of_c);
        let sum = odd_f64(sum, lost);
        let narrow = sum as f32;
        odd_f32(narrow, sum - f64::from(narrow))
    }

    macro_rules! odd {
        ($($name:ident of $float:ident;)*) => {$(
            /// The neighbour of `value + lost` with an odd last bit, where `lost` is not 0.
            #[inline]
            fn $name(value: $float, lost: f64) -> $float {
                let bits = value.to_bits();
                // Infinite and NaN sums lose NaN or infinity; they stay.
                if lost == 0.0 || !lost.is_finite() || !value.is_finite() || bits % 2 == 1 {
                    return value;
                }
                let outwards = (lost > 0.0) == value.is_sign_positive();
                $float::from_bits(if outwards { bits + 1 } else { bits - 1 })
            }
        )*};
    }

    odd! {
        odd_f64 of f64;
        odd_f32 of f32;
    }
}
