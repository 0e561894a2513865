//! Executes PTX on the CPU.

pub mod arith;
