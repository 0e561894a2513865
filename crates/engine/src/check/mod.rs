//! Checks of what threads do with memory: races by happens-before with scopes, bytes that nobody
//! has written, asynchronous copies, leaks.
//!
//! # For the executor
//!
//! One [`Checker`] for the devices of an address space, beside their [`Memory`](crate::memory::Memory). It looks at what
//! checked launches do, one host thread at a time ([`Turns`]); blocks may run one after another or in turns. A call either remembers what happened
//! and is `Ok`, or gives a [`Finding`], but for one that is benign, which is kept; going on after a finding is sound, but later ones may follow
//! from it.
//!
//! | when | call |
//! |---|---|
//! | the host enqueues, records, waits | [`Streams`], one call each |
//! | a launch begins, ends | [`Checker::launch`] with `streams.enqueue(stream)`, [`Checker::end_launch`] |
//! | a block begins, ends | [`Checker::begin_block`], [`Checker::end_block`] |
//! | `ld`, `st`, `atom`, `red` of global memory | `memory.resolve(..)?`, then [`Checker::global`] with the same [`Cached`] |
//! | `ld.global.nc` | the same with [`Checker::read_only`] |
//! | of shared memory | `shared.resolve(..)?`, then [`Checker::shared`] |
//! | of local memory | `local.resolve(..)?`, then [`Checker::local`]; [`Checker::frame`] after `local.push` |
//! | all of a block have met at a barrier | [`Checker::barrier`] |
//! | some of it: `bar.arrive`, `bar.sync` with a count | [`Checker::arrive`] as each warp comes, [`Checker::leave`] for those that waited, when the last has come |
//! | `bar.warp.sync` of lanes that have met | [`Checker::sync_warp`] |
//! | `fence`, `membar` | [`Checker::fence`] |
//! | `griddepcontrol` | [`Checker::let_dependents_begin`], [`Checker::wait_for_launch`] |
//! | `cp.async` and its groups | [`Checker::copy`], [`Checker::commit`], [`Checker::wait`] |
//! | the host copies or fills | [`Checker::host`] |
//! | an unchecked launch has run | [`Checker::trust`] |
//! | `mbarrier.arrive`, of the word itself | [`Checker::arrive_at`] |
//! | an mbarrier is invalidated | [`Checker::invalidate`] |
//! | a launch has ended well | [`Checker::leaks`], [`Checker::results`] |
//! | a launch has ended | [`Checker::take_benign`] |
//!
//! Call before the access itself is made. Atomics and other strong accesses must then be made lane
//! by lane, in ascending order, and in the order of the calls: what a read observes is taken to be
//! what was last written. A compare-and-swap that fails is a [`AccessKind::Read`]: split the mask.
//! Generic addresses are resolved first: a call is of one state space. Shuffles and votes order no
//! memory. `mbarrier` operations are strong accesses of their 8 bytes in shared memory, with
//! scope of the block: arrive releases, a successful test or wait acquires.
//!
//! Reads of shared memory that nobody has written are held back until the block's next barrier, or
//! its end: if another thread writes meanwhile, the race is what is wrong, and is found instead.
//!
//! # What is remembered
//!
//! 20 bytes per word (`line.rs`): the last weak write, and the accesses since. A line of words becomes
//! four of bytes once a byte of it is accessed, so everything is exact to the byte. Whole warps go
//! over lines with vector instructions; what comparisons of times cannot show to be in order goes to
//! `cell.rs`, which asks the block's `clock.rs` and the `chains.rs` of what was released.

mod access;
mod benign;
mod bulk;
mod cell;
mod chains;
mod clock;
mod copies;
mod entry;
mod epochs;
mod finding;
pub(crate) mod hash;
mod host;
mod in_flight_at_exit;
mod launches;
mod leaks;
mod line;
mod local;
mod overlap;
mod products;
mod proxy_fences;
mod read_only;
mod seen;
mod sets;
mod shadow;
mod sites;
mod sources;
mod streams;
mod strong;
mod tensor_memory;
#[cfg(test)]
mod tests;
mod turns;
pub(crate) mod undefined;
mod warp;
mod warp_readers;
mod writes;

pub use access::{
    Access, AccessKind, Accessors, BlockId, LaunchId, Order, Scope, Strength, Unwritten,
};
pub use benign::Missing;
pub use bulk::{CopyRole, Part};
pub use copies::Copy;
pub(crate) use finding::SiteId;
pub use finding::{Agent, Finding, Side, Thread, Verb};
pub use overlap::Stored;
pub use streams::{Event, Operation, Stream, Streams};
pub use tensor_memory::{TensorAct, TensorCells};
pub use turns::{Hold, Known, Turn, Turns};

use crate::finding_kind::Severity;
use crate::memory::{AllocationId, Cached, Contents, Shared};
use benign::Kept;
use bulk::Bulks;
use clock::Clock;
use copies::Copies;
use epochs::Epochs;
use line::Sweeps;
use local::Written;
use products::Products;
use read_only::ReadOnly;
use sets::Sets;
use shadow::Shadow;
use sites::Sites;
use sources::Sources;
use tensor_memory::TensorMemory;
use undefined::{Stored as UndefinedStored, Undefined};

/// Why the checker lets a launch not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Something is wrong with what it does.
    #[error("{0}")]
    Found(Box<Finding>),
    /// The system has no memory for what is kept of an allocation that it reaches.
    #[error(
        "its checks have no memory: the system was asked for {bytes} bytes; use smaller buffers, or launch without checks"
    )]
    NoMemory {
        /// How many bytes were asked for.
        bytes: u64,
    },
}

impl From<Box<Finding>> for Box<Stop> {
    fn from(finding: Box<Finding>) -> Box<Stop> {
        Box::new(Stop::Found(finding))
    }
}

/// Returns how many bytes checked launches keep of an allocation of so many, all of which they reach.
pub fn bytes_kept_of(bytes: u64) -> u64 {
    bytes
        .div_ceil(shadow::LINE)
        .saturating_mul(shadow::LINE_BYTES)
}

/// Nothing wrong, or why the launch ends.
pub type Checked = Result<(), Box<Stop>>;

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// A number of the program that instructions are counted in: another for each module.
    pub program: u32,
    /// Threads per block.
    pub threads: u32,
    /// The number of the device.
    pub device: u32,
    /// Whether the device reaches others, or is reached.
    pub is_joined: bool,
    /// Blocks per cluster, 1 without clusters. Those of a cluster have consecutive indices here.
    pub blocks_per_cluster: u64,
    /// Findings of this severity end it, and of any above.
    pub ends_with: Severity,
}

/// The state of a device's checked launches and of its memory.
#[derive(Debug)]
pub struct Checker {
    world: Epochs,
    sites: Sites,
    blocks: Vec<Option<Box<Block>>>,
    /// Of blocks that have ended, for the next.
    spare: Vec<Shadow>,
    /// By an allocation's slot.
    shadows: Vec<Global>,
    sets: Sets,
    sweeps: Sweeps,
    sources: Sources,
    shapes: Vec<(LaunchId, Shape)>,
    undefined: Undefined,
    kept: Vec<Kept>,
}

/// The state of an allocation.
#[derive(Debug, Default)]
struct Global {
    id: AllocationId,
    contents: Contents,
    shadow: Option<Shadow>,
    /// When a kernel wrote to it last.
    written: u32,
    read_only: ReadOnly,
    undefined: UndefinedStored,
}

#[derive(Debug)]
struct Block {
    clock: Clock,
    program: u32,
    table: usize,
    threads: u32,
    layout: Shared,
    shadow: Shadow,
    sets: Sets,
    local: Vec<Written>,
    /// Undefined values that its shared memory, and its threads' local memory, was written with.
    undefined: UndefinedStored,
    undefined_local: UndefinedStored,
    copies: Copies,
    bulks: Bulks,
    products: Products,
    tensor_memory: TensorMemory,
    /// The first read since the last barrier of shared memory that nobody has written.
    held: Option<Box<Finding>>,
}

impl Default for Checker {
    fn default() -> Checker {
        Checker::new()
    }
}

impl Checker {
    /// Has seen nothing.
    pub fn new() -> Checker {
        Checker {
            world: Epochs::new(),
            sites: Sites::new(),
            blocks: Vec::new(),
            spare: Vec::new(),
            shadows: Vec::new(),
            sets: Sets::default(),
            sweeps: Sweeps::of_this_machine(),
            sources: Sources::default(),
            shapes: Vec::new(),
            undefined: Undefined::default(),
            kept: Vec::new(),
        }
    }

    /// A launch begins.
    pub fn launch(&mut self, operation: Operation, shape: Shape) -> LaunchId {
        self.rebase();
        let (id, floor) = self
            .world
            .launch(operation, shape.device, shape.blocks_per_cluster);
        if floor == self.world.now() {
            self.sets.clear(floor);
            if self.blocks.iter().all(Option::is_none) {
                self.sites.forget();
            }
        }
        self.shapes.push((id, shape));
        id
    }

    /// All its blocks have ended.
    pub fn end_launch(&mut self, launch: LaunchId) {
        // Those of a launch that has failed: nobody waits for their copies any more.
        for slot in 0..self.blocks.len() {
            let block = self.blocks[slot].as_deref();
            if block.is_some_and(|block| block.clock.launch == launch) {
                // The launch's failure was first.
                let _ = self.end_block(BlockId(slot as u32));
            }
        }
        self.world.end(launch);
        self.undefined.forget(launch);
        self.shapes.retain(|(id, _)| *id != launch);
        self.take_benign(launch);
    }

    /// A block becomes resident. `shared` is the launch's layout.
    ///
    /// # Panics
    /// If the launch has ended.
    pub fn begin_block(&mut self, launch: LaunchId, block: u64, shared: &Shared) -> BlockId {
        let shape = self.shapes.iter().find(|(id, _)| *id == launch);
        let (_, shape) = *shape.expect("the launch has not ended");
        let clock = Clock::new(&mut self.world, launch, Some(block), shape);
        self.seat(clock, shape, shared)
    }

    fn seat(&mut self, clock: Clock, shape: Shape, shared: &Shared) -> BlockId {
        let bytes = u64::from(shared.bytes());
        let again = self.spare.pop().filter(|shadow| shadow.is_for(bytes));
        let block = Block {
            clock,
            program: shape.program,
            table: self.sites.program(shape.program),
            threads: shape.threads,
            layout: shared.clone(),
            shadow: again.unwrap_or_else(|| Shadow::of_block(bytes)),
            sets: Sets::default(),
            undefined: UndefinedStored::default(),
            undefined_local: UndefinedStored::default(),
            local: vec![Written::default(); shape.threads.div_ceil(32) as usize],
            copies: Copies::default(),
            bulks: Bulks::default(),
            products: Products::default(),
            tensor_memory: TensorMemory::default(),
            held: None,
        };
        let free = self.blocks.iter().position(Option::is_none);
        let slot = free.unwrap_or_else(|| {
            self.blocks.push(None);
            self.blocks.len() - 1
        });
        self.blocks[slot] = Some(Box::new(block));
        BlockId(slot as u32)
    }

    /// All threads of a block have exited.
    ///
    /// # Errors
    /// A read of shared memory that was held back.
    pub fn end_block(&mut self, block: BlockId) -> Checked {
        let Some(mut ended) = self.blocks[block.0 as usize].take() else {
            return Ok(());
        };
        ended.clock.end(&mut self.world);
        let number = ended.clock.number;
        self.sources.end_all_of(number);
        let left = self.left_behind(&ended);
        if ended.copies.is_empty() && ended.bulks.is_idle() {
            self.spare.push(ended.shadow);
        }
        ended.held.or(left).map_or(Ok(()), |it| Err(it.into()))
    }

    /// All threads of a block that have not exited have met at a barrier.
    ///
    /// # Errors
    /// A read of shared memory that was held back.
    pub fn barrier(&mut self, block: BlockId) -> Checked {
        let (world, block) = (&mut self.world, live(&mut self.blocks, block));
        block.clock.barrier(world);
        if !block.clock.is_clustered {
            block.sets.clear(block.clock.barrier);
        }
        block.held.take().map_or(Ok(()), |it| Err(it.into()))
    }

    /// Threads come to a barrier that not all of the block take part in, or that they do not wait at.
    pub fn arrive(&mut self, who: Accessors, barrier: u32) {
        let (world, block) = (&mut self.world, live(&mut self.blocks, who.block));
        block
            .clock
            .arrive(world, barrier, 0, &[(who.warp, who.mask)]);
    }

    /// Threads, that have arrived, go on from such a barrier: all have come.
    pub fn leave(&mut self, who: Accessors, barrier: u32) {
        let (world, block) = (&mut self.world, live(&mut self.blocks, who.block));
        block
            .clock
            .leave(world, barrier, 0, &[(who.warp, who.mask)]);
    }

    /// Lanes of a warp have met in `bar.warp.sync`.
    pub fn sync_warp(&mut self, who: Accessors) {
        let (world, block) = (&mut self.world, live(&mut self.blocks, who.block));
        let lanes = block.threads.saturating_sub(who.warp * 32).min(32);
        let all = u32::MAX >> (32 - lanes.max(1));
        block.clock.sync_warp(world, who.warp, who.mask, all);
    }

    /// Threads arrive at the barrier of their cluster, and release what they did.
    pub fn arrive_in_cluster(&mut self, who: Accessors) {
        let (world, block) = (&mut self.world, live(&mut self.blocks, who.block));
        block.clock.arrive_in_cluster(world, who.warp, who.mask);
    }

    /// Threads go on from the barrier of their cluster: all have come.
    pub fn leave_in_cluster(&mut self, who: Accessors) {
        let (world, block) = (&mut self.world, live(&mut self.blocks, who.block));
        block.clock.leave_in_cluster(world, who.warp, who.mask);
    }

    /// Threads let launches begin that depend on theirs.
    pub fn let_dependents_begin(&mut self, who: Accessors) {
        let launch = live(&mut self.blocks, who.block).clock.launch;
        self.world.let_begin(launch);
    }

    /// Threads wait for the launch that theirs depends on. From here on all of their block count as having waited: which of them
    /// know, is not followed.
    pub fn wait_for_launch(&mut self, who: Accessors) {
        let block = live(&mut self.blocks, who.block);
        block.clock.wait_for_launch(&self.world);
    }

    /// A fence.
    pub fn fence(&mut self, who: Accessors, order: Order, scope: Scope) {
        let (world, block) = (&mut self.world, live(&mut self.blocks, who.block));
        block.clock.fence(world, who.warp, who.mask, order, scope);
    }

    /// Describes an access by a thread of a block, for findings of the executor's own.
    pub fn side(
        &self,
        who: Accessors,
        lane: u32,
        instruction: u32,
        what: AccessKind,
    ) -> Option<Side> {
        let block = self.blocks.get(who.block.0 as usize)?.as_ref()?;
        let agent = Agent::Thread {
            block: block.clock.block.unwrap_or(0),
            thread: who.warp * 32 + lane,
        };
        let site = SiteId {
            program: block.program,
            instruction,
        };
        Some(Side {
            launch: Some(block.clock.launch),
            device: Some(block.clock.device),
            ..Side::accessing(agent, Some(what), site)
        })
    }

    /// Begins to count time again, before there is none left.
    fn rebase(&mut self) {
        let is_idle = self.blocks.iter().all(Option::is_none);
        if is_idle && self.world.is_old() {
            self.world = Epochs::new();
            self.sets.clear(0);
            for known in &mut self.shadows {
                known.shadow.iter_mut().for_each(Shadow::age);
                (known.written, known.read_only) = (0, ReadOnly::default());
            }
        }
    }
}

fn live(blocks: &mut [Option<Box<Block>>], id: BlockId) -> &mut Block {
    blocks[id.0 as usize]
        .as_mut()
        .expect("the block has not ended")
}

impl Global {
    /// The shadow of the allocation that an access lies in.
    ///
    /// # Errors
    /// It is the first access, and there is no memory for a shadow.
    fn of<'a>(
        shadows: &'a mut Vec<Global>,
        cached: &Cached,
    ) -> Result<(&'a mut Shadow, Contents), Box<Stop>> {
        let slot = cached.id.slot as usize;
        if slot >= shadows.len() {
            shadows.resize_with(slot + 1, Global::default);
        }
        let known = &mut shadows[slot];
        if known.id != cached.id {
            *known = Global {
                id: cached.id,
                contents: cached.contents,
                ..Global::default()
            };
        }
        let shadow = match &mut known.shadow {
            Some(shadow) => shadow,
            none => none.insert(Shadow::new(cached.start(), cached.bytes())?),
        };
        Ok((shadow, known.contents))
    }
}
