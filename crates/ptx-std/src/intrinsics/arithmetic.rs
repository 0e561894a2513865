//! Arithmetic with one rounding, which the last letter of the name gives.

use crate::arch::intrinsics as arch;
use crate::intrinsics::intrinsics;

macro_rules! rounded {
    ($($name:ident($($x:ident: $float:ident),*) -> $what:literal;)*) => { pastey::paste! {$(
        rounded!([<$name _rn>]($($x: $float),*) $what, "to nearest (ties to even)");
        rounded!([<$name _rz>]($($x: $float),*) $what, "towards 0");
        rounded!([<$name _rd>]($($x: $float),*) $what, "down");
        rounded!([<$name _ru>]($($x: $float),*) $what, "up");
    )*}};
    ($name:ident($x:ident: $float:ident $($rest:tt)*) $what:literal, $how:literal) => {
        rounded!(@declare $name($x: $float $($rest)*) -> $float $what, $how);
    };
    (@declare $name:ident($($x:ident: $float:ident),*) -> $result:ident $what:literal, $how:literal) => {
        intrinsics! {
            #[doc = concat!("`", $what, "`, rounded ", $how, ".")]
            $name($($x: $float),*) -> $result = arch::$name($($x),*);
        }
    };
}

rounded! {
    fadd(x: f32, y: f32) -> "x + y";
    fsub(x: f32, y: f32) -> "x - y";
    fmul(x: f32, y: f32) -> "x * y";
    fdiv(x: f32, y: f32) -> "x / y";
    frcp(x: f32) -> "1 / x";
    fsqrt(x: f32) -> "√x";
    fmaf(x: f32, y: f32, z: f32) -> "x * y + z";
    dadd(x: f64, y: f64) -> "x + y";
    dmul(x: f64, y: f64) -> "x * y";
    ddiv(x: f64, y: f64) -> "x / y";
    drcp(x: f64) -> "1 / x";
    dsqrt(x: f64) -> "√x";
    fma(x: f64, y: f64, z: f64) -> "x * y + z";
}

intrinsics! {
    /// `1 / √x`, rounded to the nearest.
    // The roundings to `f64` change no result: the test `reciprocal_square_roots_are_correctly_rounded`
    // tries each `f32` from 1 to 4, of which all others are multiples by powers of 4.
    frsqrt_rn(x: f32) -> f32 = arch::double2float_rn(arch::drcp_rn(arch::dsqrt_rn(x.into())));
}
