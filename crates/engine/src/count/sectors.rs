//! The sectors of one access of a warp.

use super::SECTOR;
use super::distinct::{Distinct, hash};
use super::footprint::{Sectors, Way};
use crate::memory::{LANES, Lanes, Pattern, each_lane, lanes_of};

/// Adds the global memory that lanes reach to `sectors` by way of `words`, and gives how many sectors there are and how
/// many of them are new. Sectors begin `bias` bytes behind multiples of 32.
#[inline(always)]
pub(super) fn of_global(
    lanes: &Lanes<'_>,
    bias: u64,
    (words, sectors): (&mut Words, &mut Sectors),
    way: Way,
) -> (u32, u32) {
    let bytes = u64::from(lanes.bytes);
    let sector = |address: u64| address.wrapping_sub(bias) / SECTOR;
    let whole = match lanes.pattern {
        Pattern::Same { address } => Some((address, address)),
        Pattern::Consecutive { .. } if is_gapless(lanes.mask) => {
            let (first, last) = lanes.span();
            Some((first, last - (bytes - 1)))
        }
        _ => None,
    };
    if let Some((first, last)) = whole {
        let (first, last) = (sector(first), sector(last + bytes - 1));
        let new = sectors.reach(first, last, way);
        return ((last - first + 1) as u32, new);
    }
    let first = each_lane(|lane| sector(lanes.addresses[lane]));
    let last = each_lane(|lane| sector(lanes.addresses[lane].wrapping_add(bytes - 1)));
    words.clear();
    for lane in lanes_of(lanes.mask) {
        words.add(first[lane]);
        // A lane reaches two at most.
        if last[lane] != first[lane] {
            words.add(last[lane]);
        }
    }
    let (mut count, mut new) = (0, 0);
    for &(word, bits) in words.all() {
        count += bits.count_ones();
        new += sectors.reach_of_word(word, bits, way);
    }
    (count, new)
}

/// Most words of 64 sectors that lanes reach.
const MOST: usize = 2 * LANES;
/// Places that words are looked for by: a power of two, and more than there are words.
const PLACES: usize = 2 * MOST;

/// Sectors of a request, by words of 64.
#[derive(Debug)]
pub(super) struct Words {
    /// In the order in which lanes came to them.
    all: [(u64, u64); MOST],
    len: usize,
    /// How far behind the first each is, plus 1; 0 where there is none.
    places: [u8; PLACES],
}

impl Default for Words {
    fn default() -> Words {
        Words {
            all: [(0, 0); MOST],
            len: 0,
            places: [0; PLACES],
        }
    }
}

impl Words {
    #[inline(always)]
    fn clear(&mut self) {
        (self.len, self.places) = (0, [0; PLACES]);
    }

    #[inline(always)]
    fn add(&mut self, sector: u64) {
        let (word, bit) = (sector / 64, 1 << (sector % 64));
        // Neighbours reach the same one as a rule.
        match self.all[..self.len].last_mut() {
            Some(last) if last.0 == word => last.1 |= bit,
            _ => self.find(word).1 |= bit,
        }
    }

    fn all(&self) -> &[(u64, u64)] {
        &self.all[..self.len]
    }

    #[inline(always)]
    fn find(&mut self, word: u64) -> &mut (u64, u64) {
        let mut place = hash(word) >> (u64::BITS - PLACES.ilog2());
        loop {
            let there = &mut self.places[place as usize % PLACES];
            match usize::from(*there) {
                0 => {
                    self.all[self.len] = (word, 0);
                    self.len += 1;
                    *there = self.len as u8;
                    return &mut self.all[self.len - 1];
                }
                index if self.all[index - 1].0 == word => return &mut self.all[index - 1],
                _ => place += 1,
            }
        }
    }
}

/// Distinct sectors of local memory: the hardware lays words of the warp's lanes side by side.
pub(super) fn of_local(lanes: &Lanes<'_>) -> u32 {
    let words = |address: u64| address / 4..=(address + u64::from(lanes.bytes) - 1) / 4;
    if let Pattern::Same { address } = lanes.pattern {
        let octets = (0..4).filter(|octet| lanes.mask >> (8 * octet) & 0xFF != 0);
        return (octets.count() * words(address).count()) as u32;
    }
    // A lane reaches eight words at most.
    let mut distinct = Distinct::<512>::new();
    for (lane, address) in lanes.each() {
        for word in words(address) {
            distinct.insert(word * 4 + u64::from(lane / 8));
        }
    }
    distinct.count()
}

/// The fewest sectors that hold so many bytes of lanes.
pub(super) fn least(lanes: &Lanes<'_>) -> u32 {
    (lanes.mask.count_ones() * lanes.bytes).div_ceil(SECTOR as u32)
}

/// Whether the active lanes are one behind another.
fn is_gapless(mask: u32) -> bool {
    let shifted = mask >> mask.trailing_zeros();
    shifted & shifted.wrapping_add(1) == 0
}

/// The distance between active lanes that are neighbours, if all of them have the same; none of one lane.
#[inline(always)]
pub(super) fn stride(lanes: &Lanes<'_>) -> Option<i64> {
    let pairs = lanes.mask & lanes.mask >> 1;
    if pairs == 0 {
        return None;
    }
    let first = pairs.trailing_zeros() as usize;
    let of = |lane: usize| lanes.addresses[lane + 1].wrapping_sub(lanes.addresses[lane]);
    let stride = of(first);
    // Without a branch, so that it takes a few vector instructions.
    let differs = (0..LANES - 1).fold(0, |differs, lane| {
        let counts = u64::from(pairs >> lane & 1).wrapping_neg();
        differs | (of(lane) ^ stride) & counts
    });
    (differs == 0).then_some(stride as i64)
}
