//! Each step against sums in `f64`, its machine code, and the command of the guide. This program is also the bench that
//! the command starts: [`guide::bench`].

mod guide;
mod machine_code;
#[path = "../../benches/workloads/step.rs"]
mod step;
mod sums;

use std::process::ExitCode;

use gpu_test::Arguments;

fn main() -> ExitCode {
    if let Some(code) = guide::bench() {
        return code;
    }
    let mut trials = sums::trials();
    trials.extend(machine_code::trials());
    trials.extend(guide::trials());
    gpu_test::run(&Arguments::from_args(), trials).exit_code()
}
