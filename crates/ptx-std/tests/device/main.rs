//! The PTX of the functions on the GPU, and that NVIDIA's assembler takes it.

mod atomics;
mod floats;
mod hopper_examples;
mod others;
mod passes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use cuda_builder::{CudaBuilder, Level, Lint};

const HEAD: &str = "
#![no_std]
#![allow(unused, clippy::missing_safety_doc)]
use core::sync::atomic::{AtomicU32, Ordering};
use cuda_std::async_copy::*;
use cuda_std::atomic::{mid::*, *};
use cuda_std::prelude::*;
use cuda_std::ptr::*;
use cuda_std::{ApproxFloat, FloatExt, bf16, misc};
";

static PTX: LazyLock<String> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path())
});

/// The opcodes of each entry, without operands.
static ENTRIES: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut entries = BTreeMap::new();
    for entry in PTX.split(".visible .entry ").skip(1) {
        let (name, _) = entry.split_once('(').expect("parameters");
        let (_, body) = entry.split_once("{\n").expect("a body");
        let (body, _) = body.split_once("\n\n}\n").expect("its end");
        let opcodes = body
            .lines()
            .filter_map(|line| line.trim().strip_suffix(';'))
            .filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')))
            .map(str::to_owned);
        entries.insert(name.to_owned(), opcodes.collect());
    }
    entries
});

/// Builds all kernels at once, since each build costs a while, and assembles them.
fn build(folder: &Path) -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = format!(
        "[package]\nname = \"fixture-device\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\ncuda_std = {{ package = \"ridgepoint-ptx-std\", path = {:?} }}\n\n[workspace]\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::create_dir(folder.join("src")).expect("writable");
    fs::write(folder.join("Cargo.toml"), manifest).expect("writable");
    let mut source = HEAD.to_owned();
    source += &atomics::source();
    source += &floats::source();
    source += others::SOURCE;
    fs::write(folder.join("src/lib.rs"), source).expect("writable");
    let path = folder.join("kernels.ptx");
    CudaBuilder::new(folder)
        .fma_contraction(false)
        // The tests look at what each compiler makes of `core`'s atomics.
        .lint(Lint::UnorderedAtomic, Level::Allow)
        .target_dir(workspace.join("target/ptx"))
        .copy_to(&path)
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let mut ptxas = Command::new(tool(&workspace.join(".venv/cuda/bin/ptxas")));
    let output = ptxas
        .args(["-arch=sm_90", "-O0", "-o"])
        .args([&folder.join("kernels.cubin"), &path])
        .output()
        .expect("ptxas starts: ./setup.sh installs NVIDIA's PTX tools");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    fs::read_to_string(path).expect("written")
}

/// The tool in the virtual environment that setup.sh makes, or on the PATH.
fn tool(local: &Path) -> PathBuf {
    if local.is_file() {
        return local.to_path_buf();
    }
    PathBuf::from(local.file_name().expect("a tool"))
}

fn entry(name: &str) -> &'static [String] {
    let entries = &*ENTRIES;
    entries.get(name).unwrap_or_else(|| panic!("no {name}"))
}

/// The opcodes of an entry that begin with one of `stems`.
fn opcodes(name: &str, stems: &[&str]) -> Vec<&'static str> {
    let wanted = |opcode: &&str| stems.iter().any(|stem| opcode.starts_with(stem));
    entry(name)
        .iter()
        .map(String::as_str)
        .filter(wanted)
        .collect()
}
