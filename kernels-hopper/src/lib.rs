//! Kernels that measure what a Hopper GPU does at most, by instructions that `sm_90a` alone has: each does one thing as
//! fast as it can be done.
//!
//! * [`tensor`]: products of matrices on tensor cores, of operands that stay where they are

#![no_std]

pub mod tensor;
