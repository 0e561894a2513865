//! The loads that undefined values came from, and the registers that nothing has written.

use crate::check::access::{BlockId, LaunchId};
use crate::check::finding::{Agent, Finding};
use crate::check::hash::Map;

/// How many are remembered; a later one takes the place of the oldest.
pub(super) const MOST: usize = 1 << 14;

/// The number of a load or of a register, from 1 on. A value may live longer than its load is remembered, so numbers are not given again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OriginId(u32);

impl OriginId {
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn of(number: u32) -> OriginId {
        OriginId(number)
    }

    /// Whether it is a number of something.
    pub(super) fn is_known(self) -> bool {
        self != OriginId::default()
    }

    fn place(self) -> usize {
        self.0.wrapping_sub(1) as usize % MOST
    }
}

/// An instruction, its thread and the address that it has read; of a register the function, the kernel and the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) launch: Option<LaunchId>,
    pub(super) program: u32,
    pub(super) instruction: u32,
    pub(super) agent: Agent,
    pub(super) address: u64,
}

/// Since when nobody has written shared memory: the block, and its last barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) block: BlockId,
    /// The block's number, which no other one has.
    pub(super) number: u32,
    pub(super) barrier: u32,
}

#[derive(Debug)]
struct Origin {
    id: OriginId,
    key: Key,
    finding: Box<Finding>,
    held: Option<Held>,
}

/// Loads, each with what is found where its value is used.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// That with the number n at n - 1, counted around.
    all: Vec<Origin>,
    last: u32,
    known: Map<Key, OriginId>,
}

impl Origins {
    pub(super) fn find(&self, key: &Key) -> Option<OriginId> {
        self.known.get(key).copied()
    }

    pub(super) fn add(&mut self, key: Key, finding: Box<Finding>, held: Option<Held>) -> OriginId {
        self.last = self.last.wrapping_add(1);
        let id = OriginId(self.last);
        let origin = Origin {
            id,
            key,
            finding,
            held,
        };
        match self.all.get_mut(id.place()) {
            Some(oldest) => {
                self.known.remove(&oldest.key);
                *oldest = origin;
            }
            None => self.all.push(origin),
        }
        self.known.insert(key, id);
        id
    }

    /// Returns a load that is still remembered.
    pub(super) fn get(&self, id: OriginId) -> Option<(&Finding, Option<Held>)> {
        let origin = self.all.get(id.place()).filter(|it| it.id == id)?;
        Some((&*origin.finding, origin.held))
    }
}
