//! Products against sums in `f64`, the kernels' machine code, the workload of `benches/workloads`, and the commands of the
//! guide. This program is also the bench that those commands start: [`guide::bench`].

mod case;
mod guide;
mod machine_code;
#[path = "../../benches/workloads/product.rs"]
mod product;
mod sums;
mod workload;

use std::process::ExitCode;

use gpu_test::Arguments;
use product::number;

fn main() -> ExitCode {
    if let Some(code) = guide::bench() {
        return code;
    }
    let mut trials = sums::trials();
    trials.extend(machine_code::trials());
    trials.extend(workload::trials());
    trials.extend(guide::trials());
    gpu_test::run_in_processes(&Arguments::from_args(), trials).exit_code()
}
