//! One cell and one thread's access, with everything that is known.

use super::access::{AccessKind, Scope};
use super::clock::Clock;
use super::epochs::Epochs;
use super::hash::Map;
use super::line::{
    ANCIENT, LANE, Line, NEVER, PENDING, SET, SEVERAL, SITE, SITE_SHIFT, STRONG, THREAD, WARP,
};
use super::sets::{ALIKE_DEPTH, DEPTH, Entry, Sets, Strong};
use super::sites::Sites;
use crate::finding_kind::{FindingKind, RaceReason};

/// An earlier access with which an access conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Before {
    pub(super) epoch: u32,
    pub(super) thread: u32,
    pub(super) site: u32,
    pub(super) is_exact: bool,
    pub(super) kind: Wrong,
}

/// The kinds of findings between two accesses. Smaller than [`FindingKind`], so that what is judged at each access fits two
/// registers of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Race(RaceReason),
    EqualStores,
    WaitBeforeInval,
    ArrivalBeforeInval,
    PendingCopy,
    NoProxyFence,
    UnfencedMbarrier,
    PendingProduct,
    EarlyRegister,
    UnfencedRegister,
    ReadOnlyLoad,
}

const _: () = assert!(size_of::<Option<Before>>() == 16);

impl From<Wrong> for FindingKind {
    fn from(wrong: Wrong) -> FindingKind {
        match wrong {
            Wrong::Race(reason) => FindingKind::Race { reason },
            Wrong::EqualStores => FindingKind::EqualStores,
            Wrong::WaitBeforeInval => FindingKind::WaitBeforeInval,
            Wrong::ArrivalBeforeInval => FindingKind::ArrivalBeforeInval,
            Wrong::PendingCopy => FindingKind::PendingCopy,
            Wrong::NoProxyFence => FindingKind::NoProxyFence,
            Wrong::UnfencedMbarrier => FindingKind::UnfencedMbarrier,
            Wrong::PendingProduct => FindingKind::PendingProduct,
            Wrong::EarlyRegister => FindingKind::EarlyRegister,
            Wrong::UnfencedRegister => FindingKind::UnfencedRegister,
            Wrong::ReadOnlyLoad => FindingKind::ReadOnlyLoad,
        }
    }
}

/// One thread's access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) thread: u32,
    /// The address of its bytes in a cell, and the space that it is of.
    pub(super) place: u64,
    pub(super) what: AccessKind,
    pub(super) element_bytes: u32,
    /// By number.
    pub(super) site: u32,
}

/// The facts by which the order of accesses is judged.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a> {
    pub(super) world: &'a Epochs,
    pub(super) clock: &'a Clock,
    pub(super) sites: &'a Sites,
    /// Everything before is in order.
    pub(super) floor: u32,
    /// Bytes written before this time count as unwritten.
    pub(super) unwritten: u32,
    /// The time that an initialisation by a strong write gets.
    pub(super) initial: u32,
}

/// The newest accesses among which one of the same warp is looked for.
const SEARCHED: usize = if cfg!(test) { 3 } else { 32 };
/// Each time so many accesses are remembered, those that others stand for are forgotten.
const SWEPT: u32 = if cfg!(test) { 4 } else { 64 };

/// The accesses since the last write, the oldest first, of those from a time on.
pub(super) fn entries(line: &Line, cell: usize, sets: &Sets, floor: u32) -> Vec<Entry> {
    let (epoch, who, mask) = (line.re[cell], line.rt[cell], line.rm[cell]);
    if epoch == NEVER || epoch < floor {
        return Vec::new();
    }
    if who & SET == 0 {
        return vec![Entry { epoch, who, mask }];
    }
    if !sets.has(epoch) {
        let (who, mask) = (who & !SET, 1 << (who & 31));
        return vec![Entry { epoch, who, mask }];
    }
    let mut entries = Vec::new();
    let mut rest = mask;
    while let Some((entry, parent)) = sets.top_of(rest, who) {
        entries.push(entry);
        rest = parent;
    }
    entries.reverse();
    entries
}

impl Judge<'_> {
    /// Whether the bytes of a cell have been written.
    pub(super) fn is_written(&self, line: &Line, cell: usize) -> bool {
        line.we[cell] >= self.unwritten
    }

    /// Remembers the access; gives one that it races with.
    pub(super) fn touch(
        &self,
        line: &mut Line,
        cell: usize,
        sets: &mut Sets,
        touch: &Touch,
    ) -> Option<Before> {
        if let Some(before) = self.after_write(line, cell, touch)
            && !self.has_written_too(line, cell, sets, touch)
        {
            return Some(before);
        }
        if self.is_repeated(line, cell, sets, touch) {
            return None;
        }
        let is_weak_read = touch.what.strong().is_none() && !touch.what.writes();
        if (is_weak_read && self.read_on_top(line, cell, sets, touch))
            || self.update_on_top(line, cell, sets, (touch, 1 << (touch.thread % 32)))
        {
            return None;
        }
        let is_weak_write = touch.what.strong().is_none() && touch.what.writes();
        if is_weak_write && self.is_before_barrier(line, cell, sets) {
            self.write(line, cell, touch);
            return None;
        }
        let mut entries = self.entries(line, cell, sets);
        let found = entries.iter().find_map(|entry| {
            let before = self.conflict(entry, touch)?;
            (!self.reads_own(entry, &entries, touch)).then_some(before)
        });
        if found.is_some() {
            return found;
        }
        if is_weak_write {
            self.write(line, cell, touch);
            return None;
        }
        if touch.what.writes() && !self.is_written(line, cell) {
            (line.we[cell], line.wt[cell]) = (self.initial.max(ANCIENT), 0);
        }
        if sets.alike(line.rm[cell]).is_some() && line.rt[cell] & SET != 0 {
            self.unite(&mut entries);
        }
        entries.retain(|entry| !self.replaces(touch, entry));
        self.merge(&mut entries, touch, 1 << (touch.thread % 32));
        let is_alike = line.rt[cell] & SET != 0 && sets.alike(line.rm[cell]).is_some();
        let most = if is_alike { ALIKE_DEPTH } else { DEPTH } as usize;
        if entries.len() > most {
            entries.drain(..most / 2);
        }
        self.store(line, cell, sets, &entries);
        None
    }

    /// Makes accesses of a warp at the same time that are of one kind one, the latest.
    fn unite(&self, entries: &mut Vec<Entry>) {
        let kind = |entry: &Entry| self.sites.get((entry.who & SITE) >> SITE_SHIFT).what;
        let key = |entry: &Entry| (entry.epoch, entry.who & WARP, kind(entry));
        let mut latest: Map<_, Entry> = Map::default();
        for entry in entries.iter() {
            let united = latest.entry(key(entry)).or_insert(*entry);
            let several = match (united.who ^ entry.who) & SITE {
                0 => united.who & SEVERAL,
                _ => SEVERAL,
            };
            united.who = entry.who | several;
            united.mask |= entry.mask;
        }
        entries.reverse();
        entries.retain_mut(|entry| {
            let united = latest.remove(&key(entry));
            united.inspect(|it| *entry = *it).is_some()
        });
        entries.reverse();
    }

    /// A weak write, that is after all else.
    fn write(&self, line: &mut Line, cell: usize, touch: &Touch) {
        line.we[cell] = self.clock.now;
        line.wt[cell] = touch.thread | touch.site << SITE_SHIFT;
        (line.re[cell], line.rt[cell], line.rm[cell]) = (NEVER, 0, 0);
    }

    /// Whether all accesses since the last write are several of this block's before its last barrier.
    fn is_before_barrier(&self, line: &Line, cell: usize, sets: &Sets) -> bool {
        let (re, rt, mut rest) = (line.re[cell], line.rt[cell], line.rm[cell]);
        if rt & SET == 0 || re >= self.clock.barrier || !sets.has(re) {
            return false;
        }
        while let Some((entry, parent)) = sets.top(rest) {
            if !(self.clock.run..self.clock.barrier).contains(&entry.epoch) {
                return false;
            }
            rest = parent;
        }
        true
    }

    /// Whether the thread has made this access since the last write, at the same time, and nothing
    /// since that could race with it.
    fn is_repeated(&self, line: &Line, cell: usize, sets: &Sets, touch: &Touch) -> bool {
        let now = self.clock.now;
        let (re, rt, rm) = (line.re[cell], line.rt[cell], line.rm[cell]);
        let is_weak_write = touch.what.writes() && touch.what.strong().is_none();
        if rt & SET == 0 || re < now || !sets.has(re) || is_weak_write {
            return false;
        }
        let (mut rest, who) = (rm, touch.thread);
        while let Some((entry, parent)) = sets.top_of(rest, rt) {
            if entry.epoch < self.clock.barrier {
                return false;
            }
            if entry.epoch == now && (entry.who ^ who) & WARP == 0 && self.is_alike(&entry, touch) {
                return entry.mask >> (touch.thread % 32) & 1 == 1;
            }
            if self.atomic_for(&entry, touch).is_err() {
                return false;
            }
            rest = parent;
        }
        false
    }

    pub(super) fn after_write(&self, line: &Line, cell: usize, touch: &Touch) -> Option<Before> {
        let (epoch, who) = (line.we[cell], line.wt[cell]);
        let kind = match epoch {
            NEVER | ANCIENT => return None,
            PENDING => Wrong::PendingCopy,
            _ if self.is_before(touch.thread, epoch, who & THREAD) => return None,
            _ => Wrong::Race(RaceReason::Weak),
        };
        Some(Before {
            epoch,
            thread: who & THREAD,
            site: (who & SITE) >> SITE_SHIFT,
            is_exact: true,
            kind,
        })
    }

    /// Whether the last write was one of several equal ones, and a thread that made one of them reads.
    fn has_written_too(&self, line: &Line, cell: usize, sets: &Sets, touch: &Touch) -> bool {
        let entries = self.entries(line, cell, sets);
        entries
            .iter()
            .any(|entry| self.is_of_own_store(entry, touch))
    }

    /// Whether an entry is one of several equal stores, and a thread that made one of them reads.
    fn reads_own(&self, entry: &Entry, entries: &[Entry], touch: &Touch) -> bool {
        !touch.what.writes()
            && self.is_plain_store(entry)
            && entries.iter().any(|it| self.is_of_own_store(it, touch))
    }

    /// Whether an entry is a plain store: one of several equal ones, else it is no access since the last write.
    pub(super) fn is_plain_store(&self, entry: &Entry) -> bool {
        let site = (entry.who & SITE) >> SITE_SHIFT;
        self.sites.get(site).is_plain_store()
    }

    /// Whether an entry is a store of several lanes at once, which this thread reads as one of them.
    fn is_of_own_store(&self, entry: &Entry, touch: &Touch) -> bool {
        self.is_plain_store(entry)
            && !touch.what.writes()
            && (entry.who ^ touch.thread) & WARP == 0
            && entry.mask >> (touch.thread % 32) & 1 == 1
            && self.clock.is_own(self.world, entry.epoch)
    }

    fn is_before(&self, me: u32, epoch: u32, thread: u32) -> bool {
        epoch < self.floor || self.clock.knows(self.world, me, epoch, thread)
    }

    /// Weak reads in a set of weak reads look at their own block's alone: the rest may be long.
    fn read_on_top(&self, line: &mut Line, cell: usize, sets: &mut Sets, touch: &Touch) -> bool {
        let (re, rt) = (line.re[cell], line.rt[cell]);
        let set = line.rm[cell];
        if rt & SET == 0
            || re < self.floor
            || !sets.has(re)
            || sets.has_strong(set)
            || sets.depth(set) >= DEPTH
            || (sets.is_by_lane(set) && (rt ^ touch.thread) & LANE != 0)
        {
            return false;
        }
        let (mut rest, mut entries) = (set, Vec::new());
        while let Some((entry, parent)) = sets.top_of(rest, rt) {
            if !(self.clock.run..=self.clock.now).contains(&entry.epoch) {
                break;
            }
            entries.push(entry);
            rest = parent;
        }
        entries.reverse();
        entries.retain(|entry| !self.replaces(touch, entry));
        self.merge(&mut entries, touch, 1 << (touch.thread % 32));
        for entry in &entries {
            rest = sets.with(rest, *entry, None);
        }
        line.re[cell] = re.max(self.clock.now);
        line.rt[cell] = SET | touch.thread | touch.site << SITE_SHIFT;
        line.rm[cell] = rest;
        true
    }

    /// Strong accesses by lanes of a warp, the last of which is the toucher, in a set of such that are atomic for each other,
    /// whoever made them, look at the newest alone.
    fn update_on_top(
        &self,
        line: &mut Line,
        cell: usize,
        sets: &mut Sets,
        (touch, mask): (&Touch, u32),
    ) -> bool {
        let (re, rt, set) = (line.re[cell], line.rt[cell], line.rm[cell]);
        let Some(strong) = Strong::of(touch.what, touch.element_bytes) else {
            return false;
        };
        if rt & SET == 0 || re < self.floor || !sets.has(re) {
            return false;
        }
        let all = sets.alike(set).and_then(|it| it.and(strong));
        let is_wide = all.is_some_and(|Strong { scope, .. }| {
            scope == Scope::System || scope == Scope::Device && self.world.has_one_device()
        });
        if !is_wide {
            return false;
        }
        let (now, mut rest, mut above) = (self.clock.now, set, Vec::new());
        let is_own = |entry: &Entry| entry.epoch == now && (entry.who ^ touch.thread) & WARP == 0;
        while let Some((entry, parent)) = sets.top_of(rest, rt)
            && (self.clock.run..=now).contains(&entry.epoch)
            && above.len() < SEARCHED
        {
            if is_own(&entry) && entry.mask & mask == mask && self.is_alike(&entry, touch) {
                // It is there.
                return true;
            }
            rest = parent;
            above.push(entry);
            if is_own(&entry) {
                break;
            }
        }
        above.reverse();
        if above.first().is_none_or(|entry| !is_own(entry)) {
            // What it replaces is taken out now and then, and so is an entry of its own that lies deeper.
            if (sets.depth(set) + 1).is_multiple_of(SWEPT) {
                return false;
            }
            (rest, above) = (set, Vec::new());
        }
        if touch.what.writes() && !self.is_written(line, cell) {
            (line.we[cell], line.wt[cell]) = (self.initial.max(ANCIENT), 0);
        }
        self.merge(&mut above, touch, mask);
        for entry in &above {
            rest = sets.with(rest, *entry, self.strong(entry));
        }
        line.re[cell] = re.max(now);
        line.rt[cell] = SET | STRONG | touch.thread | touch.site << SITE_SHIFT;
        line.rm[cell] = rest;
        true
    }

    /// Strong accesses by lanes of a warp to a cell of which nothing else is known since it was written before everything: whether
    /// nothing is wrong with any, and they are remembered.
    pub(super) fn by_all(
        &self,
        line: &mut Line,
        cell: usize,
        sets: &mut Sets,
        (touch, mask): (&Touch, u32),
    ) -> bool {
        self.is_written(line, cell)
            && (line.we[cell] <= ANCIENT || line.we[cell] < self.floor)
            && self.update_on_top(line, cell, sets, (touch, mask))
    }

    pub(super) fn entries(&self, line: &Line, cell: usize, sets: &Sets) -> Vec<Entry> {
        entries(line, cell, sets, self.floor)
    }

    pub(super) fn conflict(&self, entry: &Entry, touch: &Touch) -> Option<Before> {
        let why = self.atomic_for(entry, touch).err()?;
        if self.is_of_own_store(entry, touch) {
            return None;
        }
        let site = (entry.who & SITE) >> SITE_SHIFT;
        let before = self.sites.get(site);
        let is_strong_write = before.what.writes() && before.what.strong().is_some();
        let element = || touch.place & !u64::from(before.element_bytes - 1);
        let thread = self.unordered(entry, touch.thread, is_strong_write.then(element))?;
        Some(Before {
            epoch: entry.epoch,
            thread,
            site,
            is_exact: entry.who & SEVERAL == 0 || thread == entry.who & THREAD,
            kind: Wrong::Race(why),
        })
    }

    /// Whether two accesses need no order: both read, or are atomic for each other. If not, why.
    fn atomic_for(&self, entry: &Entry, touch: &Touch) -> Result<(), RaceReason> {
        let before = self.sites.get((entry.who & SITE) >> SITE_SHIFT);
        if !before.what.writes() && !touch.what.writes() {
            return Ok(());
        }
        match (before.what.strong(), touch.what.strong()) {
            (Some(_), Some(_)) if !before.is_as_wide_as(self.sites.get(touch.site)) => {
                Err(RaceReason::Size)
            }
            (Some(other), Some(own)) => match self.reaches(other.1.min(own.1), entry) {
                true => Ok(()),
                false => Err(RaceReason::Scope),
            },
            _ => Err(RaceReason::Weak),
        }
    }

    /// Whether a scope reaches from the entry's threads to those that access now.
    fn reaches(&self, scope: Scope, entry: &Entry) -> bool {
        if scope >= Scope::System {
            return true;
        }
        let Some(instance) = self.world.instance(entry.epoch) else {
            return true;
        };
        let clock = self.clock;
        let needed = if instance.launch == clock.launch && instance.block == clock.block {
            Scope::Block
        } else if instance.launch == clock.launch
            && instance
                .block
                .is_some_and(|block| clock.is_in_cluster(self.world, block))
        {
            Scope::Cluster
        } else if instance.device == clock.device {
            Scope::Device
        } else {
            Scope::System
        };
        scope >= needed
    }

    /// A thread of the entry that nothing orders before this one: the latest if it is one. Of a strong write the element's place.
    fn unordered(&self, entry: &Entry, me: u32, written: Option<u64>) -> Option<u32> {
        let latest = entry.who & THREAD;
        let base = latest & !31;
        let others = (0..32)
            .filter(|lane| entry.mask >> lane & 1 == 1)
            .map(|lane| base + lane);
        std::iter::once(latest).chain(others).find(|thread| {
            !self.is_before(me, entry.epoch, *thread)
                && !written.is_some_and(|place| {
                    let write = (entry.epoch, *thread, place);
                    self.clock.has_observed(self.world, me, write)
                })
        })
    }

    /// Whether whoever races with the entry later also races with this access.
    fn replaces(&self, touch: &Touch, entry: &Entry) -> bool {
        if entry.epoch < self.floor {
            return true;
        }
        let before = self.sites.get((entry.who & SITE) >> SITE_SHIFT);
        let writes = before.what.writes();
        if writes && !touch.what.writes() {
            return false;
        }
        let is_covered = match (touch.what.strong(), before.what.strong()) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => {
                // A write may come to be known by being observed; a read before it does not.
                own.1 == other.1
                    && writes == touch.what.writes()
                    && touch.element_bytes == before.element_bytes
                    && self.clock.is_own(self.world, entry.epoch)
            }
        };
        is_covered && self.all_before(entry, touch.thread)
    }

    pub(super) fn all_before(&self, entry: &Entry, me: u32) -> bool {
        let base = entry.who & THREAD & !31;
        (0..32)
            .filter(|lane| entry.mask >> lane & 1 == 1)
            .all(|lane| self.is_before(me, entry.epoch, base + lane))
    }

    /// Whether what races with one races with the other, the threads aside.
    fn is_alike(&self, entry: &Entry, touch: &Touch) -> bool {
        let site = (entry.who & SITE) >> SITE_SHIFT;
        let before = self.sites.get(site);
        let is_weak = touch.what.strong().is_none();
        site == touch.site
            || (before.what == touch.what
                && (is_weak
                    || before.element_bytes == touch.element_bytes
                        && before.is_part == self.sites.get(touch.site).is_part))
    }

    /// Adds the access, by these lanes: to an entry of its warp and time that is of the same kind, if there is one.
    fn merge(&self, entries: &mut Vec<Entry>, touch: &Touch, mask: u32) {
        let is_strong = touch.what.strong().is_some();
        let flag = if is_strong { STRONG } else { 0 };
        let who = touch.thread | touch.site << SITE_SHIFT | flag;
        let now = self.clock.now;
        let like = entries.iter_mut().find(|entry| {
            entry.epoch == now && (entry.who ^ who) & WARP == 0 && self.is_alike(entry, touch)
        });
        match like {
            Some(entry) => {
                let differs = (entry.who ^ who) & SITE != 0;
                let several = if differs {
                    SEVERAL
                } else {
                    entry.who & SEVERAL
                };
                entry.who = who | several;
                entry.mask |= mask;
            }
            None => entries.push(Entry {
                epoch: now,
                who,
                mask,
            }),
        }
    }

    /// The strength of an entry, where it is strong.
    fn strong(&self, entry: &Entry) -> Option<Strong> {
        let site = self.sites.get((entry.who & SITE) >> SITE_SHIFT);
        let strong = Strong::of(site.what, site.element_bytes);
        strong.filter(|_| entry.who & STRONG != 0)
    }

    pub(super) fn store(&self, line: &mut Line, cell: usize, sets: &mut Sets, entries: &[Entry]) {
        if let [only] = entries {
            (line.re[cell], line.rt[cell], line.rm[cell]) = (only.epoch, only.who, only.mask);
            return;
        }
        let like = if line.rt[cell] & SET != 0 && sets.has(line.re[cell]) {
            line.rm[cell]
        } else {
            0
        };
        let set = sets.of(like, entries, |entry| self.strong(entry));
        let last = entries.last().map_or(0, |entry| entry.who & !SEVERAL);
        line.re[cell] = entries
            .iter()
            .map(|entry| entry.epoch)
            .max()
            .unwrap_or(NEVER);
        line.rt[cell] = SET | last;
        line.rm[cell] = set;
    }
}
