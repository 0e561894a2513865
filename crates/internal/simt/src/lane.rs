//! The requests of one emulated thread to the emulator, and their answers.

use std::panic::Location;

use corosensei::Yielder;
use cuda_std::emulation::{
    Exchange, FUEL, Hooks, Operation, SharedArray, Tally, WARP_SIZE, current, pause,
};

use crate::memory::BlockMemory;
use crate::wait::{Answer, Meeting, Wait};

/// Answers one thread, or stops it until there is an answer.
pub(crate) struct LaneHooks<'a> {
    pub(crate) yielder: &'a Yielder<Answer, Wait>,
    pub(crate) memory: &'a BlockMemory,
    pub(crate) print: &'a dyn Fn(&str),
}

impl LaneHooks<'_> {
    /// None to a thread that is unwound, because it panicked or because another did: it goes on to its end. If it
    /// waited, others would run on a host thread that panics, which ends the process at the next panic; and they
    /// may never come.
    fn wait_for(&self, wait: Wait) -> Option<Answer> {
        match std::thread::panicking() {
            true => None,
            false => Some(pause(|| self.yielder.suspend(wait))),
        }
    }
}

// SAFETY: `BlockMemory` allocates what it is asked for and lives as long as the block, which drops its threads
// first; a thread waits until the block has seen the others come.
unsafe impl Hooks for LaneHooks<'_> {
    fn sync_threads(&self, predicate: bool, at: &'static Location<'static>) -> Tally {
        match self.wait_for(Wait::Barrier { predicate, at }) {
            Some(Answer::Tally(tally)) => tally,
            None => Tally {
                threads: 1,
                in_favour: predicate.into(),
            },
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
            Some(Answer::Exchange(exchange)) => exchange,
            // As if all lanes had brought the same.
            None => Exchange {
                lanes: mask,
                values: [value; WARP_SIZE as usize],
            },
            other => unreachable!("in an exchange: {other:?}"),
        }
    }

    fn active_mask(&self, at: &'static Location<'static>) -> u32 {
        match self.wait_for(Wait::ActiveMask { at }) {
            Some(Answer::ActiveMask(lanes)) => lanes,
            None => 1 << current().map_or(0, |it| it.lane()),
            other => unreachable!("asked for the active lanes: {other:?}"),
        }
    }

    fn give_way(&self, steps: u32, at: &'static Location<'static>) -> u32 {
        self.wait_for(Wait::Turn { steps, at });
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
