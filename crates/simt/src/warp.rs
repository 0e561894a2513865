//! The threads of one warp that wait, and how they go on.

use corosensei::{Coroutine, CoroutineResult};
use cuda_std::emulation::{WARP_SIZE, leave};

use crate::LaunchError;
use crate::block::Block;
use crate::stack::ThreadStack;
use crate::wait::{self, Answer, Wait};

pub(crate) type Fiber = Coroutine<Answer, (u32, Wait), (), ThreadStack>;

/// A thread that waits.
pub(crate) struct Parked {
    /// Its index in the block.
    pub(crate) thread: u32,
    pub(crate) wait: Wait,
    /// None once it has ended.
    fiber: Option<Fiber>,
}

impl Drop for Parked {
    fn drop(&mut self) {
        if let Some(fiber) = &mut self.fiber
            && !self.wait.unwinds()
        {
            // SAFETY: the thread stands in an access, through which nothing can be unwound. What
            // its values would free is leaked; the launch has failed, and nobody refers to them.
            unsafe { fiber.force_reset() };
        }
    }
}

impl Parked {
    /// Lets the thread go on, if it can: until it waits again or has ended, and others of its warp
    /// that begin on its stack after it.
    fn go_on(&mut self, block: &Block<'_>) {
        let wait = std::mem::replace(&mut self.wait, Wait::Sleep);
        match (wait, &mut self.fiber) {
            (Wait::Go(answer), Some(fiber)) => match fiber.resume(answer) {
                CoroutineResult::Yield((thread, wait)) => {
                    leave();
                    self.thread = thread;
                    self.wait = wait;
                }
                CoroutineResult::Return(()) => {
                    let stack = self.fiber.take().map(Fiber::into_stack);
                    block.worker.give_back(stack);
                }
            },
            (wait, _) => self.wait = wait,
        }
    }

    fn goes(&self) -> bool {
        matches!(self.wait, Wait::Go(_))
    }
}

/// A warp, while it runs.
pub(crate) struct Warp {
    index: usize,
    pub(crate) parked: Vec<Parked>,
    /// Whether it may go on without the rest of the block.
    pub(crate) is_ready: bool,
}

impl Warp {
    pub(crate) fn new(index: usize) -> Warp {
        Warp {
            index,
            parked: Vec::new(),
            is_ready: true,
        }
    }

    /// Runs in order as far as the warp goes by itself; with a seed, a step on its way.
    pub(crate) fn advance(&mut self, block: &Block<'_>) {
        let is_seeded = block.worker.order.borrow().is_seeded();
        loop {
            let fresh = block.has_fresh(self.index);
            let late = !self.parked.is_empty() && block.worker.order.borrow_mut().surprises();
            if fresh && !late {
                if let Err(error) = self.begin(block) {
                    block.fail(error);
                }
            } else if !self.settle(block) && !fresh {
                self.is_ready = false;
                return;
            }
            if is_seeded || block.has_failed() {
                return;
            }
        }
    }

    /// Runs one thread of the warp after another until one waits.
    fn begin(&mut self, block: &Block<'_>) -> Result<(), LaunchError> {
        let mut begun = Parked {
            thread: 0,
            wait: Wait::Go(Answer::Begin),
            fiber: Some(block.fiber(self.index)?),
        };
        begun.go_on(block);
        if begun.fiber.is_some() {
            self.parked.push(begun);
        }
        Ok(())
    }

    /// Lets one thread or all threads of the warp go on that can. Returns whether any could.
    fn settle(&mut self, block: &Block<'_>) -> bool {
        let count = self.parked.iter().filter(|parked| parked.goes()).count();
        if count == 0 {
            return self.release(block);
        }
        let mut order = block.worker.order.borrow_mut();
        let chosen = order.is_seeded().then(|| order.choose(count));
        drop(order);
        let going = self.parked.iter_mut().filter(|parked| parked.goes());
        for (place, parked) in going.enumerate() {
            if !block.has_failed() && chosen.is_none_or(|chosen| chosen == place) {
                parked.go_on(block);
            }
        }
        self.parked.retain(|parked| parked.fiber.is_some());
        if !self.parked.is_sorted_by_key(|parked| parked.thread) {
            self.parked.sort_by_key(|parked| parked.thread);
        }
        true
    }

    /// Ends a wait of lanes of the warp, if there is one to end.
    fn release(&mut self, block: &Block<'_>) -> bool {
        let Some(synchronised) = wait::release(&mut self.parked) else {
            return false;
        };
        block.worker.idle.set(0);
        if synchronised != 0
            && let Some(watch) = &block.parts.watch
        {
            let warp = self.parked[0].thread / WARP_SIZE;
            watch.borrow_mut().sync_warp(warp, synchronised);
        }
        true
    }
}
