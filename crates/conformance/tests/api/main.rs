//! Every item of ptx-std on the emulator and on a GPU, against what the host works out by itself.
//! Items without a case here: see docs/writing-kernels.md.

mod approx;
mod atomic;
mod float;
mod kernel;
mod memory;
mod message;
mod migrated;
mod support;
mod thread;
mod warp;

use conformance::ptx;
use gpu_test::{Arguments, Trial, on_both};

use support::Case;

const CASES: &[&[Case]] = &[
    thread::CASES,
    warp::CASES,
    memory::CASES,
    kernel::CASES,
    float::CASES,
    approx::CASES,
    atomic::CASES,
    message::CASES,
    migrated::CASES,
];

fn main() {
    let cases = CASES.iter().copied().flatten();
    let trials: Vec<Trial> = cases
        .flat_map(|&(name, case)| on_both(name, ptx(), case))
        .collect();
    gpu_test::run(&Arguments::from_args(), trials).exit();
}
