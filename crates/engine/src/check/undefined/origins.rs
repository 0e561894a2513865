//! The loads that undefined values came from.

use std::collections::HashMap;

use crate::check::access::{BlockId, LaunchId};
use crate::check::finding::{Agent, Finding};

/// How many are remembered; a later one takes the place of the oldest.
const MOST: usize = 1 << 14;

/// The number of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OriginId(u32);

impl OriginId {
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn of(number: u32) -> OriginId {
        OriginId(number)
    }
}

/// An instruction, its thread and what it has read.
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
    key: Key,
    finding: Box<Finding>,
    held: Option<Held>,
}

/// Loads, each with what is found where its value is used.
#[derive(Debug, Default)]
pub(super) struct Origins {
    all: Vec<Origin>,
    /// Where the next one goes, once there are as many as may be.
    next: usize,
    known: HashMap<Key, OriginId>,
}

impl Origins {
    pub(super) fn find(&self, key: &Key) -> Option<OriginId> {
        self.known.get(key).copied()
    }

    pub(super) fn add(&mut self, key: Key, finding: Box<Finding>, held: Option<Held>) -> OriginId {
        let origin = Origin { key, finding, held };
        let place = match self.all.len() < MOST {
            true => {
                self.all.push(origin);
                self.all.len() - 1
            }
            false => {
                let place = self.next;
                self.next = (place + 1) % MOST;
                self.known.remove(&self.all[place].key);
                self.all[place] = origin;
                place
            }
        };
        let id = OriginId(place as u32);
        self.known.insert(key, id);
        id
    }

    pub(super) fn get(&self, id: OriginId) -> Option<(&Finding, Option<Held>)> {
        let origin = self.all.get(id.0 as usize)?;
        Some((&*origin.finding, origin.held))
    }
}
