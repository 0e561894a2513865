//! The functions of `ApproxFloat` have no greater errors than their documentation states: on a GPU for every argument, and
//! on the emulator, whose forms are its own, for a sample.

use gpu_test::{Arguments, Device, Failed, on_both};
use mathematics::ptx;

fn errors_are_as_stated(device: &Device) -> Result<(), Failed> {
    // Coprime to 2^16, and 16 arguments of each thread.
    let stride = if device.properties().is_emulated() {
        4099
    } else {
        1
    };
    for of in mathematics::approximations(device, stride)? {
        println!("{}: {:.3} of {} units", of.name, of.error, of.stated);
        of.is_within()?;
    }
    Ok(())
}

fn main() {
    let trials = on_both("errors_are_as_stated", ptx(), errors_are_as_stated);
    gpu_test::run(&Arguments::from_args(), trials.into()).exit();
}
