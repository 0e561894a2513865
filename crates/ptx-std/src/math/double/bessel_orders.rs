//! Bessel functions of any order.

use core::hint::cold_path;

use super::bessel::{j0, j0_and_j1, j1, y0, y1};
use crate::arch::float::Exact;
use crate::math::bessel_orders::bessel_orders;

bessel_orders!(f64, f64);

/// For [`rounds_to_0`]: 3 * 1075 ln 2 = 2235.4, and more than what rounding may add to the other side.
const DECAY: f64 = 2236.0;

/// Miller's algorithm: the recurrence from an order that is so high that its starting values do not
/// matter, made to size by `J0 + 2 J2 + 2 J4 + .. = 1`. For x from 1 to n.
#[inline(always)]
fn downwards(x: f64, n: u32) -> f64 {
    let top = (n + Exact::sqrt(80.0 * n as f64) as u32 + 2) & !1;
    let mut descent = Descent {
        step: 2.0 / x,
        order: top as f64,
        last: 0.0,
        value: 1e-200,
        wanted: 0.0,
        sum: 0.0,
    };
    descent.down_to((n & !1) as f64);
    descent.wanted = if n & 1 == 0 {
        descent.value
    } else {
        descent.last
    };
    descent.down_to(0.0);
    descent.wanted / Exact::fma(2.0, descent.sum, descent.value)
}

/// The recurrence at an even order.
struct Descent {
    /// `2 / x`
    step: f64,
    order: f64,
    /// Of the next higher order.
    last: f64,
    value: f64,
    wanted: f64,
    /// Of the values of the even orders above.
    sum: f64,
}

impl Descent {
    #[inline(always)]
    fn down_to(&mut self, end: f64) {
        while self.order > end {
            self.sum += self.value;
            self.last = Exact::fma(self.order * self.step, self.value, -self.last);
            self.order -= 1.0;
            self.value = Exact::fma(self.order * self.step, self.last, -self.value);
            self.order -= 1.0;
            // Two steps multiply by less than 2^25: by most where x is 1 and n is DECAY.
            if self.value.abs() > 1e100 {
                cold_path();
                self.last *= 1e-100;
                self.value *= 1e-100;
                self.wanted *= 1e-100;
                self.sum *= 1e-100;
            }
        }
    }
}

/// The power series for x below 1 and n from 2 on.
#[inline(always)]
fn series(x: f64, n: u32) -> f64 {
    // Of higher orders it is below all numbers.
    if n > 170 {
        return 0.0;
    }
    let half = 0.5 * x;
    let (mut power, mut factorial, mut k) = (half, 1.0, 1.0);
    for _ in 1..n {
        power *= half;
        k += 1.0;
        factorial *= k;
    }
    let (square, n) = (half * half, n as f64);
    // 1 - square / (j (n + j)) (..) as a quotient; what comes after eight terms is below 2^-53.
    let (mut above, mut below) = (1.0, 1.0);
    for j in [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
        below *= Exact::fma(j, n, j * j);
        above = Exact::fma(-square, above, below);
    }
    power / factorial * (above / below)
}
