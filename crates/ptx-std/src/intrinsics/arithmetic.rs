//! Arithmetic with one rounding, which the last letter of the name gives.

use crate::arch::intrinsics as arch;
use crate::intrinsics::intrinsics;

macro_rules! rounded {
    ($($name:ident($($x:ident: $float:ident = $example:literal),*) -> $what:literal;)*) => { pastey::paste! {$(
        rounded!($name [<$name _rn>]($($x: $float = $example),*) $what, "to nearest (ties to even)");
        rounded!($name [<$name _rz>]($($x: $float = $example),*) $what, "towards 0");
        rounded!($name [<$name _rd>]($($x: $float = $example),*) $what, "down");
        rounded!($name [<$name _ru>]($($x: $float = $example),*) $what, "up");
    )*}};
    ($family:ident $name:ident($x:ident: $float:ident $($rest:tt)*) $what:literal, $how:literal) => {
        rounded!(@declare $family $name($x: $float $($rest)*) -> $float $what, $how);
    };
    (
        @declare $family:ident $name:ident($($x:ident: $float:ident = $example:literal),*) -> $result:ident
        $what:literal, $how:literal
    ) => { pastey::paste! {
        intrinsics! {
            #[doc = concat!("`", $what, "`, rounded ", $how, ".")]
            ///
            /// ```
            #[doc = "use cuda_std::intrinsics::{" $family "_rd, " $family "_rn, " $family "_ru, " $family "_rz};"]
            ///
            #[doc = concat!($("let ", stringify!($x), " = ", stringify!($example), ";\n",)*)]
            /// // SAFETY: any numbers will do.
            /// unsafe {
            #[doc = concat!("    let down = ", stringify!($family), "_rd(", stringify!($($x),*), ");")]
            #[doc = concat!("    let up = ", stringify!($family), "_ru(", stringify!($($x),*), ");")]
            ///     assert_eq!(down.next_up(), up); // The result lies between the two.
            #[doc = concat!("    assert_eq!(", stringify!($family), "_rz(", stringify!($($x),*), "), down);")]
            #[doc = concat!("    assert!([down, up].contains(&", stringify!($family), "_rn(", stringify!($($x),*), ")));")]
            /// }
            /// ```
            $name($($x: $float),*) -> $result = arch::$name($($x),*);
        }
    }};
}

rounded! {
    fadd(x: f32 = 1.0, y: f32 = 1e-9) -> "x + y";
    fsub(x: f32 = 1.0, y: f32 = 1e-9) -> "x - y";
    fmul(x: f32 = 1.1, y: f32 = 1.1) -> "x * y";
    fdiv(x: f32 = 1.0, y: f32 = 3.0) -> "x / y";
    frcp(x: f32 = 3.0) -> "1 / x";
    fsqrt(x: f32 = 2.0) -> "√x";
    fmaf(x: f32 = 1.1, y: f32 = 1.1, z: f32 = 1.0) -> "x * y + z";
    dadd(x: f64 = 1.0, y: f64 = 1e-20) -> "x + y";
    dmul(x: f64 = 1.1, y: f64 = 1.1) -> "x * y";
    ddiv(x: f64 = 1.0, y: f64 = 3.0) -> "x / y";
    drcp(x: f64 = 3.0) -> "1 / x";
    dsqrt(x: f64 = 2.0) -> "√x";
    fma(x: f64 = 1.1, y: f64 = 1.1, z: f64 = 1.0) -> "x * y + z";
}

intrinsics! {
    /// `1 / √x`, rounded to the nearest.
    ///
    /// ```
    /// use cuda_std::intrinsics::frsqrt_rn;
    ///
    /// // SAFETY: any number will do.
    /// assert_eq!(unsafe { frsqrt_rn(16.0) }, 0.25);
    /// ```
    // The roundings to `f64` change no result: the test `reciprocal_square_roots_are_correctly_rounded`
    // tries each `f32` from 1 to 4, of which all others are multiples by powers of 4.
    frsqrt_rn(x: f32) -> f32 = arch::double2float_rn(arch::drcp_rn(arch::dsqrt_rn(x.into())));
}
