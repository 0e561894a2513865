//! The functions of floats: the same bits on a GPU as on the emulator, and however the compiler contracts.

mod bits;
mod contraction;

use gpu_test::Arguments;

fn main() {
    let mut trials = bits::trials();
    trials.extend(contraction::trials());
    gpu_test::run(&Arguments::from_args(), trials).exit();
}
