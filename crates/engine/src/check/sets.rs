//! Sets of accesses, for cells that several warps have accessed since the last write.
//!
//! Cells that the same warps read in the same way share a set, so that a table that a whole grid
//! reads costs little. So do cells in a row that each lane of a warp reads one of, if an entry may stand
//! for whichever lane accessed the cell last.

use super::access::{AccessKind, Scope};
use super::hash::Map;
use super::line::LANE;

/// Accesses by lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) epoch: u32,
    /// As a line's `rt`: the latest thread, its site, whether it is strong.
    pub(super) who: u32,
    pub(super) mask: u32,
}

/// Flag of an entry's `who` within a set: the lane was the one that accessed the cell last. The thread
/// is that of the warp's first lane, and the mask 0.
pub(super) const SAME_LANE: u32 = 1 << 29;

impl Entry {
    /// Returns a set's entry as it applies to a cell that `latest`, as a line's `rt`, accessed last.
    fn of_cell(self, latest: u32) -> Entry {
        if self.who & SAME_LANE == 0 {
            return self;
        }
        let lane = latest & LANE;
        Entry {
            epoch: self.epoch,
            who: self.who & !SAME_LANE | lane,
            mask: 1 << lane,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    parent: u32,
    entry: Entry,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: Key,
    depth: u32,
    /// Whether the newest is strong, and whether any is.
    is_strong: bool,
    has_strong: bool,
    /// The least scope of all entries and the bytes of each, if they are strong and of equal bytes.
    alike: Option<Strong>,
    /// Whether any entry is of the same lane as the latest.
    is_by_lane: bool,
}

/// Beyond this many nodes sets are forgotten.
const NODES: usize = 2 << 20;
/// So many are kept whether cells refer to them or not.
const FEW: usize = if cfg!(test) { 8 } else { 1 << 14 };
/// Beyond this many accesses of a cell the older half is forgotten.
pub(super) const DEPTH: u32 = 512;
/// The same of strong ones that are all alike.
pub(super) const ALIKE_DEPTH: u32 = 128;

/// A cell's set, and when it was last accessed.
pub(super) struct SetOf<'c> {
    pub(super) epoch: u32,
    pub(super) set: &'c mut u32,
}

/// Lists of entries that share their older parts. Number 0 is the empty list.
#[derive(Debug, Default)]
pub(super) struct Sets {
    nodes: Vec<Node>,
    index: Map<Key, u32>,
    /// Beyond this many, those that no cell refers to are left out.
    most: usize,
    /// Sets last accessed before this time are forgotten.
    since: u32,
}

impl Sets {
    /// Whether a set that was last accessed then is still known.
    pub(super) fn has(&self, epoch: u32) -> bool {
        epoch >= self.since
    }

    /// The newest entry, as it is written, and the rest.
    pub(super) fn top(&self, set: u32) -> Option<(Entry, u32)> {
        let node = self.node(set)?;
        Some((node.key.entry, node.key.parent))
    }

    /// The same of a cell that `latest`, as a line's `rt`, accessed last.
    pub(super) fn top_of(&self, set: u32, latest: u32) -> Option<(Entry, u32)> {
        let (entry, rest) = self.top(set)?;
        Some((entry.of_cell(latest), rest))
    }

    fn node(&self, set: u32) -> Option<&Node> {
        self.nodes.get((set as usize).checked_sub(1)?)
    }

    /// Whether what it says of a cell depends on the lane that accessed the cell last.
    pub(super) fn is_by_lane(&self, set: u32) -> bool {
        self.node(set).is_some_and(|node| node.is_by_lane)
    }

    /// How many entries.
    pub(super) fn depth(&self, set: u32) -> u32 {
        self.node(set).map_or(0, |node| node.depth)
    }

    /// Whether any of them is strong.
    pub(super) fn has_strong(&self, set: u32) -> bool {
        self.node(set).is_some_and(|node| node.has_strong)
    }

    /// The least scope of all its accesses and the bytes of each, if they are strong and of equal bytes.
    pub(super) fn alike(&self, set: u32) -> Option<Strong> {
        self.node(set)?.alike
    }

    /// The set with one more, that is strong where its scope and bytes are given. Weak ones are shared by all cells that have
    /// the same; strong ones are seldom the same, so that nobody looks for them.
    pub(super) fn with(&mut self, parent: u32, entry: Entry, strong: Option<Strong>) -> u32 {
        let key = Key { parent, entry };
        if strong.is_none()
            && let Some(found) = self.index.get(&key)
        {
            return *found;
        }
        let node = Node {
            key,
            depth: self.depth(parent) + 1,
            is_strong: strong.is_some(),
            has_strong: strong.is_some() || self.has_strong(parent),
            alike: strong.and_then(|it| match parent {
                0 => Some(it),
                _ => self.alike(parent)?.and(it),
            }),
            is_by_lane: entry.who & SAME_LANE != 0 || self.is_by_lane(parent),
        };
        self.nodes.push(node);
        let set = self.nodes.len() as u32;
        if strong.is_none() {
            self.index.insert(key, set);
        }
        set
    }

    /// The set of these entries, the oldest first: as many of another's as are the same are taken from there.
    pub(super) fn of(
        &mut self,
        like: u32,
        entries: &[Entry],
        strong: impl Fn(&Entry) -> Option<Strong>,
    ) -> u32 {
        let mut known = Vec::new();
        let mut rest = like;
        while let Some((entry, parent)) = self.top(rest) {
            known.push((rest, entry));
            rest = parent;
        }
        let known = known.iter().rev().zip(entries);
        let same: Vec<u32> = known
            .take_while(|((_, old), new)| old == *new)
            .map(|((set, _), _)| *set)
            .collect();
        let start = same.last().copied().unwrap_or(0);
        let new = entries[same.len()..].iter();
        new.fold(start, |set, entry| self.with(set, *entry, strong(entry)))
    }

    /// Whether so many are kept that those which no cell refers to should be left out.
    pub(super) fn are_many(&self) -> bool {
        self.nodes.len() > self.most.max(FEW)
    }

    /// Lets more be kept: as many as there are lines of cells, which take many times the memory.
    pub(super) fn allow(&mut self, lines: usize) -> bool {
        self.most = self.most.max(lines / if cfg!(test) { 64 } else { 4 });
        !self.are_many()
    }

    /// Keeps the sets that cells refer to, by a list of these.
    pub(super) fn collect<'c>(&mut self, cells: impl Iterator<Item = SetOf<'c>>) {
        let old = std::mem::take(&mut self.nodes);
        self.index.clear();
        let mut new = vec![0; old.len() + 1];
        let mut path = Vec::new();
        for SetOf { epoch, set } in cells {
            if !self.has(epoch) {
                continue;
            }
            let mut rest = *set;
            while rest != 0 && new[rest as usize] == 0 {
                path.push(rest);
                rest = old[rest as usize - 1].key.parent;
            }
            while let Some(next) = path.pop() {
                let mut node = old[next as usize - 1];
                node.key.parent = new[node.key.parent as usize];
                self.nodes.push(node);
                let number = self.nodes.len() as u32;
                new[next as usize] = number;
                if !node.is_strong {
                    self.index.insert(node.key, number);
                }
            }
            *set = new[*set as usize];
        }
        self.most = self.most.max(2 * self.nodes.len());
    }

    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() > NODES
    }

    /// Forgets all; only sets accessed from now on are known.
    pub(super) fn clear(&mut self, now: u32) {
        if !self.nodes.is_empty() {
            self.nodes.clear();
            self.index.clear();
        }
        self.since = now;
    }
}

/// Strong accesses: their least scope, and the bytes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strong {
    pub(super) scope: Scope,
    pub(super) bytes: u32,
}

impl Strong {
    pub(super) fn of(what: AccessKind, bytes: u32) -> Option<Strong> {
        let (_, scope) = what.strong()?;
        Some(Strong { scope, bytes })
    }

    /// Both, if they are of equal bytes.
    pub(super) fn and(self, other: Strong) -> Option<Strong> {
        (self.bytes == other.bytes).then_some(Strong {
            scope: self.scope.min(other.scope),
            ..self
        })
    }
}
