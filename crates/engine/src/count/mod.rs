//! Counts of a launch: instructions, lanes, bytes, sectors, conflicts, branches.
//!
//! Counts are a property of the PTX: work that the engine does once a launch, or leaves out because it changes nothing,
//! counts as often as warps come by it. Terms are Nsight Compute's.

mod banks;
mod copies;
mod distinct;
mod footprint;
mod merge;
mod report;
mod sectors;
mod tally;

pub(crate) use copies::Copied;
pub(crate) use footprint::Way;
pub use ptx::{Class, Type};
pub use report::Tallied;
pub(crate) use report::{BlockEnd, Listing};
pub(crate) use tally::{Function, OfBlock, Reached, Row, Scope, Switches, Tally};

pub use crate::source::Place;

/// Bytes of a sector, the least that caches move. Sectors are counted from the begin of an allocation, which
/// on a GPU is one of a sector, but of a module's variables, which `ptxas` packs: the host's memory may begin
/// anywhere, and elsewhere in the next run.
pub const SECTOR: u64 = 32;

/// The counts of launches of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The kernel.
    pub kernel: String,
    /// How many launches.
    pub launches: u64,
    /// Blocks, of all launches.
    pub blocks: u64,
    /// Warps of these blocks.
    pub warps: u64,
    /// Threads of these blocks.
    pub threads: u64,
    /// The instructions that a warp issued: the kernel's in the order of the PTX, then those of each function.
    pub instructions: Vec<Counted>,
    /// The memory of the device that was reached.
    pub footprint: Footprint,
}

/// Distinct sectors of global and constant memory, of several launches added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Those that were read: with those written the least that memory must move.
    pub read: u64,
    /// Those that were written. Atomics read and write.
    pub written: u64,
    /// Those that were read or written.
    pub either: u64,
    /// Those that each block read, of all blocks: what must come from L2 where a block's L1 keeps all.
    pub read_by_blocks: u64,
    /// Those that each block wrote, of all blocks.
    pub written_by_blocks: u64,
    /// The same for each buffer and variable, in the order of their addresses.
    pub buffers: Vec<Buffer>,
}

/// The sectors of a buffer or a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// The parameter or variable; empty where none is known.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// Sectors that were read.
    pub read: u64,
    /// Sectors that were written.
    pub written: u64,
    /// Sectors that were read or written.
    pub either: u64,
}

/// An instruction of the PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The kernel or function that it is in.
    pub function: String,
    /// Its index in the function.
    pub instruction: u32,
    /// Its line in the PTX, from 1.
    pub ptx_line: u32,
    /// As it is written.
    pub text: String,
    /// The last line of the kernel's author where its code was inlined.
    pub source: Option<Place>,
    /// Where inlined code itself stands, if that is another line.
    pub callee: Option<Place>,
    /// The class of the instruction.
    pub class: Class,
    /// The type that it works on, if it has one.
    pub element: Option<Type>,
    /// Operations of arithmetic in each thread: 2 of an FMA, twice as many where two values are packed.
    pub operations_per_thread: u32,
    /// Operations of all threads that the instruction alone does not tell: of `tcgen05.mma`, whose sizes are in a register.
    pub runtime_operations: u64,
    /// How often a warp, or a part of one that goes its own way, issued it (`smsp__inst_executed`).
    pub warps: u64,
    /// Lanes that were active then (`smsp__thread_inst_executed`).
    pub lanes: u64,
    /// Lanes of those in which its guard was true (`smsp__thread_inst_executed_pred_on`).
    pub threads: u64,
    /// Its accesses to memory, for each space that it reached.
    pub memory: Vec<Memory>,
    /// Where its lanes went.
    pub branch: Option<Branch>,
}

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// Memory of the device.
    Global,
    /// Constant memory, where the instruction says so.
    Constant,
    /// Of the block.
    Shared,
    /// Of the thread.
    Local,
    /// Parameters of the kernel, of a function or of a call.
    Parameters,
}

/// The accesses of an instruction to one space of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Where.
    pub space: Space,
    /// How often a warp reached it with one lane or more.
    pub requests: u64,
    /// Bytes that lanes asked for.
    pub bytes: u64,
    /// Distinct sectors of each request. In local memory words of lanes lie side by side.
    pub sectors: u64,
    /// Those that the same bytes take side by side, or fewer where lanes share them.
    pub least_sectors: u64,
    /// Sectors of global memory that the block read, or wrote, for the first time.
    pub new_sectors: u64,
    /// Passes through the banks of shared memory.
    pub wavefronts: u64,
    /// Those of them that conflicts cost.
    pub conflicts: u64,
    /// The most frequent distance in bytes between lanes that are neighbours, if most requests have the
    /// same one throughout.
    pub stride: Option<i64>,
}

/// Where lanes went at a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// Lanes that took it. Of `brx.idx` all take it.
    pub taken: u64,
    /// Lanes that did not.
    pub not_taken: u64,
    /// How often lanes of one warp parted.
    pub splits: u64,
}

impl Counts {
    /// Operations on floating point.
    pub fn flop(&self) -> u64 {
        let float = self.instructions.iter().filter(|it| it.is_float());
        float.map(Counted::operations).sum()
    }

    /// Bytes that lanes asked for in a space.
    pub fn bytes(&self, space: Space) -> u64 {
        let all = self.instructions.iter().flat_map(|it| &it.memory);
        all.filter(|it| it.space == space).map(|it| it.bytes).sum()
    }

    /// How often warps issued instructions of a class.
    pub fn warps_of(&self, class: Class) -> u64 {
        let all = self.instructions.iter();
        all.filter(|it| it.class == class).map(|it| it.warps).sum()
    }
}

impl Counted {
    /// Operations of arithmetic, of all threads.
    pub fn operations(&self) -> u64 {
        self.threads * u64::from(self.operations_per_thread) + self.runtime_operations
    }

    /// Whether its operations are on floating point.
    pub fn is_float(&self) -> bool {
        self.element.is_some_and(Type::is_float)
    }
}
