//! Heap blocks that nobody can reach any more.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Checker;
use super::access::LaunchId;
use super::finding::{Agent, Finding, Side, SiteId};
use crate::finding_kind::FindingKind;
use crate::memory::{Allocation, Kind, Memory, Place};

const WORD: u64 = size_of::<u64>() as u64;

impl Checker {
    /// Looks for blocks of the heap that a launch has allocated and no later one can reach, since no word of
    /// a buffer, of a variable, or of a block that can be reached points into them. A launch calls it when
    /// it has ended.
    ///
    /// # Errors
    /// The first of these blocks.
    pub fn leaks(
        &self,
        memory: &Memory,
        launch: LaunchId,
        program: u32,
    ) -> Result<(), Box<Finding>> {
        let lost = memory.while_nothing_is_freed(|all| first_lost(all, launch.number()));
        let Some(block) = lost else {
            return Ok(());
        };
        let Kind::Heap { instruction, .. } = block.kind else {
            return Ok(());
        };
        let site = SiteId {
            program,
            instruction,
        };
        let now = Side {
            launch: Some(launch),
            device: block.device,
            ..Side::accessing(Agent::Kernel, None, site)
        };
        Err(Box::new(Finding {
            place: Some(Place {
                address: block.start,
                below: Some(block.part(block.start)),
                above: None,
                by_way_of: None,
            }),
            ..Finding::new(FindingKind::Leak, now)
        }))
    }
}

/// The first block that a launch has allocated and that cannot be reached.
fn first_lost(all: &BTreeMap<u64, Allocation>, launch: u64) -> Option<Allocation> {
    let (mut unreached, mut reached) = (BTreeMap::new(), Vec::new());
    for allocation in all.values() {
        match allocation.kind {
            Kind::Heap { .. } => {
                unreached.insert(allocation.start, allocation);
            }
            _ => reached.push(allocation),
        }
    }
    let is_its =
        |it: &&Allocation| matches!(it.kind, Kind::Heap { launch: by, .. } if by == launch);
    if !unreached.values().any(&is_its) {
        return None;
    }
    while let Some(from) = reached.pop() {
        for word in words(from) {
            let below = unreached.range(..=word).next_back();
            let hit = below.map(|(_, it)| *it).filter(|it| it.holds(word, 1));
            if let Some(hit) = hit {
                unreached.remove(&hit.start);
                reached.push(hit);
            }
        }
    }
    // Addresses differ from run to run, the order of allocation does not.
    let lost = unreached.into_values().filter(is_its);
    lost.min_by_key(|it| it.serial).cloned()
}

/// Reads the whole words of an allocation.
fn words(of: &Allocation) -> impl Iterator<Item = u64> {
    let first = of.start.next_multiple_of(WORD);
    let count = (of.start + of.bytes).saturating_sub(first) / WORD;
    (0..count).map(move |index| {
        let at = std::ptr::with_exposed_provenance::<AtomicU64>((first + index * WORD) as usize);
        // SAFETY: within an allocation, which is not freed meanwhile, and aligned. Others may write to it.
        unsafe { &*at }.load(Ordering::Relaxed)
    })
}
