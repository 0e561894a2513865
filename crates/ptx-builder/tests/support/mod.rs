//! Kernel crates made for a test, and the tools that look at what became of them.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::fs;
use std::path::{Path, PathBuf};

use ptx_builder::CudaBuilder;
use tempfile::TempDir;

pub fn workspace() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    folder.canonicalize().expect("it is there")
}

/// A kernel crate `name` in a folder of its own, with a path dependency `helper` beside it. The
/// kernels begin in line 3.
pub fn kernel_crate(name: &str, kernel: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let ptx_std = workspace().join("crates/ptx-std");
    let write = |path: &str, text: String| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("writable");
        fs::write(path, text).expect("writable");
    };
    let manifest = |name: &str, dependencies: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [features]\nextra = []\n\n[dependencies]\n{dependencies}\n[workspace]\n"
        )
    };
    let dependencies = format!(
        "cuda_std = {{ package = \"ridgepoint-ptx-std\", path = {ptx_std:?} }}\n\
         helper = {{ path = \"../helper\" }}\n"
    );
    write("kernel/Cargo.toml", manifest(name, &dependencies));
    write(
        "kernel/src/lib.rs",
        format!(
            "#![no_std] #![allow(internal_features)] \
             #![feature(asm_experimental_arch, core_intrinsics, link_llvm_intrinsics, stdarch_nvptx)]\n\
             use cuda_std::prelude::*;\n{kernel}"
        ),
    );
    write("helper/Cargo.toml", manifest("helper", ""));
    write(
        "helper/src/lib.rs",
        "#![no_std]\npub const FACTOR: f32 = 7.0;\n".to_owned(),
    );
    folder
}

/// Builds beside the workspace's own kernels, so that `core` is there already.
pub fn build(folder: &TempDir) -> CudaBuilder {
    in_target(folder, "target/ptx").fma_contraction(false)
}

/// With the default flags, and with options that need a `core` of their own, which each takes most of a minute to build: one
/// for all architectures, in a target folder beside the other. Cargo locks one while it builds, and so two builds run side
/// by side.
pub fn builder(folder: &TempDir) -> CudaBuilder {
    in_target(folder, "target/ptx-options").common_libraries(true)
}

fn in_target(folder: &TempDir, target: &str) -> CudaBuilder {
    CudaBuilder::new(folder.path().join("kernel")).target_dir(workspace().join(target))
}
