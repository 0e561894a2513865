//! Sets of accesses, for cells that several warps have accessed since the last write.
//!
//! Cells that the same warps read in the same way share a set, so that a table that a whole grid
//! reads costs little. So do cells in a row that each lane of a warp reads one of, if an entry may stand
//! for whichever lane accessed the cell last.

use super::access::AccessKind;
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
    has_strong: bool,
    /// The kind and the bytes of all entries, if they are strong and alike.
    alike: Option<Strong>,
    /// Whether any entry is of the same lane as the latest.
    is_by_lane: bool,
}

/// Beyond this many nodes sets are forgotten.
const NODES: usize = 2 << 20;
/// Beyond this many accesses of a cell the older half is forgotten.
pub(super) const DEPTH: u32 = 512;

/// Lists of entries that share their older parts. Number 0 is the empty list.
#[derive(Debug, Default)]
pub(super) struct Sets {
    nodes: Vec<Node>,
    index: Map<Key, u32>,
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

    /// The kind and the bytes of all its accesses, if they are strong and alike.
    pub(super) fn alike(&self, set: u32) -> Option<Strong> {
        self.node(set)?.alike
    }

    /// The set with one more, that is strong where its kind and bytes are given.
    pub(super) fn with(&mut self, parent: u32, entry: Entry, strong: Option<Strong>) -> u32 {
        let key = Key { parent, entry };
        if let Some(found) = self.index.get(&key) {
            return *found;
        }
        let node = Node {
            key,
            depth: self.depth(parent) + 1,
            has_strong: strong.is_some() || self.has_strong(parent),
            alike: strong.filter(|it| parent == 0 || self.alike(parent) == Some(*it)),
            is_by_lane: entry.who & SAME_LANE != 0 || self.is_by_lane(parent),
        };
        self.nodes.push(node);
        let set = self.nodes.len() as u32;
        self.index.insert(key, set);
        set
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

/// A strong access: its kind, and the bytes of an element.
pub(super) type Strong = (AccessKind, u32);
