//! Runs the threads of one block after another on one core.
//!
//! Each thread runs on a coroutine. One that ends without having waited hands its coroutine to the
//! next thread, so a kernel without barriers needs one coroutine and never switches. One that waits
//! is parked with its coroutine until all live threads of the block wait.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use cuda_std::emulation::{Coordinates, Hooks, Lane, enter};

use crate::{LaunchError, Shape, coordinates};

/// The stack of an emulated thread. Only the pages that it touches take memory.
const STACK_BYTES: usize = 256 * 1024;

type Parked = Coroutine<(), (), (), DefaultStack>;

/// Runs blocks of one launch, one after another, with stacks that it keeps.
pub(crate) struct BlockRunner<'a> {
    shape: Shape,
    kernel: &'a (dyn Fn() + Sync),
    stacks: Vec<DefaultStack>,
}

impl<'a> BlockRunner<'a> {
    pub(crate) fn new(shape: Shape, kernel: &'a (dyn Fn() + Sync)) -> Self {
        BlockRunner {
            shape,
            kernel,
            stacks: Vec::new(),
        }
    }

    /// Runs every thread of the block to its end, or to the first failure.
    pub(crate) fn run(&mut self, block_idx: [u32; 3]) -> Result<(), LaunchError> {
        let block = Block {
            shape: self.shape,
            block_idx,
            kernel: self.kernel,
            threads: self.shape.block.iter().map(|&n| u64::from(n)).product(),
            next: Cell::new(0),
            failure: RefCell::new(None),
        };
        let mut waiting = Vec::new();
        while block.has_more() {
            let thread = self.spawn(&block)?;
            self.resume(thread, &mut waiting);
        }
        while !waiting.is_empty() && !block.has_failed() {
            for thread in std::mem::take(&mut waiting) {
                self.resume(thread, &mut waiting);
            }
        }
        // Unwinds the threads that a failure has left waiting, while the block is still there.
        drop(waiting);
        match block.failure.into_inner() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// A coroutine that runs one thread of the block after another until one waits.
    fn spawn(&mut self, block: &Block<'_>) -> Result<Parked, LaunchError> {
        let stack = match self.stacks.pop() {
            Some(stack) => stack,
            None => DefaultStack::new(STACK_BYTES)
                .map_err(|error| LaunchError::Stack(error.to_string()))?,
        };
        let block: *const Block<'_> = block;
        let block: *const Block<'static> = block.cast();
        Ok(Coroutine::with_stack(stack, move |yielder, ()| {
            // SAFETY: `run`, which alone resumes and drops the coroutine, owns the block and drops
            // every coroutine first.
            unsafe { &*block }.run_threads(yielder);
        }))
    }

    fn resume(&mut self, mut thread: Parked, waiting: &mut Vec<Parked>) {
        match thread.resume(()) {
            CoroutineResult::Yield(()) => waiting.push(thread),
            CoroutineResult::Return(()) => self.stacks.push(thread.into_stack()),
        }
    }
}

/// One block, while it runs.
struct Block<'a> {
    shape: Shape,
    block_idx: [u32; 3],
    kernel: &'a (dyn Fn() + Sync),
    threads: u64,
    /// Linear index of the next thread to begin.
    next: Cell<u64>,
    failure: RefCell<Option<LaunchError>>,
}

impl Block<'_> {
    fn has_more(&self) -> bool {
        self.next.get() < self.threads && !self.has_failed()
    }

    fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    fn run_threads(&self, yielder: &Yielder<(), ()>) {
        let hooks = Waits(yielder);
        while self.has_more() {
            let linear = self.next.replace(self.next.get() + 1);
            let lane = Lane {
                coordinates: Coordinates {
                    thread_idx: coordinates(linear, self.shape.block),
                    block_idx: self.block_idx,
                    block_dim: self.shape.block,
                    grid_dim: self.shape.grid,
                },
                hooks: &hooks,
            };
            let ended = enter(&lane, || panic::catch_unwind(AssertUnwindSafe(self.kernel)));
            if let Err(payload) = ended {
                self.failure
                    .borrow_mut()
                    .get_or_insert_with(|| LaunchError::Panicked {
                        block: self.block_idx,
                        thread: lane.coordinates.thread_idx,
                        message: message(&*payload),
                    });
            }
        }
    }
}

/// Parks the thread that asks.
struct Waits<'a>(&'a Yielder<(), ()>);

impl Hooks for Waits<'_> {
    fn sync_threads(&self) {
        self.0.suspend(());
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(no message)").to_owned()
}
