//! Arithmetic that IEEE 754 settles to the last bit, as the host does it, and accurate results for
//! what the GPU approximates.

/// Operations that are single instructions on the GPU and correctly rounded there and here.
pub(crate) trait Exact: Copy {
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn sqrt(self) -> Self;
    fn fma(self, factor: Self, addend: Self) -> Self;
}

macro_rules! exact {
    ($($float:ident)*) => {$(
        impl Exact for $float {
            #[inline]
            fn floor(self) -> Self {
                $float::floor(self)
            }

            #[inline]
            fn ceil(self) -> Self {
                $float::ceil(self)
            }

            #[inline]
            fn trunc(self) -> Self {
                $float::trunc(self)
            }

            #[inline]
            fn round_ties_even(self) -> Self {
                $float::round_ties_even(self)
            }

            #[inline]
            fn sqrt(self) -> Self {
                $float::sqrt(self)
            }

            #[inline]
            fn fma(self, factor: Self, addend: Self) -> Self {
                $float::mul_add(self, factor, addend)
            }
        }
    )*};
}

exact!(f32 f64);

/// The number whose bits these are.
#[inline(always)]
pub(crate) fn from_words(high: u32, low: u32) -> f64 {
    f64::from_bits(u64::from(high) << 32 | u64::from(low))
}

/// `1.0 / x`.
#[inline(always)]
pub(crate) fn normal_reciprocal(x: f32) -> f32 {
    1.0 / x
}

/// `x.sqrt()`, of what the GPU's form is right for.
#[inline(always)]
pub(crate) fn normal_sqrt(x: f32) -> f32 {
    debug_assert!(!(x > 0.0 && x < f32::from_bits((127 - 100) << 23)), "{x:e}");
    x.sqrt()
}

/// Twice [`normal_sqrt`].
#[inline(always)]
pub(crate) fn double_normal_sqrt(x: f32) -> f32 {
    2.0 * normal_sqrt(x)
}

/// The number, or a 0 of its sign in the place of one that is subnormal.
fn flush(x: f32) -> f32 {
    if x.is_subnormal() {
        0_f32.copysign(x)
    } else {
        x
    }
}

macro_rules! accurate {
    ($($name:ident($($argument:ident),*) = $value:expr;)*) => {$(
        #[inline]
        pub(crate) fn $name($($argument: f32),*) -> f32 {
            $value
        }
    )*};
}

accurate! {
    sin_approx(x) = libm::sinf(x);
    cos_approx(x) = libm::cosf(x);
    exp2_approx(x) = sfu::ex2(x);
    exp2_approx_ftz(x) = flush(sfu::ex2(flush(x)));
    log2_approx(x) = sfu::lg2(x);
    log2_approx_ftz(x) = sfu::lg2(flush(x));
    tanh_approx(x) = libm::tanhf(x);
    rcp_approx(x) = sfu::rcp(x);
    rcp_approx_ftz(x) = flush(sfu::rcp(flush(x)));
    sqrt_approx(x) = sfu::sqrt(x);
    rsqrt_approx(x) = sfu::rsqrt(x);
    rsqrt_approx_ftz(x) = sfu::rsqrt(flush(x));
    div_approx(x, y) = sfu::div(x, y);
}

pub(crate) use sfu::{rcp_f64 as rcp_approx_ftz_f64, rsqrt_f64 as rsqrt_approx_ftz_f64};
