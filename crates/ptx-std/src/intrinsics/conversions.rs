//! Conversions between types, with one rounding where they are inexact, and bits as other types.

use half::f16;

use crate::arch::intrinsics as arch;
use crate::intrinsics::intrinsics;

/// A function for each rounding: `$before`, how it rounds, and `$behind` are its documentation.
macro_rules! rounded {
    ($($name:ident($x:ident: $from:ident) -> $to:ident = $before:literal, $behind:literal;)*) => { pastey::paste! {
        intrinsics! {$(
            #[doc = concat!($before, " to nearest (ties to even)", $behind)]
            [<$name _rn>]($x: $from) -> $to = arch::[<$name _rn>]($x);
            #[doc = concat!($before, " towards 0", $behind)]
            [<$name _rz>]($x: $from) -> $to = arch::[<$name _rz>]($x);
            #[doc = concat!($before, " down", $behind)]
            [<$name _rd>]($x: $from) -> $to = arch::[<$name _rd>]($x);
            #[doc = concat!($before, " up", $behind)]
            [<$name _ru>]($x: $from) -> $to = arch::[<$name _ru>]($x);
        )*}
    }};
}

rounded! {
    double2float(x: f64) -> f32 = "`x` as `f32`, rounded", ".";
    int2float(x: i32) -> f32 = "`x` as `f32`, rounded", ".";
    uint2float(x: i32) -> f32 = "The `u32` with the bits of `x` as `f32`, rounded", ".";
    ll2float(x: i64) -> f32 = "`x` as `f32`, rounded", ".";
    ull2float(x: i64) -> f32 = "The `u64` with the bits of `x` as `f32`, rounded", ".";
    ll2double(x: i64) -> f64 = "`x` as `f64`, rounded", ".";
    ull2double(x: i64) -> f64 = "The `u64` with the bits of `x` as `f64`, rounded", ".";
    float2int(x: f32) -> i32 = "`x` rounded",
        " to an `i32`. Out of range gives the nearest `i32`, NaN gives 0.";
    float2uint(x: f32) -> i32 = "`x` rounded",
        " to a `u32`, returned as its bits. Out of range gives the nearest `u32`, NaN gives 0.";
    float2ll(x: f32) -> i64 = "`x` rounded",
        " to an `i64`. Out of range gives the nearest `i64`, NaN gives `i64::MIN`.";
    float2ull(x: f32) -> i64 = "`x` rounded",
        " to a `u64`, returned as its bits. Out of range gives the nearest `u64`, NaN gives 2^63.";
    double2int(x: f64) -> i32 = "`x` rounded",
        " to an `i32`. Out of range gives the nearest `i32`, NaN gives `i32::MIN`.";
    double2uint(x: f64) -> i32 = "`x` rounded",
        " to a `u32`, returned as its bits. Out of range gives the nearest `u32`, NaN gives 2^31.";
    double2ll(x: f64) -> i64 = "`x` rounded",
        " to an `i64`. Out of range gives the nearest `i64`, NaN gives `i64::MIN`.";
    double2ull(x: f64) -> i64 = "`x` rounded",
        " to a `u64`, returned as its bits. Out of range gives the nearest `u64`, NaN gives 2^63.";
}

intrinsics! {
    /// An `i32` as `f64`, exactly.
    int2double_rn(x: i32) -> f64 = x.into();
    /// The bits of a `u32` as `f64`, exactly.
    uint2double_rn(x: i32) -> f64 = x.cast_unsigned().into();
    /// The bits of the nearest half; 0x7fff for NaN.
    float2half_rn(x: f32) -> i16 = if x.is_nan() {
        0x7fff
    } else {
        f16::from_f32(x).to_bits().cast_signed()
    };
    /// The value of a half's bits.
    half2float(x: i16) -> f32 = f16::from_bits(x.cast_unsigned()).to_f32();
    /// The bits of an `f32`.
    float_as_int(x: f32) -> i32 = x.to_bits().cast_signed();
    /// The `f32` of these bits.
    int_as_float(x: i32) -> f32 = f32::from_bits(x.cast_unsigned());
    /// The bits of an `f64`.
    double_as_longlong(x: f64) -> i64 = x.to_bits().cast_signed();
    /// The `f64` of these bits.
    longlong_as_double(x: i64) -> f64 = f64::from_bits(x.cast_unsigned());
    /// The upper half of an `f64`'s bits.
    double2hiint(x: f64) -> i32 = (x.to_bits() >> 32) as i32;
    /// The lower half of an `f64`'s bits.
    double2loint(x: f64) -> i32 = x.to_bits() as i32;
    /// The `f64` of an upper and a lower half.
    hiloint2double(high: i32, low: i32) -> f64 =
        f64::from_bits(u64::from(high.cast_unsigned()) << 32 | u64::from(low.cast_unsigned()));
}
