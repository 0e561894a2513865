//! The kernels on the emulator and, where there is one, on a GPU.

use gpu_test::{Arguments, Device, Failed, Trial, equal, on_both};
use kernels::reference;

use @crate@::{ptx, scaled};

/// Nothing, and around the sizes of a warp and of a block.
const SIZES: [usize; 6] = [0, 1, 31, 33, 1000, 65_537];
const FACTOR: f32 = 2.7;

fn main() {
    let trials: Vec<Trial> = SIZES.into_iter().flat_map(trials).collect();
    gpu_test::run(&Arguments::from_args(), trials).exit();
}

fn trials(n: usize) -> [Trial; 2] {
    on_both(&format!("scale::{n}"), ptx(), move |device| {
        scale(device, n)
    })
}

fn scale(device: &Device, n: usize) -> Result<(), Failed> {
    let x: Vec<f32> = (0..n).map(|i| i as f32 - 100.0).collect();
    let expected: Vec<f32> = x.iter().map(|&x| reference(x, FACTOR) as f32).collect();
    equal(&scaled(device, &x, FACTOR)?, &expected)
}
