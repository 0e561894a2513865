//! Ridgepoint: launch GPU kernels written in Rust, measure them, and learn what limits them.
//!
//! The command line ([`cli`], [`main!`]) and the PTX of the embedded kernels ([`kernels`]), over the packages
//! `ridgepoint-harness`, which measures and never prints, and `ridgepoint-driver`, which launches. Both are
//! re-exported here: who measures kernels of their own depends on this package alone.

// They panic where a stream takes nothing more: `cli::streams` prints.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod cli;
pub mod kernels;

pub use ridgepoint_harness::{
    ceilings, compare, driver, embedded, launch, measure, model, prelude, profile, report, sweep,
    table, trace, vector, workload,
};
/// The command's: they change without notice.
#[doc(hidden)]
pub use ridgepoint_harness::{
    check, coverage, links, mutation, prediction, program, standalone, study,
};

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
