//! The sectors of one access of a warp.

use super::SECTOR;
use super::distinct::Distinct;
use crate::memory::{LANES, Lanes, Pattern};

/// Calls `reach` with the first and the last sector of ranges that cover what lanes reach, each sector at
/// least once, and gives how many distinct ones there are. Sectors begin `bias` bytes behind multiples of 32.
pub(super) fn of_global(lanes: &Lanes<'_>, bias: u64, mut reach: impl FnMut(u64, u64)) -> u32 {
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
        reach(first, last);
        return (last - first + 1) as u32;
    }
    each(lanes, sector, reach)
}

/// The same lane by lane: neighbours that share sectors, or go on, are one range.
fn each(lanes: &Lanes<'_>, sector: impl Fn(u64) -> u64, mut reach: impl FnMut(u64, u64)) -> u32 {
    let bytes = u64::from(lanes.bytes);
    let (mut ranges, mut len) = ([(0u64, 0u64); LANES], 0);
    let (mut count, mut rises, mut falls) = (0, true, true);
    for (_, address) in lanes.each() {
        let (first, last) = (sector(address), sector(address + bytes - 1));
        if len > 0 {
            let range = &mut ranges[len - 1];
            if first >= range.0 && first <= range.1 + 1 {
                // It may have come to one before it that lies above.
                falls &= last <= range.1 || len == 1;
                range.1 = range.1.max(last);
                continue;
            }
            rises &= first > range.1;
            falls &= last < range.0;
        }
        ranges[len] = (first, last);
        len += 1;
    }
    for &(first, last) in &ranges[..len] {
        reach(first, last);
        count += (last - first + 1) as u32;
    }
    if rises || falls {
        return count;
    }
    // A lane reaches two at most.
    let mut distinct = Distinct::<128>::new();
    for &(first, last) in &ranges[..len] {
        for sector in first..=last {
            distinct.insert(sector);
        }
    }
    distinct.count()
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
pub(super) fn stride(lanes: &Lanes<'_>) -> Option<i64> {
    let pairs = lanes.mask & lanes.mask >> 1;
    if pairs == 0 {
        return None;
    }
    let first = pairs.trailing_zeros() as usize;
    let of = |lane: usize| lanes.addresses[lane + 1].wrapping_sub(lanes.addresses[lane]);
    let stride = of(first);
    let differs = (0..LANES - 1).any(|lane| pairs >> lane & 1 != 0 && of(lane) != stride);
    (!differs).then_some(stride as i64)
}
