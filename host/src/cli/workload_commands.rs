//! The commands over workloads, which `ridgepoint` has for the embedded ones and a bench target for its own.

use super::harness::Target;
use super::{
    Failure, check, compare, kernels, list, measure, occupancy, predict, profile, roofline,
};

/// The program whose command line it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Program {
    /// `ridgepoint`
    Ridgepoint,
    /// A bench target.
    Bench(Target),
}

commands! {
    pub(super) enum Command, run(program: Program);
    /// Measure workloads at their default values and show what changed since the last run, as `cargo bench` does.
    Measure(measure::Arguments), it => measure::run(&it, program);
    /// List the workloads and their axes.
    List(list::Arguments), it => list::run(&it);
    /// Sweep workloads over their axes and place each point under the roofline.
    Roofline(Box<roofline::Arguments>), it => it.trace.around(it.files(), || roofline::run(&it));
    /// Compute occupancy for any architecture, or measure how speed depends on it.
    Occupancy(Box<occupancy::Arguments>), it => it.trace.around(it.files(), || occupancy::run(&it));
    /// List kernels with their registers and occupancy, or print a kernel's code.
    Kernels(kernels::Arguments), it => kernels::run(&it);
    /// Run kernels on the emulator and check every access: races, bounds, divergence and more.
    Check(check::Arguments), it => check::run(&it, program);
    /// Count what a kernel does, line by line, or record any program: its calls, waits and GPU work. With advice.
    Profile(Box<profile::Arguments>), it => profile::run(&it, program);
    /// Predict how long a kernel takes on a GPU that need not be present, what bounds it, and which lines it waits for.
    Predict(Box<predict::Arguments>), it => predict::run(&it, program);
    /// Compare two files of rows, or measure now and compare with the last run; exit with status 1 if a row is
    /// slower by more than the noise or missing, or if none can be judged.
    Compare(compare::Arguments), it => it.files().check().and_then(|()| compare::run(&it, program));
}
