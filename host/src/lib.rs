//! Ridgepoint: launch GPU kernels written in Rust, measure them, and learn what limits them.
//!
//! The library never prints. It returns records; the command line (`main.rs`, [`cli`]) shows them.
//!
//! Without the feature `cli`, which is on by default, there are [`driver`], [`measure`] and [`model`]:
//! what a program needs to launch and time kernels of its own.
//!
//! * [`check`]: the embedded kernels under the emulator's checks
//! * [`driver`]: GPUs and the emulator behind one set of safe types
//! * [`kernels`]: the embedded kernels' registers, occupancy and code, without a GPU
//! * [`measure`]: timing and statistics
//! * [`model`]: roofline arithmetic, pure functions
//! * [`sweep`]: axes, plan, run, records
//! * [`report`]: CSV, JSON, Markdown, charts, terminal text

#[cfg(feature = "cli")]
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod driver;
#[cfg(feature = "cli")]
pub mod kernels;
pub mod measure;
pub mod model;
#[cfg(feature = "cli")]
pub mod report;
#[cfg(feature = "cli")]
pub mod sweep;
