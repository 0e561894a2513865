//! Looks for faults with random inputs: PTX programs that two devices execute, and mutants of files.

pub mod arguments;
pub mod children;
pub mod compare;
pub mod device;
mod mutate;
pub mod program;
pub mod report;
pub mod seeds;
pub mod targets;
