//! Loops that are written out.

/// Writes a block out `N` times, a power of two up to 128, with a constant that counts from 0.
///
/// An array that is kept in registers can be indexed by it. In a loop the compiler unrolls when it likes, and where it
/// does not, an array that the loop indexes lies in local memory, which is off the chip: 128 turns are too many.
///
/// ```
/// let squares = {
///     let mut squares = [0; 8];
///     cuda_std::unroll!(I in 0..8 => { squares[I] = I * I; });
///     squares
/// };
/// assert_eq!(squares, [0, 1, 4, 9, 16, 25, 36, 49]);
/// ```
#[macro_export]
macro_rules! unroll {
    ($index:ident in 0..$count:tt => $body:block) => {
        $crate::__unroll!($index, 0usize, $count, $body)
    };
}

/// The turns of `unroll!` from a place on: half of them, and the other half.
#[doc(hidden)]
#[macro_export]
macro_rules! __unroll {
    ($index:ident, $from:expr, 1, $body:block) => {{
        const $index: usize = $from;
        $body
    }};
    ($index:ident, $from:expr, 2, $body:block) => {
        $crate::__unroll!(@ $index, $from, 1, $body)
    };
    ($index:ident, $from:expr, 4, $body:block) => {
        $crate::__unroll!(@ $index, $from, 2, $body)
    };
    ($index:ident, $from:expr, 8, $body:block) => {
        $crate::__unroll!(@ $index, $from, 4, $body)
    };
    ($index:ident, $from:expr, 16, $body:block) => {
        $crate::__unroll!(@ $index, $from, 8, $body)
    };
    ($index:ident, $from:expr, 32, $body:block) => {
        $crate::__unroll!(@ $index, $from, 16, $body)
    };
    ($index:ident, $from:expr, 64, $body:block) => {
        $crate::__unroll!(@ $index, $from, 32, $body)
    };
    ($index:ident, $from:expr, 128, $body:block) => {
        $crate::__unroll!(@ $index, $from, 64, $body)
    };
    (@ $index:ident, $from:expr, $half:tt, $body:block) => {{
        $crate::__unroll!($index, $from, $half, $body);
        $crate::__unroll!($index, $from + $half, $half, $body);
    }};
}
