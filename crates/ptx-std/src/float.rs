//! Floating-point functions that `core` lacks, for kernels, which have no `std`.
//!
//! [`GpuFloat`] has the methods that `std` gives `f32` and `f64`, [`FloatExt`] what CUDA has beyond
//! them, [`ApproxFloat`](crate::ApproxFloat) the hardware's fast approximations.
//!
//! What has an instruction is that instruction: `floor`, `ceil`, `trunc`, `round_ties_even`, `sqrt`
//! and `mul_add`, all correctly rounded. The rest is Rust, written for GPUs, and the same on GPU and
//! host: both compute the same bits, as long as the kernels are built without fast division and square
//! root. The exceptions are NaNs, whose sign and payload differ, and [`FloatExt::rsqrt`] of `f32`.
//!
//! No error is greater than what CUDA's documentation states of its own function. The greatest that were
//! found, and the speeds, stand in the repository's `docs/mathematics.md`.
//!
//! On the host `std` is linked, and for a value whose type is plainly `f32` or `f64` the compiler
//! prefers the methods of `std`, which are the C library's: they may differ from the GPU's in the
//! last bit. In code generic over [`GpuFloat`], or written `GpuFloat::sin(x)`, they do not.
//!
//! The operator `%` is inexact on the GPU where the quotient is large. [`GpuFloat::rem_euclid`] is
//! exact.

use crate::arch::float::Exact;
use crate::math::Functions;

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Declares a trait and implements it for `f32` and `f64`: the same expression for both.
macro_rules! float_trait {
    (
        $(#[$trait_doc:meta])*
        pub trait $trait:ident {
            $(
                $(#[$doc:meta])*
                fn $name:ident($x:ident $(, $argument:ident: $ty:ty)*) -> $result:ty = $body:expr;
            )*
        }
    ) => {
        $(#[$trait_doc])*
        pub trait $trait: Copy + PartialOrd + private::Sealed {
            $(
                $(#[$doc])*
                #[must_use]
                fn $name(self $(, $argument: $ty)*) -> $result;
            )*
        }

        float_trait!(@implement $trait f32 $($name($x $(, $argument: $ty)*) -> $result = $body;)*);
        float_trait!(@implement $trait f64 $($name($x $(, $argument: $ty)*) -> $result = $body;)*);
    };
    (
        @implement $trait:ident $float:ident
        $($name:ident($x:ident $(, $argument:ident: $ty:ty)*) -> $result:ty = $body:expr;)*
    ) => {
        #[allow(clippy::useless_conversion, reason = "for `f64`, the conversion to `f64` is")]
        impl $trait for $float {
            $(
                #[inline]
                fn $name(self $(, $argument: $ty)*) -> $result {
                    let $x = self;
                    $body
                }
            )*
        }
    };
}

float_trait! {
    /// The methods that `std` gives `f32` and `f64`.
    ///
    /// ```
    /// use ptx_std::GpuFloat;
    ///
    /// fn softplus<T: GpuFloat>(x: T) -> T {
    ///     x.exp().ln_1p()
    /// }
    /// assert_eq!(softplus(0.0_f32), core::f32::consts::LN_2);
    /// ```
    pub trait GpuFloat {
        /// The largest integer that is not greater.
        fn floor(x) -> Self = Exact::floor(x);
        /// The smallest integer that is not less.
        fn ceil(x) -> Self = Exact::ceil(x);
        /// The nearest integer, halves away from zero.
        // One bit less than a half: adding a half would round 0.49999997 up to 1.
        fn round(x) -> Self = Exact::trunc(x + (0.5 - 0.25 * Self::EPSILON).copysign(x));
        /// The nearest integer, halves to the even one.
        fn round_ties_even(x) -> Self = Exact::round_ties_even(x);
        /// The integer part.
        fn trunc(x) -> Self = Exact::trunc(x);
        /// `self - self.trunc()`.
        fn fract(x) -> Self = x - Exact::trunc(x);
        /// The absolute value.
        fn abs(x) -> Self = x.abs();
        /// 1 with the sign of `self`, or NaN.
        fn signum(x) -> Self = x.signum();
        /// `self` with the sign of `sign`.
        fn copysign(x, sign: Self) -> Self = x.copysign(sign);
        /// `self * a + b` with one rounding: a single instruction on the GPU.
        fn mul_add(x, a: Self, b: Self) -> Self = Exact::fma(x, a, b);
        /// The integer `n` for which `self - n * rhs` is [`rem_euclid`](GpuFloat::rem_euclid).
        fn div_euclid(x, rhs: Self) -> Self = {
            let quotient = Exact::trunc(x / rhs);
            if Functions::rem(x, rhs) >= 0.0 {
                quotient
            } else {
                quotient - rhs.signum()
            }
        };
        /// The remainder of division, at least 0 and less than `rhs.abs()` but for rounding.
        fn rem_euclid(x, rhs: Self) -> Self = {
            let remainder = Functions::rem(x, rhs);
            if remainder < 0.0 { remainder + rhs.abs() } else { remainder }
        };
        /// `self` to the power `n`, by repeated squaring: one rounding for each multiplication.
        fn powi(x, n: i32) -> Self = {
            let (mut square, mut rest, mut power) = (x, n.unsigned_abs(), 1.0);
            loop {
                if rest & 1 == 1 {
                    power *= square;
                }
                rest >>= 1;
                if rest == 0 {
                    break;
                }
                square *= square;
            }
            if n < 0 {
                // Else the division would be computed in any case.
                core::hint::cold_path();
                1.0 / power
            } else {
                power
            }
        };
        /// `self` to the power `n`.
        fn powf(x, n: Self) -> Self = Functions::powf(x, n);
        /// The square root.
        fn sqrt(x) -> Self = Exact::sqrt(x);
        /// e to the power `self`.
        fn exp(x) -> Self = Functions::exp(x);
        /// 2 to the power `self`.
        fn exp2(x) -> Self = Functions::exp2(x);
        /// The natural logarithm.
        fn ln(x) -> Self = Functions::ln(x);
        /// The logarithm to `base`: the quotient of two natural logarithms.
        fn log(x, base: Self) -> Self = Functions::ln(x) / Functions::ln(base);
        /// The logarithm to base 2.
        fn log2(x) -> Self = Functions::log2(x);
        /// The logarithm to base 10.
        fn log10(x) -> Self = Functions::log10(x);
        /// The cube root: within 1 unit in the last place.
        fn cbrt(x) -> Self = Functions::cbrt(x);
        /// The square root of `self² + other²`, without overflow or underflow on the way.
        fn hypot(x, other: Self) -> Self = Functions::hypot(x, other);
        /// The sine of an angle in radians.
        fn sin(x) -> Self = Functions::sin(x);
        /// The cosine of an angle in radians.
        fn cos(x) -> Self = Functions::cos(x);
        /// The tangent of an angle in radians.
        fn tan(x) -> Self = Functions::tan(x);
        /// The angle in radians whose sine is `self`.
        fn asin(x) -> Self = Functions::asin(x);
        /// The angle in radians whose cosine is `self`.
        fn acos(x) -> Self = Functions::acos(x);
        /// The angle in radians whose tangent is `self`.
        fn atan(x) -> Self = Functions::atan(x);
        /// The angle in radians of the point `(other, self)`, from -π to π.
        fn atan2(x, other: Self) -> Self = Functions::atan2(x, other);
        /// The sine and the cosine.
        fn sin_cos(x) -> (Self, Self) = Functions::sin_cos(x);
        /// `exp(self) - 1`, accurate near 0.
        fn exp_m1(x) -> Self = Functions::exp_m1(x);
        /// `ln(1 + self)`, accurate near 0.
        fn ln_1p(x) -> Self = Functions::ln_1p(x);
        /// The hyperbolic sine.
        fn sinh(x) -> Self = Functions::sinh(x);
        /// The hyperbolic cosine.
        fn cosh(x) -> Self = Functions::cosh(x);
        /// The hyperbolic tangent.
        fn tanh(x) -> Self = Functions::tanh(x);
        /// The inverse of the hyperbolic sine.
        fn asinh(x) -> Self = Functions::asinh(x);
        /// The inverse of the hyperbolic cosine.
        fn acosh(x) -> Self = Functions::acosh(x);
        /// The inverse of the hyperbolic tangent.
        fn atanh(x) -> Self = Functions::atanh(x);
    }
}

float_trait! {
    /// Mathematical functions beyond those of `std`, under `cuda_std`'s names.
    pub trait FloatExt {
        /// The sine of π times `self`.
        fn sinpi(x) -> Self = Functions::sinpi(x);
        /// The cosine of π times `self`.
        fn cospi(x) -> Self = Functions::cospi(x);
        /// [`sinpi`](FloatExt::sinpi) and [`cospi`](FloatExt::cospi).
        fn sincospi(x) -> (Self, Self) = Functions::sincospi(x);
        /// The error function, `2/√π ∫₀ˣ exp(-t²) dt`.
        fn error_function(x) -> Self = Functions::erf(x);
        /// `1 - error_function(self)`, accurate where that is small.
        fn complementary_error_function(x) -> Self = Functions::erfc(x);
        /// The value whose error function is `self`, which lies in `[-1, 1]`.
        fn inv_error_function(x) -> Self = Functions::erf_inv(x);
        /// The value whose complementary error function is `self`, which lies in `[0, 2]`.
        fn inv_complementary_error_function(x) -> Self = Functions::erfc_inv(x);
        /// `exp(self²) * complementary_error_function(self)`, without underflow on the way.
        fn scaled_complementary_error_function(x) -> Self = Functions::erfcx(x);
        /// The standard normal distribution's cumulative distribution function.
        fn norm_cdf(x) -> Self = Functions::norm_cdf(x);
        /// The inverse of [`norm_cdf`](FloatExt::norm_cdf) for `self` in `[0, 1]`.
        fn inv_norm_cdf(x) -> Self = Functions::norm_cdf_inv(x);
        /// The gamma function.
        fn gamma(x) -> Self = Functions::gamma(x);
        /// The natural logarithm of the gamma function's absolute value.
        fn log_gamma(x) -> Self = Functions::log_gamma(x);
        /// The Bessel function of the first kind of order 0.
        fn j0(x) -> Self = Functions::j0(x);
        /// The Bessel function of the first kind of order 1.
        fn j1(x) -> Self = Functions::j1(x);
        /// The Bessel function of the first kind of order `order`.
        fn jn(x, order: i32) -> Self = Functions::jn(x, order);
        /// The Bessel function of the second kind of order 0.
        fn y0(x) -> Self = Functions::y0(x);
        /// The Bessel function of the second kind of order 1.
        fn y1(x) -> Self = Functions::y1(x);
        /// The Bessel function of the second kind of order `order`.
        fn yn(x, order: i32) -> Self = Functions::yn(x, order);
        /// The modified Bessel function of the first kind of order 0.
        fn cyl_bessel_i0(x) -> Self = Functions::cyl_bessel_i0(x);
        /// The modified Bessel function of the first kind of order 1.
        fn cyl_bessel_i1(x) -> Self = Functions::cyl_bessel_i1(x);
        /// A fraction, 0 or of magnitude 0.5 to 1, and an exponent of two: their product is `self`.
        fn frexp(x) -> (Self, i32) = Functions::frexp(x);
        /// `self * 2^exp`, rounded once.
        fn ldexp(x, exp: i32) -> Self = Functions::ldexp(x, exp);
        /// `self * 2^exp`, rounded once.
        fn scale_by_n(x, exp: i32) -> Self = Functions::ldexp(x, exp);
        /// The exponent of two: the integer part of `log2(self.abs())`, exactly. `i32::MIN` for 0
        /// and NaN, `i32::MAX` for infinity.
        fn unbiased_exp(x) -> i32 = Functions::unbiased_exponent(x);
        /// `ln(1 + self)`, accurate near 0: [`GpuFloat::ln_1p`].
        fn log1p(x) -> Self = Functions::ln_1p(x);
        /// 10 to the power `self`.
        fn exp10(x) -> Self = Functions::exp10(x);
        /// One over the cube root.
        fn rcbrt(x) -> Self = Functions::rcbrt(x);
        /// One over the square root. For `f32` the GPU's own instruction, of the
        /// error that [`ApproxFloat::fast_rsqrt`](crate::ApproxFloat::fast_rsqrt) states.
        fn rsqrt(x) -> Self = Functions::rsqrt(x);
        /// The square root of `self² + b² + c²`, without overflow or underflow on the way.
        fn norm3d(x, b: Self, c: Self) -> Self = Functions::norm3d(x, b, c);
        /// One over [`hypot`](GpuFloat::hypot).
        fn rhypot(x, other: Self) -> Self = Functions::rhypot(x, other);
        /// `self` clamped to the interval from 0 to 1; 0 for NaN.
        fn saturate(x) -> Self = if x > 0.0 { x.min(1.0) } else { 0.0 };
    }
}
