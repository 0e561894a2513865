//! Memory that was written with what is undefined.

use super::origins::OriginId;
use crate::check::hash::Map;

const WORD: u64 = 4;

/// The undefined bits of written memory, by words of 4 bytes.
#[derive(Debug, Default)]
pub(crate) struct Stored(Map<u64, Word>);

#[derive(Clone, Copy, Debug, Default)]
struct Word {
    bits: u32,
    origin: OriginId,
}

impl Stored {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The undefined bits of at most 16 bytes, and where the first of them came from.
    pub(super) fn get(&self, address: u64, bytes: u32) -> (u128, OriginId) {
        let (mut bits, mut origin) = (0, OriginId::default());
        if self.0.is_empty() {
            return (bits, origin);
        }
        for (word, shift, mask, at) in parts(address, bytes.into()) {
            let Some(known) = self.0.get(&word) else {
                continue;
            };
            let part = u64::from(known.bits) >> shift & mask;
            if part != 0 && bits == 0 {
                origin = known.origin;
            }
            bits |= u128::from(part) << at;
        }
        (bits, origin)
    }

    /// At most 16 bytes are written, of which some bits are undefined.
    pub(super) fn set(&mut self, address: u64, bytes: u32, bits: u128, origin: OriginId) {
        for (word, shift, mask, at) in parts(address, bytes.into()) {
            let part = (bits >> at) as u64 & mask;
            if part == 0 {
                self.define_word(word, mask << shift);
                continue;
            }
            let known = self.0.entry(word).or_default();
            known.bits = known.bits & !((mask << shift) as u32) | (part << shift) as u32;
            known.origin = origin;
        }
    }

    /// Bytes are written with what is defined.
    pub(crate) fn define(&mut self, address: u64, bytes: u64) {
        if self.0.is_empty() {
            return;
        }
        parts(address, bytes).for_each(|(word, shift, mask, _)| {
            self.define_word(word, mask << shift);
        });
    }

    fn define_word(&mut self, word: u64, mask: u64) {
        if let Some(known) = self.0.get_mut(&word) {
            known.bits &= !(mask as u32);
            if known.bits == 0 {
                self.0.remove(&word);
            }
        }
    }
}

/// The words that bytes lie in: which one, the first bit and the bits of it, and which bit of the bytes that is.
fn parts(address: u64, bytes: u64) -> impl Iterator<Item = (u64, u64, u64, u64)> {
    let (mut at, end) = (address, address.saturating_add(bytes));
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let word = at / WORD;
        let stop = ((word + 1) * WORD).min(end);
        let mask = u64::MAX >> (64 - 8 * (stop - at));
        let part = (word, 8 * (at % WORD), mask, 8 * (at - address));
        at = stop;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_kept_across_words_and_cleared_byte_by_byte() {
        let mut stored = Stored::default();
        let origin = OriginId::default();
        stored.set(16, 16, 0xff00 << 64 | 0xf0, origin);
        assert_eq!(stored.get(16, 16).0, 0xff00 << 64 | 0xf0);
        assert_eq!(stored.get(25, 1).0, 0xff);
        assert_eq!(stored.get(20, 4).0, 0);
        stored.define(25, 1);
        assert_eq!(stored.get(16, 16).0, 0xf0);
        stored.set(16, 1, 0, origin);
        assert!(stored.is_empty());
    }
}
