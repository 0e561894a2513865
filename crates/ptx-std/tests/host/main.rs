//! The library on the host: what its functions compute, what `#[kernel]` makes of a function and what it refuses.

// Kernels know the library by this name.
extern crate ptx_std as cuda_std;

mod atomic;
mod capabilities;
mod float;
mod foreign;
mod intrinsics;
mod kernel;
mod mathematics;
mod output;
mod packed;
