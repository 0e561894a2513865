//! Cases shared among processes: checked launches of one process run one after the other, whatever the number of its threads.

use std::env;
use std::io;
use std::process::{Command, Output, Stdio};
use std::thread;

use libtest_mimic::{Arguments, Conclusion, Trial};
use ridgepoint_driver::record;

/// Fewer cases than this for each process are not worth its start.
const MIN_CASES: usize = 8;

/// As [`run`](crate::run), with a process for each core: this one, and others that are given a part of the cases each. What they
/// say follows what this one says. It is one process alone where cases are few, listed, in a given number of threads, or on a
/// GPU, and under `ridgepoint check`, `mutate` and `coverage`.
pub fn run_in_processes(arguments: &Arguments, trials: Vec<Trial>) -> Conclusion {
    let asked: Vec<&str> = trials
        .iter()
        .filter(|trial| is_asked(arguments, trial))
        .map(Trial::name)
        .collect();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let parts = cores.min(asked.len() / MIN_CASES);
    let is_plain = !arguments.list
        && !arguments.exact
        && arguments.test_threads.is_none()
        && arguments.logfile.is_none()
        && arguments.format.is_none();
    let is_watched = record::is_kept()
        || [engine::mutation::FILE, engine::coverage::FOLDER]
            .iter()
            .any(|it| env::var_os(it).is_some());
    let is_on_gpu = trials
        .iter()
        .any(|it| it.kind() == "cuda" && is_asked(arguments, it));
    if parts < 2 || !is_plain || is_watched || is_on_gpu {
        return crate::run(arguments, trials);
    }
    // Each skips all cases but its own, by their whole names. This process says which are not run, and why.
    let without = |part: usize| -> Vec<String> {
        let mut number = 0;
        let others = trials.iter().filter(|trial| {
            if !is_asked(arguments, trial) {
                return part > 0 || !is_named(arguments, trial);
            }
            number += 1;
            number % parts != part
        });
        others.map(|it| it.name().to_owned()).collect()
    };
    let part_of = |part| Arguments {
        exact: true,
        filter: None,
        skip: without(part),
        ..arguments.clone()
    };
    let others: Vec<_> = (1..parts).map(|part| begin(&part_of(part))).collect();
    let own = part_of(0);
    let mut conclusion = crate::run(&own, trials);
    for other in others {
        let ended = other
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("a panic")));
        add(&mut conclusion, ended);
    }
    conclusion
}

/// Whether the case is named by the arguments and run, and not only said to be skipped.
fn is_asked(arguments: &Arguments, trial: &Trial) -> bool {
    let is_run = match trial.has_ignored_flag() {
        true => arguments.ignored || arguments.include_ignored,
        false => !arguments.ignored,
    };
    is_run && is_named(arguments, trial)
}

fn is_named(arguments: &Arguments, trial: &Trial) -> bool {
    let filter = arguments.filter.as_deref().unwrap_or_default();
    let name = trial.name();
    name.contains(filter) && !arguments.skip.iter().any(|it| name.contains(&**it))
}

/// Runs a part of the cases in a process of its own.
fn begin(part: &Arguments) -> thread::JoinHandle<io::Result<Output>> {
    let flags = [
        ("--ignored", part.ignored),
        ("--include-ignored", part.include_ignored),
        ("--quiet", part.quiet),
        ("--exact", part.exact),
    ];
    let flags = flags
        .into_iter()
        .filter_map(|(flag, is_set)| is_set.then_some(flag));
    let program = env::current_exe();
    let arguments: Vec<String> = flags
        .map(str::to_owned)
        .chain(part.skip.iter().map(|it| format!("--skip={it}")))
        .collect();
    thread::spawn(move || {
        let mut command = Command::new(program?);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit());
        command.output()
    })
}

/// Shows what the other process said, and counts its cases. One that came to no result has failed.
fn add(conclusion: &mut Conclusion, ended: io::Result<Output>) {
    let output = match ended {
        Ok(output) => output,
        Err(error) => {
            eprintln!("another process with cases of this program could not be run: {error}");
            conclusion.num_failed += 1;
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    let result = text
        .lines()
        .rev()
        .find(|line| line.starts_with("test result: "));
    let count = |what: &str| -> Option<u64> {
        let (before, _) = result?.split_once(what)?;
        before.rsplit(' ').next()?.parse().ok()
    };
    match (count(" passed;"), count(" failed;")) {
        (Some(passed), Some(failed)) if output.status.success() == (failed == 0) => {
            conclusion.num_passed += passed;
            conclusion.num_failed += failed;
        }
        _ => {
            eprintln!(
                "another process with cases of this program came to no result: {}",
                output.status
            );
            conclusion.num_failed += 1;
        }
    }
}
