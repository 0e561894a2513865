//! Stops kernels that the emulator runs before any instruction of any thread, looks into them, and goes backwards.
//!
//! A [`Debugger`] lives in the process that launches, and is told by a front what to do: over a socket in the words of
//! [`protocol`]. A place in a launch is a number: how many steps were taken before it, a step being an instruction of some
//! lanes of a warp (`run.rs`). The steps of a launch are the same each time, so going back is to run it again from the memory as
//! it was, to an earlier step that the first of two runs has found.

mod breakpoints;
mod dwarf;
mod expression;
mod inspect;
mod lines;
mod link;
mod number;
mod object;
mod path;
pub mod protocol;
mod run;
mod session;
mod watch;

pub use inspect::ranges;
pub use link::Link;
pub use session::{Debugger, Relaunch};
