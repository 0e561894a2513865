//! Matrix products on Hopper's tensor cores: `alpha A B + beta C`.

#![no_std]

pub mod double;
pub mod epilogue;
pub mod finishing;
pub mod operand;
pub mod order;
pub mod pack;
pub mod pipeline;
pub mod problem;
pub mod small;
pub mod stored;
pub mod team;
