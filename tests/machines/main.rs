//! The project's kernels, devices and the command on both machines: each case on the emulator, and on a GPU where there is
//! one.

mod agreement;
mod asynchrony;
mod cases;
mod ceilings;
#[path = "../support/checkpoints.rs"]
mod checkpoints;
mod devices;
mod foreign;
mod full_disk;
mod gpu;
mod links;
mod lost_words;
mod nvcc;
mod occupancy;
#[path = "../support/mod.rs"]
mod support;
mod vectors;

fn main() {
    let arguments = gpu_test::Arguments::from_args();
    let files = [
        agreement::trials,
        asynchrony::trials,
        cases::trials,
        ceilings::trials,
        devices::trials,
        foreign::trials,
        full_disk::trials,
        gpu::trials,
        links::trials,
        lost_words::trials,
        occupancy::trials,
        vectors::trials,
    ];
    let trials = files.into_iter().flat_map(|trials| trials());
    gpu_test::run_in_processes(&arguments, trials.collect()).exit();
}
