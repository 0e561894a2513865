//! The common part of the functions: a table of quadratic polynomials.

/// `c0`, `c1` and `c2` of one part of the interval, `x` from 0 to 1 within it.
pub struct Row(pub i32, pub i32, pub i16);

/// A function in `N` equal parts of an interval.
pub struct Table<const N: usize> {
    /// How many bits of `c0` are below the unit of the result.
    pub fraction: u32,
    /// Added to every `c0`, in 2^-17 of the result's unit: it makes rounding down nearly rounding to the nearest.
    pub offset: i64,
    /// The polynomials, in units of the result.
    pub rows: [Row; N],
}

/// Bits of `x`, and so of a result below its unit.
const BITS: u32 = 17;

impl<const N: usize> Table<N> {
    /// The function where the interval's 2^-23 are counted by `fraction`, in 2^-17 of the result's unit.
    #[inline]
    pub fn at(&self, fraction: u32) -> i64 {
        const { assert!(N == 64 || N == 128) };
        let below = 23 - N.ilog2();
        let Row(c0, c1, c2) = self.rows[(fraction >> below) as usize & (N - 1)];
        let x = (fraction << (BITS - below)) & ((1 << BITS) - 1);
        (i64::from(c0) << (BITS - self.fraction))
            + self.offset
            + i64::from(c1) * i64::from(x)
            + ((i64::from(c2) * i64::from(square(x))) << (BITS - SQUARE_BITS))
    }

    /// As [`at`](Self::at), rounded down to the result's unit.
    #[inline]
    pub fn rounded_down(&self, fraction: u32) -> i32 {
        (self.at(fraction) >> BITS) as i32
    }
}

/// Bits of a square.
const SQUARE_BITS: u32 = 15;

/// The square of `x / 2^17` in 2^-15, from the partial products that the unit has: those of 2^-15 and above.
#[inline]
fn square(x: u32) -> u32 {
    const LEAST: u32 = 2 * BITS - SQUARE_BITS;
    let whole = u64::from(x) * u64::from(x);
    let mut missing = 0;
    // Bits i and j > i of x make one product of 2^(i + j + 1), and bit i alone one of 2^2i.
    let mut i = 0;
    while 2 * i < LEAST {
        if x >> i & 1 == 1 {
            let others = x & ((1 << (LEAST - 1 - i).max(i + 1)) - 1) & !((2 << i) - 1);
            missing += (u64::from(others) << (i + 1)) + (1 << (2 * i));
        }
        i += 1;
    }
    ((whole - missing) >> LEAST) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the partial products, one by one.
    fn sum_of_products(x: u32) -> u32 {
        let bit = |i: u32| u64::from(x >> i & 1);
        let mut sum = 0;
        for i in 0..BITS {
            for j in i..BITS {
                let weight = if i == j { 2 * i } else { i + j + 1 };
                if weight >= 2 * BITS - SQUARE_BITS {
                    sum += (bit(i) * bit(j)) << weight;
                }
            }
        }
        (sum >> (2 * BITS - SQUARE_BITS)) as u32
    }

    #[test]
    fn a_square_has_the_products_that_it_says() {
        for x in 0..1 << BITS {
            assert_eq!(square(x), sum_of_products(x), "{x}");
        }
    }
}
