//! `cuda_std::intrinsics`: every function, with one kernel per family.

use cuda_std::intrinsics;
use cuda_std::prelude::*;

use crate::float::Word;

/// The numbers that a thread computes with: three of each type.
pub type Input = ([f32; 3], [f64; 3], [i32; 3], [i64; 3]);

/// For each group a module with the names of its functions, what they give, and its kernel. The
/// arguments are `x`, `y` and `z` of `f32`; `u`, `v` and `w` of `f64`; `i`, `j` and `k` of `i32`; `l`
/// and `m` of `i64`.
macro_rules! groups {
    (|$x:ident, $y:ident, $z:ident, $u:ident, $v:ident, $w:ident, $i:ident, $j:ident, $k:ident, $l:ident, $m:ident| $(
        $(#[$doc:meta])*
        $group:ident($kernel:ident) in $module:ident { $($arguments:tt: $($name:ident)*;)* }
    )*) => {
        /// The functions of each group.
        pub const GROUPS: &[&[&str]] = &[$(&$group::RESULTS),*];

        $(
            $(#[$doc])*
            pub mod $group {
                use super::*;

                /// The functions that are computed.
                pub const RESULTS: [&str; [$($(stringify!($name)),*),*].len()] =
                    [$($(stringify!($name)),*),*];

                /// The words of the results.
                pub fn results(
                    ([$x, $y, $z], [$u, $v, $w], [$i, $j, $k], [$l, $m, _]): Input,
                ) -> [u64; RESULTS.len()] {
                    [$($({
                        // Each by itself: `ptxas` takes minutes for ten long functions in one.
                        #[inline(never)]
                        #[allow(unused_variables, reason = "each takes some of the arguments")]
                        #[allow(clippy::too_many_arguments, reason = "three of each type")]
                        fn $name(
                            $x: f32, $y: f32, $z: f32, $u: f64, $v: f64, $w: f64,
                            $i: i32, $j: i32, $k: i32, $l: i64, $m: i64,
                        ) -> u64 {
                            unsafe { $module::$name $arguments }.word()
                        }
                        $name($x, $y, $z, $u, $v, $w, $i, $j, $k, $l, $m)
                    }),*),*]
                }

                /// The results for each input.
                #[kernel(allow(local_memory))]
                pub fn $kernel(
                    singles: &[[f32; 3]],
                    doubles: &[[f64; 3]],
                    integers: &[[i32; 3]],
                    longs: &[[i64; 3]],
                    mut out: Output<[u64; RESULTS.len()]>,
                ) {
                    // A check that panics would bring the formatting of messages into each kernel.
                    if let Some((i, words)) = out.own_element()
                        && let (Some(&x), Some(&u)) = (singles.get(i), doubles.get(i))
                        && let (Some(&n), Some(&l)) = (integers.get(i), longs.get(i))
                    {
                        *words = results((x, u, n, l));
                    }
                }
            }
        )*
    };
}

groups! { |x, y, z, u, v, w, i, j, k, l, m|
    /// Arithmetic with directed rounding.
    arithmetic(intrinsics_arithmetic) in intrinsics {
        (x): frcp_rn frcp_rz frcp_rd frcp_ru fsqrt_rn fsqrt_rz fsqrt_rd fsqrt_ru frsqrt_rn;
        (x, y): fadd_rn fadd_rz fadd_rd fadd_ru fsub_rn fsub_rz fsub_rd fsub_ru fmul_rn fmul_rz
            fmul_rd fmul_ru fdiv_rn fdiv_rz fdiv_rd fdiv_ru;
        (x, y, z): fmaf_rn fmaf_rz fmaf_rd fmaf_ru;
        (u): drcp_rn drcp_rz drcp_rd drcp_ru dsqrt_rn dsqrt_rz dsqrt_rd dsqrt_ru;
        (u, v): dadd_rn dadd_rz dadd_rd dadd_ru dmul_rn dmul_rz dmul_rd dmul_ru ddiv_rn ddiv_rz
            ddiv_rd ddiv_ru;
        (u, v, w): fma_rn fma_rz fma_rd fma_ru;
    }
    /// Conversions and bits as other types.
    conversions(intrinsics_conversions) in intrinsics {
        (x): float2int_rn float2int_rz float2int_rd float2int_ru float2uint_rn float2uint_rz
            float2uint_rd float2uint_ru float2ll_rn float2ll_rz float2ll_rd float2ll_ru
            float2ull_rn float2ull_rz float2ull_rd float2ull_ru float2half_rn float_as_int;
        (u): double2int_rn double2int_rz double2int_rd double2int_ru double2uint_rn double2uint_rz
            double2uint_rd double2uint_ru double2ll_rn double2ll_rz double2ll_rd double2ll_ru
            double2ull_rn double2ull_rz double2ull_rd double2ull_ru double2float_rn double2float_rz
            double2float_rd double2float_ru double2hiint double2loint double_as_longlong;
        (i): int2float_rn int2float_rz int2float_rd int2float_ru uint2float_rn uint2float_rz
            uint2float_rd uint2float_ru int2double_rn uint2double_rn int_as_float;
        (l): ll2float_rn ll2float_rz ll2float_rd ll2float_ru ull2float_rn ull2float_rz ull2float_rd
            ull2float_ru ll2double_rn ll2double_rz ll2double_rd ll2double_ru ull2double_rn
            ull2double_rz ull2double_rd ull2double_ru longlong_as_double;
        (i, j): hiloint2double;
        (i as i16): half2float;
    }
    /// Integers, and their bits.
    integers(intrinsics_integers) in intrinsics {
        (i): abs brev clz ffs popc;
        (l): llabs brevll clzll ffsll popcll;
        (i, j): max min umax umin mulhi umulhi mul24 umul24 hadd rhadd uhadd urhadd;
        (l, m): llmax llmin ullmax ullmin mul64hi umul64hi;
        (i, j, k): sad usad byte_perm;
    }
    /// Rounding, roots, powers, exponentials and logarithms.
    powers(intrinsics_powers) in intrinsics {
        (x): fabsf floorf ceilf truncf roundf rintf nearbyintf saturatef sqrtf cbrtf rcbrtf expf exp2f
            exp10f expm1f logf log2f log10f log1pf;
        (u): fabs floor ceil trunc round rint nearbyint sqrt rsqrt cbrt rcbrt exp exp2 exp10 expm1 log
            log2 log10 log1p;
        (x, y): copysignf fmaxf fminf fmodf hypotf powf;
        (u, v): copysign fmax fmin fmod hypot pow;
        (x, y, z): fmaf;
        (u, v, w): fma;
        (x, k % 200): powif ldexpf scalbnf;
        (u, k % 1100): powi ldexp scalbn;
    }
    /// Angles and hyperbolic functions.
    angles(intrinsics_angles) in intrinsics {
        (x): sinf cosf tanf sinpif cospif asinf acosf atanf sinhf coshf tanhf asinhf acoshf atanhf;
        (u): sin cos tan sinpi cospi asin acos atan sinh cosh tanh asinh acosh atanh;
        (x, y): atan2f;
        (u, v): atan2;
    }
    /// The error function, the normal distribution, gamma and Bessel functions. The orders are small:
    /// the time grows with them.
    special(intrinsics_special) in intrinsics {
        (x): erff erfcf erfinvf erfcinvf erfcxf normcdff normcdfinvf tgammaf lgammaf j0f j1f y0f y1f;
        (u): erf erfc erfinv erfcinv erfcx normcdf normcdfinv tgamma lgamma j0 j1 y0 y1;
        (k % 40, x): jnf ynf;
        (k % 40, u): jn yn;
    }
    /// Kinds of numbers, their parts, neighbours and remainders.
    parts(intrinsics_parts) in intrinsics {
        (x): finitef isinff isnanf signbitf ilogbf logbf llrintf llroundf;
        (u): isfinited isinfd isnand signbitd ilogb logb llrint llround;
        (x, y): fdimf nextafterf remainderf;
        (u, v): fdim nextafter remainder;
    }
    /// Functions of pointers.
    pointers(intrinsics_pointers) in pointed {
        (x): frexpf modff sincosf sincospif fast_sincosf;
        (u): frexp modf sincos sincospi;
        (x, y): remquof;
        (u, v): remquo;
        (i): nan nanf;
    }
    /// Approximations.
    fast(intrinsics_fast) in intrinsics {
        (x): fast_sinf fast_cosf fast_tanf fast_expf fast_exp10f fast_logf fast_log2f fast_log10f
            rsqrtf;
        (x, y): fast_powf fast_fdividef;
    }
}

/// Two results as one word.
pub struct Both<A, B>(pub A, pub B);

impl<A: Word, B: Word> Word for Both<A, B> {
    fn word(self) -> u64 {
        self.0.word().rotate_left(32) ^ self.1.word()
    }
}

/// The functions of pointers, with all that they give.
mod pointed {
    use super::*;

    macro_rules! second {
        ($($name:ident($($x:ident: $float:ident),*) and $second:ident;)*) => {$(
            pub(super) unsafe fn $name($($x: $float),*) -> Both<impl Word, $second> {
                let mut second = Default::default();
                let first = unsafe { intrinsics::$name($($x,)* &raw mut second) };
                Both(first, second)
            }
        )*};
    }

    second! {
        frexpf(x: f32) and i32;
        frexp(x: f64) and i32;
        modff(x: f32) and f32;
        modf(x: f64) and f64;
        remquof(x: f32, y: f32) and i32;
        remquo(x: f64, y: f64) and i32;
    }

    macro_rules! two {
        ($($name:ident of $float:ident;)*) => {$(
            pub(super) unsafe fn $name(x: $float) -> Both<$float, $float> {
                let (mut sine, mut cosine) = (0.0, 0.0);
                unsafe { intrinsics::$name(x, &raw mut sine, &raw mut cosine) };
                Both(sine, cosine)
            }
        )*};
    }

    two! {
        sincosf of f32;
        sincos of f64;
        sincospif of f32;
        sincospi of f64;
    }

    /// 1 where both are what the functions of one result give.
    pub(super) unsafe fn fast_sincosf(x: f32) -> i32 {
        let (mut sine, mut cosine) = (0.0f32, 0.0f32);
        let alone = unsafe {
            intrinsics::fast_sincosf(x, &raw mut sine, &raw mut cosine);
            [intrinsics::fast_sinf(x), intrinsics::fast_cosf(x)]
        };
        ([sine, cosine].map(Word::word) == alone.map(Word::word)).into()
    }

    /// A hexadecimal, an octal, a decimal or no number.
    fn tag(number: i32) -> [u8; 4] {
        let digit = |shift: i32| b'0' + (number >> shift & 7) as u8;
        match number & 3 {
            0 => [b'0', b'x', digit(2), 0],
            1 => [b'0', digit(5), digit(2), 0],
            2 => [digit(5), digit(8), digit(2), 0],
            _ => [digit(2), b'-', 0, 0],
        }
    }

    pub(super) unsafe fn nan(number: i32) -> i64 {
        let mut tag = tag(number);
        unsafe { intrinsics::nan(tag.as_mut_ptr().cast()) }
            .to_bits()
            .cast_signed()
    }

    pub(super) unsafe fn nanf(number: i32) -> i32 {
        let mut tag = tag(number);
        unsafe { intrinsics::nanf(tag.as_mut_ptr().cast()) }
            .to_bits()
            .cast_signed()
    }
}
