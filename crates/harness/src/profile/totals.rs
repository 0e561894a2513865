//! Sums over all instructions of a kernel.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Sums;
use crate::driver::count::{Counts, SECTOR, Space};

/// Sums over all instructions, and what follows from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Launches.
    pub launches: u64,
    /// Blocks of all launches.
    pub blocks: u64,
    /// Threads of all blocks.
    pub launched_threads: u64,
    /// The sums; its bytes and sectors are global memory's.
    #[serde(flatten)]
    pub sums: Sums,
    /// Lanes that were active, of 32 a warp: 0 to 1.
    pub active_lanes: f64,
    /// Bytes of the distinct sectors that are read: memory gives no fewer.
    pub least_read: u64,
    /// Bytes of the distinct sectors that are written.
    pub least_written: u64,
    /// Bytes of the distinct sectors that the launch reaches: its footprint in a cache that all blocks share, L2.
    pub l2_footprint: u64,
    /// Bytes of the distinct sectors that each block reads, of all blocks: what L2 must give where a block's L1
    /// keeps all that it has read.
    pub l1_read: u64,
    /// Bytes of the distinct sectors that each block writes, of all blocks.
    pub l1_written: u64,
    /// Operations on floating point for each of these bytes; none where there are no bytes.
    pub intensity: Option<f64>,
    /// Branches of warps, and how many of them part lanes.
    pub branches: u64,
}

/// Instructions of a class and a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClassRow {
    /// The class.
    pub class: String,
    /// The type, where they have one.
    pub element: Option<String>,
    /// Times that a warp issued one.
    pub warps: u64,
    /// Lanes that executed one.
    pub threads: u64,
    /// Operations on floating point.
    pub flop: u64,
}

/// Accesses to a space of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SpaceRow {
    /// The space.
    pub space: String,
    /// Times that a warp made one.
    pub requests: u64,
    /// Bytes that lanes asked for.
    pub bytes: u64,
    /// Sectors; of global and local memory.
    pub sectors: u64,
    /// The sectors that as many bytes take side by side.
    pub least_sectors: u64,
    /// Passes through banks; of shared memory.
    pub wavefronts: u64,
    /// Those of them that conflicts cost.
    pub conflicts: u64,
}

/// A buffer or a variable: bytes of its distinct sectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BufferRow {
    /// The parameter or variable; empty where none is known.
    pub name: String,
    /// All bytes of it.
    pub bytes: u64,
    /// Bytes that were read.
    pub read: u64,
    /// Bytes that were written.
    pub written: u64,
}

impl Totals {
    pub(super) fn new(counts: &Counts) -> Totals {
        let sums = Sums::of_launches(std::slice::from_ref(counts));
        let (mut lanes, mut branches) = (0, 0);
        for counted in &counts.instructions {
            lanes += counted.lanes;
            branches += counted.branch.map_or(0, |_| counted.warps);
        }
        let least_read = counts.footprint.read * SECTOR;
        let least_written = counts.footprint.written * SECTOR;
        let least = least_read + least_written;
        Totals {
            launches: counts.launches,
            blocks: counts.blocks,
            launched_threads: counts.threads,
            active_lanes: lanes as f64 / (32 * sums.warps.max(1)) as f64,
            intensity: (least > 0).then(|| sums.flop as f64 / least as f64),
            sums,
            least_read,
            least_written,
            l2_footprint: counts.footprint.either * SECTOR,
            l1_read: counts.footprint.read_by_blocks * SECTOR,
            l1_written: counts.footprint.written_by_blocks * SECTOR,
            branches,
        }
    }
}

/// The most frequent first.
pub(super) fn classes(counts: &Counts) -> Vec<ClassRow> {
    let mut rows: BTreeMap<_, ClassRow> = BTreeMap::new();
    for counted in &counts.instructions {
        let element = counted.element.map(|it| it.name().to_owned());
        let key = (counted.class, element.clone());
        let row = rows.entry(key).or_insert_with(|| ClassRow {
            class: counted.class.name().to_owned(),
            element,
            warps: 0,
            threads: 0,
            flop: 0,
        });
        let sums = Sums::of(counted);
        row.warps += sums.warps;
        row.threads += sums.threads;
        row.flop += sums.flop;
    }
    let mut rows: Vec<ClassRow> = rows.into_values().collect();
    rows.sort_by_key(|row| Reverse(row.warps));
    rows
}

/// The name of a space.
fn name(space: Space) -> &'static str {
    match space {
        Space::Global => "global memory",
        Space::Constant => "constant memory",
        Space::Shared => "shared memory",
        Space::Local => "local memory",
        Space::Parameters => "parameters",
    }
}

/// Those that were reached, but for parameters.
pub(super) fn spaces(counts: &Counts) -> Vec<SpaceRow> {
    let mut rows: BTreeMap<Space, SpaceRow> = BTreeMap::new();
    for memory in counts.instructions.iter().flat_map(|it| &it.memory) {
        if memory.space == Space::Parameters {
            continue;
        }
        let row = rows.entry(memory.space).or_insert_with(|| SpaceRow {
            space: name(memory.space).to_owned(),
            requests: 0,
            bytes: 0,
            sectors: 0,
            least_sectors: 0,
            wavefronts: 0,
            conflicts: 0,
        });
        row.requests += memory.requests;
        row.bytes += memory.bytes;
        row.sectors += memory.sectors;
        row.least_sectors += memory.least_sectors;
        row.wavefronts += memory.wavefronts;
        row.conflicts += memory.conflicts;
    }
    rows.into_values().collect()
}

/// In the order of their names.
pub(super) fn buffers(counts: &Counts) -> Vec<BufferRow> {
    let rows = counts.footprint.buffers.iter().map(|it| BufferRow {
        name: it.name.clone(),
        bytes: it.bytes,
        read: it.read * SECTOR,
        written: it.written * SECTOR,
    });
    let mut rows: Vec<BufferRow> = rows.collect();
    // Argument 2 before argument 10.
    rows.sort_by(|a, b| (a.name.len(), &a.name).cmp(&(b.name.len(), &b.name)));
    rows
}
