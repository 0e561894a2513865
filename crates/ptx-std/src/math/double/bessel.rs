//! Bessel functions of orders 0 and 1.
//!
//! Up to 8 each function is the product of its zeros there and a polynomial; those of the second kind
//! have one such interval for each zero, and near 0 the logarithm of their definition. Beyond 8 they are
//! `x^(-1/2) A(1/x²) cos(x - c + B(1/x²) / x)`: amplitude and phase as Hankel's expansion has them, and x
//! reduced by Cody and Waite's method.

use super::bessel_coefficients::{
    AMPLITUDE_0, AMPLITUDE_1, COSINE, J0, J0_SMALL, J1, PHASE_0, PHASE_1, SINE, Y0_1, Y0_2, Y0_3,
    Y0_LOGARITHM, Y0_SMALL, Y1_1, Y1_2, Y1_3, Y1_LOGARITHM, Y1_SMALL,
};
use super::bits::ROUNDER;
use super::{ln, rsqrt, sin_cos};
use crate::arch::float::Exact;
use crate::math::polynomial::polynomial;

#[inline]
pub(crate) fn j0(x: f64) -> f64 {
    let x = x.abs();
    if x < 1.0 {
        let square = x * x;
        Exact::fma(square, polynomial(&J0_SMALL, square), 1.0)
    } else if x <= 8.0 {
        j0_to_8(x)
    } else {
        wave(x, 0, &AMPLITUDE_0, &PHASE_0)
    }
}

/// For x from 1 on.
#[inline(always)]
fn j0_to_8(x: f64) -> f64 {
    let a = (x - 2.404825557695773) + 1.176691651530894e-16;
    let b = (x - 5.520078110286311) - 8.088597146146722e-17;
    let c = (x - 8.653727912911013) + 2.92812607320779e-16;
    a * polynomial(&J0, x - 4.0) * b * c
}

#[inline]
pub(crate) fn j1(x: f64) -> f64 {
    let y = x.abs();
    if y <= 8.0 {
        x * j1_over_x_to_8(y)
    } else {
        let value = wave(y, 3, &AMPLITUDE_1, &PHASE_1);
        if x < 0.0 { -value } else { value }
    }
}

/// For x from 0 on.
#[inline(always)]
fn j1_over_x_to_8(x: f64) -> f64 {
    let a = (x - 3.8317059702075125) + 1.5269184090088067e-16;
    let b = (x - 7.015586669815619) + 9.414165653410389e-17;
    a * polynomial(&J1, x - 4.0) * b
}

/// Both, for finite x from 1 on: beyond 8 they have the reduction of x in common.
#[inline(always)]
pub(super) fn j0_and_j1(x: f64) -> (f64, f64) {
    if x <= 8.0 {
        (j0_to_8(x), x * j1_over_x_to_8(x))
    } else {
        let place = Place::of(x);
        let order_0 = place.wave(0, &AMPLITUDE_0, &PHASE_0);
        (order_0, place.wave(3, &AMPLITUDE_1, &PHASE_1))
    }
}

/// NaN for negative numbers, minus infinity at 0.
#[inline]
pub(crate) fn y0(x: f64) -> f64 {
    if x > 8.0 {
        wave(x, 3, &AMPLITUDE_0, &PHASE_0)
    } else if x >= 5.5 {
        about((x - 7.086051060301773) + 8.835285723085408e-17, &Y0_3)
    } else if x >= 1.95 {
        about((x - 3.957678419314858) + 1.0764340697562706e-16, &Y0_2)
    } else if x >= 0.6 {
        about((x - 0.8935769662791675) - 2.6596231539720385e-17, &Y0_1)
    } else if x >= 0.0 {
        let square = x * x;
        let rest = polynomial(&Y0_SMALL, square);
        Exact::fma(ln(x), polynomial(&Y0_LOGARITHM, square), rest)
    } else {
        f64::NAN
    }
}

/// NaN for negative numbers, minus infinity at 0.
#[inline]
pub(crate) fn y1(x: f64) -> f64 {
    if x > 8.0 {
        wave(x, 2, &AMPLITUDE_1, &PHASE_1)
    } else if x >= 7.0 {
        about((x - 8.596005868331169) - 2.8415838340063664e-16, &Y1_3)
    } else if x >= 3.8 {
        about((x - 5.429681040794135) - 4.162514026670377e-16, &Y1_2)
    } else if x >= 1.2 {
        about((x - 2.197141326031017) + 4.8259835876454966e-17, &Y1_1)
    } else if x > 0.0 {
        let square = x * x;
        let rest = polynomial(&Y1_SMALL, square);
        let smooth = Exact::fma(ln(x), polynomial(&Y1_LOGARITHM, square), rest);
        Exact::fma(x, smooth, -core::f64::consts::FRAC_2_PI / x)
    } else if x == 0.0 {
        f64::NEG_INFINITY
    } else {
        f64::NAN
    }
}

/// A function near the zero at this distance.
#[inline(always)]
fn about(distance: f64, coefficients: &[f64]) -> f64 {
    distance * polynomial(coefficients, distance)
}

/// `x^(-1/2) A(1/x²) cos(x - pi/4 + B(1/x²) / x + quarters pi/2)` for x above 8; 0 at infinity.
#[inline(always)]
fn wave(x: f64, quarters: u32, amplitude: &[f64], phase: &[f64]) -> f64 {
    if x == f64::INFINITY {
        return 0.0;
    }
    Place::of(x).wave(quarters, amplitude, phase)
}

/// The part of the waves that all orders have in common, for x above 8.
struct Place {
    x: f64,
    /// `1 / sqrt(x)`
    root: f64,
    /// [`reduced`] x.
    r: f64,
    quarters: u32,
}

impl Place {
    #[inline(always)]
    fn of(x: f64) -> Self {
        let (r, quarters) = reduced(x);
        let root = rsqrt(x);
        Place {
            x,
            root,
            r,
            quarters,
        }
    }

    /// [`wave`] for finite x.
    #[inline(always)]
    fn wave(&self, quarters: u32, amplitude: &[f64], phase: &[f64]) -> f64 {
        let reciprocal = self.root * self.root;
        let square = reciprocal * reciprocal;
        let turn = if self.x < 1_099_511_627_776.0 {
            let angle = Exact::fma(reciprocal, polynomial(phase, square), self.r);
            cosine(angle, self.quarters.wrapping_add(quarters))
        } else {
            far_cosine(self.x, quarters)
        };
        self.root * polynomial(amplitude, square) * turn
    }
}

/// `x - pi/4 - n pi/2`, within pi/4 of 0, and n; for x up to 2^40.
#[inline(always)]
fn reduced(x: f64) -> (f64, u32) {
    let shifted = Exact::fma(x, core::f64::consts::FRAC_2_PI, -0.5) + ROUNDER;
    let quarters = (shifted - ROUNDER) + 0.5;
    let r = Exact::fma(-quarters, core::f64::consts::FRAC_PI_2, x);
    let r = Exact::fma(-quarters, 6.123233995736766e-17, r);
    (r, shifted.to_bits() as u32)
}

/// `cos(x - pi/4 + quarters pi/2)`: from 2^40 on the rest of the phase is below the rounding.
#[cold]
#[inline(never)]
fn far_cosine(x: f64, quarters: u32) -> f64 {
    let (sine, cosine) = sin_cos(x);
    let value = if quarters & 1 == 0 {
        cosine + sine
    } else {
        cosine - sine
    };
    let value = value * core::f64::consts::FRAC_1_SQRT_2;
    if quarters & 2 == 0 { value } else { -value }
}

/// `cos(x + n pi/2)` for |x| up to 0.81.
#[inline(always)]
fn cosine(x: f64, n: u32) -> f64 {
    let square = x * x;
    let odd = n & 1 == 1;
    let sum = polynomial(&if odd { SINE } else { COSINE }, square);
    let first = if odd { x } else { 1.0 };
    let value = Exact::fma(first * square, sum, first);
    // cos, -sin, -cos, sin.
    if n.wrapping_add(1) & 2 == 0 {
        value
    } else {
        -value
    }
}
