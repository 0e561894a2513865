//! Ridgepoint: launch GPU kernels written in Rust, measure them, and learn what limits them.
//!
//! The library never prints. It returns records; the command line (`main.rs`, [`cli`]) shows them.
//!
//! * [`driver`]: GPUs and the emulator behind one set of safe types
//! * [`kernels`]: the embedded kernels' registers, occupancy and code, without a GPU
//! * [`measure`]: timing and statistics
//! * [`model`]: roofline arithmetic, pure functions
//! * [`sweep`]: axes, plan, run, records
//! * [`report`]: CSV, JSON, Markdown, charts, terminal text

pub mod cli;
pub mod driver;
pub mod kernels;
pub mod measure;
pub mod model;
pub mod report;
pub mod sweep;
