//! What one emulated thread asks of the emulator, and how it is answered.

use std::panic::Location;

use corosensei::Yielder;
use cuda_std::emulation::{Exchange, FUEL, Hooks, Operation, SharedArray, Tally, pause};

use crate::memory::BlockMemory;
use crate::wait::{Answer, Meeting, Wait};

/// Answers one thread, or stops it until there is an answer.
pub(crate) struct LaneHooks<'a> {
    pub(crate) yielder: &'a Yielder<Answer, Wait>,
    pub(crate) memory: &'a BlockMemory,
    pub(crate) print: &'a dyn Fn(&str),
}

impl LaneHooks<'_> {
    fn wait_for(&self, wait: Wait) -> Answer {
        pause(|| self.yielder.suspend(wait))
    }
}

// SAFETY: `BlockMemory` allocates what it is asked for and lives as long as the block, which drops its threads
// first; a thread waits until the block has seen the others come.
unsafe impl Hooks for LaneHooks<'_> {
    fn sync_threads(&self, predicate: bool, at: &'static Location<'static>) -> Tally {
        match self.wait_for(Wait::Barrier { predicate, at }) {
            Answer::Tally(tally) => tally,
            other => unreachable!("at a barrier: {other:?}"),
        }
    }

    fn exchange(
        &self,
        operation: Operation,
        mask: u32,
        value: u64,
        at: &'static Location<'static>,
    ) -> Exchange {
        let meeting = Meeting {
            operation,
            mask,
            at,
        };
        match self.wait_for(Wait::Exchange { meeting, value }) {
            Answer::Exchange(exchange) => exchange,
            other => unreachable!("in an exchange: {other:?}"),
        }
    }

    fn active_mask(&self, at: &'static Location<'static>) -> u32 {
        match self.wait_for(Wait::ActiveMask { at }) {
            Answer::ActiveMask(lanes) => lanes,
            other => unreachable!("asked for the active lanes: {other:?}"),
        }
    }

    fn give_way(&self, steps: u32, at: &'static Location<'static>) -> u32 {
        // A thread that is unwound goes on to its end.
        if !std::thread::panicking() {
            self.wait_for(Wait::Turn { steps, at });
        }
        FUEL
    }

    fn shared_array(&self, array: SharedArray) -> *mut u8 {
        self.memory.array(array)
    }

    fn dynamic_shared(&self) -> (*mut u8, usize) {
        self.memory.dynamic()
    }

    fn shared_bytes(&self) -> usize {
        self.memory.bytes()
    }

    fn print(&self, text: &str) {
        (self.print)(text);
    }
}
