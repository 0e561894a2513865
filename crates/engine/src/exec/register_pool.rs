//! The pool of registers and shared memory that a launch leaves to the next one of its kernel on the same host thread: to
//! allocate them takes longer than a small launch.

use std::cell::RefCell;
use std::sync::Arc;

use super::block::Block;
use super::program::Program;

/// The most blocks whose memory a thread keeps: programs launch a few kernels in turns.
const MOST: usize = 4;

/// The most bytes of registers and shared memory of a block that is kept.
const MOST_BYTES: u64 = 1 << 20;

thread_local! {
    /// Those that were left last.
    static KEPT: RefCell<Vec<(Shape, Block)>> = const { RefCell::new(Vec::new()) };
}

/// The shape of a block, for which its memory is kept.
pub(crate) struct Shape {
    pub(crate) program: Arc<Program>,
    /// Of a block.
    pub(crate) threads: u32,
    /// Bytes of shared memory.
    pub(crate) shared: u32,
}

impl Shape {
    fn bytes(&self) -> u64 {
        let warps = u64::from(self.threads.div_ceil(32));
        warps * u64::from(self.program.register_bytes) + u64::from(self.shared)
    }

    fn is(&self, other: &Shape) -> bool {
        Arc::ptr_eq(&self.program, &other.program)
            && (self.threads, self.shared) == (other.threads, other.shared)
    }

    /// Returns the block that a launch on this thread has left, if there is one of this shape.
    pub(crate) fn take(&self) -> Option<Block> {
        // A thread that ends has none any more, and may still launch.
        let taken = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            let place = kept.iter().position(|(shape, _)| shape.is(self));
            place.map(|place| kept.remove(place).1)
        });
        taken.ok().flatten()
    }

    /// Leaves a block's memory to the next launch.
    pub(crate) fn leave(self, mut block: Block) {
        if self.bytes() > MOST_BYTES {
            return;
        }
        block.rest();
        let oldest = KEPT.try_with(|kept| {
            let mut kept = kept.borrow_mut();
            let oldest = (kept.len() == MOST).then(|| kept.remove(0));
            kept.push((self, block));
            oldest
        });
        drop(oldest);
    }
}
