//! A workload of its parts.

use super::{Axis, Case, Point, PointError, Workload};

/// A workload of a name, axes, and a function that says what is launched at a point of them.
///
/// ```
/// use cuda_std::prelude::*;
/// use ridgepoint_harness::prelude::*;
///
/// #[kernel]
/// pub fn negate(x: &[f32], mut y: Output<f32>) {
///     for (x, y) in y.own_with(x) {
///         *y = -x;
///     }
/// }
///
/// fn negated() -> impl Workload {
///     from_fn("negate", [Axis::whole("n", [1 << 26]).on_emulator([1 << 10])], |at| {
///         let n = at.size("n");
///         Ok(at
///             .launch(negate::entry(), at.linear(n))
///             .arrays(move |device| {
///                 let x = device.buffer_filled(n, 1.5f32)?;
///                 Ok((x, device.buffer_uninitialized::<f32>(n)?))
///             })
///             .check(|(_, y)| close(y, 0.0, |_| -1.5))
///             .arguments(|(x, y)| (x.slice(..), y.slice_mut(..)))
///             .reads::<f32>(n)
///             .writes::<f32>(n))
///     })
/// }
/// # use ridgepoint_harness::driver::Emulation;
/// # use ridgepoint_harness::driver::Stream;
/// # use ridgepoint_harness::workload::{Bench, Launches};
/// # let bench = Bench::emulator(Emulation::default(), &[])?;
/// # let stream = Stream::new(bench.device())?;
/// # Launches::new(&bench, &negated(), &[])?.each(&stream, |launch| launch())?;
/// # assert_eq!((negated().name(), negated().axes().len()), ("negate", 1));
/// # Ok::<(), PointError>(())
/// ```
pub fn from_fn<F>(name: &'static str, axes: impl IntoIterator<Item = Axis>, case: F) -> FromFn<F>
where
    F: for<'d> Fn(&Point<'d>) -> Result<Case<'d>, PointError> + Sync,
{
    FromFn {
        name,
        axes: axes.into_iter().collect(),
        case,
    }
}

/// The workload of [`from_fn`].
#[derive(Clone, Debug)]
pub struct FromFn<F> {
    name: &'static str,
    axes: Vec<Axis>,
    case: F,
}

impl<F> Workload for FromFn<F>
where
    F: for<'d> Fn(&Point<'d>) -> Result<Case<'d>, PointError> + Sync,
{
    fn name(&self) -> &str {
        self.name
    }

    fn axes(&self) -> Vec<Axis> {
        self.axes.clone()
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        (self.case)(at)
    }
}
