//! Kernels to be measured: what a point of their axes launches, moves and computes, and what comes out.
//!
//! A [`Workload`] says that much of a kernel; launch configuration, cache state, sampling, clocks,
//! roofs, verdicts, charts, comparison and checks come from this library, for a user's kernel as for
//! those that Ridgepoint carries.
//!
//! ```
//! use cuda_std::prelude::*;
//! use ridgepoint_harness::model::{Operation::Multiply, Precision::F32};
//! use ridgepoint_harness::workload::{Axis, Case, Point, PointError, Workload, close};
//!
//! #[kernel]
//! pub fn scale(x: &[f32], mut y: Output<f32>, a: f32) {
//!     for (x, y) in y.own_with(x) {
//!         *y = a * x;
//!     }
//! }
//!
//! struct Scale;
//!
//! impl Workload for Scale {
//!     fn name(&self) -> &str {
//!         "scale"
//!     }
//!
//!     fn axes(&self) -> Vec<Axis> {
//!         vec![Axis::whole("n", [1 << 26]).on_emulator([1 << 16]).help("elements")]
//!     }
//!
//!     fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
//!         let n = at.size("n");
//!         Ok(at
//!             .launch(scale::entry(), at.linear(n))
//!             .arrays(move |device| {
//!                 Ok((device.buffer_filled(n, 1.5f32)?, device.buffer_uninitialized::<f32>(n)?))
//!             })
//!             .check(|(_, y)| close(y, 0.0, |_| 3.0))
//!             .arguments(|(x, y)| (x.slice(..), y.slice_mut(..), 2.0))
//!             .reads::<f32>(n)
//!             .writes::<f32>(n)
//!             .operations(F32, Multiply, n))
//!     }
//! }
//! # use ridgepoint_harness::driver::Emulation;
//! # use ridgepoint_harness::sweep::{Plan, Selection, Settings, Sweep};
//! # let bench = ridgepoint_harness::workload::Bench::emulator(Emulation::default(), &[])?;
//! # let plan = Plan { selected: vec![Selection::defaults(&Scale, true)], ..Plan::default() };
//! # let mut sweep = Sweep::new(&bench, &plan, Settings::quick())?;
//! # let row = sweep.measure(0, None)?;
//! # assert!(row.checked && row.ai == Some(0.125));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axis;
mod bench;
mod case;
mod chunk;
mod from_fn;
mod held;
mod launch;
mod launched;
mod launches;
mod point;
mod tolerance;
mod value;

pub(crate) use axis::DTYPE;
pub use axis::{Axis, whole};
pub use bench::Bench;
pub(crate) use bench::Loaded;
pub use case::Case;
pub use chunk::Chunk;
pub use from_fn::{FromFn, from_fn};
pub use launch::{Arrays, Launch};
pub use launched::kernels_of;
pub use launches::Launches;
pub use point::{GridSize, Point, PointError};
pub use tolerance::close;
pub use value::Value;

/// A kernel, or several that do the same work, to be measured at points of its axes.
///
/// The axes `block`, `grid` and `cache` are every workload's; the library has them.
pub trait Workload: Sync {
    /// Its name on the command line and in files.
    fn name(&self) -> &str;

    /// The axes. The first changes fastest, is the first column of a file, and joins the points of a
    /// chart's curve. An axis called `dtype` has the column of that name.
    fn axes(&self) -> Vec<Axis>;

    /// Returns the launch at a point. It is asked at every point before anything is measured, and allocates nothing by
    /// itself: [`Launch::arrays`] says how to.
    ///
    /// # Errors
    /// There is no such launch ([`PointError::Refused`]), or the device does not take it
    /// ([`PointError::Driver`]).
    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError>;

    /// Returns the launch for a chunk of `n` numbers where a study streams batches through the device: those of
    /// `input`, again and again, from any of them on.
    ///
    /// # Errors
    /// As [`Workload::case`]; most take no chunks ([`PointError::Refused`]).
    fn chunk<'d>(&self, at: &Point<'d>, _input: &[f32]) -> Result<Chunk<'d>, PointError> {
        Err(format!("{} takes no chunks", at.workload).into())
    }
}
