//! `ridgepoint roofline --device all`: each GPU of the host alone, then all at once.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::compare::merge;
use super::console::Console;
use super::output::target;
use super::{Failure, driver_failure};
use crate::compare::{Spread, Table, spreads};
use crate::driver::gpus;
use crate::report::spread_table;

/// Options of a run that a process of one GPU is given anew, or that are not its business.
const OWN: [&str; 7] = [
    "--device",
    "--output",
    "--format",
    "--plot",
    "--report",
    "--baseline",
    "--tolerance",
];

/// Runs the sweep in a process for each GPU, one after the other and then all at once. The rows of
/// the latter go to `outputs`.
pub(super) fn run(outputs: &[PathBuf], quiet: bool) -> Result<(), Failure> {
    let count = gpus().map_err(driver_failure)?.len();
    let console = Console::new(target(quiet, outputs), 0);
    let folder = tempfile::tempdir().map_err(Failure::failed)?;
    let path = |kind: &str, gpu: usize| folder.path().join(format!("{kind}-{gpu}.csv"));

    for gpu in 0..count {
        console.say(&format!("GPU {gpu} alone"));
        finish(gpu, start(gpu, &path("alone", gpu))?)?;
    }
    console.say(&format!("{count} GPUs at once"));
    let started = (0..count).map(|gpu| start(gpu, &path("together", gpu)));
    let children = started.collect::<Result<Vec<_>, _>>()?;
    // All are waited for, whatever one of them says.
    let ended: Vec<_> = children
        .into_iter()
        .enumerate()
        .map(|(gpu, child)| finish(gpu, child))
        .collect();
    ended.into_iter().collect::<Result<(), _>>()?;

    let all = |kind| (0..count).map(|gpu| path(kind, gpu)).collect::<Vec<_>>();
    let read = |kind| {
        all(kind)
            .iter()
            .map(|path| Table::read(path))
            .collect::<Result<Vec<_>, _>>()
    };
    let alone = read("alone").map_err(Failure::failed)?;
    let together = read("together").map_err(Failure::failed)?;
    let found: Vec<Spread> = spreads(&alone, &together);
    console.say(&spread_table(&found));
    merge(&all("together"), outputs, None, &console)
}

fn start(gpu: usize, output: &Path) -> Result<Child, Failure> {
    let program = std::env::current_exe().map_err(Failure::failed)?;
    Command::new(program)
        .args(without(std::env::args().skip(1), &OWN))
        .args(["--quiet", "--device", &format!("cuda:{gpu}"), "--output"])
        .arg(output)
        .spawn()
        .map_err(|error| Failure::Failed(format!("GPU {gpu}: cannot start a process: {error}")))
}

fn finish(gpu: usize, mut child: Child) -> Result<(), Failure> {
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::Failed(format!(
            "GPU {gpu}: the sweep ended with {status}"
        ))),
        Err(error) => Err(Failure::failed(error)),
    }
}

/// The words of a command line without some options and their values, and without `--quiet`.
fn without(words: impl Iterator<Item = String>, options: &[&str]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut skip = false;
    for word in words {
        let name = word.split('=').next().unwrap_or_default();
        if std::mem::take(&mut skip) || word == "--quiet" {
            continue;
        }
        if options.contains(&name) {
            skip = !word.contains('=');
            continue;
        }
        kept.push(word);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{OWN, without};

    #[test]
    fn a_process_of_one_gpu_is_given_its_own_device_and_output() {
        let line = "roofline --device all --k 1,2 --output=a.csv --quiet --plot b.svg --aa";
        let words = line.split(' ').map(str::to_owned);
        assert_eq!(without(words, &OWN), ["roofline", "--k", "1,2", "--aa"]);
    }
}
