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

/// A positive number, or 0 in the place of one that is subnormal.
fn normal_or_zero(x: f32) -> f32 {
    if x < f32::MIN_POSITIVE { 0.0 } else { x }
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
    exp2_approx(x) = libm::exp2f(x);
    exp2_approx_ftz(x) = normal_or_zero(libm::exp2f(x));
    log2_approx(x) = libm::log2f(x);
    log2_approx_ftz(x) = libm::log2f(if x.is_subnormal() { 0.0 } else { x });
    tanh_approx(x) = libm::tanhf(x);
    rcp_approx(x) = x.recip();
    rcp_approx_ftz(x) = x.recip();
    sqrt_approx(x) = x.sqrt();
    rsqrt_approx(x) = (1.0 / f64::from(x).sqrt()) as f32;
    div_approx(x, y) = x / y;
}
