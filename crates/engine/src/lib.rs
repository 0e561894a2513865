//! Executes PTX on a CPU, warp by warp, and checks what its threads do with memory.

pub mod arith;
pub mod check;
pub mod count;
pub mod coverage;
pub mod debug;
mod declarations;
mod digest;
mod exec;
mod finding_kind;
mod guards;
mod launch;
mod launch_error;
pub mod limits;
mod lower;
pub mod memory;
mod module;
pub mod mutation;
mod naming;
mod processor;
mod reach;
mod schedule;
mod source;
#[cfg(test)]
mod tests;

/// Tensor maps as drivers make them for kernels.
pub mod tensor_map {
    pub use crate::exec::tensor_map::{BYTES, Described, RANK};
}

/// Textures and surfaces as drivers make them for kernels.
pub mod image {
    pub use crate::exec::image::{BYTES, Beyond, Channel, Image};
}

pub use check::{Finding, Thread};
pub use declarations::TooLarge;
pub use exec::endless::{Awaited, Endless, Limit, Progress};
pub use exec::failure::Failure;
pub use exec::options::{Options, Shape, cores};
pub use exec::unlowered::{Internal, Unlowered, Unsupported};
pub use finding_kind::{FindingKind, RaceReason, Row as FindingRow, Severity};
pub use launch::Checks;
pub use launch_error::LaunchError;
pub use limits::LimitError;
pub use lower::PANIC_RECORD;
pub use module::{Kernel, LoadError, Module, NoVariable, parse};
pub use ptx::ParseError;
pub use schedule::{
    Choice, Choices, Explored, Failing, LeavingOut, NoChoice, NotFollowed, Schedule, Shrunk,
    explore, shrink,
};
pub use source::demangled;
