//! Two checkouts of one package that share a target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::support::{build, kernel_crate};

fn kernel(factor: f32) -> String {
    format!(
        "
/// # Safety
/// y is a number.
#[kernel]
pub unsafe fn scale(y: *mut f32) {{
    unsafe {{ *y *= {factor:?} }};
}}
"
    )
}

fn constant(factor: f32) -> String {
    format!("0f{:08X}", factor.to_bits())
}

/// Makes all files of the folder older than anything that is built of them.
fn age(folder: &Path) {
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            age(&path);
        } else {
            let file = fs::File::options()
                .append(true)
                .open(&path)
                .expect("writable");
            file.set_modified(long_ago).expect("writable");
        }
    }
}

fn built(path: PathBuf) -> String {
    fs::read_to_string(path).expect("written")
}

#[test]
fn each_checkout_has_the_ptx_of_its_own_kernels() {
    let checkouts: Vec<(f32, TempDir)> = [3.0, 5.0]
        .map(|factor| (factor, kernel_crate("fixture-checkouts", &kernel(factor))))
        .into();
    for (_, folder) in &checkouts {
        age(folder.path());
    }
    for (factor, folder) in checkouts.iter().chain(&checkouts) {
        let ptx = built(build(folder).build().expect("it builds"));
        assert!(ptx.contains(&constant(*factor)), "no {factor} in {ptx}");
    }
}

/// With cargo outside, too: it makes a builder of its own first.
mod slow {
    use std::process::Command;

    use ptx_builder::WORKSPACE_VARIABLE;

    use super::*;
    use crate::support::workspace;

    const BUILD: &str = "fn main() {
    let out = std::path::PathBuf::from(std::env::var_os(\"OUT_DIR\").unwrap());
    ptx_builder::CudaBuilder::new(\"kernels\").copy_to(out.join(\"k.ptx\")).build().unwrap();
}
";
    const MAIN: &str =
        "fn main() { print!(\"{}\", include_str!(concat!(env!(\"OUT_DIR\"), \"/k.ptx\"))) }\n";

    /// A checkout in which the kernel multiplies by this.
    fn checkout(factor: f32, config: &str) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let crates = workspace().join("crates");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("in the folder")).expect("writable");
            fs::write(path, text).expect("writable");
        };
        let manifest = |name: &str, rest: &str| {
            format!(
                "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}\n"
            )
        };
        let builder = format!(
            "[build-dependencies]\nptx_builder = {{ package = \"ridgepoint-ptx-builder\", path = {:?} }}\n\
             [workspace]\nmembers = [\"kernels\"]",
            crates.join("ptx-builder")
        );
        let device = format!(
            "[dependencies]\ncuda_std = {{ package = \"ridgepoint-ptx-std\", path = {:?} }}",
            crates.join("ptx-std")
        );
        write("Cargo.toml", &manifest("fixture-outer", &builder));
        write("build.rs", BUILD);
        write("src/main.rs", MAIN);
        write(".cargo/config.toml", config);
        write("kernels/Cargo.toml", &manifest("fixture-inner", &device));
        let kernels = format!("#![no_std]\nuse cuda_std::prelude::*;\n{}", kernel(factor));
        write("kernels/src/lib.rs", &kernels);
        let lock = fs::read_to_string(workspace().join("Cargo.lock")).expect("it is there");
        write("Cargo.lock", &lock);
        age(folder.path());
        folder
    }

    /// Returns what the checkout's program prints.
    fn run(checkout: &Path, target: &Path) -> String {
        let output = Command::new(env!("CARGO"))
            .args(["run", "--quiet"])
            .current_dir(checkout)
            .env("CARGO_TARGET_DIR", target)
            .env_remove("RUSTFLAGS")
            .output()
            .expect("it runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{told}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn each_checkout_has_a_program_with_its_own_kernels() {
        let config = format!(
            "[env]\n{WORKSPACE_VARIABLE} = {{ value = \"\", relative = true, force = true }}\n"
        );
        let target = tempfile::tempdir().expect("a folder");
        let checkouts = [3.0, 5.0].map(|factor| (factor, checkout(factor, &config)));
        for (factor, folder) in checkouts.iter().chain(&checkouts) {
            let ptx = run(folder.path(), target.path());
            assert!(ptx.contains(&constant(*factor)), "no {factor} in {ptx}");
        }
        // Without the variable, what is changed is built.
        let plain = [7.0, 9.0].map(|factor| (factor, checkout(factor, "")));
        for (factor, folder) in &plain {
            let kernels = folder.path().join("kernels/src/lib.rs");
            let file = fs::File::options()
                .append(true)
                .open(kernels)
                .expect("writable");
            file.set_modified(SystemTime::now()).expect("writable");
            let ptx = run(folder.path(), target.path());
            assert!(ptx.contains(&constant(*factor)), "no {factor} in {ptx}");
        }
    }
}
