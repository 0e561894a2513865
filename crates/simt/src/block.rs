//! Runs the threads of one block on one core, warp by warp.
//!
//! Each thread runs on a coroutine. One that ends without having waited hands its coroutine to the
//! next thread of its warp, so a kernel without barriers needs one coroutine and never switches.
//! One that waits is parked with its coroutine until what it waits for has come.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, Location};
use std::sync::atomic::Ordering;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use cuda_std::emulation::{
    Coordinates, Exchange, Hooks, Lane, Operation, SharedArray, Tally, WARP_SIZE, enter,
};

use crate::memory::BlockMemory;
use crate::wait::{self, Answer, Wait};
use crate::{Launch, LaunchError, coordinates, place};

/// The stack of an emulated thread, twice the local memory that a GPU's may have. Only the pages that
/// it touches take memory.
const STACK_BYTES: usize = 1024 * 1024;

type Fiber = Coroutine<Answer, (u32, Wait), (), DefaultStack>;

/// A thread that waits.
pub(crate) struct Parked {
    /// Its index in the block.
    pub(crate) thread: u32,
    pub(crate) wait: Wait,
    fiber: Fiber,
}

/// Runs blocks of one launch, one after another, with stacks that it keeps.
pub(crate) struct BlockRunner<'a> {
    launch: &'a Launch<'a>,
    stacks: Vec<DefaultStack>,
}

impl<'a> BlockRunner<'a> {
    pub(crate) fn new(launch: &'a Launch<'a>) -> Self {
        BlockRunner {
            launch,
            stacks: Vec::new(),
        }
    }

    /// Runs every thread of the block to its end, or to the first failure.
    pub(crate) fn run(&mut self, block_idx: [u32; 3]) -> Result<(), LaunchError> {
        let block = Block::new(self.launch, block_idx);
        let mut warps = Vec::new();
        while block.begin_warp() {
            let mut warp = Vec::new();
            while block.has_more() {
                let fiber = self.spawn(&block)?;
                self.resume(fiber, Answer::Begin, &mut warp);
            }
            self.settle(&block, &mut warp);
            if !warp.is_empty() {
                warps.push(warp);
            }
        }
        while !warps.is_empty() && !block.has_failed() {
            if self.launch.stop.load(Ordering::Relaxed) {
                // Another block has failed, for which a thread here may be waiting.
                break;
            }
            if warps.iter().flatten().any(wait::gives_way) {
                self.take_turns(&block, &mut warps);
                continue;
            }
            match wait::tally(warps.iter().flatten()) {
                Some(tally) => self.pass_barrier(&block, tally, &mut warps),
                None => block.fail(LaunchError::Stuck {
                    block: block_idx,
                    waiting: wait::describe(warps.iter().flatten(), self.launch.shape.block),
                }),
            }
        }
        // Unwinds the threads that a failure has left waiting, while the block is still there.
        drop(warps);
        match block.failure.into_inner() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    fn pass_barrier(&mut self, block: &Block<'_>, tally: Tally, warps: &mut Vec<Vec<Parked>>) {
        for warp in warps.iter_mut() {
            for parked in std::mem::take(warp) {
                self.resume(parked.fiber, Answer::Tally(tally), warp);
            }
            self.settle(block, warp);
        }
        warps.retain(|warp| !warp.is_empty());
    }

    /// Lets the threads go on that have given way.
    fn take_turns(&mut self, block: &Block<'_>, warps: &mut Vec<Vec<Parked>>) {
        for warp in warps.iter_mut() {
            for parked in std::mem::take(warp) {
                if wait::gives_way(&parked) {
                    self.resume(parked.fiber, Answer::Turn, warp);
                } else {
                    warp.push(parked);
                }
            }
            warp.sort_by_key(|parked| parked.thread);
            self.settle(block, warp);
        }
        warps.retain(|warp| !warp.is_empty());
    }

    /// Runs a warp's threads until none waits for what the warp alone can give.
    fn settle(&mut self, block: &Block<'_>, warp: &mut Vec<Parked>) {
        while !block.has_failed()
            && let Some((lanes, answer)) = wait::ready(warp)
        {
            for parked in std::mem::take(warp) {
                if lanes >> (parked.thread % WARP_SIZE) & 1 == 1 {
                    self.resume(parked.fiber, answer.clone(), warp);
                } else {
                    warp.push(parked);
                }
            }
            warp.sort_by_key(|parked| parked.thread);
        }
    }

    /// A coroutine that runs one thread of the warp after another until one waits.
    fn spawn(&mut self, block: &Block<'_>) -> Result<Fiber, LaunchError> {
        let stack = match self.stacks.pop() {
            Some(stack) => stack,
            None => DefaultStack::new(STACK_BYTES)
                .map_err(|error| LaunchError::Stack(error.to_string()))?,
        };
        let block: *const Block<'_> = block;
        let block: *const Block<'static> = block.cast();
        Ok(Coroutine::with_stack(stack, move |yielder, _| {
            // SAFETY: `run`, which alone resumes and drops the coroutine, owns the block and drops
            // every coroutine first.
            unsafe { &*block }.run_threads(yielder);
        }))
    }

    fn resume(&mut self, mut fiber: Fiber, answer: Answer, waiting: &mut Vec<Parked>) {
        match fiber.resume(answer) {
            CoroutineResult::Yield((thread, wait)) => waiting.push(Parked {
                thread,
                wait,
                fiber,
            }),
            CoroutineResult::Return(()) => self.stacks.push(fiber.into_stack()),
        }
    }
}

/// One block, while it runs.
struct Block<'a> {
    launch: &'a Launch<'a>,
    block_idx: [u32; 3],
    threads: u32,
    /// Index of the next thread to begin, and where its warp ends.
    next: Cell<u32>,
    warp_end: Cell<u32>,
    memory: BlockMemory,
    failure: RefCell<Option<LaunchError>>,
}

impl<'a> Block<'a> {
    fn new(launch: &'a Launch<'a>, block_idx: [u32; 3]) -> Self {
        Block {
            launch,
            block_idx,
            threads: launch.shape.block.iter().product(),
            next: Cell::new(0),
            warp_end: Cell::new(0),
            memory: BlockMemory::new(launch.shape.dynamic_shared),
            failure: RefCell::new(None),
        }
    }

    /// Goes on to the next warp, if there is one to run.
    fn begin_warp(&self) -> bool {
        self.warp_end
            .set((self.next.get() + WARP_SIZE).min(self.threads));
        self.has_more()
    }

    fn has_more(&self) -> bool {
        self.next.get() < self.warp_end.get() && !self.has_failed()
    }

    fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    fn fail(&self, failure: LaunchError) {
        self.failure.borrow_mut().get_or_insert(failure);
    }

    fn run_threads(&self, yielder: &Yielder<Answer, (u32, Wait)>) {
        while self.has_more() {
            let thread = self.next.replace(self.next.get() + 1);
            let hooks = ThreadHooks {
                block: self,
                yielder,
                thread,
            };
            let lane = Lane {
                coordinates: Coordinates {
                    thread_idx: coordinates(thread.into(), self.launch.shape.block),
                    block_idx: self.block_idx,
                    block_dim: self.launch.shape.block,
                    grid_dim: self.launch.shape.grid,
                },
                hooks: &hooks,
            };
            let ended = enter(&lane, || {
                panic::catch_unwind(AssertUnwindSafe(self.launch.kernel))
            });
            if let Err(payload) = ended {
                self.fail(LaunchError::Panicked {
                    block: self.block_idx,
                    thread: lane.coordinates.thread_idx,
                    message: message(&*payload),
                    place: place::take(),
                });
            }
        }
    }
}

/// Answers one thread, or parks it until there is an answer.
struct ThreadHooks<'a> {
    block: &'a Block<'a>,
    yielder: &'a Yielder<Answer, (u32, Wait)>,
    thread: u32,
}

impl ThreadHooks<'_> {
    fn wait(&self, wait: Wait) -> Answer {
        self.yielder.suspend((self.thread, wait))
    }
}

impl Hooks for ThreadHooks<'_> {
    fn sync_threads(&self, predicate: bool) -> Tally {
        match self.wait(Wait::Barrier { predicate }) {
            Answer::Tally(tally) => tally,
            other => unreachable!("at a barrier: {other:?}"),
        }
    }

    fn exchange(&self, operation: Operation, mask: u32, value: u128) -> Exchange {
        let lane = self.thread % WARP_SIZE;
        assert!(
            mask >> lane & 1 == 1,
            "lane {lane} comes to a {operation:?} with the mask {mask:#010x}, which does not name it"
        );
        match self.wait(Wait::Exchange {
            operation,
            mask,
            value,
        }) {
            Answer::Exchange(exchange) => *exchange,
            other => unreachable!("in an exchange: {other:?}"),
        }
    }

    fn active_mask(&self, place: &'static Location<'static>) -> u32 {
        match self.wait(Wait::ActiveMask { place }) {
            Answer::ActiveMask(lanes) => lanes,
            other => unreachable!("asked for the active lanes: {other:?}"),
        }
    }

    fn give_way(&self) {
        self.wait(Wait::Turn);
    }

    fn shared_array(&self, array: SharedArray) -> *mut u8 {
        self.block.memory.array(array)
    }

    fn dynamic_shared(&self) -> (*mut u8, usize) {
        self.block.memory.dynamic()
    }

    fn shared_bytes(&self) -> usize {
        self.block.memory.bytes()
    }

    fn print(&self, text: &str) {
        (self.block.launch.print)(text);
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(no message)").to_owned()
}
