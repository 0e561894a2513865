//! The effect of every arithmetic instruction of PTX on one lane: pure functions, without knowledge of warps.
//!
//! The executor calls them in loops over the 32 lanes of a warp, so the common ones are inlined always
//! and have no branches: LLVM makes vectors of such loops. Registers are bits: `f16` and `bf16` are `u16`,
//! packed types `u32` or `u64`; `f32`, `f64` and the integers are what they are in Rust, with the
//! signed ones as signed types (`integer::div::<i32>` is `div.s32`).
//!
//! Where PTX leaves bits open, they are those of an H200 with driver 580 (`tests/hardware.rs`):
//!
//! | what | PTX ISA | H200, and here |
//! |---|---|---|
//! | NaN of `f32`, `f16`, `bf16` | any; canonical for some instructions | 0x7fffffff, 0x7fff, 0x7fff, also of `neg`, `abs` and `cvt` |
//! | NaN of `f64` | payloads are kept | 0xfff8000000000000 where no operand is NaN, otherwise an operand's, quiet; of two the second's, but `div` the first's; of `fma` first the second's, then the third's; `neg` and `abs` keep its sign |
//! | NaN of `cvt` to and from `f64` | open | sign and upper digits kept, quiet |
//! | NaN of `cvt.f32.bf16` and `atom.add.f64` | open | as it is, not even quiet |
//! | NaN of `cvt.tf32.f32` | NaN | 0x7fffe000; of `.rna` the operand's upper digits, so that a few become infinity |
//! | `div`, `rem` by 0, of every width and sign | open | all ones |
//! | `.ftz` of a product, quotient or fused sum | flushed if subnormal | decided after rounding to all digits, before rounding to subnormals |
//! | `fma.oob` | 0 for an out-of-bounds NaN | that is 0x7ff7 or 0xfff7, in `a` or `b` |
//! | `.relu` and `.sat` of -0 | open | 0 |
//! | `div.approx` by more than 2^126 | 0, or NaN | the same, the 0 of the quotient's sign |

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
pub mod tensor;
pub mod video;

#[cfg(test)]
mod tests;
