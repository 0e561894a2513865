//! `cargo test --benches`: each workload is a test, which runs every point once and compares what it wrote.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use super::measure;
use super::suite::{Study, Suite};

/// Runs the workloads that the words of the command line name, which are those of any test.
pub(super) fn run() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each has the device for itself.
    arguments.test_threads = Some(1);
    let names = Suite::get().defaults(Study::Sweep).iter().copied();
    let test = |name| measure::once(name).map_err(|failure| failure.text().into());
    let trials = names.map(|name| Trial::test(name, move || test(name)));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
