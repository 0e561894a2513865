//! Sets of accesses, for cells that several warps have accessed since the last write.
//!
//! Cells that the same warps read in the same way share a set, so that a table that a whole grid
//! reads costs little.

use super::hash::Map;

/// Accesses by lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) epoch: u32,
    /// As a line's `rt`: the latest thread, its site, whether it is strong.
    pub(super) who: u32,
    pub(super) mask: u32,
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

    /// The newest entry, and the rest.
    pub(super) fn top(&self, set: u32) -> Option<(Entry, u32)> {
        let node = self.nodes.get((set as usize).checked_sub(1)?)?;
        Some((node.key.entry, node.key.parent))
    }

    /// How many entries.
    pub(super) fn depth(&self, set: u32) -> u32 {
        (set as usize)
            .checked_sub(1)
            .map_or(0, |at| self.nodes[at].depth)
    }

    /// Whether any of them is strong.
    pub(super) fn has_strong(&self, set: u32) -> bool {
        (set as usize)
            .checked_sub(1)
            .is_some_and(|at| self.nodes[at].has_strong)
    }

    /// The set with one more.
    pub(super) fn with(&mut self, parent: u32, entry: Entry, is_strong: IsStrong) -> u32 {
        let key = Key { parent, entry };
        if let Some(found) = self.index.get(&key) {
            return *found;
        }
        let node = Node {
            key,
            depth: self.depth(parent) + 1,
            has_strong: is_strong == IsStrong::Strong || self.has_strong(parent),
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

/// Whether an entry is a strong access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsStrong {
    Weak,
    Strong,
}
