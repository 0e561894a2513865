//! Ridgepoint: launch GPU kernels written in Rust, measure them, and learn what limits them.
//!
//! The library never prints. It returns records; the command line (`main.rs`, [`cli`]) shows them.
//!
//! Without the feature `cli`, which is on by default, there are [`driver`], [`measure`] and [`model`]:
//! what a program needs to launch and time kernels of its own.
//!
//! * [`ceilings`]: what a device does at most, measured
//! * [`check`]: the embedded kernels under the emulator's checks
//! * [`compare`]: two runs side by side
//! * [`driver`]: GPUs and the emulator behind one set of safe types, the package `ridgepoint-driver`
//! * [`embedded`]: Ridgepoint's own kernels as workloads
//! * [`launch`]: how kernels and their arguments are described, those of other compilers among them
//! * [`kernels`]: the embedded kernels' registers, occupancy and code, without a GPU
//! * [`measure`]: timing and statistics
//! * [`model`]: roofline arithmetic, pure functions
//! * [`standalone`]: a kernel of any PTX file, launched by a description alone
//! * [`study`]: what waiting for the device costs
//! * [`sweep`]: workloads and the points of their axes, plan, run, records
//! * [`profile`]: what kernels did, counted: totals, lines, advice
//! * [`report`]: CSV, JSON, Markdown, charts, terminal text
//! * [`table`]: rows of files
//! * [`trace`]: timelines and profiles
//! * [`vector`]: norms, scaling and products on a device
//! * [`workload`]: what is measured, a user's kernels among them

// They panic where a stream takes nothing more, and the library prints nothing: `cli::streams` does.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "cli")]
pub mod ceilings;
#[cfg(feature = "cli")]
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod compare;
#[cfg(feature = "cli")]
pub mod embedded;
#[cfg(feature = "cli")]
pub mod kernels;
pub mod measure;
pub mod model;
#[cfg(feature = "cli")]
pub mod profile;
#[cfg(feature = "cli")]
pub mod report;
#[cfg(feature = "cli")]
pub mod standalone;
#[cfg(feature = "cli")]
pub mod study;
#[cfg(feature = "cli")]
pub mod sweep;
#[cfg(feature = "cli")]
pub mod table;
#[cfg(feature = "cli")]
pub mod trace;
#[cfg(feature = "cli")]
pub mod vector;
#[cfg(feature = "cli")]
pub mod workload;

pub use cuda_std::launch;
pub use ridgepoint_driver as driver;

/// The `main` of a bench target with `harness = false`: the commands of `cargo bench --` over workloads,
/// whose kernels are in this PTX.
///
/// ```no_run
/// # struct Scale;
/// # use ridgepoint::workload::{Axis, Case, Point, PointError, Workload};
/// # impl Workload for Scale {
/// #     fn name(&self) -> &str { "scale" }
/// #     fn axes(&self) -> Vec<Axis> { Vec::new() }
/// #     fn case<'d>(&self, _: &Point<'d>) -> Result<Case<'d>, PointError> { Err("no launch".into()) }
/// # }
/// # fn ptx() -> &'static [ridgepoint::driver::Embedded<'static>] { &[] }
/// ridgepoint::main!(ptx(); Scale);
/// ```
#[cfg(feature = "cli")]
#[macro_export]
macro_rules! main {
    ($ptx:expr; $($workload:expr),+ $(,)?) => {
        fn main() -> ::std::process::ExitCode {
            let target = $crate::cli::Target {
                package: env!("CARGO_PKG_NAME"),
                name: env!("CARGO_CRATE_NAME"),
                folder: env!("CARGO_MANIFEST_DIR"),
            };
            let workloads: ::std::vec::Vec<&'static dyn $crate::workload::Workload> =
                ::std::vec![$(::std::boxed::Box::leak(::std::boxed::Box::new($workload))),+];
            $crate::cli::bench(target, $ptx, workloads)
        }
    };
}
