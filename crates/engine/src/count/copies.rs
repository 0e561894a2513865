//! Copies of many bytes, which one thread begins.

use super::SECTOR;
use super::footprint::Way;
use super::tally::{self, Function, Tally};
use crate::check::Part;

/// A copy between global memory and shared memory of one block or more.
pub(crate) struct Copied<'a> {
    /// Which copy of the function, and of which instruction.
    pub(crate) copy: usize,
    pub(crate) instruction: u32,
    /// The access to global memory.
    pub(crate) way: Way,
    pub(crate) parts: &'a [Part],
    /// How many blocks' shared memory it fills or reads.
    pub(crate) blocks: u64,
    /// Where the allocation begins, in global memory.
    pub(crate) start: u64,
}

impl Tally {
    /// A thread copies. A part that is outside of a tensor moves no byte of global memory. Passes through the
    /// banks of shared memory are not counted: which they are is the asynchronous proxy's.
    pub(crate) fn copy(&mut self, program: &impl Function, copied: &Copied<'_>) {
        let own = &mut self.own;
        let [global, shared] =
            &mut tally::of(self.scope, &mut self.functions, program).copies[copied.copy];
        (global.instruction, shared.instruction) = (copied.instruction, copied.instruction);
        let bytes = |it: &Part| u64::from(it.bytes);
        let all: u64 = copied.parts.iter().map(bytes).sum();
        shared.requests += copied.blocks;
        shared.bytes += copied.blocks * all;
        let inside = copied.parts.iter().filter(|it| it.global.is_some());
        let inside: u64 = inside.map(bytes).sum();
        if inside == 0 {
            return;
        }
        global.requests += 1;
        global.bytes += inside;
        global.least_sectors += inside.div_ceil(SECTOR);
        for (first, last) in sectors(copied.parts, copied.start % SECTOR) {
            global.sectors += last - first + 1;
            global.new_sectors += u64::from(own.reach(first, last, copied.way));
        }
    }
}

/// Distinct sectors of global memory, as ranges from the first to the last, which begin `bias` bytes behind
/// multiples of 32.
fn sectors(parts: &[Part], bias: u64) -> Vec<(u64, u64)> {
    let sector = |address: u64| address.wrapping_sub(bias) / SECTOR;
    let range = |part: &Part| {
        let first = part.global?;
        Some((sector(first), sector(first + u64::from(part.bytes) - 1)))
    };
    let mut all: Vec<(u64, u64)> = parts.iter().filter_map(range).collect();
    all.sort_unstable();
    all.dedup_by(|next, range| {
        let goes_on = next.0 <= range.1 + 1;
        if goes_on {
            range.1 = range.1.max(next.1);
        }
        goes_on
    });
    all
}
