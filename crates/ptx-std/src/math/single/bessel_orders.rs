//! Bessel functions of any order.

use super::bessel::{j0, j0_and_j1, j1, y0, y1};
use crate::arch::float::Exact;
use crate::math::bessel_orders::bessel_orders;

bessel_orders!(f32, u32);

/// For [`rounds_to_0`]: 3 * 150 ln 2 = 311.9, and more than what the rounding of the order, up to 2^31, may
/// add to the other side, which is 1 in 200.
const DECAY: f32 = 320.0;

/// Miller's algorithm: the recurrence from an order that is so high that its starting values do not
/// matter, made to size by `J0 + 2 J2 + 2 J4 + .. = 1`. For x from 1 to n.
#[inline(always)]
fn downwards(x: f32, n: u32) -> f32 {
    let top = (n + Exact::sqrt(30.0 * n as f32) as u32 + 2) & !1;
    let step = 2.0 / x;
    let (mut last, mut value, mut wanted, mut sum) = (0.0, 1e-30, 0.0, 0.0);
    let mut k = top;
    while k > 0 {
        // value is of order k, last of k + 1; k is even.
        sum += value;
        wanted = if k == n { value } else { wanted };
        let odd = Exact::fma(k as f32 * step, value, -last);
        wanted = if k - 1 == n { odd } else { wanted };
        let even = Exact::fma((k - 1) as f32 * step, odd, -value);
        (last, value) = (odd, even);
        k -= 2;
        // Two steps multiply by less than 2^20: by most where x is 1 and n is DECAY.
        if value.abs() > 1e20 {
            (last, value) = (last * 1e-20, value * 1e-20);
            (wanted, sum) = (wanted * 1e-20, sum * 1e-20);
        }
    }
    wanted / Exact::fma(2.0, sum, value)
}

/// The power series for x below 1 and n from 2 on.
#[inline(always)]
fn series(x: f32, n: u32) -> f32 {
    let half = 0.5 * x;
    let mut factor = half;
    let mut k = 2;
    while k <= n && factor != 0.0 {
        factor *= half / k as f32;
        k += 1;
    }
    let square = -half * half;
    let n = n as f32;
    let term = square / (2.0 * (n + 2.0));
    let sum = Exact::fma(term, Exact::fma(square, 1.0 / (3.0 * (n + 3.0)), 1.0), 1.0);
    factor * Exact::fma(square / (n + 1.0), sum, 1.0)
}
