//! Division of 128-bit numbers.
//!
//! LLVM has no call for it on this target: it expands each `/` and `%` of `u128` and `i128` to a loop that finds one bit of
//! the quotient per turn. ptx-builder knows that loop, and lets [`steps`] make all its turns at once, where they are those
//! of a division; everything else the loop does as before. So nothing here may divide 128-bit numbers.
//!
//! The quotient is made word by word with the reciprocal of the divisor: Möller and Granlund, "Improved division by
//! invariant integers", algorithms 2 and 4. A divisor of two words is divided by its upper one first, and the quotient
//! corrected: Warren, "Hacker's Delight", chapter 9.

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
    /// The bit of the quotient that is to be put into `bits`.
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
    // A divisor with the uppermost bit takes one turn. The dividend has 128 bits at most.
    let divides = divisor.wrapping_sub(1) == divisor_less_one
        && divisor_less_one < (1 << 127) - 1
        && rest < divisor
        && turns.wrapping_sub(1) < 127
        && carry < 2
        && rest.leading_zeros() >= turns as u32;
    if !divides {
        return Divided {
            bits: [0; 2],
            carry: NOT_DIVIDED,
        };
    }
    let turns = turns as u32;
    let quotient = quotient(rest << turns | bits >> (128 - turns), divisor);
    let bits = bits << turns | carry << (turns - 1) | quotient >> 1;
    Divided {
        bits: words(bits),
        carry: quotient as u64 & 1,
    }
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
    let divisor = divisor << shift;
    let reciprocal = reciprocal(divisor);
    // Three words: the divisor is greater than the first.
    let top = (dividend >> 1 >> (127 - shift)) as u64;
    let [low, high] = words(dividend << shift);
    let (upper, rest) = if top == 0 && high < divisor {
        (0, high)
    } else {
        divide([high, top], divisor, reciprocal)
    };
    let (lower, _) = divide([low, rest], divisor, reciprocal);
    u128::from(upper) << 64 | u128::from(lower)
}

/// The quotient of a divisor of two words, of which the upper one has this many leading zeros.
#[inline(always)]
fn by_two_words(dividend: u128, divisor: u128, shift: u32) -> u64 {
    let [_, upper] = words(divisor << shift);
    let (estimate, _) = divide(words(dividend >> 1), upper, reciprocal(upper));
    // As great as the quotient, or greater by one.
    let estimate = (u128::from(estimate) << shift >> 63) as u64;
    let least = estimate.saturating_sub(1);
    let rest = dividend.wrapping_sub(divisor.wrapping_mul(least.into()));
    least + u64::from(rest >= divisor)
}

/// Quotient and rest of two words, of which the upper one is below the divisor, whose uppermost bit is set.
#[inline(always)]
fn divide([low, high]: [u64; 2], divisor: u64, reciprocal: u64) -> (u64, u64) {
    let product = u128::from(reciprocal) * u128::from(high);
    let [fraction, estimate] = words(product + (u128::from(high) << 64 | u128::from(low)));
    let mut quotient = estimate.wrapping_add(1);
    let mut rest = low.wrapping_sub(quotient.wrapping_mul(divisor));
    if rest > fraction {
        quotient = quotient.wrapping_sub(1);
        rest = rest.wrapping_add(divisor);
    }
    if rest >= divisor {
        quotient = quotient.wrapping_add(1);
        rest -= divisor;
    }
    (quotient, rest)
}

/// (2^128 - 1) / divisor - 2^64, of a divisor whose uppermost bit is set.
#[inline(always)]
fn reciprocal(divisor: u64) -> u64 {
    let odd = divisor & 1;
    let upper = (divisor >> 24) + 1;
    let half = (divisor >> 1) + odd;
    // 11, 21, 34 and 65 bits.
    // The uppermost bit is set already: said again, it leaves no check for zero, and so no panic in modules that do not divide.
    let first = u64::from(0x7_FD00 / ((divisor >> 55) as u32 | 1 << 8));
    let second = (first << 11) - ((first * first * upper) >> 40) - 1;
    let third = (second << 13) + ((second * ((1 << 60) - second * upper)) >> 47);
    let error = ((third >> 1) & odd.wrapping_neg()).wrapping_sub(third.wrapping_mul(half));
    let fourth = (third << 31).wrapping_add(high(third, error) >> 1);
    let [_, excess] = words(u128::from(fourth) * u128::from(divisor) + u128::from(divisor));
    fourth.wrapping_sub(excess).wrapping_sub(divisor)
}

/// The upper word of a product.
#[inline(always)]
fn high(a: u64, b: u64) -> u64 {
    let [_, high] = words(u128::from(a) * u128::from(b));
    high
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
    fn a_reciprocal_is_exact() {
        let check = |divisor: u64| {
            let expected = u128::MAX / u128::from(divisor) - (1 << 64);
            assert_eq!(u128::from(reciprocal(divisor)), expected, "{divisor:#x}");
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
            let state = State {
                rest: (number() >> (round % 100)) % divisor.max(1),
                bits: number(),
                turns: number() % 140,
                divisor,
                divisor_less_one: divisor.wrapping_sub(1 + u128::from(round % 16 == 0)),
                carry: number() % 2,
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
                carry: 2,
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
