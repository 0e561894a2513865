//! Every item of ptx-std on the emulator and on a GPU, against what the host works out by itself.
//! Items without a case here: see docs/writing-kernels.md.

mod approx;
mod atomic;
mod cooperative;
mod float;
mod group;
mod intrinsics;
mod kernel;
mod memory;
mod message;
mod migrated;
mod other;
mod output;
mod packed;
mod ring;
mod support;
mod thread;
mod warp;

use conformance::ptx;
use gpu_test::{Arguments, Trial, on_both, on_two_gpus};

use support::Case;

const CASES: &[&[Case]] = &[
    thread::CASES,
    warp::CASES,
    memory::CASES,
    kernel::CASES,
    float::CASES,
    intrinsics::CASES,
    approx::CASES,
    atomic::CASES,
    message::CASES,
    cooperative::CASES,
    group::CASES,
    other::CASES,
    output::CASES,
    packed::CASES,
    migrated::CASES,
];

fn main() {
    output::run_task();
    let cases = CASES.iter().copied().flatten();
    let mut trials: Vec<Trial> = cases
        .flat_map(|&(name, case)| on_both(name, ptx(), case))
        .collect();
    trials.extend([
        Trial::test("intrinsics::names", intrinsics::names),
        Trial::test("emulator::group::refused", group::refused),
        Trial::test("emulator::group::checked", group::checked),
        Trial::test("ptx::externally_visible", output::externally_visible),
        Trial::test(
            "emulator::misc::breakpoint",
            other::breakpoint_on_the_emulator,
        ),
        Trial::test(
            "emulator::kernel::panic_of_two_launches",
            output::two_launches_that_fail,
        ),
        Trial::test("emulator::atomic::ring", ring::on_emulated_devices),
        on_two_gpus("cuda::atomic::ring", ptx(), ring::of_two_gpus),
    ]);
    gpu_test::run_in_processes(&Arguments::from_args(), trials).exit();
}
