//! Cases shared among processes: each runs once, and the program fails with any of them, wherever it ran and however it ended.
//! This program is also the one that it starts.

use std::collections::BTreeSet;
use std::env;
use std::process::{self, Command, Output};

use gpu_test::{Arguments, Failed, Trial};

/// One of the cases of the program that is started, and its end: `NUMBER fails` or `NUMBER ends`.
const PLANTED: &str = "GPU_TEST_PLANTED";
const CASES: usize = 64;

fn main() {
    let arguments = Arguments::from_args();
    match env::var(PLANTED) {
        Ok(planted) => gpu_test::run_in_processes(&arguments, cases(&planted)).exit(),
        Err(_) => gpu_test::run(
            &arguments,
            vec![
                Trial::test("each_case_runs_once", each_case_runs_once),
                Trial::test("a_case_that_fails_is_told", a_case_that_fails_is_told),
                Trial::test("a_process_that_ends_is_told", a_process_that_ends_is_told),
                Trial::test(
                    "a_filter_holds_in_each_process",
                    a_filter_holds_in_each_process,
                ),
            ],
        )
        .exit(),
    }
}

fn cases(planted: &str) -> Vec<Trial> {
    let case = |number: usize| {
        let planted = planted.to_owned();
        Trial::test(format!("case_{number}"), move || {
            match planted.strip_prefix(&format!("{number} ")) {
                Some("fails") => Err("as planted".into()),
                Some(_) => process::exit(0),
                None => Ok(()),
            }
        })
    };
    (0..CASES).map(case).collect()
}

fn started(planted: &str, arguments: &[&str]) -> Result<(Output, String), Failed> {
    let output = Command::new(env::current_exe()?)
        .args(arguments)
        .env(PLANTED, planted)
        .output()?;
    let text = String::from_utf8(output.stdout.clone())?;
    Ok((output, text))
}

/// The cases that a text says have passed.
fn passed(text: &str) -> Vec<&str> {
    let lines = text.lines().filter_map(|line| line.strip_suffix(" ... ok"));
    lines
        .filter_map(|line| Some(line.strip_prefix("test ")?.trim()))
        .collect()
}

fn each_case_runs_once() -> Result<(), Failed> {
    let (output, text) = started("", &[])?;
    let passed = passed(&text);
    let different: BTreeSet<_> = passed.iter().collect();
    match output.status.success() && passed.len() == CASES && different.len() == CASES {
        true => Ok(()),
        false => Err(text.into()),
    }
}

/// Whichever process has it: neighbours are in different ones.
fn a_case_that_fails_is_told() -> Result<(), Failed> {
    for number in 0..4 {
        let (output, text) = started(&format!("{number} fails"), &[])?;
        let is_told = text.contains("as planted") && passed(&text).len() == CASES - 1;
        if output.status.code() != Some(101) || !is_told {
            return Err(text.into());
        }
    }
    Ok(())
}

/// With the status of success, but without a result: of this process, that its own caller sees.
fn a_process_that_ends_is_told() -> Result<(), Failed> {
    let mut codes = BTreeSet::new();
    for number in 0..4 {
        codes.insert(started(&format!("{number} ends"), &[])?.0.status.code());
    }
    // One core runs one process, which cannot tell.
    let cores = std::thread::available_parallelism()?.get();
    match cores < 2 || codes.contains(&Some(101)) {
        true => Ok(()),
        false => Err(format!("{codes:?}").into()),
    }
}

fn a_filter_holds_in_each_process() -> Result<(), Failed> {
    let (output, text) = started("", &["case_", "--skip", "case_1"])?;
    let expected: BTreeSet<String> = (0..CASES)
        .map(|number| format!("case_{number}"))
        .filter(|name| !name.contains("case_1"))
        .collect();
    let passed: BTreeSet<String> = passed(&text).into_iter().map(str::to_owned).collect();
    match output.status.success() && passed == expected {
        true => Ok(()),
        false => Err(text.into()),
    }
}
