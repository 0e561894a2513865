//! Builds the kernels to PTX for `sm_90a`, which alone has `wgmma`.

use std::env;
use std::path::PathBuf;

use cuda_builder::{CudaBuilder, CudaBuilderError, Level, Lint, NvvmArch};

fn main() -> Result<(), CudaBuilderError> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    CudaBuilder::new("kernels")
        .arch(NvvmArch::Compute90a)
        .lint(Lint::LocalMemory, Level::Deny)
        .lint(Lint::PanicInLoop, Level::Deny)
        .copy_to(out.join("kernels.ptx"))
        .embed_to(out.join("kernels.rs"))
        .build()?;
    Ok(())
}
