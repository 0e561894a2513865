//! The special function units of an H200, to the last bit.
//!
//! Each multiprocessor has units that interpolate a few functions quadratically: `MUFU` in machine code, `.approx` in PTX.
//! NVIDIA states their greatest errors, not their results. The functions here return what an H200 returns:
//!
//! - The fraction of the argument has 23 bits. The upper 6 (7 for a reciprocal) choose a row of a table, the lower
//!   ones are `x` from 0 to 1.
//! - The result is `c0 + c1 x + c2 s`, rounded down. `s` is the square of `x` without the columns of partial products below 2^-15,
//!   which saves the squarer half of its adders ([`interpolation`]).
//!
//! That structure is Oberman's and Siu's ("A High-Performance Area-Efficient Multifunction Interpolator", ARITH 2005).
//! `scripts/gpu/special-function-unit.py` finds the tables: a linear program per row, whose solutions prove to be integers and
//! leave none of the row's results different. `crates/material/mathematics/tests/functions/bits.rs` compares all 2^32 arguments of each function on
//! a GPU. Other architectures were not measured.
//!
//! Functions of `f32` are PTX's without `.ftz`, as `ptxas` composes them: a subnormal argument is scaled before the
//! instruction and the result after it. `.ftz` takes subnormal arguments and results to 0:
//!
//! ```
//! assert!(sfu::ex2(-126.5).is_subnormal(), "`ex2.approx.f32`; `ex2.approx.ftz.f32` returns 0");
//! assert_eq!(sfu::lg2(f32::from_bits(1)), -149.0);
//! ```
#![no_std]

mod double;
pub mod interpolation;
mod single;
mod tables;

pub use double::{rcp_f64, rsqrt_f64};
pub use single::{div, div_full, ex2, lg2, rcp, rsqrt, sqrt};
