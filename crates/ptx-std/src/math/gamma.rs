//! The parts of the gamma functions that both types have in common.

/// Defines that for a type, by its natural logarithm, in a module that has the coefficients.
macro_rules! gamma_parts {
    ($float:ident, $ln:ident) => {
        /// The gamma function for x in (-2.5, 2.5).
        #[inline(always)]
        fn near_zero(x: $float) -> $float {
            let n = (x + ROUNDER) - ROUNDER;
            let f = x - n;
            let reciprocal = polynomial(&RECIPROCAL, f);
            // gamma(x) = gamma(1 + f) divided by x for n = 0, by x (x + 1) for -1, by x (x + 1) (x + 2)
            // for -2.
            let divisor = if n >= 1.0 { 1.0 } else { x };
            let divisor = if n < 0.0 {
                divisor * (x + 1.0)
            } else {
                divisor
            };
            let divisor = if n < -1.0 { divisor * f } else { divisor };
            let value = 1.0 / (reciprocal * divisor);
            // gamma(2 + f) = (1 + f) gamma(1 + f)
            let value = if n >= 2.0 { value * (1.0 + f) } else { value };
            // At -1 and -2.
            if x < 0.0 && f == 0.0 {
                $float::NAN
            } else {
                value
            }
        }

        /// `(x - 1/2) ln(x / e)` in two parts, and `ln(x / e)`; for x = 2^k (1 + r), where 1 + r is from
        /// `sqrt(1/2)` to `sqrt(2)` and k in the unit of [`LN_2_HI`].
        #[inline(always)]
        fn stirling_power(x: $float, k: $float, r: $float) -> ($float, $float, $float) {
            // ln(1 + r) = r - r²/2 + r³ P(r), the first two terms to twice the precision.
            let square = r * r;
            let square_lo = Exact::fma(r, r, -square);
            let hi = Exact::fma(-0.5, square, r);
            let lo = Exact::fma(-0.5, square, r - hi);
            let lo = Exact::fma(-0.5, square_lo, lo);
            let lo = Exact::fma(r * square, polynomial(&LN, r), lo);
            // ln(x / e); the sum with k is exact, and not less than hi.
            let whole = Exact::fma(k, LN_2_HI, -1.0);
            let sum = whole + hi;
            let lo = lo + ((whole - sum) + hi);
            let lo = Exact::fma(k, LN_2_LO, lo);
            let y = x - 0.5;
            let power = y * sum;
            let rest = Exact::fma(y, sum, -power);
            (power, Exact::fma(y, lo, rest), sum + lo)
        }

        /// The logarithm of the gamma function from 0.65 to 8.
        #[inline(always)]
        fn log_below_8(y: $float) -> $float {
            if y >= 3.0 {
                polynomial(&ABOUT_5_5, y - 5.5)
            } else if y >= 1.5 {
                let f = y - 2.0;
                f * polynomial(&ABOUT_2, f)
            } else {
                let f = y - 1.0;
                f * polynomial(&ABOUT_1, f)
            }
        }

        /// `ln(pi / (y |sin(pi y)|))` less the logarithm at y.
        #[inline(always)]
        fn log_reflected(y: $float, value: $float) -> $float {
            let f = y - Exact::round_ties_even(y);
            // Infinity is an integer as well.
            if f == 0.0 || y.is_infinite() {
                return $float::INFINITY;
            }
            -$ln(y * sine_pi_over_pi(f).abs()) - value
        }

        /// `sin(pi f) / pi` for |f| up to 1/2.
        #[inline(always)]
        fn sine_pi_over_pi(f: $float) -> $float {
            let square = f * f;
            Exact::fma(f * square, polynomial(&SINE_PI, square), f)
        }
    };
}

pub(super) use gamma_parts;
