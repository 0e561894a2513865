//! Memory that a driver lends to a cooperative grid: CUDA's cooperative groups count at it the blocks that have come to
//! `grid.sync()`. `%envreg1` and `%envreg2` are the upper and the lower half of its address, and 0 in other launches.

use crate::memory::{Kind, Label, Memory, Protection};

/// Bytes of the workspace, and how many blocks have come to the grid's barrier: as `cooperative_groups` declares it.
const WORDS: usize = 2;

/// The workspace of one launch.
pub(crate) struct Workspace<'m> {
    memory: &'m Memory,
    words: *mut [u32; WORDS],
}

impl<'m> Workspace<'m> {
    /// One that nobody has come to.
    pub(crate) fn new(memory: &'m Memory) -> Workspace<'m> {
        let words = Box::into_raw(Box::new([size_of::<[u32; WORDS]>() as u32, 0]));
        let workspace = Workspace { memory, words };
        // SAFETY: the words are a box's, which is freed after the launch, once `drop` has disowned them; nobody
        // borrows them.
        unsafe {
            memory.adopt(
                workspace.address(),
                size_of::<[u32; WORDS]>() as u64,
                Kind::Host,
                Label::new("the grid's workspace", 4),
                Protection::ReadWrite,
            );
        }
        workspace
    }

    pub(crate) fn address(&self) -> u64 {
        self.words.expose_provenance() as u64
    }
}

impl Drop for Workspace<'_> {
    fn drop(&mut self) {
        self.memory.disown(self.address());
        // SAFETY: made from a box in `new`, and no launch knows it any more.
        drop(unsafe { Box::from_raw(self.words) });
    }
}
