//! The command of `docs/tensor-cores.md`, with its arguments word for word, on the emulator: this program is `benches/workloads` if
//! [`IS_BENCH`] is set, and otherwise it starts itself.

#[path = "../../../../tests/support/guides.rs"]
mod guides;

use std::env;
use std::fs;
use std::process::{Command, ExitCode};

use guides::command;
use ladder::Step;

mod bench {
    ridgepoint::main!(ladder::ptx(); crate::step::Ladder);

    pub(super) fn run() -> std::process::ExitCode {
        main()
    }
}

/// Set where this program is the bench.
const IS_BENCH: &str = "RIDGEPOINT_LADDER_IS_BENCH";

/// Runs the bench, where this program is it.
pub(crate) fn bench() -> Option<ExitCode> {
    env::var_os(IS_BENCH).map(|_| bench::run())
}

/// The cases of this module.
pub(crate) fn trials() -> [gpu_test::Trial; 1] {
    gpu_test::trials![the_command_of_the_page_runs]
}

fn the_command_of_the_page_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let command = command("tensor-cores.md", "cargo bench -p ladder -- roofline");
    let arguments = command.strip_prefix("cargo bench -p ladder -- ");
    let arguments = arguments.expect("the bench of this package");
    let output = Command::new(env::current_exe().expect("this program"))
        .args(arguments.split(' '))
        .arg("--bench")
        .current_dir(folder.path())
        .env(IS_BENCH, "")
        .env("CUDA_VISIBLE_DEVICES", "")
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .output()
        .expect("the bench starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {said}");
    let written = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    let (rows, chart) = (written("ladder.csv"), written("ladder.svg"));
    for step in Step::ALL.map(Step::name) {
        assert!(rows.contains(&format!(",{step},")), "{step}: {rows}");
        assert!(chart.contains(step), "{step}: {chart}");
    }
}
