//! A user's workloads, checked: `cargo bench -- check`.

use std::env;
use std::process::Command;

use clap::Args;

use super::Observed;
use super::project::joined;
use crate::cli::harness::Target;
use crate::cli::lists::whole;
use crate::cli::roofline::sweep_failure;
use crate::cli::suite::{Study, Suite, Workloads};
use crate::cli::{Failure, driver_failure, streams};
use crate::driver::{Emulation, Schedule, record};
use crate::sweep::{self, Plan};
use crate::workload::Bench;

#[derive(Args)]
#[command(allow_negative_numbers = true)]
pub(in crate::cli) struct Arguments {
    /// Also run each point under N seeds; each is a different order of blocks, warps and lanes
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = whole::<u64>(0..=10_000))]
    seeds: u64,

    #[command(flatten)]
    workloads: Workloads,
}

/// Runs the points in a process whose launches are recorded: this program again.
pub(in crate::cli) fn check(arguments: &Arguments, target: Target) -> Result<(), Failure> {
    let selected = arguments.workloads.select(Study::Sweep, true)?;
    let plan = arguments.workloads.plan(selected, Plan::default())?;
    if record::is_kept() {
        return run(&plan, arguments.seeds);
    }
    let own: Vec<String> = env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .filter(|word| word != "--bench")
        .collect();
    let mut program = Command::new(env::current_exe().map_err(Failure::failed)?);
    program.args(&own);
    let observed = Observed {
        program,
        replay: format!("cargo bench --bench {} -- {}", target.name, joined(&own)),
        seeds: arguments.seeds,
    };
    observed.run()
}

/// Runs every point in order and under each seed. All are run, whatever one of them says.
fn run(plan: &Plan<'_>, seeds: u64) -> Result<(), Failure> {
    let seeded = (0..seeds).map(Schedule::Seeded);
    let (mut points, mut findings) = (0, Vec::new());
    for schedule in [Schedule::InOrder].into_iter().chain(seeded) {
        let is_in_order = schedule == Schedule::InOrder;
        let emulation = Emulation {
            schedule,
            ..Emulation::default()
        };
        let bench = Bench::emulator(emulation, Suite::get().ptx).map_err(driver_failure)?;
        let checked = sweep::check(&bench, plan).map_err(sweep_failure)?;
        if is_in_order {
            for reason in &checked.left_out {
                streams::say(&format!("left out: {reason}"));
            }
            if checked.without_reference > 0 {
                let count = checked.without_reference;
                streams::say(&format!(
                    "not compared with a reference: {count} of the points"
                ));
            }
        }
        points += checked.points as u64;
        for finding in checked.findings {
            if !findings.contains(&finding) {
                streams::say(&finding.to_string());
                findings.push(finding);
            }
        }
    }
    record::tests(points);
    match findings.len() {
        0 => Ok(()),
        count => Err(Failure::Found(format!("{count} findings"))),
    }
}
