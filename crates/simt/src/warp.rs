//! The threads of one warp that wait, and how they go on.

use std::cell::Cell;
use std::rc::Rc;

use corosensei::{Coroutine, CoroutineResult};
use cuda_std::emulation::{Exchange, WARP_SIZE, leave};

use crate::LaunchError;
use crate::block::Block;
use crate::stack::ThreadStack;
use crate::wait::{self, Answer, Wait};

pub(crate) type Fiber = Coroutine<(), (), (), ThreadStack>;

/// What a thread and those who let it go on tell each other.
#[derive(Default)]
pub(crate) struct Slot {
    /// The thread's index in the block.
    pub(crate) thread: Cell<u32>,
    pub(crate) wait: Cell<Wait>,
    pub(crate) answer: Cell<Answer>,
    /// With [`Answer::Exchange`].
    pub(crate) exchange: Cell<Option<Rc<Exchange>>>,
}

/// A thread that waits.
pub(crate) struct Parked {
    /// None once it has ended. Before the slot, which the thread uses while it is unwound.
    fiber: Option<Fiber>,
    slot: Box<Slot>,
}

impl Drop for Parked {
    fn drop(&mut self) {
        if let Some(fiber) = &mut self.fiber
            && !self.slot.wait.get().unwinds()
        {
            // SAFETY: the thread stands in an access, through which nothing can be unwound. What
            // its values would free is leaked; the launch has failed, and nobody refers to them.
            unsafe { fiber.force_reset() };
        }
    }
}

impl Parked {
    /// Its index in the block.
    #[inline]
    pub(crate) fn thread(&self) -> u32 {
        self.slot.thread.get()
    }

    #[inline]
    pub(crate) fn lane(&self) -> u32 {
        self.thread() % WARP_SIZE
    }

    #[inline]
    pub(crate) fn wait(&self) -> Wait {
        self.slot.wait.get()
    }

    /// What it waits for has come.
    #[inline]
    pub(crate) fn answer(&self, answer: Answer) {
        self.slot.answer.set(answer);
        self.slot.wait.set(Wait::Turn);
    }

    /// All lanes have come that it waits for.
    #[inline]
    pub(crate) fn answer_exchange(&self, exchange: &Rc<Exchange>) {
        self.slot.exchange.set(Some(exchange.clone()));
        self.answer(Answer::Exchange);
    }

    fn goes(&self) -> bool {
        matches!(self.wait(), Wait::Turn)
    }

    /// Lets the thread go on until it waits again or has ended, and others of its warp that begin
    /// on its stack after it.
    fn go_on(&mut self, block: &Block<'_>) {
        let Some(fiber) = &mut self.fiber else {
            return;
        };
        if let CoroutineResult::Return(()) = fiber.resume(()) {
            let stack = self.fiber.take().map(Fiber::into_stack);
            block.worker.give_back(stack);
        }
        leave();
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
        let slot = Box::<Slot>::default();
        let mut begun = Parked {
            fiber: Some(block.fiber(self.index, &slot)?),
            slot,
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
        if !self.parked.is_sorted_by_key(Parked::thread) {
            self.parked.sort_by_key(Parked::thread);
        }
        true
    }

    /// Ends a wait of lanes of the warp, if there is one to end.
    fn release(&self, block: &Block<'_>) -> bool {
        let Some(synchronised) = wait::release(&self.parked) else {
            return false;
        };
        block.worker.idle.set(0);
        if synchronised != 0
            && let Some(watch) = &block.parts.watch
        {
            let warp = self.parked[0].thread() / WARP_SIZE;
            watch.borrow_mut().sync_warp(warp, synchronised);
        }
        true
    }
}
