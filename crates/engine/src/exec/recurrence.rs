//! Whether a warp that waits comes to the states in which it has been before.
//!
//! A warp whose turns end with the same registers at the same place reads the same again and again. As long as nobody
//! writes anything else there, it goes on so for ever. One that counts how often it has looked, or reads a clock, does
//! not come back to a state: it may end by itself.

use super::registers::LANES;
use super::warp::Warp;

/// How often a state has come again of a warp that goes around in a circle.
const CERTAIN: u32 = 4;

/// How many times as long as the circle it may take until the state comes again. Under a director lanes do not always
/// have their turns in the same order.
const SLACK: u32 = 4;

/// The states at the ends of a warp's turns: one of them is marked, and looked for in those that follow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recurrence {
    marked: u64,
    /// Turns since the marked state was there last.
    turns: u32,
    /// After how many turns another state is marked.
    most: u32,
    /// How often the marked state has come again.
    met: u32,
}

impl Recurrence {
    /// A turn has ended in a state.
    pub(super) fn see(&mut self, state: u64) {
        self.turns += 1;
        if self.most > 0 && state == self.marked {
            self.most = self.turns.saturating_mul(SLACK);
            (self.turns, self.met) = (0, self.met.saturating_add(1));
        } else if self.turns >= self.most {
            // A longer circle, until one state comes again. One that has left its circle begins anew.
            let most = match self.met {
                0 => self.most.saturating_mul(2).max(1),
                _ => 1,
            };
            *self = Recurrence {
                marked: state,
                turns: 0,
                most,
                met: 0,
            };
        }
    }

    /// Whether it goes around in a circle.
    pub(super) fn is_certain(&self) -> bool {
        self.met >= CERTAIN
    }
}

impl Warp {
    /// Remembers the state at the end of a turn.
    pub(crate) fn remember(&mut self) {
        let state = self.state();
        self.recurrence.see(state);
    }

    /// Whether it can go on by itself, and only comes to the states in which it has been.
    pub(crate) fn recurs(&self) -> bool {
        self.ready.is_empty() || self.recurrence.is_certain()
    }

    /// Where its lanes are and what their registers hold, told apart from other states by 64 bits.
    fn state(&self) -> u64 {
        let groups = self.ready.iter().fold(0u64, |sum, group| {
            let (block, op) = (u64::from(group.at.block), u64::from(group.at.op));
            let at = mixed(u64::from(group.activation), block << 32 | op);
            // In whichever order they have come.
            sum.wrapping_add(mixed(at, u64::from(group.mask)))
        });
        self.activations.each().fold(groups, |sum, (index, it)| {
            let bytes = it.registers.bytes();
            let words = bytes.as_chunks::<{ size_of::<u64>() }>().0;
            words
                .chunks(LANES)
                .fold(mixed(sum, index as u64), |sum, words| {
                    // Independent of each other within a row, so that they overlap.
                    let row = (0..).zip(words).fold(0u64, |row, (place, word)| {
                        row.wrapping_add(mixed(place, u64::from_ne_bytes(*word)))
                    });
                    mixed(sum, row)
                })
        })
    }
}

/// A number of two, each of whose bits depends on all of theirs.
fn mixed(one: u64, other: u64) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let product = u128::from(one ^ ODD) * u128::from(other.rotate_left(32) ^ ODD.rotate_left(23));
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(states: impl Iterator<Item = u64>) -> Recurrence {
        let mut recurrence = Recurrence::default();
        states.for_each(|state| recurrence.see(state));
        recurrence
    }

    #[test]
    fn a_circle_is_found_whatever_its_length_and_whatever_is_before() {
        for length in 1..20 {
            for before in 0..10 {
                let circle = (0..200).map(|turn| turn % length);
                let states = (1000..1000 + before).chain(circle);
                assert!(after(states).is_certain(), "{length} after {before}");
            }
        }
    }

    #[test]
    fn who_counts_or_has_left_the_circle_is_in_none() {
        assert!(!after(0..10_000).is_certain());
        let left = std::iter::repeat_n(7, 100).chain(0..5);
        assert!(!after(left).is_certain());
    }

    #[test]
    fn numbers_of_other_words_differ() {
        let mut seen = std::collections::BTreeSet::new();
        for one in 0..100 {
            for other in 0..100 {
                assert!(seen.insert(mixed(one, other)), "{one} {other}");
            }
        }
    }
}
