//! How a launch ends early.

use std::fmt;

use super::op::Context;
use super::program::Program;

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Index of its block, x, y, z.
    pub block: [u32; 3],
    /// Its index in the block, x, y, z.
    pub thread: [u32; 3],
}

impl fmt::Display for Thread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "block {:?}, thread {:?}", self.block, self.thread)
    }
}
