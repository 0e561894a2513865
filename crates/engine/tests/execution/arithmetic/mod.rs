//! Each arithmetic instruction of PTX, executed by warps of which half of the lanes are masked, against the
//! scalar functions of `arith` and against results written by hand.

#![allow(clippy::unwrap_used, reason = "tests")]

mod bits;
mod carry;
mod choices;
mod conversions;
mod floats;
mod halves;
mod harness;
mod integers;
mod logic;
mod special;
mod video;
