//! libdevice's functions against known values and exact arithmetic, none of which is computed by the
//! code under test. Every function has a case: [`names`] compares the lists.

#![allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    reason = "values are written as they were computed"
)]

use std::fmt::Debug;

mod directed;
mod exact;
mod integers;
mod mathematics;
mod names;
mod numbers;
mod parts;

/// All functions that a test calls.
const TESTED: &[&[&str]] = &[
    directed::FLOATS,
    directed::INTEGERS,
    directed::LITERALS,
    integers::ARITHMETIC,
    integers::BITS,
    mathematics::ACCURATE,
    mathematics::PAIRS,
    mathematics::EXACT,
    mathematics::FAST,
    mathematics::FAST_PAIR,
    parts::KINDS,
    parts::NEIGHBOURS,
    parts::PARTS,
    parts::TAGS,
    parts::REPRESENTATIONS,
];

/// Of `f32` or `f64`, in cases of functions of both.
fn nan<T: From<f32>>() -> T {
    f32::NAN.into()
}

/// As [`nan`].
fn infinity<T: From<f32>>() -> T {
    f32::INFINITY.into()
}

/// As [`nan`].
fn minus_infinity<T: From<f32>>() -> T {
    f32::NEG_INFINITY.into()
}

/// An intrinsic of values alone.
macro_rules! value {
    ($name:ident($($argument:expr),*)) => {
        // SAFETY: any arguments will do.
        unsafe { ptx_std::intrinsics::$name($($argument),*) }
    };
}
use value;

/// An intrinsic that stores its second result: both results.
macro_rules! stored {
    ($name:ident($($argument:expr),*)) => {{
        let mut second = Default::default();
        // SAFETY: the pointer is that of a variable.
        let first = unsafe { ptx_std::intrinsics::$name($($argument,)* &raw mut second) };
        (first, second)
    }};
}
use stored;

/// An intrinsic that stores both results.
macro_rules! both_stored {
    ($name:ident($argument:expr)) => {{
        let (mut first, mut second) = (0.0, 0.0);
        // SAFETY: the pointers are those of variables.
        unsafe { ptx_std::intrinsics::$name($argument, &raw mut first, &raw mut second) };
        (first, second)
    }};
}
use both_stored;

/// A test, and the list of the functions that it calls: each with arguments and the results for them.
/// `$call` is the macro that calls them, `$check` the function that compares the results.
macro_rules! known {
    ($test:ident, $names:ident by $call:ident, $check:ident: $($($name:ident)+: $cases:tt;)*) => {
        pub(crate) const $names: &[&str] = &[$($(stringify!($name)),+),*];

        #[test]
        fn $test() {
            $($(known!(@cases $call $check $name $cases);)+)*
        }
    };
    (@cases $call:ident $check:ident $name:ident [$($arguments:tt => $expected:expr),+ $(,)?]) => {
        $($crate::intrinsics::$check(
            concat!(stringify!($name), stringify!($arguments)),
            $call!($name $arguments),
            $expected,
        );)+
    };
}
use known;

/// A result.
trait Known: Copy + Debug {
    /// The same bits, or NaN as NaN.
    fn is(self, expected: Self) -> bool;

    /// Within a relative error of 2^-48 for `f64` and 2^-20 for `f32`, which is more than any function's
    /// and less than what a wrong function gives. The exact bounds are tested in `../float.rs` and
    /// `../mathematics`.
    fn is_near(self, expected: Self) -> bool;
}

macro_rules! known_floats {
    ($($float:ident: $bound:expr;)*) => {$(
        impl Known for $float {
            fn is(self, expected: $float) -> bool {
                self.to_bits() == expected.to_bits() || self.is_nan() && expected.is_nan()
            }

            fn is_near(self, expected: $float) -> bool {
                (self - expected).abs() <= expected.abs() * $bound
            }
        }
    )*};
}

known_floats! {
    f32: 1.0 / (1 << 20) as f32;
    f64: 1.0 / (1i64 << 48) as f64;
}

macro_rules! known_integers {
    ($($integer:ident)*) => {$(
        impl Known for $integer {
            fn is(self, expected: $integer) -> bool {
                self == expected
            }

            fn is_near(self, expected: $integer) -> bool {
                self == expected
            }
        }
    )*};
}

known_integers!(i16 i32 i64 u32 u64);

impl<A: Known, B: Known> Known for (A, B) {
    fn is(self, expected: (A, B)) -> bool {
        self.0.is(expected.0) && self.1.is(expected.1)
    }

    fn is_near(self, expected: (A, B)) -> bool {
        self.0.is_near(expected.0) && self.1.is_near(expected.1)
    }
}

#[track_caller]
fn same<T: Known>(call: &str, actual: T, expected: T) {
    assert!(
        actual.is(expected),
        "{call} is {actual:?}, not {expected:?}"
    );
}

#[track_caller]
fn near<T: Known>(call: &str, actual: T, expected: T) {
    assert!(
        actual.is_near(expected),
        "{call} is {actual:?}, not about {expected:?}"
    );
}
