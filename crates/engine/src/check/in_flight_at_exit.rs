//! Bulk copies still in flight when their block exits: they reach its shared memory, which others may have by then.
//!
//! No thread owns them. A `cp.async` is its thread's: PTX does not ask that a thread waits for
//! it before it exits, and nobody can read what it writes.

use super::finding::Finding;
use super::{Agent, Block, BlockId, Checker, Side};
use crate::finding_kind::FindingKind;

/// A copy that nobody has waited for.
struct Left {
    /// Its first byte in the block's shared memory.
    at: u64,
    /// Who began it: another block's thread, or one of the block.
    by: Option<BlockId>,
    thread: u32,
    site: u32,
}

impl Checker {
    /// Finds a copy that may still read the shared memory of a block that ends, or write there.
    pub(super) fn left_behind(&mut self, ended: &Block) -> Option<Box<Finding>> {
        for copy in &ended.bulks.outgoing {
            self.settle_stored(copy, ended.clock.now);
        }
        let left = outgoing(ended).or_else(|| incoming(ended))?;
        let by = left
            .by
            .and_then(|it| self.blocks.get(it.0 as usize)?.as_deref());
        let site = self.sites.get(left.site);
        let agent = Agent::Thread {
            block: by.unwrap_or(ended).clock.block.unwrap_or(0),
            thread: left.thread,
        };
        let now = Side {
            launch: Some(ended.clock.launch),
            device: Some(ended.clock.device),
            ..Side::accessing(agent, None, site.at())
        };
        Some(Box::new(Finding {
            place: Some(ended.layout.place(left.at)),
            ..Finding::new(FindingKind::CopyAtExit, now)
        }))
    }
}

fn outgoing(ended: &Block) -> Option<Left> {
    let copy = ended.bulks.outgoing.iter().find(|it| !it.is_read)?;
    Some(Left {
        at: copy.from,
        by: None,
        thread: copy.thread,
        site: copy.site,
    })
}

fn incoming(ended: &Block) -> Option<Left> {
    let mut copies = ended.bulks.incoming.iter();
    let (copy, site) = copies.find_map(|it| Some((it, it.site?)))?;
    Some(Left {
        at: copy.parts.first()?.0,
        by: Some(copy.by),
        thread: copy.thread,
        site,
    })
}
