//! The kernels of the examples, one file for each program in `examples/src/bin` or workload in
//! `examples/benches`.

#![no_std]

pub mod dictionary;
pub mod diffusion;
pub mod histogram;
pub mod horner;
pub mod idioms;
pub mod layer_norm;
// A link to the file in kernels-gpu: the pipeline study runs it too.
pub mod matmul;
pub mod oscillator;
pub mod path_tracer;
pub mod plain;
pub mod product;
pub mod reduction;
pub mod saxpy;
pub mod scan;
pub mod segmented_scan;
pub mod sha256;
pub mod softmax;
pub mod spmv;
pub mod stencil;
