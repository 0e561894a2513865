//! Functions that are methods of `GpuFloat` or `FloatExt`, under their names in C.

use crate::arch::float::Exact;
use crate::arch::intrinsics as arch;
use crate::float::{FloatExt, GpuFloat};
use crate::intrinsics::{intrinsics, sines_and_cosines};
use crate::math::Functions;

/// The function for `f64` and that for `f32`.
macro_rules! methods {
    ($($double:ident $single:ident $arguments:tt = $trait:ident::$method:ident;)*) => {$(
        methods!(@declare $double f64 $arguments $trait::$method);
        methods!(@declare $single f32 $arguments $trait::$method);
    )*};
    (@declare $name:ident $float:ident ($x:ident) $trait:ident::$method:ident) => {
        methods!(@document $name($x: $float) -> $float, $trait::$method($x));
    };
    (@declare $name:ident $float:ident ($x:ident, $y:ident) $trait:ident::$method:ident) => {
        methods!(@document $name($x: $float, $y: $float) -> $float, $trait::$method($x, $y));
    };
    (@declare $name:ident $float:ident ($x:ident, $n:ident: i32) $trait:ident::$method:ident) => {
        methods!(@document $name($x: $float, $n: i32) -> $float, $trait::$method($x, $n));
    };
    (@declare $name:ident $float:ident ($n:ident: i32, $x:ident) $trait:ident::$method:ident) => {
        methods!(@document $name($n: i32, $x: $float) -> $float, $trait::$method($x, $n));
    };
    (
        @document $name:ident($($x:ident: $ty:ty),*) -> $result:ident,
        $trait:ident::$method:ident($($argument:ident),*)
    ) => {
        intrinsics! {
            #[doc = concat!("[`", stringify!($trait), "::", stringify!($method), "`].")]
            ///
            /// ```
            #[doc = concat!("use cuda_std::{", stringify!($trait), ", intrinsics::", stringify!($name), "};")]
            ///
            #[doc = concat!($("let ", stringify!($x), ": ", stringify!($ty), " = 1 as ", stringify!($ty), ";\n",)*)]
            /// // SAFETY: any numbers will do.
            #[doc = concat!("let value = unsafe { ", stringify!($name), "(", stringify!($($x),*), ") };")]
            #[doc = concat!("assert_eq!(value, ", stringify!($trait), "::", stringify!($method), "(", stringify!($($argument),*), "));")]
            /// ```
            $name($($x: $ty),*) -> $result = $trait::$method($($argument),*);
        }
    };
}

methods! {
    fabs fabsf(x) = GpuFloat::abs;
    copysign copysignf(x, y) = GpuFloat::copysign;
    floor floorf(x) = GpuFloat::floor;
    ceil ceilf(x) = GpuFloat::ceil;
    trunc truncf(x) = GpuFloat::trunc;
    round roundf(x) = GpuFloat::round;
    rint rintf(x) = GpuFloat::round_ties_even;
    nearbyint nearbyintf(x) = GpuFloat::round_ties_even;

    sqrt sqrtf(x) = GpuFloat::sqrt;
    rsqrt rsqrtf(x) = FloatExt::rsqrt;
    cbrt cbrtf(x) = GpuFloat::cbrt;
    rcbrt rcbrtf(x) = FloatExt::rcbrt;
    hypot hypotf(x, y) = GpuFloat::hypot;
    pow powf(x, y) = GpuFloat::powf;
    powi powif(x, n: i32) = GpuFloat::powi;

    exp expf(x) = GpuFloat::exp;
    exp2 exp2f(x) = GpuFloat::exp2;
    exp10 exp10f(x) = FloatExt::exp10;
    expm1 expm1f(x) = GpuFloat::exp_m1;
    log logf(x) = GpuFloat::ln;
    log2 log2f(x) = GpuFloat::log2;
    log10 log10f(x) = GpuFloat::log10;
    log1p log1pf(x) = GpuFloat::ln_1p;

    sin sinf(x) = GpuFloat::sin;
    cos cosf(x) = GpuFloat::cos;
    tan tanf(x) = GpuFloat::tan;
    sinpi sinpif(x) = FloatExt::sinpi;
    cospi cospif(x) = FloatExt::cospi;
    asin asinf(x) = GpuFloat::asin;
    acos acosf(x) = GpuFloat::acos;
    atan atanf(x) = GpuFloat::atan;
    atan2 atan2f(y, x) = GpuFloat::atan2;
    sinh sinhf(x) = GpuFloat::sinh;
    cosh coshf(x) = GpuFloat::cosh;
    tanh tanhf(x) = GpuFloat::tanh;
    asinh asinhf(x) = GpuFloat::asinh;
    acosh acoshf(x) = GpuFloat::acosh;
    atanh atanhf(x) = GpuFloat::atanh;

    erf erff(x) = FloatExt::error_function;
    erfc erfcf(x) = FloatExt::complementary_error_function;
    erfinv erfinvf(x) = FloatExt::inv_error_function;
    erfcinv erfcinvf(x) = FloatExt::inv_complementary_error_function;
    erfcx erfcxf(x) = FloatExt::scaled_complementary_error_function;
    normcdf normcdff(x) = FloatExt::norm_cdf;
    normcdfinv normcdfinvf(x) = FloatExt::inv_norm_cdf;
    tgamma tgammaf(x) = FloatExt::gamma;
    lgamma lgammaf(x) = FloatExt::log_gamma;
    j0 j0f(x) = FloatExt::j0;
    j1 j1f(x) = FloatExt::j1;
    jn jnf(n: i32, x) = FloatExt::jn;
    y0 y0f(x) = FloatExt::y0;
    y1 y1f(x) = FloatExt::y1;
    yn ynf(n: i32, x) = FloatExt::yn;

    ldexp ldexpf(x, n: i32) = FloatExt::ldexp;
    scalbn scalbnf(x, n: i32) = FloatExt::ldexp;
}

intrinsics! {
    /// [`GpuFloat::mul_add`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fma;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { fma(2.0, 3.0, 4.0) }, 10.0);
    /// ```
    fma(x: f64, y: f64, z: f64) -> f64 = Exact::fma(x, y, z);
    /// [`GpuFloat::mul_add`].
    ///
    /// ```
    /// use cuda_std::intrinsics::fmaf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { fmaf(2.0, 3.0, 4.0) }, 10.0);
    /// ```
    fmaf(x: f32, y: f32, z: f32) -> f32 = Exact::fma(x, y, z);
    /// The greater number: of a number and NaN the number, and 0 rather than -0.
    ///
    /// ```
    /// use cuda_std::intrinsics::fmax;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { fmax(1.0, f64::NAN) }, 1.0);
    /// ```
    fmax(x: f64, y: f64) -> f64 = arch::fmax(x, y);
    /// The greater number: of a number and NaN the number, and 0 rather than -0.
    ///
    /// ```
    /// use cuda_std::intrinsics::fmaxf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { fmaxf(1.0, f32::NAN) }, 1.0);
    /// ```
    fmaxf(x: f32, y: f32) -> f32 = arch::fmaxf(x, y);
    /// The lesser number: of a number and NaN the number, and -0 rather than 0.
    ///
    /// ```
    /// use cuda_std::intrinsics::fmin;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { fmin(1.0, 2.0) }, 1.0);
    /// ```
    fmin(x: f64, y: f64) -> f64 = arch::fmin(x, y);
    /// The lesser number: of a number and NaN the number, and -0 rather than 0.
    ///
    /// ```
    /// use cuda_std::intrinsics::fminf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { fminf(1.0, 2.0) }, 1.0);
    /// ```
    fminf(x: f32, y: f32) -> f32 = arch::fminf(x, y);
    /// The remainder of `x / y` with the sign of `x`, exactly.
    ///
    /// ```
    /// use cuda_std::intrinsics::fmod;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { fmod(-7.5, 2.0) }, -1.5);
    /// ```
    fmod(x: f64, y: f64) -> f64 = Functions::rem(x, y);
    /// The remainder of `x / y` with the sign of `x`, exactly.
    ///
    /// ```
    /// use cuda_std::intrinsics::fmodf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { fmodf(-7.5, 2.0) }, -1.5);
    /// ```
    fmodf(x: f32, y: f32) -> f32 = Functions::rem(x, y);
    /// [`FloatExt::saturate`].
    ///
    /// ```
    /// use cuda_std::intrinsics::saturatef;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { saturatef(1.5) }, 1.0);
    /// ```
    saturatef(x: f32) -> f32 = x.saturate();
}

sines_and_cosines! {
    /// Stores [`sin`] and [`cos`].
    ///
    /// ```
    /// use cuda_std::intrinsics::{cos, sin, sincos};
    ///
    /// let (mut sine, mut cosine) = (0.0, 0.0);
    /// // SAFETY: both are this thread's.
    /// unsafe {
    ///     sincos(0.75, &mut sine, &mut cosine);
    ///     assert_eq!((sine, cosine), (sin(0.75), cos(0.75)));
    /// }
    /// ```
    sincos(x: f64) = GpuFloat::sin_cos(x);
    /// Stores [`sinf`] and [`cosf`].
    ///
    /// ```
    /// use cuda_std::intrinsics::{cosf, sincosf, sinf};
    ///
    /// let (mut sine, mut cosine) = (0.0, 0.0);
    /// // SAFETY: both are this thread's.
    /// unsafe {
    ///     sincosf(0.75, &mut sine, &mut cosine);
    ///     assert_eq!((sine, cosine), (sinf(0.75), cosf(0.75)));
    /// }
    /// ```
    sincosf(x: f32) = GpuFloat::sin_cos(x);
    /// Stores [`sinpi`] and [`cospi`].
    ///
    /// ```
    /// use cuda_std::intrinsics::{cospi, sincospi, sinpi};
    ///
    /// let (mut sine, mut cosine) = (0.0, 0.0);
    /// // SAFETY: both are this thread's.
    /// unsafe {
    ///     sincospi(0.5, &mut sine, &mut cosine);
    ///     assert_eq!((sine, cosine), (sinpi(0.5), cospi(0.5)));
    /// }
    /// ```
    sincospi(x: f64) = FloatExt::sincospi(x);
    /// Stores [`sinpif`] and [`cospif`].
    ///
    /// ```
    /// use cuda_std::intrinsics::{cospif, sincospif, sinpif};
    ///
    /// let (mut sine, mut cosine) = (0.0, 0.0);
    /// // SAFETY: both are this thread's.
    /// unsafe {
    ///     sincospif(0.5, &mut sine, &mut cosine);
    ///     assert_eq!((sine, cosine), (sinpif(0.5), cospif(0.5)));
    /// }
    /// ```
    sincospif(x: f32) = FloatExt::sincospi(x);
}
