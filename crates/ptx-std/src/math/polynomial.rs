//! Horner's scheme.

use crate::arch::float::Exact;

/// The polynomial with these coefficients, the highest power's first.
#[inline(always)]
pub(super) fn polynomial<T: Exact + Default>(coefficients: &[T], x: T) -> T {
    match coefficients {
        [first, rest @ ..] => horner(*first, rest, x),
        [] => T::default(),
    }
}

/// The polynomial with these coefficients after the `first`, which may be a sum.
#[inline(always)]
pub(super) fn horner<T: Exact>(first: T, rest: &[T], x: T) -> T {
    rest.iter().fold(first, |sum, c| sum.fma(x, *c))
}
