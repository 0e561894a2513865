//! Measures GPU kernels written in Rust, and says what limits them: all of the package `ridgepoint` but the
//! command line and the PTX of the embedded kernels, which it has re-exported there.
//!
//! The library never prints. It returns records; a command line shows them.
//!
//! * [`ceilings`]: what a device does at most, measured
//! * [`check`]: the embedded kernels under the emulator's checks
//! * [`compare`]: two runs side by side
//! * [`driver`]: GPUs and the emulator behind one set of safe types, the package `ridgepoint-driver`
//! * [`embedded`]: Ridgepoint's own kernels as workloads
//! * [`launch`]: how kernels and their arguments are described, those of other compilers among them
//! * [`kernels`]: kernels' registers, occupancy and code, without a GPU
//! * [`measure`]: timing and statistics
//! * [`model`]: roofline arithmetic, pure functions
//! * [`report`]: CSV, JSON, Markdown, charts, terminal text
//! * [`study`]: what waiting for the device costs
//! * [`sweep`]: workloads and the points of their axes, plan, run, records
//! * [`table`]: rows of files
//! * [`trace`]: timelines and profiles
//! * [`vector`]: norms, scaling and products on a device
//! * [`workload`]: what is measured, a user's kernels among them

// They panic where a stream takes nothing more.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod ceilings;
pub mod check;
pub mod compare;
pub mod embedded;
pub mod kernels;
pub mod measure;
pub mod model;
pub mod report;
pub mod study;
pub mod sweep;
pub mod table;
pub mod trace;
pub mod vector;
pub mod workload;

pub use cuda_std::launch;
pub use ridgepoint_driver as driver;
