//! Builds the kernels to PTX.

use std::env;
use std::path::PathBuf;

use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch};

fn main() -> Result<(), CudaBuilderError> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    CudaBuilder::new("kernels")
        .arches(NvvmArch::list_from_env("RIDGEPOINT_ARCH")?)
        .copy_to(out.join("kernels.ptx"))
        .embed_to(out.join("kernels.rs"))
        .build()?;
    Ok(())
}
