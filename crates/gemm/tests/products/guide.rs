//! The commands of `docs/tensor-cores.md`, with their arguments word for word, on the emulator.
//!
//! `cargo bench` would build everything optimised, for minutes. This program is `benches/workloads` in the profile of
//! tests: with [`IS_BENCH`] set it is the bench, and otherwise it starts itself once for each command.

#[path = "../../../../tests/support/guides.rs"]
mod guides;

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

use guides::{command, shows};

mod bench {
    ridgepoint::main!(gemm::ptx(); crate::product::Gemm);

    pub(super) fn run() -> std::process::ExitCode {
        main()
    }
}

/// Set where this program is the bench.
const IS_BENCH: &str = "RIDGEPOINT_GEMM_IS_BENCH";

/// Runs the bench, where this program is it.
pub(crate) fn bench() -> Option<ExitCode> {
    env::var_os(IS_BENCH).map(|_| bench::run())
}

/// The cases of this module.
pub(crate) fn trials() -> [gpu_test::Trial; 1] {
    gpu_test::trials![the_commands_of_the_page_run]
}

fn the_commands_of_the_page_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |command: String| succeeds(folder.path(), &command);

    let said = run(command(
        "tensor-cores.md",
        "cargo bench -p ridgepoint-gemm -- list",
    ));
    for axis in ["gemm", "k", "m", "n", "dtype", "b"] {
        assert!(
            said.split_whitespace().any(|it| it == axis),
            "{axis}: {said}"
        );
    }
    run(command(
        "tensor-cores.md",
        "cargo bench -p ridgepoint-gemm -- roofline --output",
    ));
    let written = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    let (rows, chart) = (written("gemm.csv"), written("gemm.svg"));
    for dtype in [",bf16,", ",f16,", ",tf32,", ",e4m3,", ",f64,"] {
        assert!(rows.contains(dtype), "{dtype}: {rows}");
    }
    assert!(chart.contains("gemm tf32"), "{chart}");
    let said = run(command(
        "tensor-cores.md",
        "cargo bench -p ridgepoint-gemm -- roofline --k",
    ));
    shows("tensor-cores.md", "f32 roofs of NVIDIA", &said);
    let said = run(command(
        "tensor-cores.md",
        "cargo bench -p ridgepoint-gemm -- check",
    ));
    assert!(said.contains("nothing was found"), "{said}");
    let said = run(command(
        "tensor-cores.md",
        "cargo bench -p ridgepoint-gemm -- measure",
    ));
    assert!(
        said.contains("gemm bf16") && !said.contains("tf32"),
        "{said}"
    );
}

/// Returns what `cargo bench -p ridgepoint-gemm -- ..` prints in a folder, without a GPU.
fn succeeds(folder: &Path, command: &str) -> String {
    let (start, arguments) = command.split_once(" -- ").expect("arguments");
    assert_eq!(
        start, "cargo bench -p ridgepoint-gemm",
        "the bench of this package"
    );
    let mut bench = Command::new(env::current_exe().expect("this program"));
    // As cargo starts a bench.
    bench
        .args(arguments.split(' '))
        .arg("--bench")
        .current_dir(folder);
    bench
        .env(IS_BENCH, "")
        .env("CUDA_VISIBLE_DEVICES", "")
        .env("XDG_CACHE_HOME", folder.join("cache"));
    let output = bench.output().expect("the bench starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {said}{errors}");
    said + &errors
}
