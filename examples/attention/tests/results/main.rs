//! Attention against sums in `f64`, the kernels' machine code, and the workload of `benches/workloads`.

mod machine_code;
#[path = "../../benches/workloads/scaled.rs"]
mod scaled;
mod sums;
mod workload;

use gpu_test::Arguments;

fn main() {
    let mut trials = sums::trials();
    trials.extend(machine_code::trials());
    trials.extend(workload::trials());
    gpu_test::run(&Arguments::from_args(), trials).exit();
}
