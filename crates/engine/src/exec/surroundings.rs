//! What a warp reaches besides its registers.

use std::time::Instant;

use crate::check::Checker;
use crate::memory::{Cached, Memory};

use super::failure::Failed;

/// A launch, as its threads see it.
pub(crate) struct Launch<'l> {
    /// Blocks of the grid.
    pub(crate) grid: [u32; 3],
    /// Threads of a block.
    pub(crate) block: [u32; 3],
    /// Bytes of static and of all shared memory of a block.
    pub(crate) static_shared: u32,
    pub(crate) shared: u32,
    /// The kernel's parameters, one behind the other as PTX lays them out.
    pub(crate) parameters: Vec<u8>,
    pub(crate) memory: &'l Memory,
    /// What kernels print goes there.
    pub(crate) print: &'l (dyn Fn(&str) + Sync),
    /// When clocks were zero.
    pub(crate) started: Instant,
    /// The multiprocessors that the grid's blocks are said to run on.
    pub(crate) multiprocessors: u32,
    pub(crate) cooperative: bool,
}

impl Launch<'_> {
    pub(crate) fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }

    pub(crate) fn blocks(&self) -> u64 {
        self.grid.iter().map(|&blocks| u64::from(blocks)).product()
    }
}

/// Where a warp is.
pub(crate) struct Surroundings<'l> {
    pub(crate) launch: &'l Launch<'l>,
    /// The block's number, x running fastest.
    pub(crate) block: u64,
    pub(crate) warp: u32,
    /// The block's shared memory.
    pub(crate) shared: *mut u8,
    pub(crate) local: Local,
    /// The allocation that each access of the program met last, by the access's number.
    pub(crate) met: Vec<Cached>,
    /// Who is told of accesses, in checked launches.
    pub(crate) checker: Option<Box<Checker>>,
    /// What went wrong in the instructions that ran last: the first is kept.
    pub(crate) fault: Option<Failed>,
}

/// The local memory of a warp's threads.
#[derive(Clone, Copy)]
pub(crate) struct Local {
    pub(crate) start: *mut u8,
    /// Bytes a thread.
    pub(crate) bytes: u32,
    /// Where the activation's begins.
    pub(crate) frame: u32,
}

impl Surroundings<'_> {
    /// The block's index, x, y, z.
    pub(crate) fn block_index(&self) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(u64::from);
        // Each is less than its extent, a u32.
        [self.block % x, self.block / x % y, self.block / x / y].map(|index| index as u32)
    }

    /// A thread's index in its block, x, y, z.
    pub(crate) fn thread_index(&self, lane: usize) -> [u32; 3] {
        let [x, y, _] = self.launch.block;
        let thread = self.warp * 32 + lane as u32;
        [thread % x, thread / x % y, thread / x / y]
    }
}
