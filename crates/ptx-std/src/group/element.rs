//! The values that groups of threads combine.

use core::cell::Cell;

use crate::warp::{ReduceValue, ShuffleValue, WarpReductionOp, warp_reduce};

/// A value that threads of a group hand to each other: integers and floats of 32 and 64 bits, and pairs of such
/// values.
///
/// ```
/// use cuda_std::group::{self, Element};
///
/// /// The value of the block's last thread.
/// fn last<T: Element>(value: T) -> T {
///     group::block().reduce(value, |_, later| later)
/// }
///
/// let kernel = || assert_eq!(last((cuda_std::thread::index_1d(), 0.5_f64)), (39, 0.5));
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [40, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// # Safety
/// All bits are a value, and [`ShuffleValue`] moves the value in words of which there are `WORDS`, 4 bytes each, no
/// more than the type has.
pub unsafe trait Element: ShuffleValue {
    #[doc(hidden)]
    const WORDS: usize;
}

macro_rules! elements {
    ($($ty:ty),*) => {$(
        // SAFETY: a number, which moves in words of 32 bits.
        unsafe impl Element for $ty {
            const WORDS: usize = size_of::<$ty>() / 4;
        }
    )*};
}

elements!(u32, i32, f32, u64, i64, f64, usize);

// SAFETY: the words of the one behind those of the other; a pair has as many bytes as both at least.
unsafe impl<A: Element, B: Element> Element for (A, B) {
    const WORDS: usize = A::WORDS + B::WORDS;
}

/// Calls `word` with the number of each word of a value and the word, and returns the value of what that returns.
#[inline(always)]
pub(crate) fn map_words<T: Element>(value: T, word: impl Fn(usize, u32) -> u32) -> T {
    let next = Cell::new(0);
    value.shuffle(|bits| {
        let number = next.get();
        next.set(number + 1);
        word(number, bits)
    })
}

/// A number that groups of threads add up and compare.
///
/// Integers wrap. The lesser of two floats is the one that is no NaN, if one is, and of zeros the negative one; so the
/// order of comparisons changes no bit.
///
/// ```
/// use cuda_std::group::{self, Number};
///
/// /// The range of the values in a warp.
/// fn range<T: Number>(value: T) -> (T, T) {
///     let warp = group::warp();
///     (warp.min(value), warp.max(value))
/// }
///
/// let kernel = || assert_eq!(range(cuda_std::warp::lane_id() as f32 - 0.5), (-0.5, 30.5));
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub trait Number: Element + PartialOrd {
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    fn plus(self, other: Self) -> Self;
    #[doc(hidden)]
    fn least(self, other: Self) -> Self;
    #[doc(hidden)]
    fn greatest(self, other: Self) -> Self;
    /// The result of one instruction for all lanes of `mask`, where the hardware has it.
    ///
    /// # Safety
    /// As for [`warp_reduce`].
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn at_once(self, _mask: u32, _op: WarpReductionOp) -> Option<Self> {
        None
    }
}

macro_rules! integers {
    ($($ty:ty $({ $($at_once:tt)* })?;)*) => {$(
        impl Number for $ty {
            const ZERO: Self = 0;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn least(self, other: Self) -> Self {
                Ord::min(self, other)
            }
            #[inline(always)]
            fn greatest(self, other: Self) -> Self {
                Ord::max(self, other)
            }
            $($($at_once)*)?
        }
    )*};
}

/// The reduction of 32-bit integers by `redux`, or by shuffles before sm_80.
#[inline(always)]
#[track_caller]
unsafe fn by_hardware<T: ReduceValue>(value: T, mask: u32, op: WarpReductionOp) -> Option<T> {
    // SAFETY: the caller's contract.
    Some(unsafe { warp_reduce(mask, value, op) })
}

integers! {
    u32 {
        #[inline(always)]
        #[track_caller]
        unsafe fn at_once(self, mask: u32, op: WarpReductionOp) -> Option<Self> {
            // SAFETY: the caller's contract.
            unsafe { by_hardware(self, mask, op) }
        }
    };
    i32 {
        #[inline(always)]
        #[track_caller]
        unsafe fn at_once(self, mask: u32, op: WarpReductionOp) -> Option<Self> {
            // SAFETY: the caller's contract.
            unsafe { by_hardware(self, mask, op) }
        }
    };
    u64;
    i64;
    usize;
}

macro_rules! floats {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn least(self, other: Self) -> Self {
                // The instruction orders zeros by their signs. What the host's does is not said.
                if cfg!(target_arch = "nvptx64") {
                    return <$ty>::min(self, other);
                }
                if self.is_nan() || (other, !other.is_sign_negative()) < (self, !self.is_sign_negative()) {
                    other
                } else {
                    self
                }
            }
            #[inline(always)]
            fn greatest(self, other: Self) -> Self {
                -(-self).least(-other)
            }
        }
    )*};
}

floats!(f32, f64);

/// The better of two values with their places: a NaN is worse than any other value, and of equal values the one with
/// the lower place is better. `is_better` compares two values that are no NaN.
#[inline(always)]
pub(super) fn better<T: Number, I: Element + Ord>(
    a: (T, I),
    b: (T, I),
    is_better: impl Fn(T, T) -> bool,
) -> (T, I) {
    let is_nan = |value: T| value.partial_cmp(&value).is_none();
    let a_wins = if is_nan(a.0) || is_nan(b.0) {
        (is_nan(a.0), a.1) < (is_nan(b.0), b.1)
    } else if is_better(a.0, b.0) || is_better(b.0, a.0) {
        is_better(a.0, b.0)
    } else {
        a.1 < b.1
    };
    if a_wins { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_value() {
        let value = (0x1_0000_0002_u64, (3_u32, 0.5_f64));
        let kept = Cell::new([0; 5]);
        let same = map_words(value, |number, word| {
            let mut words = kept.get();
            words[number] = word;
            kept.set(words);
            word
        });
        assert_eq!(same, value);
        assert_eq!(kept.get(), [2, 1, 3, 0, 0x3FE0_0000]);
        assert_eq!(<(u64, (u32, f64))>::WORDS, 5);
        assert_eq!(
            map_words((0, (0, 0.0)), |number, _| kept.get()[number]),
            value
        );
    }

    #[test]
    fn the_lesser_of_two_floats_does_not_depend_on_their_order() {
        let values = [-1.0, -0.0, 0.0, 2.0, f32::INFINITY, f32::NAN];
        for (place, a) in values.into_iter().enumerate() {
            for b in values.into_iter().skip(place) {
                for (a, b) in [(a, b), (b, a)] {
                    let lesser = if a.is_nan() || b < a || (a == b && b.is_sign_negative()) {
                        b
                    } else {
                        a
                    };
                    assert_eq!(a.least(b).to_bits(), lesser.to_bits(), "{a} {b}");
                    assert_eq!((-a).greatest(-b).to_bits(), (-lesser).to_bits(), "{a} {b}");
                }
            }
        }
    }

    #[test]
    fn a_nan_is_worse_than_any_value_and_a_tie_goes_to_the_lower_place() {
        let least = |a, b| better(a, b, |a: f32, b| a < b);
        for (a, b) in [
            ((1.0, 7), (2.0, 3)),
            ((1.0, 3), (1.0, 7)),
            ((1.0, 7), (f32::NAN, 3)),
        ] {
            assert_eq!(least(a, b), a);
            assert_eq!(least(b, a), a);
        }
        assert_eq!(least((f32::NAN, 5_u32), (f32::NAN, 2)).1, 2);
    }
}
