//! Execution: warps, blocks, the grid.

pub(crate) mod access;
pub(crate) mod activation;
mod barriers;
mod block;
mod builtin;
mod calls;
pub(crate) mod checked;
pub(crate) mod directed;
mod director;
mod divergence;
pub(crate) mod failure;
mod format;
mod gates;
pub(crate) mod looks;
pub(crate) mod op;
pub(crate) mod parts;
pub(crate) mod pool;
pub(crate) mod program;
pub(crate) mod queue;
pub(crate) mod registers;
mod stops;
pub(crate) mod surroundings;
mod temper;
mod unbegun;
mod warp;
pub(crate) mod worker;
