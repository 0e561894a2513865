//! Builds the kernels to PTX, which the package embeds.
//!
//! `RIDGEPOINT_ARCH=sm_80,sm_90` builds for several architectures; the default is `sm_90`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use cuda_builder::{CudaBuilder, CudaBuilderError, Level, Lint, NvvmArch};

fn main() -> Result<(), CudaBuilderError> {
    name_the_commit();
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
    hopper(&out)
}

/// The kernels for `sm_90a`, whichever architectures the others are built for: no other runs them.
fn hopper(out: &Path) -> Result<(), CudaBuilderError> {
    let kernels = env::var_os("DEP_RIDGEPOINT_HOPPER_KERNELS_FOLDER")
        .expect("kernels-hopper's build.rs sets it");
    CudaBuilder::new(Path::new(&kernels))
        .arch(NvvmArch::Compute90a)
        .lint(Lint::LocalMemory, Level::Deny)
        .copy_to(out.join("hopper.ptx"))
        .embed_to(out.join("hopper.rs"))
        .build()?;
    Ok(())
}

/// Sets `RIDGEPOINT_CHECKOUT` for `--version`: the commit that is checked out, unless `RIDGEPOINT_COMMIT` names one,
/// as a build of a release does, or this is not a checkout.
fn name_the_commit() {
    println!("cargo::rerun-if-env-changed=RIDGEPOINT_COMMIT");
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    // A package in cargo's registry may lie in somebody else's checkout.
    let is_ours = git(&["ls-files", "--error-unmatch", "Cargo.toml", "build.rs"]).is_some();
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    // A line is added wherever another commit is checked out.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    if let (true, Some(commit), Some(log)) = (is_ours, commit, log)
        && env::var_os("RIDGEPOINT_COMMIT").is_none()
    {
        if Path::new(&log).exists() {
            println!("cargo::rerun-if-changed={log}");
        }
        println!("cargo::rustc-env=RIDGEPOINT_CHECKOUT={commit}");
    }
}
