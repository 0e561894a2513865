//! Roundings in each direction: the host's nearest number, and from [`exact`] on which side of it the
//! exact result lies.

use std::cmp::Ordering;

use super::exact::{self, Exact};
use super::numbers::{f32s, f64s, i32s, i64s, near_f32s, near_i64s, near_i64s_of_f32};
use super::{Known, known, value};

/// How many random arguments each function gets.
const COUNT: usize = 50_000;

/// A number as the wider one that [`exact`] computes with.
trait Wide {
    type Number;
    fn wide(self) -> Self::Number;
}

macro_rules! wide {
    ($($narrow:ident as $wide:ident)*) => {$(
        impl Wide for $narrow {
            type Number = $wide;

            fn wide(self) -> $wide {
                self.into()
            }
        }
    )*};
}

wide!(f32 as f64 f64 as f64 i32 as i128 i64 as i128);

macro_rules! directions {
    ($($name:ident of $float:ident;)*) => {$(
        /// To the nearest, towards 0, down and up.
        fn $name(nearest: $float, exact: Exact) -> [$float; 4] {
            let (down, up) = match exact.order {
                Ordering::Less => (nearest.next_down(), nearest),
                Ordering::Greater => (nearest, nearest.next_up()),
                Ordering::Equal if nearest == 0.0 && exact.has_negative_zero => (-0.0, nearest),
                Ordering::Equal => (nearest, nearest),
            };
            let zero = match exact.order {
                Ordering::Equal => nearest,
                _ if nearest.is_sign_negative() => up,
                _ => down,
            };
            [nearest, zero, down, up]
        }
    )*};
}

directions! {
    f32_directions of f32;
    f64_directions of f64;
}

/// A function in all four directions.
macro_rules! in_all_directions {
    ($name:ident($($x:ident),*)) => { pastey::paste! {
        [
            value!([<$name _rn>]($($x),*)),
            value!([<$name _rz>]($($x),*)),
            value!([<$name _rd>]($($x),*)),
            value!([<$name _ru>]($($x),*)),
        ]
    }};
}

fn compare<A: std::fmt::Debug, T: Known>(
    name: &str,
    arguments: A,
    actual: [T; 4],
    expected: [T; 4],
) {
    for (mode, (actual, expected)) in ["rn", "rz", "rd", "ru"]
        .iter()
        .zip(actual.into_iter().zip(expected))
    {
        assert!(
            actual.is(expected),
            "{name}_{mode} of {arguments:?} is {actual:?}, not {expected:?}"
        );
    }
}

/// A test for each function and the list of their names.
macro_rules! floats {
    ($(
        $name:ident($($x:ident in $numbers:ident),*) -> $result:ident = $nearest:expr, |$n:ident| $exact:expr;
    )*) => { pastey::paste! {
        pub(crate) const FLOATS: &[&str] = &[$(
            stringify!([<$name _rn>]), stringify!([<$name _rz>]),
            stringify!([<$name _rd>]), stringify!([<$name _ru>]),
        )*];

        $(#[test]
        fn $name() {
            let mut random = fastrand::Rng::with_seed(16);
            for _ in 0..COUNT {
                $(let $x = $numbers(&mut random);)*
                let (arguments, actual) = (($($x,)*), in_all_directions!($name($($x),*)));
                let nearest: $result = $nearest;
                let $n = f64::from(nearest);
                $(let $x = $x.wide();)*
                let expected = [<$result _directions>](nearest, $exact);
                compare(stringify!($name), arguments, actual, expected);
            }
        })*
    }};
}

floats! {
    fadd(x in f32s, y in f32s) -> f32 = x + y, |n| exact::sum(&[(x, 1.0), (y, 1.0)], n);
    fsub(x in f32s, y in f32s) -> f32 = x - y, |n| exact::sum(&[(x, 1.0), (y, -1.0)], n);
    fmul(x in f32s, y in f32s) -> f32 = x * y, |n| exact::sum(&[(x, y)], n);
    fdiv(x in f32s, y in f32s) -> f32 = x / y, |n| exact::quotient(x, y, n);
    frcp(x in f32s) -> f32 = 1.0 / x, |n| exact::quotient(1.0, x, n);
    fsqrt(x in f32s) -> f32 = x.sqrt(), |n| exact::root(x, n);
    fmaf(x in f32s, y in f32s, z in f32s) -> f32 = x.mul_add(y, z),
        |n| exact::sum(&[(x, y), (z, 1.0)], n);
    dadd(x in f64s, y in f64s) -> f64 = x + y, |n| exact::sum(&[(x, 1.0), (y, 1.0)], n);
    dmul(x in f64s, y in f64s) -> f64 = x * y, |n| exact::sum(&[(x, y)], n);
    ddiv(x in f64s, y in f64s) -> f64 = x / y, |n| exact::quotient(x, y, n);
    drcp(x in f64s) -> f64 = 1.0 / x, |n| exact::quotient(1.0, x, n);
    dsqrt(x in f64s) -> f64 = x.sqrt(), |n| exact::root(x, n);
    fma(x in f64s, y in f64s, z in f64s) -> f64 = x.mul_add(y, z),
        |n| exact::sum(&[(x, y), (z, 1.0)], n);

    double2float(x in near_f32s) -> f32 = x as f32, |n| exact::sum(&[(x, 1.0)], n);
    int2float(x in i32s) -> f32 = x as f32, |n| exact::integer(x, n);
    uint2float(x in i32s) -> f32 = x as u32 as f32, |n| exact::integer(x & 0xffff_ffff, n);
    ll2float(x in i64s) -> f32 = x as f32, |n| exact::integer(x, n);
    ull2float(x in i64s) -> f32 = x as u64 as f32,
        |n| exact::integer(x & 0xffff_ffff_ffff_ffff, n);
    ll2double(x in i64s) -> f64 = x as f64, |n| exact::integer(x, n);
    ull2double(x in i64s) -> f64 = x as u64 as f64,
        |n| exact::integer(x & 0xffff_ffff_ffff_ffff, n);
}

/// The same for conversions to integers: the nearest of the type where the number is beyond.
macro_rules! integers {
    ($($name:ident($numbers:ident) -> $result:ident = $integer:ident, NaN $nan:expr;)*) => { pastey::paste! {
        pub(crate) const INTEGERS: &[&str] = &[$(
            stringify!([<$name _rn>]), stringify!([<$name _rz>]),
            stringify!([<$name _rd>]), stringify!([<$name _ru>]),
        )*];

        $(#[test]
        fn $name() {
            let mut random = fastrand::Rng::with_seed(16);
            for _ in 0..COUNT {
                let x = $numbers(&mut random);
                let (least, greatest) = ($integer::MIN.into(), $integer::MAX.into());
                let expected = if x.is_nan() {
                    [$nan; 4]
                } else {
                    exact::integers(x.into()).map(|i| i.clamp(least, greatest) as $integer as $result)
                };
                compare(stringify!($name), x, in_all_directions!($name(x)), expected);
            }
        })*
    }};
}

integers! {
    float2int(near_i64s_of_f32) -> i32 = i32, NaN 0;
    float2uint(near_i64s_of_f32) -> i32 = u32, NaN 0;
    float2ll(near_i64s_of_f32) -> i64 = i64, NaN i64::MIN;
    float2ull(near_i64s_of_f32) -> i64 = u64, NaN i64::MIN;
    double2int(near_i64s) -> i32 = i32, NaN i32::MIN;
    double2uint(near_i64s) -> i32 = u32, NaN i32::MIN;
    double2ll(near_i64s) -> i64 = i64, NaN i64::MIN;
    double2ull(near_i64s) -> i64 = u64, NaN i64::MIN;
}

known! { known_roundings, LITERALS by value, same:
    // The tests above take the nearest number from the host, and these take nothing from it.
    fadd_rd: [(1.0, 1e-10) => 1.0, (1.0, -1.0) => -0.0];
    fadd_ru: [(1.0, 1e-10) => 1.000_000_1, (1.0, -1.0) => 0.0];
    ddiv_rz: [(-1.0, 3.0) => -0.333_333_333_333_333_3];
    ddiv_rd: [(-1.0, 3.0) => -0.333_333_333_333_333_37];
    fmaf_rz: [(3.0, 5.0, -2.0) => 13.0];
    fma_rn: [(3.0, 5.0, -2.0) => 13.0];
    float2int_rn: [(2.5) => 2, (3e9) => i32::MAX, (f32::NAN) => 0];
    float2int_rd: [(-1.5) => -2];
    float2uint_rz: [(-1.5) => 0];
    float2uint_ru: [(4e9) => 4_000_000_000u32.cast_signed()];
    double2uint_rn: [(f64::NAN) => i32::MIN];
    float2ull_rn: [(f32::INFINITY) => -1, (f32::NAN) => i64::MIN];
    double2ll_rz: [(f64::NEG_INFINITY) => i64::MIN, (-2.5) => -2];
    frsqrt_rn: [
        (0.25) => 2.0, (0.0) => f32::INFINITY, (-0.0) => f32::NEG_INFINITY, (f32::INFINITY) => 0.0,
        (-1.0) => f32::NAN, (1e-45) => 2.671_373_9e22,
    ];
}

/// Each `f32` from 1 to 4, exactly. Every other positive number is one of these times a power of 4, and
/// its result, which is never subnormal, one of these times a power of 2.
#[test]
fn reciprocal_square_roots_are_correctly_rounded() {
    for bits in 1f32.to_bits()..4f32.to_bits() {
        let x = f32::from_bits(bits);
        let root = value!(frsqrt_rn(x));
        // As integers: x * 2^23 and root * 2^25, of which the unit is 2.
        let x = (f64::from(x) * 8_388_608.0) as u128;
        let twice = (f64::from(root) * 33_554_432.0) as u128;
        // The exact result lies within half a unit of 2^-24, and never at the end of that interval: no
        // odd square divides a power of two.
        let square_of_one = 1u128 << 73;
        assert!(
            (twice - 1).pow(2) * x < square_of_one && square_of_one < (twice + 1).pow(2) * x,
            "frsqrt_rn({x} / 2^23) is {root:e}"
        );
    }
}
