//! The kernels under the roofline, in an occupancy study, checked and compared:
//! `cargo bench -- --help`.
//!
//! To add a workload, implement `Workload` for a type of its own, and name it in the last line.

use kernels::{reference, scale};
use ridgepoint::model::{Operation::Multiply, Precision::F32};
use ridgepoint::workload::{Axis, Case, Point, PointError, Workload, close};

/// `y = a x`, of each element.
struct Scale;

const FACTOR: f32 = 2.5;

impl Workload for Scale {
    fn name(&self) -> &str {
        "scale"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("n", [1 << 20, 1 << 26])
                .on_emulator([1 << 12, 1 << 16])
                .help("elements"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let n = at.size("n");
        Ok(at
            .launch(scale::entry(), at.linear(n))
            .arrays(move |device| {
                let x = device.buffer_filled(n, 1.5f32)?;
                Ok((x, device.buffer_uninitialized::<f32>(n)?))
            })
            .check(|(_, y)| close(y, 0.0, |_| reference(1.5, FACTOR)))
            .arguments(|(x, y)| (x.slice(..), y.slice_mut(..), FACTOR))
            .reads::<f32>(n)
            .writes::<f32>(n)
            .operations(F32, Multiply, n)
            .loads(4, 1))
    }
}

ridgepoint::main!(@crate@::ptx(); Scale);
