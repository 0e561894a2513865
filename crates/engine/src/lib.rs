//! Executes PTX on a CPU, warp by warp, and checks what its threads do with memory.

pub mod arith;
pub mod check;
pub mod count;
mod declarations;
mod exec;
mod launch;
mod launch_error;
mod limits;
mod lower;
pub mod memory;
mod module;
mod schedule;
mod source;
#[cfg(test)]
mod tests;

pub use declarations::TooLarge;
pub use exec::endless::{Awaited, Endless, Limit, Progress};
pub use exec::failure::{Failure, Thread};
pub use launch::{Checks, Options, Shape, cores};
pub use launch_error::LaunchError;
pub use lower::{Internal, Unlowered, Unsupported};
pub use module::{Kernel, LoadError, Module, NoVariable, PANIC_RECORD};
pub use schedule::{
    Choice, Choices, Explored, Failing, NoChoice, NotFollowed, Schedule, Shrunk, explore, shrink,
};
