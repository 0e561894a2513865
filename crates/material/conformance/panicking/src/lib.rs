//! A kernel that panics with a message of its own, built with `Panics::Message`.

#![no_std]

use cuda_std::prelude::*;

/// The line of the panic in [`refuse()`].
pub const PANICKING_LINE: u32 = line!() + 10;

/// Panics in one thread, if the first value is above the limit.
#[kernel(allow(local_memory))]
pub fn refuse(at: u32, limit: u32, values: &[u32]) {
    if thread::index_1d() == at
        && let Some(&value) = values.first()
        && value > limit
    {
        let ratio = value as f32 / limit as f32;
        panic!("{value} is {ratio:.2} times {limit:#x}");
    }
}
