//! Writes that lanes have seen by relaxed reads: known to each at once, and taken into its knowledge when that is asked for.

use std::sync::Arc;

use super::chains::Write;
use super::clock::{Clock, lanes};
use super::epochs::Epochs;
use super::strong::Group;

/// A relaxed read by lanes of a warp, one after the other: how much of a chain each of them saw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) mask: u32,
    pub(super) group: Group,
    pub(super) chain: u32,
    /// As much as the first lane saw.
    pub(super) first: u32,
    /// As much as the second would have seen before the first one wrote, and by how much each has made the chain longer.
    pub(super) next: u32,
    pub(super) step: u32,
    /// Whether the writes of the chain are to be remembered, and whether what was released in it is.
    pub(super) is_observed: bool,
    pub(super) has_releases: bool,
}

impl Seen {
    fn of(&self, lane: u32) -> Option<u32> {
        let before = (self.mask & ((1 << lane) - 1)).count_ones();
        (self.mask >> lane & 1 == 1).then_some(match before {
            0 => self.first,
            _ => self.next + before * self.step,
        })
    }
}

/// Reads that are remembered of a warp before they are taken into its lanes' knowledge.
const KEPT: usize = if cfg!(test) { 2 } else { 64 };

impl Clock {
    pub(super) fn remember(&mut self, warp: u32, seen: Seen) {
        let all = &mut self.just_seen[warp as usize];
        // Whoever waits reads one place again and again, of which there is a chain for each group.
        let again = all.iter_mut().rev().take(4);
        let mut again = again.filter(|it| (it.mask, it.chain) == (seen.mask, seen.chain));
        if seen.mask.is_power_of_two()
            && let Some(known) = again.next()
        {
            *known = seen;
            return;
        }
        all.push(seen);
        if all.len() >= KEPT {
            self.learn_seen(warp);
        }
    }

    /// Takes what lanes of a warp have seen into their knowledge.
    pub(super) fn learn_seen(&mut self, warp: u32) {
        let mut all = match self.just_seen.get_mut(warp as usize) {
            Some(all) if !all.is_empty() => std::mem::take(all),
            _ => return,
        };
        for seen in &all {
            for thread in lanes(warp, seen.mask) {
                let Some(len) = seen.of(thread % 32) else {
                    continue;
                };
                if seen.is_observed {
                    let view = Arc::make_mut(self.views.entry(thread).or_default());
                    view.observe(seen.chain, len);
                }
                if !seen.has_releases {
                    continue;
                }
                let known = self.seen.entry(thread).or_default();
                match known.iter_mut().find(|it| it.1 == seen.chain) {
                    Some(known) => known.2 = known.2.max(len),
                    None => known.push((seen.group, seen.chain, len)),
                }
            }
        }
        all.clear();
        self.just_seen[warp as usize] = all;
    }

    pub(super) fn learn_all_seen(&mut self) {
        (0..self.just_seen.len()).for_each(|warp| self.learn_seen(warp as u32));
    }

    /// Whether a thread has seen a strong write by a relaxed read, of those not yet in its knowledge.
    pub(super) fn has_just_seen(&self, world: &Epochs, thread: u32, write: Write) -> bool {
        let all = self.just_seen.get(thread as usize / 32);
        all.into_iter().flatten().any(|seen| {
            let len = seen.of(thread % 32).filter(|_| seen.is_observed);
            len.is_some_and(|len| world.chains.has_within(seen.chain, len, write))
        })
    }
}
