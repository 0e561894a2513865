//! The planted bugs: found on one device, on two and on several, and described on the page that lists them.

mod one_device;
mod orders;
mod page;
mod said;
mod several_devices;
mod two_devices;
mod values;

use gpu_test::Arguments;

fn main() {
    let mut trials = one_device::trials();
    trials.extend(two_devices::trials());
    trials.extend(several_devices::trials());
    trials.extend(values::trials());
    trials.extend(page::trials());
    gpu_test::run_in_processes(&Arguments::from_args(), trials).exit();
}
