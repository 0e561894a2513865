//! Scales a million numbers on the first GPU, or on the emulator where there is none, and checks
//! them.

use std::error::Error;

use kernels::reference;
use ridgepoint_driver::{Device, DeviceChoice};

use @crate@::{ptx, scaled};

const ELEMENTS: u32 = 1_000_000;
const FACTOR: f32 = 2.5;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open(&DeviceChoice::Auto, ptx())?;
    let x: Vec<f32> = (0..ELEMENTS).map(|i| i as f32).collect();
    let y = scaled(&device, &x, FACTOR)?;
    for (x, y) in x.iter().zip(&y) {
        let expected = reference(*x, FACTOR) as f32;
        if *y != expected {
            return Err(format!("{FACTOR} x {x} is {y}, not {expected}").into());
        }
    }
    println!(
        "scaled {} elements on {}: correct",
        y.len(),
        device.properties().name
    );
    Ok(())
}
