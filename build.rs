//! Builds the kernels to PTX, which the host library embeds with the feature `cli`.
//!
//! `RIDGEPOINT_ARCH=sm_80,sm_90` builds for several architectures; the default is `sm_90`.

use std::env;
use std::path::PathBuf;

use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch};

fn main() -> Result<(), CudaBuilderError> {
    if env::var_os("CARGO_FEATURE_CLI").is_none() {
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    CudaBuilder::new("kernels-gpu")
        .arches(NvvmArch::list_from_env("RIDGEPOINT_ARCH")?)
        // The emulator rounds after each operation, and so must the GPU: the power sum's add and
        // multiply stay apart. Kernels that want a fused multiply-add say `mul_add`.
        .fma_contraction(false)
        .copy_to(out.join("kernels.ptx"))
        .embed_to(out.join("kernels.rs"))
        .build()?;
    Ok(())
}
