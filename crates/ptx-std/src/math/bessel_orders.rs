//! Bessel functions of any order, from those of orders 0 and 1.
//!
//! They follow from the recurrence, upwards where that is stable; else `downwards`, and near 0 `series`,
//! both of which depend on the type's range.

/// Defines `jn` and `yn` for a type, in a module that has `downwards` and `series`.
macro_rules! bessel_orders {
    ($float:ident) => {
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

        /// The function of order n from those of orders 0 and 1. An infinite one stays so.
        #[inline(always)]
        fn upwards(x: $float, n: u32, order_0: $float, order_1: $float) -> $float {
            let step = 2.0 / x;
            let (mut last, mut value, mut k) = (order_0, order_1, 0.0);
            for _ in 1..n {
                if !value.is_finite() {
                    break;
                }
                k += 1.0;
                (last, value) = (value, Exact::fma(k * step, value, -last));
            }
            value
        }
    };
}

pub(super) use bessel_orders;
