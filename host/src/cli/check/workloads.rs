//! Workloads, checked at the points of their axes: `cargo bench -- check`, `ridgepoint check --workload horner`.

use std::env;
use std::process::Command;

use super::project::joined;
use super::{How, Observed};
use crate::cli::console::{Console, Target};
use crate::cli::roofline::sweep_failure;
use crate::cli::suite::{Study, Suite, Workloads};
use crate::cli::workload_commands::Program;
use crate::cli::{Failure, driver_failure};
use crate::driver::{Emulation, Schedule, record};
use crate::report::counted;
use crate::sweep::{self, Plan};
use crate::workload::Bench;

/// Runs the points in a process whose launches are recorded: this program again.
pub(super) fn check(workloads: &Workloads, of: Program, how: How<'_>) -> Result<(), Failure> {
    let selected = workloads.select(Study::Sweep, true)?;
    let plan = workloads.plan(selected, Plan::default())?;
    if record::is_kept() {
        return run(&plan, how.seeds);
    }
    let own: Vec<String> = env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .filter(|word| word != "--bench")
        .collect();
    let mut program = Command::new(env::current_exe().map_err(Failure::failed)?);
    program.args(&own);
    let line = match of {
        Program::Bench(target) => format!("cargo bench --bench {} --", target.name),
        Program::Ridgepoint => {
            // Cargo says so of a bench target.
            program.env("CARGO_PKG_NAME", "ridgepoint");
            "ridgepoint".to_owned()
        }
    };
    let observed = Observed {
        program,
        replay: format!("{line} {}", joined(&own)),
        how,
    };
    observed.run()
}

/// Runs every point in order and under each seed. All are run, whatever one of them says.
fn run(plan: &Plan<'_>, seeds: u64) -> Result<(), Failure> {
    let seeded = (0..seeds).map(Schedule::Seeded);
    let (mut points, mut findings) = (0, Vec::new());
    let console = Console::new(Target::Stdout, 0);
    let mut begun = 0;
    for schedule in [Schedule::InOrder].into_iter().chain(seeded) {
        let is_in_order = schedule == Schedule::InOrder;
        let emulation = Emulation {
            schedule,
            ..Emulation::default()
        };
        let bench = Bench::emulator(emulation, Suite::get().ptx).map_err(driver_failure)?;
        let begin = |name: &str, count: usize| {
            console.estimate(begun, count as u64 * (seeds + 1));
            console.begin(name.to_owned());
            begun += 1;
        };
        let checked = sweep::check(&bench, plan, begin).map_err(sweep_failure)?;
        if is_in_order {
            for reason in &checked.left_out {
                console.say(&format!("left out: {reason}"));
            }
            if checked.without_reference > 0 {
                let count = counted(checked.without_reference as u64, "point");
                console.say(&format!("not compared with a reference: {count}"));
            }
        }
        points += checked.points as u64;
        let is_endless = checked.findings.iter().any(|it| it.is_endless);
        for finding in checked.findings {
            if !findings.contains(&finding) {
                console.say(&finding.to_string());
                findings.push(finding);
            }
        }
        if is_endless {
            console.say("note: other orders were not run: a launch that a limit has ended may take as long in them");
            break;
        }
    }
    console.finish();
    record::tests(points);
    match findings.len() {
        0 => Ok(()),
        count => Err(Failure::Found(counted(count as u64, "finding"))),
    }
}
