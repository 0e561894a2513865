//! Executes PTX on a CPU, warp by warp, and checks what its threads do with memory.

pub mod check;
pub mod memory;
