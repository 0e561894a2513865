//! Bessel functions of any order, from those of orders 0 and 1.
//!
//! They follow from the recurrence, upwards where that is stable; else `downwards`, and near 0 `series`,
//! both of which depend on the type's range.
//!
//! The time is linear in the order, with two exceptions: where a bound shows that the function of the
//! first kind rounds to 0 there is no step, and that of the second kind is infinite after few more steps
//! than x. Rounding errors of more than 3e7 steps in `f32` may turn the sign of that infinity.

/// Defines `jn` and `yn` for a type, in a module that has `downwards`, `series` and `DECAY`. The second type
/// counts orders: it holds every one of them, and is cheap to convert to the first.
macro_rules! bessel_orders {
    ($float:ident, $count:ident) => {
        #[inline]
        pub(crate) fn jn(x: $float, order: i32) -> $float {
            let n = order.unsigned_abs();
            let y = x.abs();
            let value = if n == 0 {
                j0(y)
            } else if n == 1 {
                j1(y)
            } else if y.is_nan() || y.is_infinite() {
                if y.is_nan() { y } else { 0.0 }
            } else if y < 1.0 {
                series(y, n)
            } else if y > n as $float {
                let (order_0, order_1) = j0_and_j1(y);
                upwards(y, n, order_0, order_1)
            } else if n > DECAY as u32 && rounds_to_0(y, n) {
                0.0
            } else {
                downwards(y, n)
            };
            // Odd orders are odd in x and in the order.
            if n & 1 == 1 && (x.is_sign_negative() != (order < 0)) {
                -value
            } else {
                value
            }
        }

        /// NaN for negative numbers, minus infinity at 0.
        #[inline]
        pub(crate) fn yn(x: $float, order: i32) -> $float {
            let n = order.unsigned_abs();
            let value = if n == 0 {
                y0(x)
            } else if n == 1 {
                y1(x)
            } else if x.is_infinite() && x > 0.0 {
                0.0
            } else {
                upwards(x, n, y0(x), y1(x))
            };
            if n & 1 == 1 && order < 0 {
                -value
            } else {
                value
            }
        }

        /// The function of order n from those of orders 0 and 1. An infinite one stays so, or NaN.
        #[inline(always)]
        fn upwards(x: $float, n: u32, order_0: $float, order_1: $float) -> $float {
            let step = 2.0 / x;
            let (mut last, mut value, mut k) = (order_0, order_1, 0 as $count);
            for _ in 1..n {
                if !value.is_finite() {
                    break;
                }
                k += 1 as $count;
                (last, value) = (value, Exact::fma(k as $float * step, value, -last));
            }
            value
        }

        /// Whether a bound of `Jn(x)`, for x up to n, shows that it rounds to 0; not so for n up to [`DECAY`].
        ///
        /// With `w = sqrt(1 - (x / n)²)` the logarithm of `Jn(x)` is below `n (w - artanh(w))` (Siegel,
        /// Proceedings of the American Mathematical Society 4, 1953, pages 858-859), and that is below
        /// `-n w³ / 3`. What is less than half of the smallest number rounds to 0: so `n w³` has to be 3 times
        /// the logarithm of that half, negated. Both sides are multiplied by n².
        #[inline(always)]
        fn rounds_to_0(x: $float, n: u32) -> bool {
            let n = n as $float;
            let square = (n - x) * (n + x);
            square * Exact::sqrt(square) > DECAY * n * n
        }
    };
}

pub(super) use bessel_orders;
