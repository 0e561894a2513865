//! Passes through the banks of shared memory.
//!
//! 32 banks of 4 bytes. Accesses of 4 bytes and less pass at once, those of 8 by half-warps, those of 16 by
//! quarter-warps, unless lanes share words: see [`goes_together`]. A pass takes as many wavefronts as there
//! are distinct words in one bank at most.

use super::distinct::Distinct;
use crate::memory::{Lanes, Pattern};

const BANKS: usize = 32;

/// The cost of an access, in wavefronts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wavefronts {
    pub(super) all: u32,
    /// Those that it would take if no two words were in one bank.
    pub(super) least: u32,
}

/// Of loads and stores: lanes that reach one word do so together.
pub(super) fn of_access(lanes: &Lanes<'_>) -> Wavefronts {
    // Each word of those is in a bank of its own, or there is but one.
    let is_regular = lanes.pattern != Pattern::Any;
    if is_regular && lanes.bytes <= 4 || lanes.mask.is_power_of_two() {
        return Wavefronts { all: 1, least: 1 };
    }
    if let (Pattern::Consecutive { .. }, u32::MAX) = (lanes.pattern, lanes.mask) {
        let passes = lanes.bytes.div_ceil(4);
        return Wavefronts {
            all: passes,
            least: passes,
        };
    }
    let mut sum = Wavefronts::default();
    for mask in passes(lanes) {
        sum.all += distinct_in_a_bank(lanes, mask);
        sum.least += 1;
    }
    sum
}

/// Of atomics: lanes that reach one word do so one after another.
pub(super) fn of_atomic(lanes: &Lanes<'_>) -> Wavefronts {
    let mut sum = Wavefronts::default();
    for mask in passes(lanes) {
        let mut banks = [0; BANKS];
        for (_, address) in within(lanes, mask) {
            words(address, lanes.bytes).for_each(|word| banks[bank(word)] += 1);
        }
        sum.all += banks.into_iter().max().unwrap_or(0);
        sum.least += 1;
    }
    sum
}

/// The lanes of each pass.
fn passes(lanes: &Lanes<'_>) -> impl Iterator<Item = u32> {
    let part = |part: u32, width: u32| (u32::MAX >> (32 - width)) << (part * width) & lanes.mask;
    let halves = [part(0, 16), part(1, 16)];
    let quarters = [part(0, 8), part(1, 8), part(2, 8), part(3, 8)];
    let of_half = |half: usize| match goes_together(lanes, halves[half]) {
        true => [halves[half], 0],
        false => [quarters[2 * half], quarters[2 * half + 1]],
    };
    let all = match lanes.bytes {
        0..=4 => [lanes.mask, 0, 0, 0],
        5..=8 if goes_together(lanes, lanes.mask) => [lanes.mask, 0, 0, 0],
        5..=8 => [halves[0], halves[1], 0, 0],
        _ => {
            let ([a, b], [c, d]) = (of_half(0), of_half(1));
            [a, b, c, d]
        }
    };
    all.into_iter().filter(|&mask| mask != 0)
}

/// Whether two passes become one: each lane's neighbour, or each one's next but one, reaches the same
/// address or is inactive.
fn goes_together(lanes: &Lanes<'_>, mask: u32) -> bool {
    [1, 2].into_iter().any(|step| {
        within(lanes, mask).all(|(lane, address)| {
            let other = lane ^ step;
            mask >> other & 1 == 0 || lanes.addresses[other as usize] == address
        })
    })
}

fn within(lanes: &Lanes<'_>, mask: u32) -> impl Iterator<Item = (u32, u64)> {
    Lanes { mask, ..*lanes }.each()
}

fn words(address: u64, bytes: u32) -> impl Iterator<Item = u64> {
    address / 4..=(address + u64::from(bytes) - 1) / 4
}

fn bank(word: u64) -> usize {
    word as usize % BANKS
}

fn distinct_in_a_bank(lanes: &Lanes<'_>, mask: u32) -> u32 {
    // 32 lanes pass with two words at most, 16 with eight.
    let mut distinct = Distinct::<256>::new();
    let mut banks = [0; BANKS];
    for (_, address) in within(lanes, mask) {
        for word in words(address, lanes.bytes) {
            banks[bank(word)] += u32::from(distinct.insert(word));
        }
    }
    banks.into_iter().max().unwrap_or(0)
}
