//! The commands over workloads, which `ridgepoint` has for the embedded ones and a bench target for its own.

use clap::Subcommand;

use super::harness::{Run, Target};
use super::{Failure, check, compare, kernels, list, measure, occupancy, profile, roofline};

/// The program whose command line it is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Program {
    /// `ridgepoint`
    Ridgepoint,
    /// A bench target.
    Bench(Target, Run),
}

/// A command of both.
#[derive(Subcommand)]
pub(super) enum Command {
    /// Measure workloads at their default values and show what changed since the last run, as `cargo bench` does.
    Measure(measure::Arguments),
    /// List the workloads and their axes.
    List(list::Arguments),
    /// Sweep workloads over their axes and place each point under the roofline.
    Roofline(Box<roofline::Arguments>),
    /// Compute occupancy for any architecture, or measure how speed depends on it.
    Occupancy(Box<occupancy::Arguments>),
    /// List kernels with their registers and occupancy, or print a kernel's code.
    Kernels(kernels::Arguments),
    /// Run kernels on the emulator and check every access: races, bounds, divergence and more.
    Check(check::Arguments),
    /// Count what a kernel does: instructions, bytes, conflicts, the hottest lines, and advice.
    Profile(Box<profile::Arguments>),
    /// Compare two files of rows, or measure now and compare with the last run; exit with status 1 if a row is
    /// slower by more than the noise.
    Compare(compare::Arguments),
}

impl Command {
    pub(super) fn run(self, program: Program) -> Result<(), Failure> {
        match self {
            Command::Measure(it) => measure::run(&it, program),
            Command::List(it) => list::run(&it),
            Command::Roofline(it) => it.trace.around(it.files(), || roofline::run(&it)),
            Command::Occupancy(it) => it.trace.around(it.files(), || occupancy::run(&it)),
            Command::Kernels(it) => kernels::run(&it),
            Command::Check(it) => check::run(&it, program),
            Command::Profile(it) => profile::run(&it, program),
            Command::Compare(it) => it.files().check().and_then(|()| compare::run(&it, program)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;

    use super::super::{colours, suite};
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(subcommand)]
        _command: Command,

        #[command(flatten)]
        _colours: colours::Arguments,
    }

    /// An axis has no option of a name that a command has one of, whichever that is.
    #[test]
    fn the_options_of_the_commands_are_those_that_no_axis_takes() {
        let mut line = <Line as clap::CommandFactory>::command();
        line.build();
        let options = |command: &clap::Command| {
            let own = command.get_arguments().filter(|it| !suite::is_axis(it));
            let names = own.flat_map(|it| {
                let aliases = it.get_all_aliases().unwrap_or_default();
                it.get_long().into_iter().chain(aliases).map(str::to_owned)
            });
            names.collect::<Vec<String>>()
        };
        let takes_workloads =
            |it: &&clap::Command| it.get_arguments().any(|it| it.get_id() == "axis");
        let with_axes = || line.get_subcommands().filter(takes_workloads);
        assert!(
            with_axes().count() > 5,
            "measure, roofline and others take workloads"
        );
        let mut found: BTreeSet<String> = with_axes().flat_map(options).collect();
        // Cargo's, to every target.
        found.insert("bench".to_owned());
        let taken = suite::taken().map(str::to_owned);
        assert_eq!(found, taken.collect::<BTreeSet<String>>());
        assert!(found.len() > 30, "{found:?}");
        let axes = with_axes().flat_map(|it| it.get_arguments().filter(|it| suite::is_axis(it)));
        assert!(axes.count() > 8, "axes have options");
    }
}
