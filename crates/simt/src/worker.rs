//! One core's part of a launch: blocks, one after another or in turns.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
    /// Whether there was one since.
    spins: Cell<bool>,
    /// How many cores do anything but spin.
    busy: &'a AtomicUsize,
    stacks: RefCell<Vec<ThreadStack>>,
    spare: RefCell<Vec<BlockParts>>,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.waits_for_others();
        ThreadStack::keep(self.stacks.take());
    }
}

/// What a block hands on to the next.
pub(crate) struct BlockParts {
    pub(crate) memory: BlockMemory,
    pub(crate) watch: Option<RefCell<BlockWatch>>,
}

impl<'a> Worker<'a> {
    /// It is one of the `busy`.
    pub(crate) fn new(
        launch: &'a Launch<'a>,
        kernel: &'a (dyn Fn() + Sync),
        busy: &'a AtomicUsize,
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
            spins: Cell::new(false),
            busy,
            stacks: RefCell::default(),
            spare: RefCell::default(),
        }
    }

    /// A thread has ended or met others.
    pub(crate) fn went_on(&self) {
        self.idle.set(0);
        if self.spins.replace(false) {
            self.busy.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Says that a thread here spins, and whether another core may yet do what it waits for.
    pub(crate) fn waits_for_others(&self) -> bool {
        if !self.spins.replace(true) {
            self.busy.fetch_sub(1, Ordering::Relaxed);
        }
        self.busy.load(Ordering::Relaxed) > 0
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
                live.push(LiveBlock::new(self, permuted(index)));
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
    pub(crate) fn parts(&self, block: u32) -> BlockParts {
        let parts = self.spare.borrow_mut().pop().unwrap_or_else(|| {
            let dynamic = self.launch.shape.dynamic_shared;
            let memory = BlockMemory::new(dynamic, self.launch.options.shared_per_block);
            let watch = self
                .watch
                .is_some()
                .then(|| RefCell::new(BlockWatch::new(&memory)));
            BlockParts { memory, watch }
        });
        if let Some(watch) = &parts.watch {
            watch.borrow_mut().reset(block, parts.memory.used());
        }
        parts.memory.reset();
        parts
    }

    pub(crate) fn take_back(&self, parts: BlockParts) {
        self.spare.borrow_mut().push(parts);
    }
}
