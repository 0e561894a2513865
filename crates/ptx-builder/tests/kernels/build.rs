//! Kernel crates built to PTX, and the ways in which that fails.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ptx_builder::toolchain::{Reason, Toolchain};
use ptx_builder::{CudaBuilder, CudaBuilderError, NvvmArch};
use tempfile::TempDir;

use crate::support::{build, kernel_crate, workspace};

const SCALE: &str = "
/// # Safety
/// y has room for x.len() elements.
#[kernel]
pub unsafe fn scale(x: &[f32], y: *mut f32, a: f32) {
    for i in thread::grid_stride(x.len()) {
        unsafe { *y.add(i) = a * x[i] + helper::FACTOR };
    }
}
";

#[test]
fn a_kernel_becomes_an_entry_with_the_parameters_of_its_description() {
    let folder = kernel_crate("fixture-scale", SCALE);
    let copy = folder.path().join("kernels.ptx");
    let table = folder.path().join("kernels.rs");
    let path = build(&folder)
        .copy_to(&copy)
        .embed_to(&table)
        .build()
        .expect("it builds");
    assert_eq!(path, copy);
    let ptx = fs::read_to_string(&path).expect("written");
    assert!(ptx.contains(".target sm_90"), "{ptx}");
    let (_, entry) = ptx.split_once(".visible .entry scale(").expect("an entry");
    let (parameters, body) = entry.split_once(")\n").expect("its end");
    assert_eq!(
        parameters.matches(".param").count(),
        4,
        "pointer, length, pointer, value"
    );
    assert!(
        body.contains("mul.rn.f32") && body.contains("add.rn.f32"),
        "{body}"
    );
    let table = fs::read_to_string(table).expect("written");
    let row = format!("[\n    (90, include_str!({copy:?}), ");
    assert!(
        table.starts_with(&row) && table.ends_with("),\n]\n"),
        "{table}"
    );
}

#[test]
fn a_change_in_a_path_dependency_changes_the_ptx() {
    let folder = kernel_crate("fixture-stale", SCALE);
    let constant = |value: f32| format!("0f{:08X}", value.to_bits());
    let ptx = || fs::read_to_string(build(&folder).build().expect("it builds")).expect("written");
    assert!(ptx().contains(&constant(7.0)));
    let helper = folder.path().join("helper/src/lib.rs");
    fs::write(helper, "#![no_std]\npub const FACTOR: f32 = 11.0;\n").expect("writable");
    let changed = ptx();
    assert!(
        changed.contains(&constant(11.0)) && !changed.contains(&constant(7.0)),
        "{changed}"
    );
}

#[test]
fn kernels_of_a_path_dependency_are_entries_too() {
    let folder = kernel_crate("fixture-dependency", SCALE);
    let helper = folder.path().join("helper");
    let manifest = fs::read_to_string(helper.join("Cargo.toml")).expect("readable");
    let ptx_std = workspace().join("crates/ptx-std");
    let dependency =
        format!("cuda_std = {{ package = \"ridgepoint-ptx-std\", path = {ptx_std:?} }}\n");
    let manifest = manifest.replace("[dependencies]\n", &format!("[dependencies]\n{dependency}"));
    fs::write(helper.join("Cargo.toml"), manifest).expect("writable");
    let kernel = "#![no_std]\nuse cuda_std::prelude::*;\npub const FACTOR: f32 = 7.0;\n\
        #[kernel] pub unsafe fn twice(y: *mut f32) { unsafe { *y *= 2.0 } }\n";
    fs::write(helper.join("src/lib.rs"), kernel).expect("writable");
    let path = build(&folder).build().expect("it builds");
    let ptx = fs::read_to_string(path).expect("written");
    for entry in ["scale", "twice"] {
        assert!(ptx.contains(&format!(".visible .entry {entry}(")), "{ptx}");
    }
}

#[test]
fn a_kernel_that_does_not_compile_shows_the_compilers_error_at_its_line() {
    let folder = kernel_crate(
        "fixture-broken",
        &SCALE.replace("a * x[i]", "a * x[i].sine()"),
    );
    let error = build(&folder)
        .build()
        .expect_err("there is no such method")
        .to_string();
    for part in [
        "src/lib.rs:9:",
        "sine",
        "E0599",
        "does not compile for sm_90",
    ] {
        assert!(error.contains(part), "{part:?} is not in:\n{error}");
    }
    assert!(!error.contains("\\n"), "lines, not escapes: {error}");
}

/// The errors of the compiler for a kernel that only the GPU's compiler refuses.
fn refused(name: &str, kernel: &str) -> String {
    let folder = kernel_crate(name, kernel);
    let error = build(&folder)
        .build()
        .expect_err("the compiler refuses it")
        .to_string();
    assert!(!error.contains("internal compiler error"), "{error}");
    error
}

#[test]
fn a_kernel_on_the_gpu_cannot_keep_what_a_launch_lends() {
    let keeps = "
        fn keep<T: ?Sized>(_: &'static T) {}
        #[kernel]
        pub fn slice(x: &[u32], mut y: Output<u32>) {
            #[cfg(target_arch = \"nvptx64\")]
            keep(x);
            y.own().for_each(|(_, y)| *y = helper::FACTOR as u32);
        }
        #[kernel]
        pub fn named<'a>(x: &'a u32, mut y: Output<'_, u32>) {
            #[cfg(target_arch = \"nvptx64\")]
            keep::<u32>(x);
            y.own().for_each(drop);
        }
        #[kernel]
        pub fn element(mut y: Output<u32>) {
            #[cfg(target_arch = \"nvptx64\")]
            y.own().for_each(|(_, y)| keep::<u32>(y));
        }";
    let error = refused("fixture-keeps", keeps);
    let parts = ["lib.rs:8:", "lib.rs:14:", "lib.rs:20:", "'static"];
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in:\n{error}");
    }
    let lent = keeps.replace("&'static T", "&T");
    let folder = kernel_crate("fixture-lent", &lent);
    build(&folder).build().expect("it keeps nothing");
}

#[test]
fn what_parameters_have_to_be_is_checked_for_the_gpu_too() {
    let error = refused(
        "fixture-gpu-types",
        "
        #[cfg(target_arch = \"nvptx64\")]
        pub type Handle = &'static mut u32;
        #[cfg(not(target_arch = \"nvptx64\"))]
        pub type Handle = u64;
        #[kernel]
        pub fn handle(handle: Handle) {
            let _ = (&handle, helper::FACTOR);
        }
        #[kernel]
        pub fn reference(handle: Other) {
            let _ = handle;
        }
        #[cfg(target_arch = \"nvptx64\")]
        pub type Other = &'static u32;
        #[cfg(not(target_arch = \"nvptx64\"))]
        pub type Other = u64;",
    );
    let parts = [
        "cannot take `&'static mut u32` by value",
        "cannot take `&'static u32` by value",
    ];
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in:\n{error}");
    }
}

/// Without the check rustc panics, and does not say of which parameter.
#[test]
fn an_alignment_that_no_parameter_has_is_one_error_at_the_parameter() {
    let error = refused(
        "fixture-aligned",
        "
        #[derive(Clone, Copy)]
        #[repr(C, align(32))]
        pub struct Wide(pub [u32; 3]);
        /// # Safety
        /// None.
        #[kernel]
        pub unsafe fn aligned(wide: Wide, y: *mut u32) {
            unsafe { *y = wide.0[0] + helper::FACTOR as u32 };
        }",
    );
    let parts = [
        "lib.rs:10:",
        "`wide` is of a type, `Wide`, that is aligned to more than 16 bytes",
    ];
    for part in parts {
        assert!(error.contains(part), "{part:?} is not in:\n{error}");
    }
}

#[test]
fn a_folder_without_a_kernel_crate_is_named() {
    let error = CudaBuilder::new("/nonexistent/kernels")
        .build()
        .expect_err("not there");
    assert!(matches!(error, CudaBuilderError::NoKernelCrate { .. }));
    assert!(
        error.to_string().contains("/nonexistent/kernels"),
        "{error}"
    );
}

#[test]
fn architectures_are_read_by_name_and_unknown_ones_are_listed() {
    for text in ["sm_90", "compute_90", "90", " sm_90 "] {
        assert_eq!(
            text.parse::<NvvmArch>().expect("known"),
            NvvmArch::Compute90
        );
    }
    let error = "sm_42"
        .parse::<NvvmArch>()
        .expect_err("unknown")
        .to_string();
    assert!(error.contains("sm_42") && error.contains("sm_80") && error.contains("sm_90"));
    let none = CudaBuilder::new("kernels").arches([]).build();
    assert!(matches!(none, Err(CudaBuilderError::NoArch)));
}

/// A program that answers as a compiler of this version, in a folder that is its sysroot.
fn pretend_compiler(folder: &TempDir, release: &str) -> PathBuf {
    let path = folder.path().join("rustc");
    let sysroot = folder.path().display();
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in -vV) echo 'release: {release}' ;; *) echo {sysroot} ;; esac\n"
    );
    fs::write(&path, script).expect("writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
    path
}

#[test]
fn a_compiler_that_will_not_do_is_told_why() {
    let reason = |path: &Path| Toolchain::at(path).expect_err("it will not do").reason;
    let folder = tempfile::tempdir().expect("a folder");
    assert!(matches!(
        reason(&folder.path().join("none")),
        Reason::DoesNotRun(_)
    ));

    let old = tempfile::tempdir().expect("a folder");
    assert_eq!(
        reason(&pretend_compiler(&old, "1.95.0")),
        Reason::TooOld((1, 95))
    );

    let rustc = pretend_compiler(&folder, "1.97.0-nightly");
    assert!(matches!(reason(&rustc), Reason::NoSources(_)));
    let core = folder.path().join("lib/rustlib/src/rust/library/core");
    fs::create_dir_all(&core).expect("writable");
    fs::write(core.join("Cargo.toml"), "").expect("writable");
    assert!(matches!(reason(&rustc), Reason::NoCargo(_)));
    fs::write(folder.path().join("cargo"), "").expect("writable");
    assert_eq!(Toolchain::at(&rustc).expect("it will do").version, (1, 97));
}
