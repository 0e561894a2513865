//! Demands of a launch on each part of a multiprocessor and on memory, of an average warp.

use std::fmt;

use super::board::Board;
use super::cost::{Cost, ISSUED};
use super::path::Way;
use crate::driver::count::{Class, Counted, Counts, Memory, SECTOR, Space};

/// Bytes of a line of L1, of which a cycle reaches one.
const LINE: f64 = 128.0;

/// A part of the GPU that does so much per cycle and no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// The schedulers, which issue instructions.
    Issue,
    /// Arithmetic of `f32`.
    F32,
    /// Arithmetic of `f64`.
    F64,
    /// Arithmetic of `f16` and `bf16`.
    F16,
    /// Sums, comparisons and bits of integers.
    Integer,
    /// Products of integers.
    Multiply,
    /// Functions, and conversions between integers and floats.
    Special,
    /// Exchange between lanes.
    Shuffle,
    /// Tensor cores.
    Tensor,
    /// L1 and shared memory.
    L1,
    /// L2.
    L2,
    /// The device's memory.
    Memory,
    /// The start of blocks.
    Blocks,
}

impl Resource {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Issue => "issue",
            Resource::F32 => "f32",
            Resource::F64 => "f64",
            Resource::F16 => "f16",
            Resource::Integer => "integers",
            Resource::Multiply => "integer products",
            Resource::Special => "special functions",
            Resource::Shuffle => "shuffles",
            Resource::Tensor => "tensor cores",
            Resource::L1 => "L1 and shared memory",
            Resource::L2 => "L2",
            Resource::Memory => "memory",
            Resource::Blocks => "block starts",
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// Seconds of a resource that an instruction takes for an average warp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) resource: Resource,
    /// Its index among those that were counted.
    pub(super) instruction: usize,
    pub(super) seconds: f64,
}

/// The demands of an average warp.
pub(super) struct Demand {
    uses: Vec<Use>,
    /// The loads that L1 does not have.
    loads: Vec<usize>,
    /// Barriers that a warp comes to.
    pub(super) barriers: f64,
    /// Bytes that L2 gives.
    pub(super) l2_read: f64,
    /// Bytes that memory gives, where no cache has them from before the launch.
    pub(super) read: f64,
    /// Bytes that memory takes.
    pub(super) written: f64,
    /// The same of the launch's distinct bytes.
    pub(super) footprint: f64,
}

impl Demand {
    /// The demands of counts whose instructions have these costs.
    pub(super) fn new(counts: &Counts, costs: &[Cost], board: &Board) -> Demand {
        let warps = counts.warps as f64;
        let per_warp = |sectors: u64| (sectors * SECTOR) as f64 / warps;
        let mut demand = Demand {
            uses: Vec::new(),
            loads: Vec::new(),
            barriers: counts.warps_of(Class::Barrier) as f64 / warps,
            l2_read: per_warp(counts.footprint.read_by_blocks),
            read: per_warp(counts.footprint.read),
            written: per_warp(counts.footprint.written),
            footprint: per_warp(counts.footprint.either),
        };
        let cycle = 1.0 / board.cycles_per_second();
        let l2 = f64::from(board.gpu.multiprocessors) / board.facts.l2.rate;
        let is_missed = |it: &Counted| it.memory.iter().any(|it| it.new_sectors > 0);
        let all = counts.instructions.iter().enumerate();
        let loads = all.filter(|(_, it)| it.class == Class::Load && is_missed(it));
        demand.loads = loads.map(|(index, _)| index).collect();
        for (index, (counted, cost)) in counts.instructions.iter().zip(costs).enumerate() {
            let runs = counted.warps as f64 / warps;
            let mut add = |resource, seconds: f64| {
                if seconds > 0.0 {
                    demand.uses.push(Use {
                        resource,
                        instruction: index,
                        seconds,
                    });
                }
            };
            add(Resource::Issue, cost.slots / ISSUED * runs * cycle);
            if let Some((pipe, cycles)) = cost.pipe {
                add(pipe, cycles * runs * cycle);
            }
            for memory in &counted.memory {
                add(Resource::L1, passes(counted, memory) / warps * cycle);
                add(Resource::L2, l2_bytes(counted, memory) / warps * l2);
            }
        }
        demand
    }

    /// The uses of a resource; of memory those of L2, through which its bytes come.
    pub(super) fn uses_of(&self, resource: Resource) -> impl Iterator<Item = &Use> {
        let wanted = match resource {
            Resource::Memory => Resource::L2,
            resource => resource,
        };
        self.uses.iter().filter(move |it| it.resource == wanted)
    }

    /// Cycles of a way that wait for loads which L1 does not have.
    pub(super) fn loads(&self, way: &Way) -> f64 {
        self.loads.iter().map(|it| way.waits[*it]).sum()
    }

    /// Seconds of a resource.
    pub(super) fn of(&self, resource: Resource) -> f64 {
        let uses = self.uses.iter().filter(|it| it.resource == resource);
        uses.map(|it| it.seconds).sum()
    }
}

/// Passes through L1, or through the banks of shared memory: lines of 128 bytes that each request reaches.
fn passes(counted: &Counted, memory: &Memory) -> f64 {
    let requests = memory.requests as f64;
    match memory.space {
        Space::Shared => memory.wavefronts as f64,
        Space::Global | Space::Local if memory.requests > 0 => {
            let sectors = memory.sectors as f64 / requests;
            let lanes = counted.threads as f64 / requests;
            requests
                * lines(
                    memory.stride,
                    sectors,
                    lanes.min(32.0),
                    memory.bytes as f64 / requests,
                )
        }
        _ => 0.0,
    }
}

/// Lines of a request of so many sectors, whose lanes are so many bytes apart. `bytes` are those that it asks for.
fn lines(stride: Option<i64>, sectors: f64, lanes: f64, bytes: f64) -> f64 {
    let Some(stride) = stride.map(|it| it.unsigned_abs() as f64) else {
        // Anywhere: each sector may lie in a line of its own.
        return sectors.max(1.0);
    };
    let span = stride * (lanes - 1.0).max(0.0) + bytes / lanes.max(1.0);
    let (least, aligned) = match stride < LINE {
        true => (
            (span / LINE).ceil(),
            (span / SECTOR as f64).ceil().min(lanes),
        ),
        false => (lanes, lanes),
    };
    // What does not begin where a line does ends in one more.
    least.max(1.0) + (sectors - aligned.max(1.0)).clamp(0.0, 1.0)
}

/// Bytes between L1 and L2: what the block has not read before, and all that is written.
fn l2_bytes(counted: &Counted, memory: &Memory) -> f64 {
    let sectors = match (memory.space, counted.class) {
        (Space::Global, Class::Load) => memory.new_sectors.min(memory.sectors),
        (Space::Global, _) => memory.sectors,
        _ => 0,
    };
    (sectors * SECTOR) as f64
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn a_request_takes_a_pass_for_each_line() {
        // 32 words side by side, from the begin of a line, from amid one, and of half the requests each.
        assert_eq!(lines(Some(4), 4.0, 32.0, 128.0), 1.0);
        assert_eq!(lines(Some(4), 5.0, 32.0, 128.0), 2.0);
        assert_eq!(lines(Some(4), 4.5, 32.0, 128.0), 1.5);
        // 16 bytes each; every other word; one word of all; a line each; anywhere.
        assert_eq!(lines(Some(16), 16.0, 32.0, 512.0), 4.0);
        assert_eq!(lines(Some(8), 8.0, 32.0, 128.0), 2.0);
        assert_eq!(lines(Some(0), 1.0, 32.0, 128.0), 1.0);
        assert_eq!(lines(Some(512), 32.0, 32.0, 128.0), 32.0);
        assert_eq!(lines(None, 20.0, 32.0, 128.0), 20.0);
    }
}
