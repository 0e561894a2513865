//! A host whose `glam` lays its vectors out in another way than the kernels'.

use std::fs;
use std::path::Path;

use ptx_builder::{CudaBuilder, CudaBuilderError};

use crate::Environment;
use crate::support::workspace;

/// Kernels that use glam and do not compile, and a host that shares nothing with them but the workspace.
fn write_workspace(folder: &Path, glam_of_host: &str) {
    let write = |path: &str, text: String| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("writable");
        fs::write(path, text).expect("writable");
    };
    let package = |name: &str, dependency: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [dependencies]\n{dependency}\n"
        )
    };
    let workspace_of_both = "[workspace]\nmembers = [\"kernels\", \"host\"]\nresolver = \"3\"\n";
    write("Cargo.toml", workspace_of_both.to_owned());
    let ptx_std = workspace().join("crates/ptx-std");
    let cuda_std = format!("cuda_std = {{ package = \"ridgepoint-ptx-std\", path = {ptx_std:?} }}");
    write("kernels/Cargo.toml", package("fixture-glam", &cuda_std));
    let kernels = "use cuda_std::glam::Vec2;\ncompile_error!(\"reached\");\n";
    write("kernels/src/lib.rs", kernels.to_owned());
    write("host/Cargo.toml", package("fixture-host", glam_of_host));
    write("host/src/lib.rs", String::new());
}

#[test]
fn a_host_whose_vectors_lie_differently_is_an_error_that_names_the_feature() {
    let mut environment = Environment::lock();
    let folder = tempfile::tempdir().expect("a folder");
    let host = folder.path().join("host");
    let variables = [
        ("CARGO_PKG_NAME", "fixture-host"),
        ("CARGO_PKG_VERSION", "0.1.0"),
        ("CARGO_MANIFEST_DIR", host.to_str().expect("UTF-8")),
        ("CARGO_CFG_FEATURE", ""),
        ("TARGET", "x86_64-unknown-linux-gnu"),
    ];
    for (name, value) in variables {
        environment.set(name, Some(value));
    }
    let build = |glam_of_host: &str| {
        write_workspace(folder.path(), glam_of_host);
        CudaBuilder::new(folder.path().join("kernels"))
            .target_dir(workspace().join("target/ptx"))
            .build()
            .expect_err("the kernels do not compile")
    };
    for (features, expected) in [
        ("", &[] as &[&str]),
        ("\"scalar-math\"", &["scalar-math"]),
        ("\"cuda\", \"scalar-math\"", &["cuda", "scalar-math"]),
    ] {
        let error = build(&format!(
            "glam = {{ version = \"0.32\", features = [{features}] }}"
        ));
        let CudaBuilderError::GlamLayout {
            host,
            version,
            of_host,
            of_kernels,
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!(host, "fixture-host");
        assert_eq!(of_host, expected);
        assert_eq!(of_kernels, &["cuda"]);
        assert!(version.starts_with("0.32."), "{error}");
        // The line to write, whole.
        let line = format!("glam = {{ version = \"{version}\", features = [\"cuda\"] }}");
        assert!(error.to_string().ends_with(&line), "{error}");
    }
    let kernels = "fixture-glam = { path = \"../kernels\" }";
    for same in [
        "glam = { version = \"0.32\", features = [\"cuda\"] }",
        kernels,
        "",
    ] {
        let error = build(same);
        assert!(
            matches!(error, CudaBuilderError::Compile { .. }),
            "{same}: {error}"
        );
    }
}
