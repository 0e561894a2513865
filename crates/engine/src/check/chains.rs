//! The releases of strong writes, and the knowledge of threads that observe them.
//!
//! Per address and group of threads there is a chain: the writes that a read of that group would
//! observe, of which each but the first is an atomic operation on what the one before wrote. Who
//! acquires a chain knows its first so many writes, so that what a thread knows is a few numbers.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::hash::Map;
use super::writes::Writes;

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
    /// Whether a lane did something at a time after the warp last met.
    fn has(&self, lane: u32, epoch: u32) -> bool {
        self.mask >> lane & 1 == 1 && self.from <= epoch && epoch < self.time
    }
}

/// The greatest of some times that are known from each length of a chain on.
#[derive(Debug, Default)]
struct Greatest(Vec<(u32, u32)>);

impl Greatest {
    fn add(&mut self, len: u32, time: u32) {
        if self.0.last().is_none_or(|(_, greatest)| *greatest < time) {
            self.0.push((len, time));
        }
    }

    /// Of those that are known at a length.
    fn at(&self, len: u32) -> u32 {
        let known = self.0.partition_point(|(from, _)| *from <= len);
        known.checked_sub(1).map_or(0, |last| self.0[last].1)
    }
}

/// The releases of a block in a chain.
#[derive(Debug, Default)]
struct Releases {
    /// The length at which the first is known.
    first: Option<u32>,
    /// Everything of the block before these times.
    barriers: Greatest,
    warps: Map<u32, WarpReleases>,
}

#[derive(Debug, Default)]
struct WarpReleases {
    /// Everything of the warp before these times.
    syncs: Greatest,
    /// Everything of one lane before these.
    lanes: Map<u32, Greatest>,
    /// Of several lanes, or from a time on: each with the length at which it is known.
    all: Vec<(u32, Past)>,
}

impl Releases {
    fn add(&mut self, len: u32, past: &Past) {
        self.first.get_or_insert(len);
        self.barriers.add(len, past.barrier);
        let of_warp = self.warps.entry(past.warp).or_default();
        of_warp.syncs.add(len, past.sync);
        if past.mask.is_power_of_two() && past.from == 0 {
            let lane = past.mask.trailing_zeros();
            of_warp.lanes.entry(lane).or_default().add(len, past.time);
        } else {
            of_warp.all.push((len, *past));
        }
    }

    /// Whether those known at a length show what a thread did at a time.
    fn show(&self, len: u32, thread: u32, epoch: u32) -> bool {
        let of_warp = || {
            let Some(of_warp) = self.warps.get(&(thread / 32)) else {
                return false;
            };
            let lane = of_warp.lanes.get(&(thread % 32));
            let known = of_warp.all.partition_point(|(at, _)| *at <= len);
            let mut known = of_warp.all[..known].iter().rev();
            epoch < of_warp.syncs.at(len)
                || lane.is_some_and(|times| epoch < times.at(len))
                || known.any(|(_, past)| past.has(thread % 32, epoch))
        };
        epoch < self.barriers.at(len) || of_warp()
    }
}

/// How much of which chains is known. By rising chain.
type Known = Vec<(u32, u32)>;

/// A thread's knowledge beyond its block's barriers.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    /// Chains of which it knows all that was released.
    acquired: Known,
    /// Chains of which it has observed the writes themselves.
    observed: Known,
    /// Another one whenever its knowledge changes: views of equal stamps know the same. That of nothing is 0.
    stamp: u64,
}

impl PartialEq for View {
    fn eq(&self, other: &View) -> bool {
        self.stamp == other.stamp
            || (&self.acquired, &self.observed) == (&other.acquired, &other.observed)
    }
}

/// Returns a stamp that no view has.
fn stamp() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl View {
    pub(super) fn is_empty(&self) -> bool {
        self.acquired.is_empty() && self.observed.is_empty()
    }

    pub(super) fn join(&mut self, other: &View) {
        let has_more = join(&mut self.acquired, &other.acquired);
        if join(&mut self.observed, &other.observed) || has_more {
            self.stamp = stamp();
        }
    }

    /// Whether it has all of another, what that knows of one chain aside.
    fn has(&self, other: &View, aside: u32) -> bool {
        has(&self.acquired, &other.acquired, Some(aside))
            && has(&self.observed, &other.observed, None)
    }

    /// Leaves these chains out.
    pub(super) fn forget(&mut self, chains: &[u32]) {
        self.stamp = stamp();
        self.acquired.retain(|(chain, _)| !chains.contains(chain));
        self.observed.retain(|(chain, _)| !chains.contains(chain));
    }

    /// Forgets the chains that have ended.
    pub(super) fn keep(&mut self, chains: &Chains) {
        self.stamp = stamp();
        self.acquired.retain(|(chain, _)| chains.has(*chain));
        self.observed.retain(|(chain, _)| chains.has(*chain));
    }

    pub(super) fn observe(&mut self, chain: u32, len: u32) {
        if join(&mut self.observed, &[(chain, len)]) {
            self.stamp = stamp();
        }
    }
}

/// Adds what another knows. Whether that is something new.
fn join(known: &mut Known, other: &[(u32, u32)]) -> bool {
    let mut is_new = false;
    for &(chain, len) in other {
        match known.binary_search_by_key(&chain, |known| known.0) {
            Ok(at) if known[at].1 >= len => continue,
            Ok(at) => known[at].1 = len,
            Err(at) => known.insert(at, (chain, len)),
        }
        is_new = true;
    }
    is_new
}

fn has(known: &Known, other: &Known, aside: Option<u32>) -> bool {
    let mut rest = known.iter();
    let mut needed = other.iter().filter(|it| Some(it.0) != aside);
    needed.all(|(chain, len)| {
        let found = rest.find(|it| it.0 >= *chain);
        found.is_some_and(|it| it.0 == *chain && it.1 >= *len)
    })
}

/// A release: by whom, of what.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) past: Past,
    pub(super) view: Arc<View>,
}

/// A write as others know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Write {
    pub(super) thread: u32,
    /// Of the thread's block alone.
    pub(super) epoch: u32,
    /// The address, by which one is told apart from others of the thread at that time.
    pub(super) place: u64,
}

/// The chains of an address grow together: each but the widest has its lengths, and its writes, from that.
#[derive(Debug, Default)]
struct Chain {
    /// The widest chain of its address, unless it is that itself, and the length of that when this one began.
    root: Option<(u32, u32)>,
    len: u32,
    /// When it last grew.
    grew: u32,
    /// By block.
    releases: Map<u32, Releases>,
    /// The releasers' knowledge, all together, from a length on.
    views: Vec<(u32, Arc<View>)>,
    writes: Writes,
}

/// All chains of a device.
#[derive(Debug, Default)]
pub(super) struct Chains {
    /// The number of the first that is kept.
    first: u32,
    kept: VecDeque<Option<Box<Chain>>>,
    answers: Answers,
}

/// The last answers to whether a view knows what a thread did at a time: accesses of a thread ask the same again and again.
#[derive(Debug)]
struct Answers(Box<[Cell<(Asked, bool)>]>);

/// A view's stamp, a time, which is of one block alone, and a thread.
type Asked = (u64, u32, u32);

impl Default for Answers {
    fn default() -> Answers {
        Answers(vec![Cell::default(); 1 << 12].into())
    }
}

impl Answers {
    fn get(&self, asked: Asked, compute: impl FnOnce() -> bool) -> bool {
        let (stamp, epoch, thread) = asked;
        let mixed = (stamp ^ u64::from(epoch) << 20 ^ u64::from(thread) << 40)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = &self.0[(mixed >> 52) as usize];
        match place.get() {
            (known, answer) if known == asked => answer,
            _ => {
                let answer = compute();
                place.set((asked, answer));
                answer
            }
        }
    }
}

impl Chains {
    /// Begins a chain, of an address whose widest one is `root`, or which is that itself.
    pub(super) fn begin(&mut self, root: Option<u32>) -> u32 {
        self.kept.push_back(root.map(|root| {
            Box::new(Chain {
                root: Some((root, self.len(root))),
                ..Chain::default()
            })
        }));
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

    /// Makes a chain one longer.
    fn lengthen(&mut self, chain: u32, now: u32) -> &mut Chain {
        let root = self.get(chain).and_then(|it| it.root);
        let len = root.map(|(root, _)| {
            let root = self.grow(root, now);
            root.len += 1;
            root.len
        });
        let chain = self.grow(chain, now);
        chain.len = len.unwrap_or(chain.len + 1);
        chain
    }

    /// Whether anything was released in a chain.
    pub(super) fn has_releases(&self, chain: u32) -> bool {
        self.get(chain).is_some_and(|it| !it.releases.is_empty())
    }

    pub(super) fn len(&self, chain: u32) -> u32 {
        self.get(chain).map_or(0, |chain| chain.len)
    }

    /// Adds a release of a block.
    pub(super) fn release(&mut self, chain: u32, block: u32, head: &Head) {
        let index = chain;
        let past = &head.past;
        let chain = self.lengthen(chain, past.time.max(past.sync).max(past.barrier));
        let releases = chain.releases.entry(block).or_default();
        releases.add(chain.len, past);
        // What it knows of this chain everybody knows who knows so much of it.
        let view = match chain.views.last() {
            Some((_, before)) if before.has(&head.view, index) => return,
            Some((_, before)) if !head.view.has(before, index) => {
                let mut view = View::clone(before);
                view.join(&head.view);
                Arc::new(view)
            }
            _ => head.view.clone(),
        };
        chain.views.push((chain.len, view));
    }

    /// Adds a write, whatever it releases. The widest chain of the address comes first.
    pub(super) fn write(&mut self, chain: u32, write: Write) {
        match self.get(chain).and_then(|it| it.root) {
            Some((root, _)) => {
                let len = self.len(root);
                self.grow(chain, write.epoch).len = len;
            }
            None => {
                let chain = self.lengthen(chain, write.epoch);
                chain.writes.add(write, chain.len);
            }
        }
    }

    /// The view knows now what was released in the first so much of a chain.
    pub(super) fn acquire(&self, view: &mut View, chain: u32, len: u32) {
        if join(&mut view.acquired, &[(chain, len)]) {
            view.stamp = stamp();
        }
        let Some(Chain { views, .. }) = self.get(chain) else {
            return;
        };
        let known = views.partition_point(|(from, _)| *from <= len);
        if let Some((_, released)) = known.checked_sub(1).and_then(|at| views.get(at)) {
            view.join(released);
        }
    }

    /// Whether the view knows what a thread of a block did at a time, which is that block's.
    pub(super) fn knows(&self, view: &View, block: u32, thread: u32, epoch: u32) -> bool {
        let mut acquired = view.acquired.iter();
        let compute = || {
            acquired.any(|&(chain, len)| {
                let Some(chain) = self.get(chain) else {
                    return false;
                };
                let releases = chain.releases.get(&block);
                releases.is_some_and(|it| it.show(len, thread, epoch))
            })
        };
        match view.acquired.is_empty() {
            true => false,
            false => self.answers.get((view.stamp, epoch, thread), compute),
        }
    }

    /// The numbers of the blocks of whom the view knows a release.
    pub(super) fn releasers(&self, view: &View) -> impl Iterator<Item = u32> {
        let known = view.acquired.iter();
        let known = known.filter_map(|&(chain, len)| Some((self.get(chain)?, len)));
        known.flat_map(|(chain, len)| {
            let blocks = chain.releases.iter();
            let is_known = move |of: &Releases| of.first.is_some_and(|at| at <= len);
            blocks.filter_map(move |(block, of)| is_known(of).then_some(*block))
        })
    }

    /// Whether the view has observed a strong write.
    pub(super) fn has_observed(&self, view: &View, write: Write) -> bool {
        let mut observed = view.observed.iter();
        observed.any(|&(chain, len)| self.has_within(chain, len, write))
    }

    /// Whether a strong write is one of the first so much of a chain.
    pub(super) fn has_within(&self, chain: u32, len: u32, write: Write) -> bool {
        let Some(chain) = self.get(chain) else {
            return false;
        };
        match chain.root {
            None => chain.writes.has(write, 0, len),
            Some((root, from)) => {
                let root = self.get(root);
                root.is_some_and(|root| root.writes.has(write, from, len))
            }
        }
    }
}
