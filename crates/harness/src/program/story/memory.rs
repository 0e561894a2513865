//! How much memory was allocated, and by which lines.

use std::collections::{BTreeMap, HashMap};

use recording::{Allocation, Memory};
use serde::{Deserialize, Serialize};

use super::super::model::{Process, Program};
use super::super::place::Place;

/// The memory of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// The process.
    pub process: u32,
    /// The kind: `device`, `pinned`.
    pub kind: String,
    /// The most bytes that were allocated at once.
    pub peak_bytes: u64,
    /// When that was, in nanoseconds.
    pub peak_at_ns: f64,
    /// Lines whose allocations were there then, the largest first.
    pub at_peak: Vec<Share>,
    /// Nanoseconds, and the bytes that were allocated from then on.
    pub course: Vec<(f64, u64)>,
}

/// The allocations of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The line.
    pub place: Place,
    /// Bytes.
    pub bytes: u64,
}

/// Of each kind in each process that allocates.
pub(super) fn memory(program: &Program) -> Vec<MemoryUse> {
    program.processes.iter().flat_map(of_process).collect()
}

fn of_process(process: &Process) -> Vec<MemoryUse> {
    let mut kinds: BTreeMap<&str, Kind> = BTreeMap::new();
    for (index, allocated) in process.allocations.iter().enumerate() {
        let Some(name) = name(&allocated.of) else {
            continue;
        };
        let kind = kinds.entry(name).or_default();
        kind.take(&allocated.of, allocated.call);
        kind.course.push((allocated.time as f64, kind.bytes));
        if kind.bytes > kind.peak {
            (kind.peak, kind.peak_at) = (kind.bytes, index);
        }
    }
    let uses = kinds.into_iter().map(|(name, kind)| MemoryUse {
        process: process.id,
        kind: name.to_owned(),
        peak_bytes: kind.peak,
        peak_at_ns: process.allocations[kind.peak_at].time as f64,
        at_peak: at_peak(process, name, kind.peak_at),
        course: kind.course,
    });
    uses.collect()
}

fn name(of: &Allocation) -> Option<&'static str> {
    match (of.memory, of.is_pooled) {
        (Memory::Device | Memory::Array, false) => Some("device"),
        (Memory::Device | Memory::Array, true) => Some("device, pooled"),
        (Memory::Pinned, _) => Some("pinned"),
        (Memory::Managed, _) => Some("managed"),
        (Memory::Pageable | Memory::Unknown, _) => None,
    }
}

/// Memory of a kind while allocations are told in order.
#[derive(Default)]
struct Kind {
    /// The bytes at each address, and the call that allocated them.
    present: HashMap<(u32, u64), (u64, Option<usize>)>,
    bytes: u64,
    peak: u64,
    peak_at: usize,
    course: Vec<(f64, u64)>,
}

impl Kind {
    /// Takes an allocation or a release. What was allocated before the recording is not known.
    fn take(&mut self, of: &Allocation, call: Option<usize>) {
        let address = (of.device, of.address);
        let gone = match of.is_release {
            true => self.present.remove(&address),
            false => {
                self.bytes += of.bytes;
                self.present.insert(address, (of.bytes, call))
            }
        };
        self.bytes -= gone.map_or(0, |(bytes, _)| bytes);
    }
}

/// The lines whose allocations are there once this one has been told.
fn at_peak(process: &Process, kind: &str, peak: usize) -> Vec<Share> {
    let mut present = Kind::default();
    for allocated in &process.allocations[..=peak] {
        if name(&allocated.of) == Some(kind) {
            present.take(&allocated.of, allocated.call);
        }
    }
    let nowhere = Place::default();
    let mut places: BTreeMap<&Place, u64> = BTreeMap::new();
    for (bytes, call) in present.present.values() {
        let place = call.map_or(&nowhere, |it| &*process.calls[it].place);
        *places.entry(place).or_default() += bytes;
    }
    let shares = places.into_iter().map(|(place, bytes)| Share {
        place: place.clone(),
        bytes,
    });
    let mut shares: Vec<Share> = shares.collect();
    shares.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.place.cmp(&b.place)));
    shares
}
