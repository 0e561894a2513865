//! Which compiler the environment leads to.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ptx_builder::CudaBuilder;
use ptx_builder::toolchain::{RECOMMENDED, installed};

use crate::Environment;

#[test]
fn the_environment_decides_which_compiler_builds_ptx() {
    let mut environment = Environment::lock();
    let mut set = |name: &str, value: Option<&str>| environment.set(name, value);
    let home = tempfile::tempdir().expect("a folder");
    set("RUSTC", None);
    set("PTX_BUILDER_RUSTC", Some("/nonexistent/rustc"));
    the_named_compiler_is_used_or_refused_and_no_other_is_looked_for();

    set("PTX_BUILDER_RUSTC", None);
    assert_eq!(RECOMMENDED, pinned_in_the_root());
    set("RUSTUP_HOME", home.path().to_str());
    let host = home.path().join("host");
    pretend_compiler(&host, "1.95.0");
    set("PATH", host.to_str());
    every_toolchain_of_rustup_is_considered(home.path());

    // docs.rs has no compiler for PTX.
    set("DOCS_RS", Some("1"));
    set("OUT_DIR", home.path().to_str());
    documentation_is_built_without_a_compiler(home.path());
    set("DOCS_RS", None);

    // The host's compiler comes first where it will do, though a newer one is there.
    pretend_compiler(&host, "1.97.0");
    set("RUSTC", host.join("rustc").to_str());
    assert_eq!(installed().expect("one will do").release, "1.97.0");
}

fn the_named_compiler_is_used_or_refused_and_no_other_is_looked_for() {
    let error = installed().expect_err("not there").to_string();
    for part in [
        "/nonexistent/rustc: it does not run",
        "version 1.96 or newer",
        &format!("rustup toolchain install {RECOMMENDED}"),
        "apt-get install rustc-web",
    ] {
        assert!(error.contains(part), "{part:?} is not in:\n{error}");
    }
    assert_eq!(error.matches("rustc: ").count(), 1, "{error}");
}

/// Not the default, the newest stable one: nightlies come last, and old ones never.
fn every_toolchain_of_rustup_is_considered(home: &Path) {
    let toolchain = |name: &str, release| {
        pretend_compiler(&home.join("toolchains").join(name).join("bin"), release);
    };
    // Debian's, where the machine has it.
    let system = installed().ok().map(|found| found.release);
    toolchain("1.90.0-x86_64-unknown-linux-gnu", "1.90.0");
    toolchain("nightly-x86_64-unknown-linux-gnu", "1.999.0-nightly");
    let expected = system.unwrap_or("1.999.0-nightly".to_owned());
    assert_eq!(installed().expect("one will do").release, expected);
    // Newer than any that the machine may have in /usr/bin.
    toolchain("1.997.0-x86_64-unknown-linux-gnu", "1.997.0");
    toolchain("stable-x86_64-unknown-linux-gnu", "1.998.0");
    let found = installed().expect("one will do");
    assert_eq!((&*found.release, found.version), ("1.998.0", (1, 998)));
    assert!(found.rustc.starts_with(home), "{found}");
}

/// The channel that the workspace's rust-toolchain.toml names.
fn pinned_in_the_root() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rust-toolchain.toml");
    let text = fs::read_to_string(file).expect("it is there");
    let channel = text
        .lines()
        .find_map(|line| line.strip_prefix("channel = "));
    channel.expect("a channel").trim_matches('"').to_owned()
}

/// A program that answers as a compiler of this version, with the sources and a cargo beside it.
fn pretend_compiler(bin: &Path, release: &str) {
    fs::create_dir_all(bin).expect("writable");
    let sysroot = bin.join("sysroot");
    let core = sysroot.join("lib/rustlib/src/rust/library/core");
    fs::create_dir_all(&core).expect("writable");
    fs::write(core.join("Cargo.toml"), "").expect("writable");
    fs::write(bin.join("cargo"), "").expect("writable");
    let rustc = bin.join("rustc");
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in -vV) echo 'release: {release}' ;; *) echo {} ;; esac\n",
        sysroot.display()
    );
    fs::write(&rustc, script).expect("writable");
    fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).expect("ours");
}

fn documentation_is_built_without_a_compiler(folder: &Path) {
    let table = folder.join("kernels.rs");
    let path = CudaBuilder::new("/nonexistent/kernels")
        .embed_to(&table)
        .build()
        .expect("nothing is compiled");
    assert_eq!(fs::read_to_string(&path).expect("written"), "");
    let row = format!("[\n    (90, include_str!({path:?}), None),\n]\n");
    assert_eq!(fs::read_to_string(table).expect("written"), row);
}
