//! Builds the kernels to PTX: those of `hopper` for `sm_90a`, which alone has what they use.

use std::env;
use std::path::PathBuf;

use cuda_builder::{CudaBuilder, CudaBuilderError, Level, Lint, NvvmArch, toolchain};

/// The first compiler whose PTX says where inlined code was called from (LLVM 23).
const TELLS_CALLS: (u32, u32) = (1, 99);

fn main() -> Result<(), CudaBuilderError> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    CudaBuilder::new("kernels")
        .arches(NvvmArch::list_from_env("RIDGEPOINT_ARCH")?)
        .lint(Lint::PanicInLoop, Level::Allow)
        .copy_to(out.join("kernels.ptx"))
        .embed_to(out.join("kernels.rs"))
        .build()?;
    CudaBuilder::new("hopper")
        .arch(NvvmArch::Compute90a)
        .lint(Lint::PanicInLoop, Level::Allow)
        .copy_to(out.join("hopper.ptx"))
        .embed_to(out.join("hopper.rs"))
        .build()?;
    println!("cargo::rustc-check-cfg=cfg(tells_calls)");
    if toolchain::installed()?.version >= TELLS_CALLS {
        println!("cargo::rustc-cfg=tells_calls");
    }
    Ok(())
}
