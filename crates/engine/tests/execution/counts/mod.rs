//! Counts of small kernels, against numbers made by hand.

mod cost;
mod harness;
mod instructions;
mod patterns;
mod random;
mod together;
