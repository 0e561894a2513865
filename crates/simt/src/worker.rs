//! One core's part of a launch: blocks, one after another or in turns.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::block::{LiveBlock, Progress};
use crate::check::{BlockWatch, Watch};
use crate::memory::BlockMemory;
use crate::order::Order;
use crate::stack::ThreadStack;
use crate::{Launch, LaunchError, most_blocks};

/// Blocks that take turns: in order only where all wait for others' flags, else at random.
const MOST_IN_ORDER: usize = 64;
const MOST_SEEDED: usize = 4;

/// What the blocks of one core share.
pub(crate) struct Worker<'a> {
    pub(crate) launch: &'a Launch<'a>,
    pub(crate) kernel: &'a (dyn Fn() + Sync),
    pub(crate) order: RefCell<Order>,
    /// Where memory is checked.
    pub(crate) watch: Option<RefCell<Watch>>,
    /// Steps of threads that spin, since one last ended or met others.
    pub(crate) idle: Cell<u64>,
    looks: &'a Looks,
    /// Which of the cores this is.
    core: usize,
    stacks: RefCell<Vec<ThreadStack>>,
    spare: RefCell<Vec<BlockParts>>,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.looks.end(self.core);
        ThreadStack::keep(self.stacks.take());
    }
}

/// How often each core has looked in vain for what its threads wait for, as far as the others have.
pub(crate) struct Looks {
    of_cores: Vec<AtomicU64>,
}

impl Looks {
    pub(crate) fn new(cores: usize) -> Self {
        Looks {
            of_cores: (0..cores).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Counts a look of this core, unless another has looked less often.
    fn count(&self, core: usize) -> bool {
        let own = self.of_cores[core].load(Ordering::Relaxed);
        let is_behind = |other: &AtomicU64| other.load(Ordering::Relaxed) < own;
        if self.of_cores.iter().any(is_behind) {
            return false;
        }
        self.of_cores[core].store(own + 1, Ordering::Relaxed);
        true
    }

    /// Nothing waits for this core any more.
    pub(crate) fn end(&self, core: usize) {
        self.of_cores[core].store(u64::MAX, Ordering::Relaxed);
    }
}

/// What a block hands on to the next.
pub(crate) struct BlockParts {
    pub(crate) memory: BlockMemory,
    pub(crate) watch: Option<RefCell<BlockWatch>>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        launch: &'a Launch<'a>,
        kernel: &'a (dyn Fn() + Sync),
        looks: &'a Looks,
        core: usize,
    ) -> Self {
        let options = &launch.options;
        let watch = options
            .checks
            .watch_memory()
            .then(|| Watch::new(options.checks, launch.shape, launch.memory));
        Worker {
            launch,
            kernel,
            order: RefCell::new(Order::new(options)),
            watch: watch.map(RefCell::new),
            idle: Cell::new(0),
            looks,
            core,
            stacks: RefCell::default(),
            spare: RefCell::default(),
        }
    }

    /// A thread has ended or met others.
    pub(crate) fn went_on(&self) {
        self.idle.set(0);
    }

    /// A thread here spins for `steps`. These count only when every core has spun as often, because
    /// until then another may yet do what this one waits for: whether they count.
    pub(crate) fn idles(&self, steps: u32) -> bool {
        // How often all cores may spin in turn before that is an endless loop.
        const ROUNDS: u64 = 4096;
        if !self.looks.count(self.core) {
            return false;
        }
        let steps = match self.looks.of_cores.len() {
            1 => steps.into(),
            _ => u64::from(steps).max(self.launch.options.steps / ROUNDS),
        };
        self.idle.set(self.idle.get().saturating_add(steps));
        true
    }

    /// Runs the blocks that `next` gives, to the end or to the first failure; that of another core
    /// shows in `stop`.
    pub(crate) fn run(
        &self,
        next: impl Fn() -> Option<u64>,
        stop: &AtomicBool,
    ) -> Result<(), LaunchError> {
        let permuted = self
            .order
            .borrow_mut()
            .permutation(self.launch.shape.blocks());
        let is_seeded = self.order.borrow().is_seeded();
        let most = match (self.launch.cooperative, is_seeded) {
            (true, _) => usize::MAX,
            (false, true) => MOST_SEEDED,
            (false, false) => MOST_IN_ORDER,
        };
        let most = most.min(most_blocks(self.launch.shape) as usize);
        let mut live: Vec<LiveBlock<'_>> = Vec::new();
        let mut turn = 0;
        loop {
            let all_spin = live.iter().all(LiveBlock::spins);
            if (all_spin || is_seeded)
                && live.len() < most
                && let Some(index) = next()
            {
                live.push(LiveBlock::new(self, permuted(index))?);
            }
            // A thread here may be waiting for one that has failed.
            if live.is_empty() || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            turn = match is_seeded {
                true => self.order.borrow_mut().choose(live.len()),
                false => live
                    .iter()
                    .position(|block| !block.spins())
                    .unwrap_or((turn + 1) % live.len()),
            };
            if live[turn].advance() == Progress::Ended {
                live.swap_remove(turn).end()?;
            }
        }
    }

    /// A stack, used or new.
    pub(crate) fn stack(&self) -> Result<ThreadStack, LaunchError> {
        match self.stacks.borrow_mut().pop() {
            Some(stack) => Ok(stack),
            None => ThreadStack::new(),
        }
    }

    pub(crate) fn give_back(&self, stack: ThreadStack) {
        self.stacks.borrow_mut().push(stack);
    }

    /// Shared memory and what is known of it, fresh for the block.
    pub(crate) fn parts(&self, block: u32) -> Result<BlockParts, LaunchError> {
        let spare = self.spare.borrow_mut().pop();
        let parts = match spare {
            Some(parts) => parts,
            None => self.new_parts()?,
        };
        if let Some(watch) = &parts.watch {
            watch.borrow_mut().reset(block, parts.memory.used());
        }
        parts.memory.reset();
        Ok(parts)
    }

    fn new_parts(&self) -> Result<BlockParts, LaunchError> {
        let dynamic = self.launch.shape.dynamic_shared;
        let memory = BlockMemory::new(dynamic, self.launch.options.shared_per_block)?;
        let watch = self
            .watch
            .is_some()
            .then(|| RefCell::new(BlockWatch::new(&memory)));
        Ok(BlockParts { memory, watch })
    }

    pub(crate) fn take_back(&self, parts: BlockParts) {
        self.spare.borrow_mut().push(parts);
    }
}
