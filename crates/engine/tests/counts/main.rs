//! Counts of small kernels, against numbers made by hand.

mod harness;
mod instructions;
