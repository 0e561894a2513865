//! Conversions between types, with one rounding where they are inexact, and bits as other types.

use half::f16;

use crate::arch::intrinsics as arch;
use crate::intrinsics::intrinsics;

/// A function for each rounding: `$before`, how it rounds, and `$behind` are its documentation, `$example`
/// a number that is between two of the other type.
macro_rules! rounded {
    ($($name:ident($x:ident: $from:ident = $example:literal) -> $to:ident = $before:literal, $behind:literal;)*) => { pastey::paste! {
        $(
            rounded!(@declare $name [<$name _rn>]($x: $from = $example) -> $to
                $before, " to nearest (ties to even)", $behind);
            rounded!(@declare $name [<$name _rz>]($x: $from = $example) -> $to $before, " towards 0", $behind);
            rounded!(@declare $name [<$name _rd>]($x: $from = $example) -> $to $before, " down", $behind);
            rounded!(@declare $name [<$name _ru>]($x: $from = $example) -> $to $before, " up", $behind);
        )*
    }};
    (
        @declare $family:ident $name:ident($x:ident: $from:ident = $example:literal) -> $to:ident
        $before:literal, $how:literal, $behind:literal
    ) => { pastey::paste! {
        intrinsics! {
            #[doc = concat!($before, $how, $behind)]
            ///
            /// ```
            #[doc = "use cuda_std::intrinsics::{" $family "_rd, " $family "_rn, " $family "_ru, " $family "_rz};"]
            ///
            #[doc = concat!("let x = ", stringify!($example), ";")]
            /// // SAFETY: any number will do.
            #[doc = "let [down, up] = unsafe { [" $family "_rd(x), " $family "_ru(x)] };"]
            #[doc = concat!("assert_eq!(", next!($to), ", up);")]
            #[doc = "assert_eq!(unsafe { " $family "_rz(x) }, down);"]
            #[doc = "assert!([down, up].contains(&unsafe { " $family "_rn(x) }));"]
            /// ```
            $name($x: $from) -> $to = arch::$name($x);
        }
    }};
}

/// The number above `down`, in an example.
macro_rules! next {
    (f32) => {
        "down.next_up()"
    };
    (f64) => {
        "down.next_up()"
    };
    ($integer:ident) => {
        "down + 1"
    };
}

rounded! {
    double2float(x: f64 = 0.1) -> f32 = "`x` as `f32`, rounded", ".";
    int2float(x: i32 = 16_777_217) -> f32 = "`x` as `f32`, rounded", ".";
    uint2float(x: i32 = 16_777_217) -> f32 = "The `u32` with the bits of `x` as `f32`, rounded", ".";
    ll2float(x: i64 = 16_777_217) -> f32 = "`x` as `f32`, rounded", ".";
    ull2float(x: i64 = 16_777_217) -> f32 = "The `u64` with the bits of `x` as `f32`, rounded", ".";
    ll2double(x: i64 = 9_007_199_254_740_993) -> f64 = "`x` as `f64`, rounded", ".";
    ull2double(x: i64 = 9_007_199_254_740_993) -> f64 = "The `u64` with the bits of `x` as `f64`, rounded", ".";
    float2int(x: f32 = 2.25) -> i32 = "`x` rounded",
        " to an `i32`. Out of range gives the nearest `i32`, NaN gives 0.";
    float2uint(x: f32 = 2.25) -> i32 = "`x` rounded",
        " to a `u32`, returned as its bits. Out of range gives the nearest `u32`, NaN gives 0.";
    float2ll(x: f32 = 2.25) -> i64 = "`x` rounded",
        " to an `i64`. Out of range gives the nearest `i64`, NaN gives `i64::MIN`.";
    float2ull(x: f32 = 2.25) -> i64 = "`x` rounded",
        " to a `u64`, returned as its bits. Out of range gives the nearest `u64`, NaN gives 2^63.";
    double2int(x: f64 = 2.25) -> i32 = "`x` rounded",
        " to an `i32`. Out of range gives the nearest `i32`, NaN gives `i32::MIN`.";
    double2uint(x: f64 = 2.25) -> i32 = "`x` rounded",
        " to a `u32`, returned as its bits. Out of range gives the nearest `u32`, NaN gives 2^31.";
    double2ll(x: f64 = 2.25) -> i64 = "`x` rounded",
        " to an `i64`. Out of range gives the nearest `i64`, NaN gives `i64::MIN`.";
    double2ull(x: f64 = 2.25) -> i64 = "`x` rounded",
        " to a `u64`, returned as its bits. Out of range gives the nearest `u64`, NaN gives 2^63.";
}

intrinsics! {
    /// An `i32` as `f64`, exactly.
    ///
    /// ```
    /// use cuda_std::intrinsics::int2double_rn;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { int2double_rn(-7) }, -7.0);
    /// ```
    int2double_rn(x: i32) -> f64 = x.into();
    /// The bits of a `u32` as `f64`, exactly.
    ///
    /// ```
    /// use cuda_std::intrinsics::uint2double_rn;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { uint2double_rn(-1) }, f64::from(u32::MAX));
    /// ```
    uint2double_rn(x: i32) -> f64 = x.cast_unsigned().into();
    /// The bits of the nearest half; 0x7fff for NaN.
    ///
    /// ```
    /// use cuda_std::intrinsics::float2half_rn;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { float2half_rn(1.5) }, 0x3E00);
    /// ```
    float2half_rn(x: f32) -> i16 = if x.is_nan() {
        0x7fff
    } else {
        f16::from_f32(x).to_bits().cast_signed()
    };
    /// The value of a half's bits.
    ///
    /// ```
    /// use cuda_std::intrinsics::half2float;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { half2float(0x3E00) }, 1.5);
    /// ```
    half2float(x: i16) -> f32 = f16::from_bits(x.cast_unsigned()).to_f32();
    /// The bits of an `f32`.
    ///
    /// ```
    /// use cuda_std::intrinsics::float_as_int;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { float_as_int(1.0) }, 0x3F80_0000);
    /// ```
    float_as_int(x: f32) -> i32 = x.to_bits().cast_signed();
    /// The `f32` of these bits.
    ///
    /// ```
    /// use cuda_std::intrinsics::int_as_float;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { int_as_float(0x3F80_0000) }, 1.0);
    /// ```
    int_as_float(x: i32) -> f32 = f32::from_bits(x.cast_unsigned());
    /// The bits of an `f64`.
    ///
    /// ```
    /// use cuda_std::intrinsics::double_as_longlong;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { double_as_longlong(1.0) }, 0x3FF0_0000_0000_0000);
    /// ```
    double_as_longlong(x: f64) -> i64 = x.to_bits().cast_signed();
    /// The `f64` of these bits.
    ///
    /// ```
    /// use cuda_std::intrinsics::longlong_as_double;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { longlong_as_double(0x3FF0_0000_0000_0000) }, 1.0);
    /// ```
    longlong_as_double(x: i64) -> f64 = f64::from_bits(x.cast_unsigned());
    /// The upper half of an `f64`'s bits.
    ///
    /// ```
    /// use cuda_std::intrinsics::double2hiint;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { double2hiint(1.0) }, 0x3FF0_0000);
    /// ```
    double2hiint(x: f64) -> i32 = (x.to_bits() >> 32) as i32;
    /// The lower half of an `f64`'s bits.
    ///
    /// ```
    /// use cuda_std::intrinsics::double2loint;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { double2loint(1.0) }, 0);
    /// ```
    double2loint(x: f64) -> i32 = x.to_bits() as i32;
    /// The `f64` of an upper and a lower half.
    ///
    /// ```
    /// use cuda_std::intrinsics::hiloint2double;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { hiloint2double(0x3FF0_0000, 0) }, 1.0);
    /// ```
    hiloint2double(high: i32, low: i32) -> f64 =
        f64::from_bits(u64::from(high.cast_unsigned()) << 32 | u64::from(low.cast_unsigned()));
}
