//! The kernels under the roofline, in an occupancy study, checked and compared:
//! `cargo bench -- --help`.
//!
//! To add a workload, write a function that returns it, and name it in the last line.

use kernels::{reference, scale};
use ridgepoint::prelude::*;

const FACTOR: f32 = 2.5;

/// `y = a x`, of each element.
fn scaling() -> impl Workload {
    let n = Axis::whole("n", [1 << 20, 1 << 26]).on_emulator([1 << 12, 1 << 16]);
    let each = Axis::whole("each", [1, 4]).in_occupancy([1]);
    let axes = [n.help("elements"), each.help("elements per thread")];
    from_fn("scale", axes, |at| {
        let (n, each) = (at.size("n"), at.size("each"));
        Ok(at
            .launch(scale::entry(), at.linear(n.div_ceil(each)))
            .arrays(move |device| {
                let x = device.buffer_filled(n, 1.5f32)?;
                Ok((x, device.buffer_uninitialized::<f32>(n)?))
            })
            .check(|(_, y)| close(y, 0.0, |_| reference(1.5, FACTOR)))
            .arguments(|(x, y)| (x.slice(..), y.slice_mut(..), FACTOR))
            .reads::<f32>(n)
            .writes::<f32>(n)
            .operations(Precision::F32, Operation::Multiply, n)
            .loads(4, 1))
    })
}

ridgepoint::main!(@crate@::ptx(); scaling());
