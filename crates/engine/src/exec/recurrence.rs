//! Whether a warp that waits comes to nothing new.
//!
//! A warp whose registers only take values that they have had, at places where it has been, reads the same again and
//! again. As long as nobody writes anything else there, it goes on so for ever. One that counts how often it has looked,
//! or reads a clock, comes to new values: it may end by itself.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::warp::Warp;

/// After how many turns without anything new a warp goes around in a circle.
const CERTAIN: u32 = 16;

/// More values than a circle has.
const MOST_SEEN: usize = 1 << 20;

/// Where a warp has been at the ends of its turns, and which values each of its registers has had there.
#[derive(Default)]
pub(super) struct Recurrence {
    seen: HashSet<u64, BuildHasherDefault<Mixed>>,
    /// Turns since there was anything new.
    quiet: u32,
}

impl Recurrence {
    /// Records the registers at the end of a turn.
    pub(super) fn see(&mut self, all: impl Iterator<Item = u64>) {
        let before = self.seen.len();
        self.seen.extend(all);
        self.quiet = match self.seen.len() == before {
            true => self.quiet.saturating_add(1),
            false => 0,
        };
        if self.seen.len() > MOST_SEEN {
            self.seen.clear();
        }
    }

    /// Forgets what was.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
        self.quiet = 0;
    }

    /// Whether it goes around in a circle.
    pub(super) fn is_certain(&self) -> bool {
        self.quiet >= CERTAIN
    }
}

impl Warp {
    /// Remembers the state at the end of a turn.
    pub(crate) fn remember(&mut self) {
        let Warp {
            ready,
            activations,
            recurrence,
            ..
        } = self;
        let places = ready.iter().map(|group| {
            let (block, op) = (u64::from(group.at.block), u64::from(group.at.op));
            mixed(mixed(block, op), u64::from(group.activation))
        });
        let values = activations.each().flat_map(|(index, it)| {
            let words = it.registers.bytes().as_chunks::<{ size_of::<u32>() }>().0;
            let of = (index as u64 + 1) << 32;
            let word = move |(place, word): (u64, &[u8; 4])| {
                mixed(of | place, u32::from_ne_bytes(*word).into())
            };
            (0..).zip(words).map(word)
        });
        recurrence.see(places.chain(values));
    }

    /// Whether it comes to nothing new as far as it can go on by itself.
    pub(crate) fn recurs(&self) -> bool {
        self.ready.is_empty() || self.recurrence.is_certain()
    }
}

/// Hashes two numbers into one.
fn mixed(one: u64, other: u64) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let product = u128::from(one ^ ODD) * u128::from(other.rotate_left(32) ^ ODD.rotate_left(23));
    (product >> 64) as u64 ^ product as u64
}

/// Keeps numbers that are [`mixed`] as they are.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = mixed(self.0, u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(turns: impl Iterator<Item = [u64; 2]>) -> Recurrence {
        let mut recurrence = Recurrence::default();
        turns.for_each(|turn| recurrence.see(turn.into_iter().map(|it| mixed(0, it))));
        recurrence
    }

    #[test]
    fn a_circle_is_found_whatever_its_length_and_whatever_is_before() {
        for length in 1..20 {
            for before in 0..10 {
                let circle = (0..200).map(|turn| [turn % length, 7]);
                let turns = (1000..1000 + before).map(|turn| [turn, 7]).chain(circle);
                assert!(after(turns).is_certain(), "{length} after {before}");
            }
        }
    }

    #[test]
    fn who_counts_or_has_left_the_circle_is_in_none() {
        assert!(!after((0..10_000).map(|turn| [7, turn])).is_certain());
        let left = std::iter::repeat_n([7, 8], 100).chain([[7, 9]]);
        let mut left = after(left);
        assert!(!left.is_certain());
        (0..CERTAIN).for_each(|_| left.see(std::iter::once(mixed(0, 9))));
        assert!(left.is_certain());
        left.forget();
        assert!(!left.is_certain() && left.seen.is_empty());
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
