//! Ridgepoint's kernels, one file a family: the kernels, their launch shape and their CPU
//! reference. A kernel's name and parameters are written here and nowhere else.

#![no_std]

pub mod ceilings;
pub mod polynomial;
