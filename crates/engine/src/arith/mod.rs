//! What every arithmetic instruction of PTX does to one lane: pure functions, without knowledge of
//! warps.
//!
//! The executor calls them in loops over the 32 lanes of a warp, so the common ones are inlined always
//! and have no branches: LLVM makes vectors of such loops. Registers are bits: `f16` and `bf16` are `u16`,
//! packed types `u32` or `u64`; `f32`, `f64` and the integers are what they are in Rust, with the
//! signed ones as signed types (`integer::div::<i32>` is `div.s32`).

pub mod approx;
pub mod atomic;
pub mod bits;
pub mod compare;
pub mod convert;
pub mod directed;
pub mod float;
pub mod fp8;
pub mod half;
pub mod integer;

#[cfg(test)]
mod tests;
