//! The functions of [`GpuFloat`](crate::GpuFloat) and [`FloatExt`](crate::FloatExt), with the same bits on the GPU and on the host.
//!
//! One file per family in `single` and `double`; each documents its method and the source of its coefficients. Rules:
//!
//! - Operations are those for which IEEE 754 allows one result (sums, products, quotients, roots, `Exact::fma`, integers) and
//!   approximate instructions, which have an H200's bits on the host and in the emulator (`crates/internal/sfu`). So an H200 and the
//!   emulator agree to the last bit (`crates/material/mathematics/tests/functions/bits.rs`).
//! - A multiplication that is followed by an addition is written as an explicit `fma`, so that contraction finds nothing to fuse.
//! - Where the last bit may not depend on the architecture, reciprocals of normal `f32`, and roots from 2^-100 on, are
//!   `rcp.approx` or `rsqrt.approx` and one step that rounds as the division or the root does (`normal_reciprocal`,
//!   `normal_sqrt`). `ptxas` generates the same for both on every architecture. For starts within the documented error the step
//!   fails for one mantissa in 2^23 of the reciprocal and for two in 2^24 of the root; for these `ptxas` relies on the start, and
//!   so do the functions.
//! - `f32` functions use no `f64`, which consumer GPUs run at 1/64 of the speed, and no indexed arrays on the stack. Slow paths
//!   stand behind a branch that common arguments never take.

mod bessel_orders;
#[allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    reason = "coefficients are written as they were computed"
)]
mod double;
mod gamma;
mod polynomial;
#[allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    reason = "coefficients are written as they were computed"
)]
mod single;

/// Declares [`Functions`] and implements it with the functions of these names in [`single`] and
/// [`double`].
macro_rules! functions {
    ($($name:ident($($argument:ident: $ty:ty),*) -> $result:ty;)*) => {
        /// The functions of `f32` and of `f64` under one name each.
        pub(crate) trait Functions: Sized {
            $(fn $name($($argument: $ty),*) -> $result;)*
        }

        functions!(@implement f32, single, $($name($($argument: $ty),*) -> $result;)*);
        functions!(@implement f64, double, $($name($($argument: $ty),*) -> $result;)*);
    };
    (@implement $float:ident, $module:ident, $($name:ident($($argument:ident: $ty:ty),*) -> $result:ty;)*) => {
        impl Functions for $float {
            $(
                #[inline(always)]
                fn $name($($argument: $ty),*) -> $result {
                    $module::$name($($argument),*)
                }
            )*
        }
    };
}

functions! {
    exp(x: Self) -> Self;
    exp2(x: Self) -> Self;
    exp10(x: Self) -> Self;
    exp_m1(x: Self) -> Self;
    ln(x: Self) -> Self;
    log2(x: Self) -> Self;
    log10(x: Self) -> Self;
    ln_1p(x: Self) -> Self;
    powf(x: Self, y: Self) -> Self;
    sinh(x: Self) -> Self;
    cosh(x: Self) -> Self;
    tanh(x: Self) -> Self;
    asinh(x: Self) -> Self;
    acosh(x: Self) -> Self;
    atanh(x: Self) -> Self;
    sin(x: Self) -> Self;
    cos(x: Self) -> Self;
    tan(x: Self) -> Self;
    sin_cos(x: Self) -> (Self, Self);
    sinpi(x: Self) -> Self;
    cospi(x: Self) -> Self;
    sincospi(x: Self) -> (Self, Self);
    asin(x: Self) -> Self;
    acos(x: Self) -> Self;
    atan(x: Self) -> Self;
    atan2(y: Self, x: Self) -> Self;
    cbrt(x: Self) -> Self;
    rcbrt(x: Self) -> Self;
    rsqrt(x: Self) -> Self;
    hypot(x: Self, y: Self) -> Self;
    rhypot(x: Self, y: Self) -> Self;
    norm3d(x: Self, y: Self, z: Self) -> Self;
    erf(x: Self) -> Self;
    erfc(x: Self) -> Self;
    erf_inv(x: Self) -> Self;
    erfc_inv(x: Self) -> Self;
    erfcx(x: Self) -> Self;
    norm_cdf(x: Self) -> Self;
    norm_cdf_inv(x: Self) -> Self;
    gamma(x: Self) -> Self;
    log_gamma(x: Self) -> Self;
    j0(x: Self) -> Self;
    j1(x: Self) -> Self;
    jn(x: Self, order: i32) -> Self;
    y0(x: Self) -> Self;
    y1(x: Self) -> Self;
    yn(x: Self, order: i32) -> Self;
    cyl_bessel_i0(x: Self) -> Self;
    cyl_bessel_i1(x: Self) -> Self;
    rem(x: Self, y: Self) -> Self;
    frexp(x: Self) -> (Self, i32);
    ldexp(x: Self, exponent: i32) -> Self;
    unbiased_exponent(x: Self) -> i32;
}
