//! Builds the kernels of the tests to PTX.

use std::env;
use std::path::PathBuf;

use cuda_builder::{CudaBuilder, CudaBuilderError, Level, Lint, NvvmArch, Panics};

fn main() -> Result<(), CudaBuilderError> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    CudaBuilder::new("kernels")
        .arches(NvvmArch::list_from_env("RIDGEPOINT_ARCH")?)
        // As the emulator rounds.
        .fma_contraction(false)
        // Of `core`'s atomics those here are relaxed: a compiler before 1.99 drops nothing.
        .lint(Lint::UnorderedAtomic, Level::Allow)
        .copy_to(out.join("kernels.ptx"))
        .embed_to(out.join("kernels.rs"))
        .build()?;
    CudaBuilder::new("panicking")
        .arches(NvvmArch::list_from_env("RIDGEPOINT_ARCH")?)
        .panics(Panics::Message)
        .embed_to(out.join("panicking.rs"))
        .build()?;
    Ok(())
}
