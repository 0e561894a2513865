//! `ridgepoint check`: a project's tests with every access looked at, in the build that they have.

use crate::support;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::guides::{command, typed};

/// A target folder that other runs find again: this workspace's, or one beside it.
fn target(name: Option<&str>) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("");
    name.map_or(target.clone(), |name| target.join(name))
}

/// A command as a user's shell runs it, which cargo has told nothing, in a folder.
fn shell(program: impl AsRef<Path>, folder: &Path, target: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_NET_OFFLINE", "true")
        // As the tests of `new` build the same package.
        .env("CARGO_PROFILE_DEV_DEBUG", "none");
    command
}

fn check_in(folder: &Path, target: &Path, arguments: &[&str]) -> Output {
    shell(support::ridgepoint(), folder, target)
        .arg("check")
        .args(arguments)
        .output()
        .expect("the command is there")
}

/// Both streams.
fn text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    format!("{text}{}", String::from_utf8_lossy(&output.stderr))
}

/// Runs `ridgepoint check` here.
#[track_caller]
fn check(arguments: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = check_in(folder, &target(None), arguments);
    assert!(output.status.success(), "{}", text(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn embedded_workloads_are_checked_by_name_at_points_of_their_axes() {
    let text = check(&[
        "--workload",
        "polynomial,dot_f32",
        "--n",
        "1000",
        "--k",
        "3",
        "--seeds",
        "2",
    ]);
    assert!(
        text.contains("Checked ridgepoint (ridgepoint): 6 tests, 6 launches of 2 kernels"),
        "{text}"
    );
    assert!(
        text.contains("in order and under 2 seeds: dot_f32, horner_f32_v1"),
        "{text}"
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let both = check_in(
        folder,
        &target(None),
        &["--workload", "copy", "--", "-p", "demo"],
    );
    says(&both, 2, &["cannot be used with"]);
}

/// Checks the texts of an output, and its exit code.
#[track_caller]
fn says(output: &Output, code: i32, expected: &[&str]) {
    let text = text(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for expected in expected {
        assert!(text.contains(expected), "no {expected:?} in {text}");
    }
}

#[test]
fn without_a_project_nothing_is_built() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let target = path.join("target");
    says(
        &check_in(path, &target, &["--"]),
        2,
        &["no project to check: could not find `Cargo.toml`"],
    );
    assert!(!target.exists());
}

/// A package that is built, and all kernels at all sizes; `emulator::cases` checks them at some.
mod slow {
    use ridgepoint::kernels;

    use super::*;

    /// Where thread 0 comes first of its block, as it does in order, this is right: only a check under seeds sees
    /// the element behind the last.
    const PLANTED: &str = r#"#![no_std]

use cuda_std::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::atomic_fetch_add_u32_block;
use cuda_std::prelude::*;

#[kernel]
pub fn scale(x: &[f32], mut y: Output<f32>, a: f32) {
    let came = shared_array![u32; 1]; if thread::thread_idx_x() == 0 { unsafe { *came = 0 } } thread::sync_threads();
    for (i, y) in y.own() {
        let before = if i < 64 { unsafe { atomic_fetch_add_u32_block(came, Relaxed, 1) } } else { 1 };
        let read = if before == 0 && i != 0 { x.len() } else { i };
        *y = a * unsafe { *x.get_unchecked(read) };
    }
}

pub fn reference(x: f32, a: f32) -> f64 {
    f64::from(a) * f64::from(x)
}
"#;

    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn a_project_is_checked_without_another_build_and_a_failure_is_replayed() {
        let _only = support::only_demo();
        let folder = support::folder_for_packages();
        let target = target(Some("new-demo"));
        let new = shell(support::ridgepoint(), folder.path(), &target)
            .args(["new", "demo"])
            .output();
        says(&new.expect("it starts"), 0, &["ridgepoint check --\n"]);
        let demo = folder.path().join("demo");
        fs::write(demo.join("kernels/src/lib.rs"), PLANTED).expect("it is written");

        let mut test = shell(env!("CARGO"), &demo, &target);
        test.args(["test", "--test", "scale"]);
        says(&test.output().expect("it starts"), 0, &["6 passed"]);
        // As `cargo test` builds what a check runs.
        says(
            &shell(env!("CARGO"), &demo, &target)
                .args(["test", "--tests", "--no-run"])
                .output()
                .expect("it starts"),
            0,
            &[],
        );
        let checked = check_in(&demo, &target, &["--"]);
        let out_of_bounds = "reads element 1000 of `x` (of 1000) at kernels/src/lib.rs:13";
        let found = [
            out_of_bounds,
            "Checked demo (scale): 6 tests, ",
            "something was found in ",
        ];
        says(&checked, 1, &found);
        let checked = text(&checked);
        assert!(!checked.contains("Compiling"), "{checked}");
        let replay = checked
            .lines()
            .find(|line| line.ends_with("emulator::scale::1000"));
        let replay = replay
            .unwrap_or_else(|| panic!("no replay in {checked}"))
            .trim();
        let (seed, _) = replay.split_once(' ').expect("a variable and a command");
        let seed = seed.strip_prefix("RIDGEPOINT_SEED=").expect("the seed");
        let again = shell("sh", &demo, &target).args(["-c", replay]).output();
        let alone = format!("  under seed {seed} alone: scale\n");
        let summary =
            "Checked demo (scale): 1 test, 1 launch of 1 kernel; something was found in 1 of";
        says(
            &again.expect("it starts"),
            1,
            &[out_of_bounds, summary, &alone],
        );

        let run = command("testing-kernels.md", "ridgepoint check --cargo run");
        let mut run = typed(&support::ridgepoint(), &demo, &run);
        let run = run
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_PROFILE_DEV_DEBUG", "none")
            .output()
            .expect("a shell");
        let summary =
            "Checked demo (demo): 1 launch of 1 kernel; nothing was found.\n  in order: scale";
        says(&run, 0, &["scaled 1000000 elements", summary]);
        let nothing = check_in(&demo, &target, &["--", "no_test_of_this_name"]);
        says(
            &nothing,
            3,
            &["nothing was checked: no kernel was launched"],
        );
        let broken = check_in(&demo, &target, &["--", "--no-such-option"]);
        says(
            &broken,
            3,
            &["not checked: cargo failed before a kernel was launched"],
        );
    }

    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn every_embedded_kernel_is_clean() {
        // Away from the source tree, as the page has it.
        let folder = tempfile::tempdir().expect("a folder");
        let command = command("testing-kernels.md", "ridgepoint check --seeds 1");
        let output = typed(&support::ridgepoint(), folder.path(), &command).output();
        let output = output.expect("a shell");
        assert!(output.status.success(), "{}", text(&output));
        let text = text(&output);
        for kernel in kernels::names(kernels::embedded_ptx()) {
            let row = text
                .lines()
                .find(|line| line.split_whitespace().any(|word| word == kernel));
            let row = row.unwrap_or_else(|| panic!("no {kernel} in {text}"));
            assert!(row.trim_end_matches([' ', '│']).ends_with(" 0"), "{row}");
        }
    }
}
