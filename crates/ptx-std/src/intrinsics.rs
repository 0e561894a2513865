//! libdevice's functions under Rust-CUDA's names and with its signatures, for code that calls them.
//!
//! Each does what NVIDIA's libdevice does (`__nv_` and the name), and the bits are the same on
//! GPU and host, with two exceptions: a NaN's sign and payload, and the approximations, which are the
//! `fast_` functions and `rsqrtf`. In new code the methods of [`GpuFloat`](crate::GpuFloat),
//! [`FloatExt`](crate::FloatExt), [`ApproxFloat`](crate::ApproxFloat) and the integers are easier to
//! use; directed rounding is found only here.
//!
//! | family | functions |
//! |---|---|
//! | arithmetic | `fadd_rd`, `fmaf_rz`, `ddiv_ru`, `dsqrt_rn` ..: one rounding: `rn` to the nearest, `rz` towards 0, `rd` down, `ru` up |
//! | conversions | `double2float_rd`, `ll2float_ru`, `float2int_rz` ..; halves; parts and bits of numbers |
//! | integers | `mulhi`, `mul24`, `sad`, `hadd`, `umin` .. |
//! | bits | `clz`, `ffs`, `popc`, `brev`, `byte_perm` |
//! | mathematics | `sinf`, `pow`, `erfcx`, `jn` ..: [the same as the methods](crate::float) |
//! | parts of numbers | `frexp`, `modf`, `remquo`, `nextafter`, `isnand` .. |
//! | fast | `fast_sinf`, `fast_powf` ..: [the hardware's approximations](crate::approx) |
//!
//! Unsigned integers are passed as signed ones of the same bits, as they are there.
//!
//! ```
//! use cuda_std::intrinsics::{fdiv_rd, fdiv_ru};
//!
//! // SAFETY: any numbers will do.
//! let (low, high) = unsafe { (fdiv_rd(1.0, 3.0), fdiv_ru(1.0, 3.0)) };
//! assert_eq!(low.next_up(), high);
//! ```

mod arithmetic;
mod bits;
mod conversions;
mod fast;
mod integers;
mod mathematics;
mod parts;

pub use arithmetic::*;
pub use bits::*;
pub use conversions::*;
pub use fast::*;
pub use integers::*;
pub use mathematics::*;
pub use parts::*;

/// Functions of values alone.
macro_rules! intrinsics {
    ($(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $ty:ty),*) -> $result:ty = $value:expr;
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Any arguments will do: it is `unsafe` because Rust-CUDA's is.
        #[inline(always)]
        #[must_use]
        pub unsafe fn $name($($argument: $ty),*) -> $result {
            $value
        }
    )*};
}
use intrinsics;

/// Functions with a second result, which goes to the pointer.
macro_rules! storing_intrinsics {
    ($(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $ty:ty),* => $place:ident: *mut $stored:ty) -> $result:ty = $values:expr;
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The pointer is valid for a write.
        #[inline(always)]
        #[must_use]
        pub unsafe fn $name($($argument: $ty,)* $place: *mut $stored) -> $result {
            let (result, stored) = $values;
            // SAFETY: the caller's contract.
            unsafe { *$place = stored };
            result
        }
    )*};
}
use storing_intrinsics;

/// Functions with two results, both of which go to pointers.
macro_rules! sines_and_cosines {
    ($(
        $(#[$doc:meta])*
        $name:ident($x:ident: $float:ty) = $values:expr;
    )*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// The pointers are valid for a write.
        #[inline(always)]
        pub unsafe fn $name($x: $float, sptr: *mut $float, cptr: *mut $float) {
            let (sine, cosine) = $values;
            // SAFETY: the caller's contract.
            unsafe {
                *sptr = sine;
                *cptr = cosine;
            }
        }
    )*};
}
use sines_and_cosines;
