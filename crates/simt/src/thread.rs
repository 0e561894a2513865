//! What one emulated thread asks of the emulator, and how it is answered.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::panic::Location;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::thread::panicking;

use cuda_std::emulation::{
    Access, Exchange, Hooks, Operation, Place, Scope, SharedArray, Tally, WARP_SIZE, pause,
};

use crate::block::Block;
use crate::fiber::Inside;
use crate::wait::{Answer, Wait};
use crate::warp::Slot;
use crate::{LaunchError, source};

/// What a barrier or an exchange counts as, in steps.
const WAIT_STEPS: u32 = 64;

/// Answers one thread, or parks it until there is an answer.
pub(crate) struct ThreadHooks<'a> {
    block: &'a Block<'a>,
    fiber: &'a Inside<Slot>,
    thread: u32,
    /// Steps that it has taken, without those of the fuel that it has now.
    steps: Cell<u64>,
    fuel: Cell<u32>,
}

impl<'a> ThreadHooks<'a> {
    pub(crate) fn new(block: &'a Block<'a>, fiber: &'a Inside<Slot>) -> Self {
        ThreadHooks {
            block,
            fiber,
            thread: fiber.shared().thread.get(),
            steps: Cell::new(0),
            fuel: Cell::new(0),
        }
    }

    /// Gives up the thread's turn until there is an answer.
    #[inline(always)]
    fn wait_for(&self, wait: Wait) -> Wait {
        let slot = self.fiber.shared();
        slot.wait.set(wait);
        let _pause = pause();
        self.fiber.suspend();
        slot.wait.get()
    }

    /// Does not return: the launch has failed, and the thread goes nowhere any more.
    fn fail(&self, error: LaunchError) -> ! {
        self.block.fail(error);
        loop {
            self.wait_for(Wait::Failed);
        }
    }

    /// Counts steps, and fails where they are too many: of this thread, or of all threads of the core
    /// since one of them last ended or met others.
    fn step(&self, steps: u32) {
        let worker = self.block.worker;
        let taken = self.steps.get().saturating_add(steps.into());
        self.steps.set(taken);
        let limit = worker.launch.options.steps;
        if taken.max(worker.idle.get()) > limit {
            self.too_many_steps(limit);
        }
    }

    #[cold]
    fn too_many_steps(&self, limit: u64) -> ! {
        self.fail(LaunchError::Steps {
            thread: self.block.thread(self.thread),
            limit,
            place: source::here(),
        })
    }

    /// As `step`, where others have a turn next. What other cores take for what this one waits for does
    /// not count.
    fn idle(&self, steps: u32) {
        if self.block.worker.idles(steps) {
            self.step(steps);
        } else {
            std::thread::yield_now();
        }
    }

    /// How far the thread may go before it asks again.
    pub(crate) fn fuel(&self) -> u32 {
        let worker = self.block.worker;
        let quantum = worker.order.borrow_mut().quantum();
        let left = worker.launch.options.steps.saturating_sub(self.steps.get());
        let fuel = u64::from(quantum).min(left.saturating_add(1)) as u32;
        self.fuel.set(fuel);
        fuel
    }

    #[cold]
    fn not_named(&self, operation: Operation, mask: u32, place: &'static Location<'static>) -> ! {
        let lane = self.thread % WARP_SIZE;
        let what = format_args!(
            "lane {lane} comes to a {operation:?} with the mask {mask:#010x}, which does not name it"
        );
        self.diverged(what, place)
    }

    /// Whether this thread is being unwound, which nothing may stop. Does not return where the launch
    /// has failed otherwise.
    fn is_unwound(&self) -> bool {
        if panicking() {
            return true;
        }
        while self.block.has_failed() {
            self.wait_for(Wait::Failed);
        }
        false
    }
}

impl Hooks for ThreadHooks<'_> {
    fn sync_threads(&self, predicate: bool, place: &'static Location<'static>) -> Tally {
        self.step(WAIT_STEPS);
        match self.wait_for(Wait::Barrier { predicate, place }) {
            Wait::Answered(Answer::Tally(tally)) => tally,
            other => unreachable!("at a barrier: {other:?}"),
        }
    }

    fn bring(
        &self,
        operation: Operation,
        mask: u32,
        value: u64,
        place: &'static Location<'static>,
    ) {
        self.step(WAIT_STEPS);
        let lane = self.thread % WARP_SIZE;
        if mask >> lane & 1 == 0 {
            self.not_named(operation, mask, place);
        }
        self.fiber.shared().wait.set(Wait::Exchange {
            operation,
            mask,
            value,
            place,
        });
    }

    fn wait(&self) {
        self.fiber.suspend();
    }

    fn brought(&self) -> Rc<Exchange> {
        self.fiber.go_on();
        let exchange = self.fiber.shared().exchange.take();
        exchange.expect("the thread goes on when all lanes have come")
    }

    fn active_mask(&self, place: &'static Location<'static>) -> u32 {
        self.step(WAIT_STEPS);
        match self.wait_for(Wait::ActiveMask { place }) {
            Wait::Answered(Answer::ActiveMask(lanes)) => lanes,
            other => unreachable!("asked for the active lanes: {other:?}"),
        }
    }

    fn sleep(&self, nanoseconds: u32) {
        self.idle(nanoseconds.max(WAIT_STEPS));
        self.wait_for(Wait::Sleep);
    }

    fn access(&self, access: &Access) {
        if self.is_unwound() {
            return;
        }
        let looked = match access.address.is_multiple_of(access.alignment) {
            true => self.block.look_at(self.thread, access),
            false => Err(self.block.misaligned(self.thread, access)),
        };
        if let Err(error) = looked {
            self.fail(error);
        }
    }

    fn fence(&self, scope: Scope, ordering: Ordering) {
        if let Some(watch) = &self.block.parts.watch {
            watch.borrow_mut().fence(self.thread, scope, ordering);
        }
    }

    fn refuel(&self) -> u32 {
        if self.is_unwound() {
            return u32::MAX;
        }
        self.idle(self.fuel.get());
        self.wait_for(Wait::Preempted);
        self.fuel()
    }

    fn allocated(&self, memory: Range<usize>) {
        if let Some(watch) = &self.block.worker.watch
            && let Ok(mut watch) = watch.try_borrow_mut()
        {
            watch.allocated(memory);
        }
    }

    fn diverged(&self, what: fmt::Arguments<'_>, place: &'static Location<'static>) -> ! {
        let thread = self.block.thread(self.thread).thread;
        let place = source::describe(Place::Source(place));
        self.fail(LaunchError::Diverged {
            block: self.block.index,
            what: format!("thread {thread:?}: {what}, at {place}"),
        })
    }

    fn shared_array(&self, array: SharedArray) -> *mut u8 {
        self.block.parts.memory.array(array)
    }

    fn dynamic_shared(&self) -> (*mut u8, usize) {
        self.block.parts.memory.dynamic()
    }

    fn shared_bytes(&self) -> usize {
        self.block.parts.memory.bytes()
    }

    fn print(&self, text: &str) {
        (self.block.worker.launch.print)(text);
    }
}
