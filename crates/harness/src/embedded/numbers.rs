//! The numbers that norms are taken of, and the axes of checks that say which they are and how many blocks add them up.

use kernels_gpu::vector::reference_norm;

use super::values::{Expected, epsilon, random};
use crate::vector::Real;
use crate::workload::Point;

/// The axis that says which of [`Numbers::ALL`] a vector has: without it the usual ones.
pub(super) const NUMBERS: &str = "numbers";
/// The axis that says how many blocks a launch has: without it as many as a user's.
pub(super) const BLOCKS: &str = "blocks";

/// The numbers that a norm is taken of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// From -1 to 1.
    Usual,
    /// Whose squares overflow.
    Large,
    /// Whose squares underflow.
    Small,
    /// Some of whose squares are subnormal, and others are not.
    SmallAndUsual,
    /// Some of which count as large, and others do not.
    LargeAndUsual,
    /// Few of which outweigh all others: those of the last lane of a warp.
    Unequal,
    /// One is infinite.
    Infinite,
    /// One is NaN.
    NotANumber,
    /// All are 0.
    Zero,
    /// All are 0 but one in the last lane of a warp, whose norm is exactly that number.
    Alone,
}

impl Numbers {
    pub(super) const ALL: [Numbers; 10] = [
        Numbers::Usual,
        Numbers::Large,
        Numbers::Small,
        Numbers::SmallAndUsual,
        Numbers::LargeAndUsual,
        Numbers::Unequal,
        Numbers::Infinite,
        Numbers::NotANumber,
        Numbers::Zero,
        Numbers::Alone,
    ];

    /// The numbers of a point's vector.
    pub(super) fn at(point: &Point<'_>) -> Numbers {
        Numbers::ALL[point.given(NUMBERS).unwrap_or(0) as usize]
    }

    pub(super) fn of<T: Real>(self, n: usize) -> Vec<T> {
        let (small, large): (f64, f64) = (T::SMALL.into(), T::LARGE.into());
        let number = |i: usize, x: f64| match self {
            Numbers::Usual => x,
            Numbers::Large => x * large * large.sqrt(),
            Numbers::Small => x * small * small.sqrt(),
            Numbers::SmallAndUsual => 8.0 * x * small,
            // `f64` counts as large from 2^486 on.
            Numbers::LargeAndUsual => x * large / f64::from(1 << 24),
            // Of 32 lanes with 2 or 4 elements each.
            Numbers::Unequal if matches!(i % 128, 62 | 124) => 1024.0 * x,
            Numbers::Unequal => x / 1024.0,
            Numbers::Infinite if i == n / 2 => f64::NEG_INFINITY,
            Numbers::NotANumber if i == n / 2 => f64::NAN,
            Numbers::Infinite | Numbers::NotANumber => x,
            // The square of so many bits has twice as many: none of its two words may be lost.
            Numbers::Alone if i + 1 + n % 128 == n => 2.0 - f64::from(f32::EPSILON),
            Numbers::Zero | Numbers::Alone => 0.0,
        };
        let numbers = (0..).zip(random::<T>(n));
        let numbers = numbers.map(|(i, x)| T::from_f64(number(i, x.into())));
        numbers.collect()
    }

    /// The norm of such numbers.
    pub(super) fn norm_of<T: Real>(self, x: &[T]) -> Expected {
        let value = reference_norm(wide(x));
        match self {
            Numbers::Alone => Expected::exactly(value),
            _ => Expected {
                value,
                tolerance: 2.0 * epsilon::<T>() * value,
            },
        }
    }
}

/// The numbers in `f64`.
pub(super) fn wide<T: Real>(x: &[T]) -> impl ExactSizeIterator<Item = f64> + Clone {
    x.iter().map(|&x| x.into())
}
