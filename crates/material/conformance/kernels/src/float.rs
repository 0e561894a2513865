//! `cuda_std::float`: every method, in kernels of about ten.

use cuda_std::prelude::*;
use cuda_std::{ApproxFloat, FloatExt};

/// A result of a kernel, as a word. Every NaN is the same one: sign and payload of the GPU's are
/// its own.
pub trait Word {
    /// The word.
    fn word(self) -> u64;
}

/// The word of a NaN, and of no other float.
pub const NAN: u64 = u64::MAX;

impl Word for f32 {
    fn word(self) -> u64 {
        if self.is_nan() {
            NAN
        } else {
            self.to_bits().into()
        }
    }
}

impl Word for f64 {
    fn word(self) -> u64 {
        if self.is_nan() { NAN } else { self.to_bits() }
    }
}

macro_rules! integers {
    ($($integer:ident)*) => {$(
        impl Word for $integer {
            fn word(self) -> u64 {
                self.cast_unsigned().into()
            }
        }
    )*};
}

integers!(i16 i32 i64);

/// `f32` and `f64`. In code that is generic over it the host's own methods do not come in.
pub trait Float: GpuFloat + FloatExt + Word + Sync + 'static {}
impl Float for f32 {}
impl Float for f64 {}

/// For each group a module with the results' names, the function that computes them, and its
/// kernels for `f32` and `f64`. The libm's tables and its reduction of large angles lie in local
/// memory.
macro_rules! groups {
    (|$x:ident, $y:ident, $z:ident, $n:ident| $(
        $(#[$doc:meta])*
        $group:ident($f32:ident, $f64:ident) { $($result:expr),* $(,)? }
    )*) => {$(
        $(#[$doc])*
        pub mod $group {
            use super::*;

            /// The expressions that are computed from `x`, `y`, `z` and `n`.
            pub const RESULTS: [&str; [$(stringify!($result)),*].len()] = [$(stringify!($result)),*];

            /// The words of the results.
            pub fn results<T: Float>([$x, $y, $z]: [T; 3], $n: i32) -> [u64; RESULTS.len()] {
                [$({
                    // Each by itself: `ptxas` takes minutes for ten functions of the libm in one.
                    #[inline(never)]
                    #[allow(unused_variables, reason = "most functions have one argument")]
                    fn result<T: Float>($x: T, $y: T, $z: T, $n: i32) -> u64 {
                        $result.word()
                    }
                    result($x, $y, $z, $n)
                }),*]
            }

            /// The results for each input.
            #[kernel(instances($f32<f32>, $f64<f64>), allow(local_memory))]
            pub fn apply<T: Float>(
                inputs: &[[T; 3]],
                numbers: &[i32],
                mut out: Output<[u64; RESULTS.len()]>,
            ) {
                // A check that panics would bring the formatting of messages into each kernel.
                if let Some((i, words)) = out.own_element()
                    && let (Some(&input), Some(&number)) = (inputs.get(i), numbers.get(i))
                {
                    *words = results(input, number);
                }
            }
        }
    )*};
}

groups! { |x, y, z, n|
    /// Rounding, signs, and what else is an instruction.
    rounding(rounding_f32, rounding_f64) {
        x.floor(),
        x.ceil(),
        x.round(),
        x.round_ties_even(),
        x.trunc(),
        x.fract(),
        x.abs(),
        x.signum(),
        x.copysign(y),
        x.mul_add(y, z),
        x.sqrt(),
        x.saturate(),
    }
    /// Remainders, powers and roots.
    powers(powers_f32, powers_f64) {
        x.div_euclid(y),
        x.rem_euclid(y),
        x.powi(n),
        x.powf(y),
        x.cbrt(),
        x.rcbrt(),
        x.hypot(y),
        x.rhypot(y),
        x.norm3d(y, z),
    }
    /// Exponentials and logarithms.
    exponentials(exponentials_f32, exponentials_f64) {
        x.exp(),
        x.exp2(),
        x.exp10(),
        x.exp_m1(),
        x.ln(),
        x.log(y),
        x.log2(),
        x.log10(),
        x.ln_1p(),
        x.log1p(),
    }
    /// Angles.
    angles(angles_f32, angles_f64) {
        x.sin(),
        x.cos(),
        x.tan(),
        x.sin_cos().0,
        x.sin_cos().1,
        x.asin(),
        x.acos(),
        x.atan(),
        x.atan2(y),
        x.sinpi(),
        x.cospi(),
        x.sincospi().0,
        x.sincospi().1,
    }
    /// Hyperbolic functions.
    hyperbolic(hyperbolic_f32, hyperbolic_f64) {
        x.sinh(),
        x.cosh(),
        x.tanh(),
        x.asinh(),
        x.acosh(),
        x.atanh(),
    }
    /// The error function and the normal distribution.
    normal(normal_f32, normal_f64) {
        x.error_function(),
        x.complementary_error_function(),
        x.inv_error_function(),
        x.inv_complementary_error_function(),
        x.scaled_complementary_error_function(),
        x.norm_cdf(),
        x.inv_norm_cdf(),
    }
    /// Gamma and Bessel functions. The orders are small: the time grows with them.
    bessel(bessel_f32, bessel_f64) {
        x.gamma(),
        x.log_gamma(),
        x.j0(),
        x.j1(),
        x.jn(n % 40),
        x.y0(),
        x.y1(),
        x.yn(n % 40),
        x.cyl_bessel_i0(),
        x.cyl_bessel_i1(),
    }
    /// Fractions and exponents.
    parts(parts_f32, parts_f64) {
        x.frexp().0,
        x.frexp().1,
        x.ldexp(n),
        x.scale_by_n(n),
        x.unbiased_exp(),
    }
}

/// One over the square root, which is an approximation for `f32`.
#[kernel(instances(rsqrt_f32<f32>, rsqrt_f64<f64>))]
pub fn rsqrt<T: Float>(inputs: &[T], mut out: Output<T>) {
    for (x, out) in out.own_with(inputs) {
        *out = x.rsqrt();
    }
}

/// The functions that [`approximations()`] computes of a number and a divisor, in this order.
pub const APPROXIMATIONS: [&str; 10] = [
    "fast_sin",
    "fast_cos",
    "fast_exp2",
    "fast_log2",
    "fast_rcp",
    "fast_rsqrt",
    "fast_sqrt",
    "fast_div",
    "fast_tanh",
    "fast_exp2_ftz",
];

/// The hardware's approximations.
#[kernel]
pub fn approximations(inputs: &[[f32; 2]], mut out: Output<[f32; 10]>) {
    for (&[x, divisor], out) in out.own_with(inputs) {
        *out = [
            x.fast_sin(),
            x.fast_cos(),
            x.fast_exp2(),
            x.fast_log2(),
            x.fast_rcp(),
            x.fast_rsqrt(),
            x.fast_sqrt(),
            x.fast_div(divisor),
            x.fast_tanh(),
            x.fast_exp2_ftz(),
        ];
    }
}

/// To the short formats and back: the bits of each, and the value of each.
#[kernel]
pub fn halves(inputs: &[f32], mut out: Output<[u64; 4]>) {
    for (&x, words) in out.own_with(inputs) {
        let (half, brain) = (f16::from_f32(x), bf16::from_f32(x));
        *words = [
            half.to_bits().into(),
            brain.to_bits().into(),
            half.to_f32().word(),
            brain.to_f32().word(),
        ];
    }
}
