//! The state that a warp reaches besides its registers.

use std::collections::BTreeMap;
use std::ops::{Deref, Range};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use super::access::Access;
use super::cluster::Cluster;
use super::endless::Limit;
use super::failure::Failed;
use super::parameter_bounds::ParameterBounds;
use super::program::Program;
use super::registers::LANES;
use super::tensor_memory::TensorMemory;
use super::wgmma::Products;
use crate::check::undefined::Registers;
use crate::check::{BlockId, Hold, LaunchId};
use crate::count::Tally;
use crate::memory::{self, Cached, Memory, OutOfMemory, Parts, Shared};

/// A launch, as its threads see it.
pub(crate) struct Launch<'l> {
    /// Blocks of the grid.
    pub(crate) grid: [u32; 3],
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Bytes of static and of dynamic shared memory of a block.
    pub(crate) static_shared: u32,
    pub(crate) dynamic_shared: u32,
    /// The kernel's parameters, one behind the other as PTX lays them out.
    pub(crate) parameters: Parameters,
    /// Where each of them lies there.
    pub(crate) parameter_bounds: &'l [ParameterBounds],
    /// The address of the variable that leads to where a panic is recorded.
    pub(crate) panic_record: u64,
    pub(crate) memory: &'l Memory,
    /// The receiver of the text that kernels print.
    pub(crate) print: &'l (dyn Fn(&str) + Sync),
    /// When clocks were zero.
    pub(crate) started: Instant,
    /// The multiprocessors that the grid's blocks are said to run on.
    pub(crate) multiprocessors: u32,
    pub(crate) held: Held,
    /// Whether no other launch reaches its memory.
    pub(crate) is_apart: bool,
    /// Blocks of a cluster; 0 where the kernel knows of none.
    pub(crate) cluster: u64,
    /// The address of a cooperative grid's [`Workspace`](super::workspace::Workspace); 0 where there is none.
    pub(crate) workspace: u64,
    /// When it ends, and how long it may take.
    pub(crate) deadline: Option<Deadline>,
    /// The first allocation of its threads for which the heap had no room.
    pub(crate) full_heap: OnceLock<OutOfMemory>,
}

/// The moment at which a launch ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    /// Returns the moment when the limit is over, where the clock reaches it.
    pub(crate) fn after(limit: Duration) -> Option<Deadline> {
        let at = Instant::now().checked_add(limit)?;
        Some(Deadline { at, limit })
    }
}

/// The bytes of a launch's parameters, aligned for elements of 16 bytes.
pub(crate) struct Parameters {
    words: Box<[u128]>,
    len: usize,
}

impl Parameters {
    pub(crate) fn new(bytes: &[u8]) -> Parameters {
        let word = |chunk: &[u8]| {
            let mut word = [0; 16];
            word[..chunk.len()].copy_from_slice(chunk);
            u128::from_ne_bytes(word)
        };
        Parameters {
            words: bytes.chunks(16).map(word).collect(),
            len: bytes.len(),
        }
    }
}

impl Deref for Parameters {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the words hold so many bytes, since `new` has made them of these.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.len) }
    }
}

/// How many blocks may have begun and not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// As many as the device has room for.
    ByDevice(u64),
    /// No more than that, in a launch of which nobody promises that blocks run at the same time: those that
    /// have begun may wait for earlier ones, and for no others.
    AsPromised(u64),
}

impl Held {
    pub(crate) fn blocks(self) -> u64 {
        match self {
            Held::ByDevice(blocks) | Held::AsPromised(blocks) => blocks,
        }
    }
}

impl Launch<'_> {
    /// Bytes of the parameters, extended to all bits.
    pub(crate) fn parameter(&self, offset: u32, bytes: u32, signed: bool) -> u128 {
        let all = self.parameters.get(offset as usize..).unwrap_or_default();
        let all = &all[..all.len().min(bytes as usize)];
        let mut padded = [0; 16];
        padded[..all.len()].copy_from_slice(all);
        let bits = u128::from_le_bytes(padded);
        let shift = 128 - 8 * bytes;
        match signed {
            true => ((bits << shift) as i128 >> shift) as u128,
            false => bits,
        }
    }

    /// Returns the time that it may take, where it is over.
    pub(crate) fn late(&self) -> Option<Limit> {
        let Deadline { at, limit } = self.deadline?;
        (Instant::now() >= at).then_some(Limit::Time(limit))
    }

    pub(crate) fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }

    /// Blocks that begin together.
    pub(crate) fn together(&self) -> u64 {
        self.cluster.max(1)
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.grid.iter().map(|&blocks| u64::from(blocks)).product()
    }
}

/// Where a warp is.
pub(crate) struct Surroundings<'l> {
    pub(crate) launch: &'l Launch<'l>,
    /// Where variables of shared memory lie.
    pub(crate) layout: Shared,
    /// The block's number, x running fastest.
    pub(crate) block: u64,
    /// Its index, x, y, z.
    pub(crate) block_index: [u32; 3],
    pub(crate) warp: u32,
    /// Lanes of the warp that have not ended.
    pub(crate) live: u32,
    /// The block's shared memory.
    pub(crate) shared: *mut u8,
    /// The generic address at which it begins.
    pub(crate) shared_window: u64,
    pub(crate) local: Local,
    /// The generic address at which the local memory of the block's first thread begins, and how far the next
    /// thread's is behind.
    pub(crate) local_window: (u64, u64),
    /// The function that runs.
    pub(crate) program: *const Program,
    /// Its accesses to memory.
    pub(crate) accesses: *const Access,
    /// The allocation that each of them met last, by the access's number.
    pub(crate) met: *mut Cached,
    /// The products that the warp has computed with others.
    pub(crate) products: *mut Products,
    /// How many groups of products each warp of the block has committed.
    pub(crate) groups: *const AtomicU32,
    /// The block's tensor memory.
    pub(crate) tensor_memory: *mut TensorMemory,
    /// The block's cluster; null where the launch has none.
    pub(crate) cluster: *const Cluster,
    /// The phase of the cluster's barrier at which each lane of the warp has arrived and not waited.
    pub(crate) awaited: *mut [Option<u32>; LANES],
    /// The block whose shared memory is reached, where it is another.
    pub(crate) owner: Option<BlockId>,
    /// How often it has looked at what other threads may write: see [`Pause`](super::warp::Pause).
    pub(crate) looks: u32,
    /// The last of these, of the group that runs.
    pub(crate) looked: Option<Look>,
    /// The last wait of a thread at an mbarrier whose phase had not ended.
    pub(crate) unmet: Option<Unmet>,
    /// Whether a phase of an mbarrier has ended since somebody asked: then it has not been for nothing that threads waited.
    pub(crate) has_ended_phase: bool,
    /// Whether threads have read the time: their waits may end by it.
    pub(crate) has_read_time: bool,
    /// Who is told of what threads do, in checked launches.
    pub(crate) checking: Option<Checking<'l>>,
    /// Whether something undefined is in a register of the launch.
    pub(crate) tracks: bool,
    /// The tally that counts them, in counted launches.
    pub(crate) counting: Option<&'l mut Tally>,
    /// The failure of the instructions that ran last: the first is kept.
    pub(crate) fault: Option<Box<Failed>>,
}

/// A look at what other threads may write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// The function, to be compared with the one that runs.
    pub(crate) program: *const Program,
    pub(crate) instruction: u32,
    /// Of the first lane, in the host's memory.
    pub(crate) at: *const u8,
}

/// A wait at an mbarrier whose phase has not ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unmet {
    /// Where the mbarrier lies in shared memory.
    pub(crate) offset: u64,
    /// Arrivals and bytes that it expects.
    pub(crate) arrivals: u32,
    pub(crate) bytes: i64,
    pub(crate) instruction: u32,
}

/// The checks of a launch, and the block that runs.
pub(crate) struct Checking<'l> {
    pub(crate) checker: &'l mut (dyn Hold + 'static),
    pub(crate) launch: LaunchId,
    pub(crate) block: Option<BlockId>,
    /// How many accesses were checked.
    pub(crate) accesses: u32,
    /// Whether the last access was a write for all devices to see, after which others have their turn.
    pub(crate) has_told: bool,
    /// The offsets of the parameters through which nobody writes.
    pub(crate) fixed: Vec<u32>,
    /// The bytes that pointers may reach, by the offsets of their parameters.
    pub(crate) lent: Vec<(u32, Range<u64>)>,
    /// The undefined bits of the warps' registers.
    pub(crate) undefined: Registers,
    /// Of dynamic shared memory, by the numbers of the blocks that have declared some.
    pub(crate) parts: BTreeMap<u64, Parts>,
}

impl Checking<'_> {
    /// The block that runs.
    pub(crate) fn block(&self) -> BlockId {
        self.block.expect("a block runs")
    }
}

/// The local memory of a warp's threads.
#[derive(Clone, Copy)]
pub(crate) struct Local {
    pub(crate) start: *mut u8,
    /// Bytes a thread.
    pub(crate) bytes: u32,
    /// Where the activation's begins.
    pub(crate) frame: u32,
    /// The layout of the frames in it.
    pub(crate) frames: *const memory::Local,
}

impl Surroundings<'_> {
    /// Whether anybody is told of accesses before they are made.
    #[inline(always)]
    pub(crate) fn is_observed(&self) -> bool {
        self.checking.is_some() || self.counts_memory()
    }

    /// Whether accesses of memory are counted.
    #[inline(always)]
    pub(crate) fn counts_memory(&self) -> bool {
        self.counting.as_ref().is_some_and(|it| it.counts_memory())
    }

    /// Whether other devices do nothing while the launch looks for what they write.
    pub(crate) fn keeps_others_waiting(&self) -> bool {
        self.checking.is_some() && self.launch.memory.has_peers()
    }

    /// A thread's index in its block, x, y, z.
    pub(crate) fn thread_index(&self, lane: usize) -> [u32; 3] {
        let thread = u64::from(self.warp) * 32 + lane as u64;
        coordinates(thread, self.launch.block)
    }

    /// The generic address at which a thread's local memory begins.
    #[inline(always)]
    pub(crate) fn local_window_of(&self, lane: usize) -> u64 {
        let (first, step) = self.local_window;
        first + (u64::from(self.warp) * 32 + lane as u64) * step
    }

    /// The function that runs.
    pub(crate) fn function(&self) -> &str {
        // SAFETY: set when a warp enters an activation, which keeps its program.
        unsafe { &(&*self.program).name }
    }

    /// Its number in the module.
    pub(crate) fn function_index(&self) -> u32 {
        // SAFETY: as above.
        unsafe { (&*self.program).index }
    }

    /// The frames in local memory.
    pub(crate) fn frames(&self) -> &memory::Local {
        // SAFETY: as for the function: the warp's own.
        unsafe { &*self.local.frames }
    }
}

/// The x, y, z of a linear index, x running fastest.
pub(crate) fn coordinates(linear: u64, extent: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extent.map(u64::from);
    // Each is less than its extent, a u32.
    [linear % x, linear / x % y, linear / x / y].map(|index| index as u32)
}

/// The index of an axis.
pub(crate) fn axis(axis: ptx::Axis) -> usize {
    match axis {
        ptx::Axis::X => 0,
        ptx::Axis::Y => 1,
        ptx::Axis::Z => 2,
    }
}
