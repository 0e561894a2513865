//! Kernel crates of Rust-CUDA's users: only the dependency's line differs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ptx_builder::CudaBuilder;
use tempfile::TempDir;

use crate::support::workspace;

/// Of which the version is not ptx-std's first choice.
const GLAM: &str = "0.30.10";

/// A workspace of the kernel crate in `tests/kernels/moving` and of a crate by others that depends on
/// `cuda_std`, as both would be without Ridgepoint but for two lines.
fn users_workspace() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let crates = workspace().join("crates");
    let write = |path: &str, text: String| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("writable");
        fs::write(path, text).expect("writable");
    };
    write(
        "Cargo.toml",
        format!(
            "[workspace]\nmembers = [\"kernels\", \"elsewhere\"]\nresolver = \"2\"\n\n\
             [patch.crates-io]\ncuda_std = {{ path = {:?} }}\n",
            crates.join("shims/cuda_std")
        ),
    );
    write(
        "kernels/Cargo.toml",
        format!(
            "[package]\nname = \"fixture-moving\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n\
             [lib]\ncrate-type = [\"cdylib\", \"rlib\"]\n\n\
             [dependencies]\n\
             cuda_std = {{ package = \"ridgepoint-ptx-std\", path = {:?} }}\n\
             elsewhere = {{ path = \"../elsewhere\" }}\n\
             glam = {{ version = \"0.30\", default-features = false, features = [\"libm\"] }}\n",
            crates.join("ptx-std")
        ),
    );
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels/moving/src");
    for file in fs::read_dir(sources).expect("they are there").flatten() {
        let text = fs::read_to_string(file.path()).expect("readable");
        let name = PathBuf::from("kernels/src").join(file.file_name());
        write(&name.to_string_lossy(), text);
    }
    write(
        "elsewhere/Cargo.toml",
        "[package]\nname = \"elsewhere\"\nversion = \"0.1.0\"\nedition = \"2018\"\n\n\
         [dependencies]\ncuda_std = \"0.2\"\n"
            .to_owned(),
    );
    write(
        "elsewhere/src/lib.rs",
        "use cuda_std::prelude::*;\n\
         pub fn twice(x: f32) -> f32 { GpuFloat::powi(x, 1) * 2.0 }\n\
         #[kernel] pub unsafe fn of_elsewhere(y: *mut f32) { *y = twice(*y) }\n"
            .to_owned(),
    );
    run(cargo(&folder).args([
        "update",
        "--quiet",
        "--package",
        "glam@0.32",
        "--precise",
        GLAM,
    ]));
    folder
}

fn cargo(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(folder.path());
    command
}

fn run(command: &mut Command) {
    let output = command.output().expect("cargo starts");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{words}");
}

#[test]
fn a_crate_of_rust_cudas_users_is_built_as_it_is() {
    let folder = users_workspace();
    let lock = fs::read_to_string(folder.path().join("Cargo.lock")).expect("written");
    assert_eq!(lock.matches("name = \"glam\"").count(), 1, "{lock}");
    let path = CudaBuilder::new(folder.path().join("kernels"))
        .target_dir(workspace().join("target/ptx"))
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let ptx = fs::read_to_string(path).expect("written");
    for file in fs::read_dir(folder.path().join("kernels/src"))
        .expect("there")
        .flatten()
    {
        let source = fs::read_to_string(file.path()).expect("readable");
        for kernel in kernels_of(&source) {
            assert!(
                ptx.contains(&format!(".visible .entry {kernel}(")),
                "{kernel}"
            );
        }
    }
    assert!(
        ptx.contains(".visible .entry of_elsewhere("),
        "of a dependency"
    );
    // As nvcc lays out float2 and uint4, and as the host does with glam's feature `cuda`.
    assert!(
        ptx.contains(".param .align 16 .b8 mixed_param_0[32]"),
        "glam's layout"
    );
    // The host has std, and its own version of all this.
    run(cargo(&folder)
        .args(["check", "--quiet", "--package", "fixture-moving"])
        .env("CARGO_TARGET_DIR", workspace().join("target/moving")));
}

/// The names of the functions with `#[kernel]`.
fn kernels_of(source: &str) -> impl Iterator<Item = &str> {
    source.split("#[kernel]").skip(1).map(|rest| {
        let (_, name) = rest.split_once("fn ").expect("a function");
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
        &name[..end.expect("parameters")]
    })
}
