//! Execution: warps, blocks, the grid.

pub(crate) mod access;
pub(crate) mod activation;
mod block;
mod builtin;
pub(crate) mod checked;
pub(crate) mod directed;
mod director;
pub(crate) mod failure;
mod format;
pub(crate) mod op;
pub(crate) mod program;
pub(crate) mod registers;
pub(crate) mod surroundings;
mod temper;
mod unbegun;
mod warp;
pub(crate) mod worker;
