//! Stands in for `find_cuda_helper` from crates.io, which `cust`'s build script calls to link
//! against an installed CUDA toolkit. Ridgepoint's binaries carry the driver's entry points
//! themselves (crate `cuda-loader`), so there is nothing to find and nothing to link.

/// Does nothing: the driver is opened at run time.
pub fn include_cuda() {}
