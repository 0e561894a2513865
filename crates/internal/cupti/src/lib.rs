//! Activity records of CUPTI, NVIDIA's profiling library, opened at run time: which work a GPU did, and when.
//! Its hardware counters: [`Counters`].
//!
//! A [`Session`] collects a record of every kernel, copy and fill of this process, also of the
//! launches within a graph, each with the device's own times. Nothing is put into the streams.
//! CUPTI comes with the CUDA toolkit, not with the driver, so a program must do without.
//!
//! ```no_run
//! let session = cupti::Session::begin()?;
//! // Launch, and wait for the device.
//! for activity in session.end().activities {
//!     println!("{:?} took {:?}", activity.work, activity.took);
//! }
//! # Ok::<(), cupti::Error>(())
//! ```
//!
//! [`trace`] tells a library that was put into another's process of all that it asks of its GPUs, to the end.

mod activity;
mod buffers;
mod counters;
mod counting;
mod error;
mod library;
mod order;
mod record;
mod session;
mod traced;
mod tracer;

pub use activity::{Activity, Direction, Launch, StreamId, Work};
pub use counters::Counters;
pub use counting::{CountedLaunch, Counts};
pub use error::Error;
pub use library::{LIBRARY, Version, version};
pub use order::Order;
pub use session::{Collected, Session};
pub use traced::{Domain, Memory, Span, Traced};
pub use tracer::{Collect, Function, Sink, Tracer, now, trace};
