//! The releases of strong writes, and the knowledge of threads that observe them.
//!
//! Per address and group of threads there is a chain: the writes that a read of that group would
//! observe, of which each but the first is an atomic operation on what the one before wrote. Who
//! acquires a chain knows its first so many writes, so that what a thread knows is a few numbers.

use std::collections::VecDeque;
use std::sync::Arc;

use super::hash::Map;

/// The part of its block's past that a release shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    /// Everything of the block before its last barrier.
    pub(super) barrier: u32,
    /// Of one warp everything before it last met,
    pub(super) warp: u32,
    pub(super) sync: u32,
    /// and what some lanes of it did,
    pub(super) mask: u32,
    /// from a time on
    pub(super) from: u32,
    /// until before another.
    pub(super) time: u32,
}

impl Past {
    fn has(&self, thread: u32, epoch: u32) -> bool {
        let lane_time = if self.mask >> (thread % 32) & 1 == 1 {
            self.time
        } else {
            0
        };
        epoch < self.barrier
            || (thread / 32 == self.warp
                && (epoch < self.sync || self.from <= epoch && epoch < lane_time))
    }
}

/// How much of which chains is known. By rising chain.
type Known = Vec<(u32, u32)>;

/// A thread's knowledge beyond its block's barriers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// Chains of which it knows all that was released.
    acquired: Known,
    /// Chains of which it has observed the writes themselves.
    observed: Known,
}

impl View {
    pub(super) fn is_empty(&self) -> bool {
        self.acquired.is_empty() && self.observed.is_empty()
    }

    pub(super) fn join(&mut self, other: &View) {
        join(&mut self.acquired, &other.acquired);
        join(&mut self.observed, &other.observed);
    }

    /// Leaves these chains out.
    pub(super) fn forget(&mut self, chains: &[u32]) {
        self.acquired.retain(|(chain, _)| !chains.contains(chain));
        self.observed.retain(|(chain, _)| !chains.contains(chain));
    }

    /// Forgets the chains that have ended.
    pub(super) fn keep(&mut self, chains: &Chains) {
        self.acquired.retain(|(chain, _)| chains.has(*chain));
        self.observed.retain(|(chain, _)| chains.has(*chain));
    }

    pub(super) fn observe(&mut self, chain: u32, len: u32) {
        join(&mut self.observed, &[(chain, len)]);
    }
}

fn join(known: &mut Known, other: &[(u32, u32)]) {
    for &(chain, len) in other {
        match known.binary_search_by_key(&chain, |known| known.0) {
            Ok(at) => known[at].1 = known[at].1.max(len),
            Err(at) => known.insert(at, (chain, len)),
        }
    }
}

/// A release: by whom, of what.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) past: Past,
    pub(super) view: Arc<View>,
}

/// A write as others know it: the block's number, the thread, the time.
pub(super) type Write = (u32, u32, u32);

#[derive(Debug, Default)]
struct Chain {
    len: u32,
    /// When it last grew.
    grew: u32,
    /// Releases, each with the length of the chain at which it is known.
    releases: Vec<(u32, u32, Past)>,
    /// Of each block, which releases.
    by_block: Map<u32, Vec<u32>>,
    /// The releasers' knowledge, all together, from a length on.
    views: Vec<(u32, Arc<View>)>,
    writes: Map<Write, u32>,
}

/// Writes that are remembered for each chain; beyond that all count as observed.
const WRITES: usize = 1 << 14;

/// All chains of a device.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// The number of the first that is kept.
    first: u32,
    kept: VecDeque<Option<Box<Chain>>>,
}

impl Chains {
    pub(super) fn begin(&mut self) -> u32 {
        self.kept.push_back(None);
        self.first + self.kept.len() as u32 - 1
    }

    /// Ends a chain: everybody who may know it knows all of it otherwise.
    pub(super) fn end(&mut self, chain: u32) {
        if let Some(chain) = self.slot(chain) {
            *chain = None;
        }
    }

    /// Ends those that have not grown since a time before which everything is before everything to come.
    pub(super) fn end_before(&mut self, floor: u32) {
        for chain in &mut self.kept {
            chain.take_if(|chain| chain.grew < floor);
        }
        while let Some(None) = self.kept.front() {
            self.kept.pop_front();
            self.first += 1;
        }
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.kept.len()
    }

    /// Whether something has been said in a chain that has not ended.
    pub(super) fn has(&self, chain: u32) -> bool {
        self.get(chain).is_some()
    }

    fn slot(&mut self, chain: u32) -> Option<&mut Option<Box<Chain>>> {
        self.kept.get_mut(chain.checked_sub(self.first)? as usize)
    }

    fn get(&self, chain: u32) -> Option<&Chain> {
        self.kept
            .get(chain.checked_sub(self.first)? as usize)?
            .as_deref()
    }

    /// # Panics
    /// The chain was ended by [`Chains::end_before`], which is told of those that may grow.
    fn grow(&mut self, chain: u32, now: u32) -> &mut Chain {
        let chain = self.slot(chain).expect("it has not ended");
        let chain = chain.get_or_insert_default();
        chain.grew = chain.grew.max(now);
        chain
    }

    pub(super) fn len(&self, chain: u32) -> u32 {
        self.get(chain).map_or(0, |chain| chain.len)
    }

    /// Adds a release of a block.
    pub(super) fn release(&mut self, chain: u32, block: u32, head: &Head) {
        let index = chain;
        let past = &head.past;
        let chain = self.grow(chain, past.time.max(past.sync).max(past.barrier));
        chain.len += 1;
        let release = chain.releases.len() as u32;
        chain.releases.push((chain.len, block, head.past));
        chain.by_block.entry(block).or_default().push(release);
        let before = chain.views.last().map(|(_, view)| view.clone());
        let mut view = before.as_deref().cloned().unwrap_or_default();
        view.join(&head.view);
        // What it knows of this chain everybody knows who knows so much of it.
        view.acquired.retain(|(other, _)| *other != index);
        if before.as_deref() != Some(&view) {
            chain.views.push((chain.len, Arc::new(view)));
        }
    }

    /// Adds a write, whatever it releases.
    pub(super) fn write(&mut self, chain: u32, write: Write) {
        let chain = self.grow(chain, write.2);
        if chain.writes.len() < WRITES {
            chain.len += 1;
            chain.writes.entry(write).or_insert(chain.len);
        }
    }

    /// The view knows now what was released in the first so much of a chain.
    pub(super) fn acquire(&self, view: &mut View, chain: u32, len: u32) {
        join(&mut view.acquired, &[(chain, len)]);
        let Some(Chain { views, .. }) = self.get(chain) else {
            return;
        };
        let known = views.partition_point(|(from, _)| *from <= len);
        if let Some((_, released)) = known.checked_sub(1).and_then(|at| views.get(at)) {
            view.join(released);
        }
    }

    /// Whether the view knows what a thread of a block did at a time.
    pub(super) fn knows(&self, view: &View, block: u32, thread: u32, epoch: u32) -> bool {
        view.acquired.iter().any(|&(chain, len)| {
            let Some(chain) = self.get(chain) else {
                return false;
            };
            chain.by_block.get(&block).is_some_and(|releases| {
                releases.iter().rev().any(|&release| {
                    let (at, _, past) = chain.releases[release as usize];
                    at <= len && past.has(thread, epoch)
                })
            })
        })
    }

    /// The numbers of the blocks of whom the view knows a release.
    pub(super) fn releasers(&self, view: &View) -> impl Iterator<Item = u32> {
        let known = view.acquired.iter();
        let known = known.filter_map(|&(chain, len)| Some((self.get(chain)?, len)));
        known.flat_map(|(chain, len)| {
            let blocks = chain.by_block.iter();
            let has_known = move |of: &[u32]| {
                let first = of.first().and_then(|it| chain.releases.get(*it as usize));
                first.is_some_and(|(at, ..)| *at <= len)
            };
            blocks.filter_map(move |(block, of)| has_known(of).then_some(*block))
        })
    }

    /// Whether the view has observed a strong write.
    pub(super) fn has_observed(&self, view: &View, write: Write) -> bool {
        view.observed.iter().any(|&(chain, len)| {
            let Some(chain) = self.get(chain) else {
                return false;
            };
            chain.writes.len() >= WRITES || chain.writes.get(&write).is_some_and(|at| *at <= len)
        })
    }
}
