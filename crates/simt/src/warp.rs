//! The threads of one warp that wait, and how they go on.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use cuda_std::emulation::{Exchange, WARP_SIZE};

use crate::LaunchError;
use crate::block::Block;
use crate::fiber::Fiber;
use crate::wait::{self, Answer, Wait};

/// What a thread and those who let it go on tell each other.
#[derive(Default)]
pub(crate) struct Slot {
    /// The thread's index in the block.
    pub(crate) thread: Cell<u32>,
    pub(crate) wait: Cell<Wait>,
    /// With [`Answer::Exchange`].
    pub(crate) exchange: Cell<Option<Rc<Exchange>>>,
}

/// A thread that waits.
pub(crate) struct Parked(Fiber<Slot>);

impl Parked {
    /// Its index in the block.
    #[inline]
    pub(crate) fn thread(&self) -> u32 {
        self.0.shared().thread.get()
    }

    #[inline]
    pub(crate) fn lane(&self) -> u32 {
        self.thread() % WARP_SIZE
    }

    #[inline]
    pub(crate) fn wait(&self) -> Wait {
        self.0.shared().wait.get()
    }

    /// What it waits for has come.
    #[inline]
    pub(crate) fn answer(&self, answer: Answer) {
        self.0.shared().wait.set(Wait::Answered(answer));
    }

    /// All lanes have come that it waits for.
    #[inline]
    pub(crate) fn answer_exchange(&self, exchange: &Rc<Exchange>) {
        self.0.shared().exchange.set(Some(exchange.clone()));
        self.answer(Answer::Exchange);
    }

    #[inline]
    fn goes(&self) -> bool {
        matches!(self.wait(), Wait::Answered(_))
    }

    /// Lets the thread go on until it waits again, and others of its warp that begin on its stack
    /// once it has ended.
    #[inline(always)]
    fn go_on(&mut self) {
        self.0.resume();
    }
}

/// A warp, while it runs.
pub(crate) struct Warp {
    index: usize,
    /// In the order of their indices.
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
        let mut begun = Parked(block.fiber(self.index)?);
        begun.go_on();
        if begun.0.has_ended() {
            block.worker.give_back(begun.0.into_stack());
            return Ok(());
        }
        let thread = begun.thread();
        let before = |other: &Parked| other.thread() < thread;
        self.parked.reserve(WARP_SIZE as usize - self.parked.len());
        if self.parked.last().is_none_or(before) {
            self.parked.push(begun);
        } else {
            self.parked
                .insert(self.parked.partition_point(before), begun);
        }
        Ok(())
    }

    /// Lets one thread or all threads of the warp go on that can. Returns whether any could.
    fn settle(&mut self, block: &Block<'_>) -> bool {
        let ended = block.ended(self.index);
        let mut has_gone = false;
        let turns = self.turns(block);
        for parked in &mut self.parked[turns] {
            if parked.goes() && !block.has_failed() {
                parked.go_on();
                has_gone = true;
            }
        }
        if block.ended(self.index) != ended {
            self.clear_ended(block);
        }
        has_gone || self.release(block)
    }

    /// Which of the threads that can go on have a turn: in order all, else one.
    fn turns(&self, block: &Block<'_>) -> Range<usize> {
        let mut order = block.worker.order.borrow_mut();
        let all = 0..self.parked.len();
        if !order.is_seeded() {
            return all;
        }
        let mut going = all.clone().filter(|&place| self.parked[place].goes());
        let chosen = match going.clone().count() {
            0 => None,
            count => going.nth(order.choose(count)),
        };
        chosen.map_or(all, |chosen| chosen..chosen + 1)
    }

    /// Takes out the threads that have ended, and puts the others in order: one may have begun where
    /// another has ended.
    fn clear_ended(&mut self, block: &Block<'_>) {
        for ended in self.parked.extract_if(.., |parked| parked.0.has_ended()) {
            block.worker.give_back(ended.0.into_stack());
        }
        self.parked.sort_by_key(Parked::thread);
    }

    /// Ends a wait of lanes of the warp, if there is one to end.
    fn release(&self, block: &Block<'_>) -> bool {
        let Some(synchronised) = wait::release(&self.parked) else {
            return false;
        };
        block.worker.went_on();
        if synchronised != 0
            && let Some(watch) = &block.parts.watch
        {
            let warp = self.parked[0].thread() / WARP_SIZE;
            watch.borrow_mut().sync_warp(warp, synchronised);
        }
        true
    }
}

impl Drop for Warp {
    fn drop(&mut self) {
        for parked in &mut self.parked {
            if !parked.wait().unwinds() {
                // SAFETY: the thread stands in an access, through which nothing can be unwound. What
                // its values would free is leaked; the launch has failed, and nobody refers to them.
                unsafe { parked.0.abandon() };
            }
        }
    }
}
