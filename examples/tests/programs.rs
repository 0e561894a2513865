//! Runs every example on the emulator and, where there is one, on a GPU, each of which checks its own result; and the
//! kernels without `unsafe`.

mod dictionary;
mod direct;
mod safe;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpu_test::{Arguments, Failed, Trial, on_gpu};

/// Around a warp, a block and a grid.
const SIZES: &[usize] = &[0, 1, 31, 32, 33, 255, 256, 257, 1000, 65_537];
/// Fewer, for the emulator, which takes a minute for a large one with all checks.
const FEW: &[usize] = &[0, 1, 31, 32, 33, 255, 256, 257, 1000];
/// The rows of a matrix, or the width of an image.
const EXTENTS: &[usize] = &[0, 1, 31, 32, 33, 64, 65, 200];

macro_rules! programs {
    ($($name:literal: $sizes:expr,)*) => {
        [$(($name, env!(concat!("CARGO_BIN_EXE_", $name)), $sizes),)*]
    };
}

fn main() {
    let programs = programs! {
        "histogram": SIZES,
        "matmul": EXTENTS,
        "oscillator": SIZES,
        "path_tracer": EXTENTS,
        "reduction": SIZES,
        "saxpy": SIZES,
        "scan": SIZES,
        "sha256": SIZES,
    };
    let trials = programs.into_iter().flat_map(|(name, built, sizes)| {
        let program = program(name, built);
        let on_emulator = program.clone();
        let emulated = if name == "sha256" { FEW } else { sizes };
        [
            Trial::test(format!("emulator::{name}"), move || {
                run(&on_emulator, "cpu", emulated)
            }),
            on_gpu(format!("cuda::{name}"), examples::ptx(), move |_| {
                run(&program, "cuda", sizes)
            }),
        ]
    });
    let trials = trials
        .chain(direct::trials())
        .chain(safe::trials())
        .chain(dictionary::trials())
        .chain([Trial::test(
            "fast_kernels::page",
            the_page_shows_the_kernels,
        )])
        .collect();
    gpu_test::run(&Arguments::from_args(), trials).exit();
}

/// Each block of code of docs/fast-kernels.md is of these kernels.
fn the_page_shows_the_kernels() -> Result<(), Failed> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    let files = ["idioms", "plain", "spmv"].map(|file| read(&format!("kernels/src/{file}.rs")));
    let kernels: Vec<String> = files
        .into_iter()
        .map(|text| text.map(|text| words(&text)))
        .collect::<Result<_, _>>()?;
    let page = read("../docs/fast-kernels.md")?;
    let blocks: Vec<&str> = page.split("```rust,ignore\n").skip(1).collect();
    if blocks.len() < 12 {
        return Err(format!("the page has {} blocks of code", blocks.len()).into());
    }
    for block in blocks {
        let (code, _) = block.split_once("```").ok_or("a block does not end")?;
        // What lies between two parts of one kernel is left out.
        for part in code.split("\n\n").map(words) {
            if !kernels.iter().any(|kernels| kernels.contains(&part)) {
                return Err(format!("no kernel has this code:\n{part}").into());
            }
        }
    }
    Ok(())
}

/// The program that cargo built, or, away from the source tree, that of the folder that
/// `RIDGEPOINT_EXAMPLES` names.
fn program(name: &str, built: &str) -> PathBuf {
    match std::env::var_os("RIDGEPOINT_EXAMPLES") {
        Some(folder) => PathBuf::from(folder).join(name),
        None => PathBuf::from(built),
    }
}

fn run(program: &PathBuf, device: &str, sizes: &[usize]) -> Result<(), Failed> {
    // What a program writes, it writes here.
    let folder = tempfile::tempdir()?;
    for n in sizes {
        let output = Command::new(program)
            .args(["--device", device, "--n", &n.to_string()])
            .current_dir(folder.path())
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || !said.contains(": checked, ") {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("n = {n}: {said}{error}").into());
        }
    }
    Ok(())
}
