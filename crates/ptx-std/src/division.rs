//! Division of 128-bit numbers.
//!
//! LLVM has no call for it on this target: it expands each `/` and `%` of `u128` and `i128` to a loop that finds one bit of
//! the quotient per turn. ptx-builder knows that loop, and lets [`steps`] make all its turns at once, where they are those
//! of a division; everything else the loop does as before. So nothing here may divide 128-bit numbers.
//!
//! The quotient is made in digits of 32 bits with the reciprocal of the divisor's upper two: Möller and Granlund, "Improved division
//! by invariant integers", algorithm 4. The reciprocal starts from that of the special function unit, and is exact whatever the unit's
//! last bits are. A divisor of two words is divided by its upper one first, and the quotient corrected: Warren, "Hacker's Delight",
//! chapter 9.

use crate::arch::float::{Exact, rcp_approx_ftz};

/// The loop's numbers, each with its lower word first.
pub(crate) struct State {
    /// The rest of the dividend, below the divisor.
    pub(crate) rest: u128,
    /// The bits of the dividend that were not looked at, from the top, and below them those of the quotient.
    pub(crate) bits: u128,
    /// The turns to make.
    pub(crate) turns: u128,
    pub(crate) divisor: u128,
    pub(crate) divisor_less_one: u128,
    /// The bit of the quotient that is to be put into `bits`: 0 before the first turn.
    pub(crate) carry: u128,
}

/// The values of `bits` and `carry` behind the turns.
#[derive(Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Divided {
    pub(crate) bits: [u64; 2],
    /// [`NOT_DIVIDED`] where the loop has to make its turn.
    pub(crate) carry: u64,
}

/// More than a bit.
pub(crate) const NOT_DIVIDED: u64 = 2;

/// Makes all turns of the loop that divides, if the numbers are those of a division.
#[inline(always)]
pub(crate) fn steps(state: &State) -> Divided {
    let &State {
        rest,
        bits,
        turns,
        divisor,
        divisor_less_one,
        carry,
    } = state;
    // A divisor with the uppermost bit takes one turn.
    let divides = divisor.wrapping_sub(1) == divisor_less_one
        && divisor_less_one < (1 << 127) - 1
        && rest < divisor
        && turns.wrapping_sub(1) < 127
        && carry == 0;
    let dividend = if divides {
        dividend(words(rest), words(bits), turns as u32)
    } else {
        None
    };
    let Some(dividend) = dividend else {
        return Divided {
            bits: [0; 2],
            carry: NOT_DIVIDED,
        };
    };
    let quotient = quotient(dividend, divisor);
    Divided {
        bits: words(quotient >> 1),
        carry: quotient as u64 & 1,
    }
}

/// Returns the rest and below it as many of the upper bits as there are turns, from 1 to 127, if that has 128 bits at most and the
/// other bits are 0.
#[inline(always)]
fn dividend(rest: [u64; 2], bits: [u64; 2], turns: u32) -> Option<u128> {
    // Moved down by a word, and by less than a word.
    let [zeros, low, middle, high, top] = if turns <= 64 {
        [bits[0], bits[1], rest[0], rest[1], 0]
    } else {
        [0, bits[0], bits[1], rest[0], rest[1]]
    };
    let by = turns.wrapping_neg() % 64;
    let moved = |low: u64, high: u64| low >> by | high << 1 << (63 - by);
    let lost = low << 1 << (63 - by);
    let over = high >> by | top;
    (zeros | lost | over == 0)
        .then(|| u128::from(moved(middle, high)) << 64 | u128::from(moved(low, middle)))
}

/// The quotient of a divisor from 1 on and below 2^127.
#[inline(always)]
fn quotient(dividend: u128, divisor: u128) -> u128 {
    match words(divisor) {
        [divisor, 0] => by_word(dividend, divisor),
        [_, upper] => by_two_words(dividend, divisor, upper.leading_zeros()).into(),
    }
}

#[inline(always)]
fn by_word(dividend: u128, divisor: u64) -> u128 {
    let shift = divisor.leading_zeros();
    let reciprocal = reciprocal(divisor << shift);
    let [low, high] = words(dividend);
    let (upper, rest) = if high < divisor {
        (0, high)
    } else {
        divide([high, 0], divisor, shift, reciprocal)
    };
    let (lower, _) = divide([low, rest], divisor, shift, reciprocal);
    u128::from(upper) << 64 | u128::from(lower)
}

/// The quotient of a divisor of two words, of which the upper one has this many leading zeros.
#[inline(always)]
fn by_two_words(dividend: u128, divisor: u128, shift: u32) -> u64 {
    let [_, upper] = words(divisor << shift);
    let (estimate, _) = divide(words(dividend >> 1), upper, 0, reciprocal(upper));
    // As great as the quotient, or greater by one.
    let estimate = (u128::from(estimate) << shift >> 63) as u64;
    let least = estimate.saturating_sub(1);
    let rest = dividend.wrapping_sub(divisor.wrapping_mul(least.into()));
    least + u64::from(rest >= divisor)
}

/// Quotient and rest of two words, of which the upper one is below the divisor. Its leading zeros are given, and the reciprocal of
/// what it is without them.
#[inline(always)]
fn divide([low, high]: [u64; 2], divisor: u64, shift: u32, reciprocal: u32) -> (u64, u64) {
    let divisor = divisor << shift;
    let high = high << shift | low >> 1 >> (63 - shift);
    let low = low << shift;
    let (upper, rest) = digit(high, (low >> 32) as u32, divisor, reciprocal);
    let (lower, rest) = digit(rest, low as u32, divisor, reciprocal);
    (u64::from(upper) << 32 | u64::from(lower), rest >> shift)
}

/// Quotient and rest of a number of three digits of 32 bits, of which the upper two are below the divisor, whose uppermost bit is set.
#[inline(always)]
fn digit(upper: u64, lower: u32, divisor: u64, reciprocal: u32) -> (u32, u64) {
    let product = u64::from(reciprocal) * (upper >> 32);
    let product = product.wrapping_add(upper);
    let (estimate, fraction) = ((product >> 32) as u32, product as u32);
    let number = upper << 32 | u64::from(lower);
    let taken = divisor.wrapping_mul(u64::from(estimate));
    let mut rest = number.wrapping_sub(taken).wrapping_sub(divisor);
    let mut quotient = estimate.wrapping_add(1);
    if (rest >> 32) as u32 >= fraction {
        quotient = estimate;
        rest = rest.wrapping_add(divisor);
    }
    if rest >= divisor {
        quotient = quotient.wrapping_add(1);
        rest -= divisor;
    }
    (quotient, rest)
}

/// (2^96 - 1) / divisor - 2^32, of a divisor whose uppermost bit is set.
#[inline(always)]
fn reciprocal(divisor: u64) -> u32 {
    reciprocal_by(divisor, rcp_approx_ftz(first_digits(divisor)))
}

/// The first 24 bits of a divisor whose uppermost bit is set, as a number from 2^31 on and below 2^32. A conversion would take as
/// long as ten instructions.
#[inline(always)]
fn first_digits(divisor: u64) -> f32 {
    f32::from_bits(((divisor >> 40) as u32 & 0x007f_ffff) | 0x4f00_0000)
}

/// The reciprocal, by one of the upper 32 bits that is right to 21 bits or better.
#[inline(always)]
fn reciprocal_by(divisor: u64, near: f32) -> u32 {
    const POW2_13: f32 = 8192.0;
    const POW2_32: f32 = 4_294_967_296.0;
    let [low, high] = [divisor & 0xffff_ffff, divisor >> 32];
    // The product with a number of 32 bits, its lowest 32 apart.
    let times = |factor: u32| {
        let lower = low * u64::from(factor);
        (high * u64::from(factor) + (lower >> 32), lower as u32)
    };
    // Less than it is, by 2^13 at most.
    let estimate = truncated(((near * POW2_32 - 1.0) * POW2_32 - POW2_13 / 2.0).max(0.0));
    let (product, product_low) = times(estimate);
    // How far the product of divisor and reciprocal is from 2^96 - 1.
    let (lacking, lacking_low) = (!product.wrapping_add(divisor), !product_low);
    // Its quotient, or less by one: the error is little beside the 16th.
    let more = truncated(((lacking >> 13) as u32 as f32).fma(near * POW2_13, -0.0625));
    let (product, product_low) = times(more);
    let (rest_low, borrow) = lacking_low.overflowing_sub(product_low);
    let rest = lacking - product - u64::from(borrow);
    let fits = rest > high || rest == high && u64::from(rest_low) >= low;
    estimate + more + u32::from(fits)
}

/// The integer part of a number above -1 and below 2^32.
#[inline(always)]
fn truncated(x: f32) -> u32 {
    // SAFETY: `reciprocal_by` asks for such numbers: the estimate is of a reciprocal below 2^32, and what it lacks is 2^13 at most.
    // A cast would add four instructions for numbers that are not.
    unsafe { x.to_int_unchecked() }
}

#[inline(always)]
fn words(number: u128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Numbers at which something carries, is normalized, or comes out as 0.
    fn edges() -> Vec<u128> {
        let near = |bit: u32| {
            let power = 1_u128 << bit;
            [
                power - 1,
                power,
                power + 1,
                power | power >> 1,
                !power,
                power.wrapping_neg(),
            ]
        };
        let mut edges: Vec<u128> = (0..128).flat_map(near).collect();
        edges.extend([
            1_000_000_007,
            0x1234_5678_9abc_def0_1234_5678_9abc_def0,
            u128::MAX,
        ]);
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Any numbers, of any number of bits.
    fn random(seed: &mut u64) -> u128 {
        let mut word = || {
            *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (*seed ^ *seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB)
        };
        let (a, b, by) = (word(), word(), word());
        (u128::from(a) << 64 | u128::from(b)) >> (by % 128)
    }

    #[test]
    fn a_reciprocal_is_exact_on_any_gpu() {
        let check = |divisor: u64| {
            let expected = ((1 << 96) - 1) / u128::from(divisor) - (1 << 32);
            let near = rcp_approx_ftz(first_digits(divisor));
            // PTX allows an error of 1 ulp.
            for off in -2..=2 {
                let near = f32::from_bits(near.to_bits().wrapping_add_signed(off));
                let found = reciprocal_by(divisor, near);
                assert_eq!(u128::from(found), expected, "{divisor:#x} {off}");
            }
        };
        let mut seed = 1;
        (0..100_000).for_each(|_| check(random(&mut seed) as u64 | 1 << 63));
        for upper in 256..512_u64 {
            for edge in edges() {
                check(upper << 55 | edge as u64 & ((1 << 55) - 1));
            }
        }
    }

    #[test]
    fn a_quotient_is_that_of_the_language() {
        let edges = edges();
        let check = |dividend: u128, divisor: u128| {
            if (1..1 << 127).contains(&divisor) {
                let found = quotient(dividend, divisor);
                assert_eq!(found, dividend / divisor, "{dividend:#x} / {divisor:#x}");
            }
        };
        for &dividend in &edges {
            for &divisor in &edges {
                check(dividend, divisor);
                check(dividend.wrapping_mul(divisor), divisor);
                check(dividend.wrapping_mul(divisor).wrapping_sub(1), divisor);
            }
        }
        let mut seed = 2;
        for _ in 0..300_000 {
            check(random(&mut seed), random(&mut seed));
        }
    }

    /// The loop's turns, as LLVM has them.
    fn turned(state: &State) -> Divided {
        let &State {
            mut rest,
            mut bits,
            mut turns,
            divisor,
            divisor_less_one,
            mut carry,
        } = state;
        while turns > 0 {
            let next = rest << 1 | bits >> 127;
            bits = bits << 1 | carry;
            let mask = (divisor_less_one.wrapping_sub(next) as i128 >> 127) as u128;
            carry = mask & 1;
            rest = next.wrapping_sub(divisor & mask);
            turns -= 1;
        }
        Divided {
            bits: words(bits),
            carry: carry as u64,
        }
    }

    #[test]
    fn all_turns_at_once_leave_what_they_leave_one_by_one() {
        let mut seed = 3;
        let mut divided = 0;
        for round in 0..200_000_u32 {
            let mut number = || random(&mut seed);
            let divisor = number();
            let turns = number() % 140;
            // Most without other bits than those to look at.
            let bits = match number().checked_shl(128 - turns as u32 % 128) {
                Some(bits) if round % 8 > 0 => bits,
                _ => number(),
            };
            let state = State {
                rest: (number() >> (round % 100)) % divisor.max(1),
                bits,
                turns,
                divisor,
                divisor_less_one: divisor.wrapping_sub(1 + u128::from(round % 16 == 0)),
                carry: u128::from(round % 32 == 1),
            };
            let found = steps(&state);
            if found.carry != NOT_DIVIDED {
                divided += 1;
                assert_eq!(found, turned(&state));
            }
        }
        assert!(divided > 30_000, "{divided}");
    }

    #[test]
    fn what_is_no_division_is_left_to_the_loop() {
        let division = || State {
            rest: 2,
            bits: 5 << 120,
            turns: 8,
            divisor: 3,
            divisor_less_one: 2,
            carry: 0,
        };
        assert_eq!(steps(&division()), turned(&division()));
        for other in [
            State {
                rest: 3,
                ..division()
            },
            State {
                turns: 0,
                ..division()
            },
            State {
                turns: 128,
                ..division()
            },
            State {
                carry: 1,
                ..division()
            },
            State {
                bits: 5 << 119,
                ..division()
            },
            State {
                bits: 5 << 120 | 1,
                ..division()
            },
            State {
                divisor: 4,
                ..division()
            },
            State {
                divisor: 1 << 127,
                divisor_less_one: (1 << 127) - 1,
                ..division()
            },
            State {
                rest: 0,
                divisor: 0,
                divisor_less_one: u128::MAX,
                ..division()
            },
        ] {
            assert_eq!(steps(&other).carry, NOT_DIVIDED);
        }
    }
}
