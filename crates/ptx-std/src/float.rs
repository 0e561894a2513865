//! Floating-point functions that `core` lacks, for kernels, which have no `std`.
//!
//! [`GpuFloat`] has the methods that `std` gives `f32` and `f64`, [`FloatExt`] what CUDA has beyond
//! them, [`ApproxFloat`](crate::ApproxFloat) the hardware's fast approximations.
//!
//! Functions that have an instruction are that instruction: `floor`, `ceil`, `trunc`, `round_ties_even`, `sqrt`
//! and `mul_add`, all correctly rounded. The rest is Rust, written for GPUs, and the same on GPU and
//! host: an H200 and the host compute the same bits, as long as the kernels are built without fast division and square
//! root. The exceptions are NaNs, whose sign and payload differ. Functions that begin with an approximate
//! instruction may differ in the last bits on other architectures; `docs/mathematics.md` names them.
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
    /// use cuda_std::GpuFloat;
    ///
    /// fn softplus<T: GpuFloat>(x: T) -> T {
    ///     x.exp().ln_1p()
    /// }
    /// assert_eq!(softplus(0.0_f32), core::f32::consts::LN_2);
    /// ```
    ///
    /// Rounding, signs and division:
    ///
    /// ```
    /// # use cuda_std::GpuFloat;
    /// # fn check<T: GpuFloat + From<f32> + core::fmt::Debug>() {
    /// # let number = |number: f32| T::from(number);
    /// # let (x, y) = (number(-2.5), number(2.0));
    /// // x is -2.5, y is 2.
    /// assert_eq!([x.floor(), x.ceil(), x.trunc()], [-3.0, -2.0, -2.0].map(number));
    /// assert_eq!([x.round(), x.round_ties_even()], [-3.0, -2.0].map(number));
    /// assert_eq!([x.fract(), x.abs(), x.signum(), y.copysign(x)], [-0.5, 2.5, -1.0, -2.0].map(number));
    /// assert_eq!([x.div_euclid(y), x.rem_euclid(y)], [-2.0, 1.5].map(number));
    /// assert_eq!(x.mul_add(y, number(1.0)), number(-4.0));
    /// # }
    /// # check::<f32>();
    /// # check::<f64>();
    /// ```
    ///
    /// Powers, exponentials and logarithms:
    ///
    /// ```
    /// use cuda_std::GpuFloat;
    ///
    /// fn is_close<T: GpuFloat + Into<f64>>(value: T, expected: f64) -> bool {
    ///     (value.into() / expected - 1.0).abs() < 1e-6
    /// }
    /// # fn check<T: GpuFloat + Into<f64> + From<f32>>() {
    /// # let [x, y] = [2.0, 3.0].map(T::from);
    /// // x is 2, y is 3.
    /// assert!(is_close(x.powi(-3), 0.125) && is_close(x.powf(y), 8.0));
    /// assert!(is_close(x.sqrt(), 2_f64.sqrt()) && is_close(x.cbrt(), 2_f64.cbrt()));
    /// assert!(is_close(x.hypot(y), 13_f64.sqrt()));
    /// assert!(is_close(x.exp(), 2_f64.exp()) && is_close(x.exp2(), 4.0));
    /// assert!(is_close(x.exp_m1(), 2_f64.exp() - 1.0));
    /// assert!(is_close(x.ln(), 2_f64.ln()) && is_close(x.ln_1p(), 3_f64.ln()));
    /// assert!(is_close(y.log(x), 3_f64.log2()) && is_close(y.log2(), 3_f64.log2()));
    /// assert!(is_close(y.log10(), 3_f64.log10()));
    /// # }
    /// # check::<f32>();
    /// # check::<f64>();
    /// ```
    ///
    /// Angles, and the hyperbolic functions:
    ///
    /// ```
    /// use cuda_std::GpuFloat;
    ///
    /// # fn is_close<T: GpuFloat + Into<f64>>(value: T, expected: f64) -> bool {
    /// #     (value.into() - expected).abs() < 1e-6
    /// # }
    /// # fn check<T: GpuFloat + Into<f64> + From<f32>>() {
    /// # let x = T::from(0.5);
    /// // x is 0.5.
    /// let (sine, cosine) = x.sin_cos();
    /// assert!(is_close(x.sin(), sine.into()) && is_close(x.cos(), cosine.into()));
    /// assert!(is_close(x.tan(), sine.into() / cosine.into()));
    /// assert!(is_close(sine.asin(), 0.5) && is_close(cosine.acos(), 0.5));
    /// assert!(is_close(x.tan().atan(), 0.5) && is_close(sine.atan2(cosine), 0.5));
    /// assert!(is_close(x.sinh().asinh(), 0.5) && is_close(x.cosh().acosh(), 0.5));
    /// assert!(is_close(x.tanh().atanh(), 0.5));
    /// # }
    /// # check::<f32>();
    /// # check::<f64>();
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
    ///
    /// ```
    /// use cuda_std::float::{FloatExt, GpuFloat}; // Or `cuda_std::{FloatExt, GpuFloat}`.
    ///
    /// fn is_close<T: FloatExt + Into<f64>>(value: T, expected: f64) -> bool {
    ///     (value.into() - expected).abs() < 1e-6
    /// }
    /// # fn check<T: FloatExt + GpuFloat + Into<f64> + From<f32> + core::fmt::Debug>() {
    /// # let [x, y] = [0.25, 3.0].map(T::from);
    /// // x is 0.25, y is 3. Angles in units of π:
    /// let (sine, cosine) = x.sincospi();
    /// assert!(is_close(x.sinpi(), sine.into()) && is_close(x.cospi(), cosine.into()));
    ///
    /// // The error function, the normal distribution, and their inverses:
    /// let erf = x.error_function();
    /// let erfc = x.complementary_error_function();
    /// assert!(is_close(erf, 1.0 - erfc.into()));
    /// assert!(is_close(erf.inv_error_function(), 0.25));
    /// assert!(is_close(erfc.inv_complementary_error_function(), 0.25));
    /// assert!(is_close(x.scaled_complementary_error_function(), 0.0625_f64.exp() * erfc.into()));
    /// assert!(is_close(x.norm_cdf().inv_norm_cdf(), 0.25));
    ///
    /// // Roots, powers and norms:
    /// assert!(is_close(x.rsqrt(), 2.0) && is_close(x.rcbrt(), 4_f64.cbrt()));
    /// assert!(is_close(x.exp10(), 10_f64.powf(0.25)) && is_close(x.log1p(), 1.25_f64.ln()));
    /// assert!(is_close(y.norm3d(y, y), 27_f64.sqrt()) && is_close(y.rhypot(y), 1.0 / 18_f64.sqrt()));
    /// assert!(is_close(y.saturate(), 1.0));
    ///
    /// // Parts of numbers: 0.75 * 2^2 is 3.
    /// assert_eq!(y.frexp(), (T::from(0.75), 2));
    /// assert_eq!(T::from(0.75).ldexp(2), y);
    /// assert_eq!(T::from(0.75).scale_by_n(2), y);
    /// assert_eq!(y.unbiased_exp(), 1);
    /// # }
    /// # check::<f32>();
    /// # check::<f64>();
    /// ```
    ///
    /// The gamma function and Bessel functions:
    ///
    /// ```
    /// use cuda_std::FloatExt;
    ///
    /// # fn is_close<T: FloatExt + Into<f64>>(value: T, expected: f64) -> bool {
    /// #     (value.into() - expected).abs() < 1e-5
    /// # }
    /// # fn check<T: FloatExt + Into<f64> + From<f32>>() {
    /// # let [x, y] = [0.25, 5.0].map(T::from);
    /// // x is 0.25, y is 5.
    /// assert!(is_close(y.gamma(), 24.0) && is_close(y.log_gamma(), 24_f64.ln()));
    ///
    /// // J2(x) = 2 J1(x) / x - J0(x), and the same of Y.
    /// let [j0, j1, y0, y1] = [x.j0(), x.j1(), x.y0(), x.y1()].map(T::into);
    /// assert!(is_close(x.jn(2), 8.0 * j1 - j0) && is_close(x.yn(2), 8.0 * y1 - y0));
    /// // I0(x) is 1 + x^2 / 4 + .., I1(x) is x / 2 + x^3 / 16 + ..
    /// assert!(is_close(x.cyl_bessel_i0(), 1.015_686));
    /// assert!(is_close(x.cyl_bessel_i1(), 0.125_979));
    /// # }
    /// # check::<f32>();
    /// # check::<f64>();
    /// ```
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
        /// One over the square root. For `f32` it is [`ApproxFloat::fast_rsqrt`](crate::ApproxFloat::fast_rsqrt).
        fn rsqrt(x) -> Self = Functions::rsqrt(x);
        /// The square root of `self² + b² + c²`, without overflow or underflow on the way.
        fn norm3d(x, b: Self, c: Self) -> Self = Functions::norm3d(x, b, c);
        /// One over [`hypot`](GpuFloat::hypot).
        fn rhypot(x, other: Self) -> Self = Functions::rhypot(x, other);
        /// `self` clamped to the interval from 0 to 1; 0 for NaN.
        fn saturate(x) -> Self = if x > 0.0 { x.min(1.0) } else { 0.0 };
    }
}
