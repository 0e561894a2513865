//! Builds the kernels to PTX, which the package embeds.
//!
//! `RIDGEPOINT_ARCH=sm_80,sm_90` builds for several architectures; the default is `sm_90`.

use std::env;
use std::path::{Path, PathBuf};

use cuda_builder::{CudaBuilder, CudaBuilderError, Level, Lint, NvvmArch};

fn main() -> Result<(), CudaBuilderError> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // Its build script says where it is: beside this package, or in cargo's registry.
    let kernels =
        env::var_os("DEP_RIDGEPOINT_KERNELS_FOLDER").expect("kernels-gpu's build.rs sets it");
    CudaBuilder::new(Path::new(&kernels))
        .arches(NvvmArch::list_from_env("RIDGEPOINT_ARCH")?)
        // The emulator rounds after each operation, and so must the GPU: the power sum's add and
        // multiply stay apart. Kernels that want a fused multiply-add say `mul_add`.
        .fma_contraction(false)
        // Kernels that are measured keep nothing in local memory.
        .lint(Lint::LocalMemory, Level::Deny)
        .copy_to(out.join("kernels.ptx"))
        .embed_to(out.join("kernels.rs"))
        .build()?;
    Ok(())
}
