//! `ridgepoint roofline --device all`: each GPU of the host alone, then all at once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::compare::merge;
use super::console::Console;
use super::interrupt::Interrupt;
use super::output::{open_whole, target};
use super::{Failure, driver_failure};
use crate::compare::{Lacking, Merge, Spread, Table, spreads};
use crate::driver::gpus;
use crate::report::{Format, counted, spread_table};

/// Options of a run that a process of one GPU is given anew.
const OWN: [Short; 3] = [
    Short("--device", Some('d')),
    Short("--output", Some('o')),
    Short("--format", Some('f')),
];

/// An option with a value: its name, and the letter for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Short(pub(super) &'static str, pub(super) Option<char>);

/// Runs the sweep in a process for each GPU, one after the other and then all at once. The rows of
/// the latter go to `outputs`, also where not all processes have ended well.
pub(super) fn run(outputs: &[PathBuf], format: Option<Format>, quiet: bool) -> Result<(), Failure> {
    let interrupt = &Interrupt::watch();
    let opened = open_whole(outputs, format)?;
    let count = gpus().map_err(driver_failure)?.len();
    // Each alone, and all together.
    let console = Console::new(target(quiet, outputs), count as u64 + 1);
    let folder = tempfile::tempdir().map_err(Failure::failed)?;
    let path = |kind: &str, gpu: usize| folder.path().join(format!("{kind}-{gpu}.csv"));
    let all = |kind| (0..count).map(|gpu| path(kind, gpu)).collect::<Vec<_>>();

    for gpu in 0..count {
        console.say(&format!("GPU {gpu} alone"));
        console.begin(format!("GPU {gpu} alone"));
        finish(gpu, start(gpu, &path("alone", gpu))?, interrupt)?;
        console.step();
    }
    console.say(&format!("{} at once", counted(count as u64, "GPU")));
    console.begin(format!("{} at once", counted(count as u64, "GPU")));
    let children = start_all(count, |gpu| path("together", gpu))?;
    // All are waited for, whatever one of them says.
    let ended: Vec<_> = children
        .into_iter()
        .enumerate()
        .map(|(gpu, child)| finish(gpu, child, interrupt))
        .collect();
    console.finish();
    let files: Vec<PathBuf> = all("together")
        .into_iter()
        .filter(|it| it.exists())
        .collect();
    if !files.is_empty() {
        let inputs = Merge::open(&files, Lacking::OfEarlierFormats).map_err(Failure::failed)?;
        merge(inputs, opened, &console)?;
    }
    ended.into_iter().collect::<Result<(), _>>()?;

    let read = |kind| {
        all(kind)
            .iter()
            .map(|path| Table::read(path))
            .collect::<Result<Vec<_>, _>>()
    };
    let alone = read("alone").map_err(Failure::failed)?;
    let together = read("together").map_err(Failure::failed)?;
    let found: Vec<Spread> = spreads(&alone, &together);
    console.say(&spread_table(&found, console.width()));
    Ok(())
}

/// Starts a process for each GPU, or none: those that were started are ended where a later one is not.
fn start_all(count: usize, output: impl Fn(usize) -> PathBuf) -> Result<Vec<Child>, Failure> {
    let mut children = Vec::new();
    for gpu in 0..count {
        match start(gpu, &output(gpu)) {
            Ok(child) => children.push(child),
            Err(error) => {
                for mut child in children {
                    // It may have ended just now.
                    let _ = child.kill().and_then(|()| child.wait());
                }
                return Err(error);
            }
        }
    }
    Ok(children)
}

fn start(gpu: usize, output: &Path) -> Result<Child, Failure> {
    let program = std::env::current_exe().map_err(Failure::failed)?;
    let mut command = Command::new(program);
    command
        .args(without(std::env::args_os().skip(1), &OWN))
        .args(["--quiet", "--device", &format!("cuda:{gpu}"), "--output"])
        .arg(output);
    Interrupt::start(&mut command)
        .map_err(|error| Failure::Failed(format!("GPU {gpu}: cannot start a process: {error}")))
}

fn finish(gpu: usize, mut child: Child, interrupt: &Interrupt) -> Result<(), Failure> {
    let status = interrupt.wait(&mut child).map_err(Failure::failed)?;
    interrupt.check()?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure::Failed(format!(
            "GPU {gpu}: the sweep ended with {status}"
        ))),
    }
}

/// The words of a command line without some options and their values, and without `--quiet`, also where they are
/// letters.
pub(super) fn without(words: impl Iterator<Item = OsString>, options: &[Short]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut skip = false;
    for word in words {
        if std::mem::take(&mut skip) || word == "--quiet" {
            continue;
        }
        let text = word.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        if options.iter().any(|Short(option, _)| *option == name) {
            skip = !text.contains('=');
            continue;
        }
        match letters(&text) {
            None => kept.push(word),
            Some(letters) => {
                let of = |letter: char| options.iter().any(|Short(_, it)| *it == Some(letter));
                let option = letters.find(of);
                // What stands behind an option's letter is its value.
                let flags: String = letters[..option.unwrap_or(letters.len())].replace('q', "");
                skip = option.is_some_and(|at| at + 1 == letters.len());
                if !flags.is_empty() {
                    kept.push(format!("-{flags}").into());
                }
            }
        }
    }
    kept
}

/// Options of one letter each, as `-qd`.
fn letters(word: &str) -> Option<&str> {
    let letters = word.strip_prefix('-')?;
    let first = letters.chars().next()?;
    first.is_ascii_alphabetic().then_some(letters)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{OWN, without};

    #[test]
    fn a_process_of_one_gpu_is_given_its_own_device_and_output() {
        let line = "roofline --device all --k 1,2 --output=a.csv --quiet --format csv --aa";
        let words = line.split(' ').map(OsString::from);
        assert_eq!(without(words, &OWN), ["roofline", "--k", "1,2", "--aa"]);
        for line in [
            "roofline -d all --x -1 -o a.csv -q",
            "roofline -qd all --x -1 -oa.csv -fcsv",
            "roofline -qdall -f csv --x -1 --quiet",
        ] {
            let words = line.split(' ').map(OsString::from);
            assert_eq!(without(words, &OWN), ["roofline", "--x", "-1"], "{line}");
        }
    }
}
