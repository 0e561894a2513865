//! Measures GPU kernels written in Rust, and says what limits them: all of the package `ridgepoint` but its
//! command line and the PTX of the embedded kernels.
//!
//! A [`Workload`](workload::Workload) says what is launched at a point of its axes; a [`Sweep`](sweep::Sweep)
//! measures points and returns [`Record`](sweep::Record)s; [`report`] writes them and [`compare`] reads them
//! back. The library never prints, and asks for PTX where it opens a device.
//!
//! Items that the documentation does not show are the command's: they change without notice.

// They panic where a stream takes nothing more.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod ceilings;
#[doc(hidden)]
pub mod check;
pub mod compare;
#[doc(hidden)]
pub mod coverage;
pub mod embedded;
mod html;
pub mod kernels;
#[doc(hidden)]
pub mod links;
pub mod measure;
pub mod model;
#[doc(hidden)]
pub mod mutation;
#[doc(hidden)]
pub mod prediction;
pub mod prelude;
pub mod profile;
#[doc(hidden)]
pub mod program;
pub mod report;
#[doc(hidden)]
pub mod standalone;
#[doc(hidden)]
pub mod study;
pub mod sweep;
pub mod table;
pub mod trace;
pub mod vector;
pub mod workload;

pub use cuda_std::launch;
pub use ridgepoint_driver as driver;
