//! One test case, two machines: the CPU emulator everywhere, and a GPU where there is one.
//!
//! A test target with `harness = false` collects its cases and runs them:
//!
//! ```
//! use gpu_test::{Device, Failed};
//!
//! fn memory_is_there(device: &Device) -> Result<(), Failed> {
//!     let buffer = device.buffer_filled(1000, 7u32)?;
//!     gpu_test::equal(&buffer.to_vec()?, &[7; 1000])
//! }
//!
//! let ptx = &[]; // What CudaBuilder::embed_to wrote; this case launches nothing.
//! let trials = gpu_test::on_both("memory_is_there", ptx, memory_is_there);
//! # let arguments = gpu_test::Arguments { quiet: true, ..Default::default() };
//! // let arguments = gpu_test::Arguments::from_args();
//! let conclusion = gpu_test::run(&arguments, trials.into());
//! assert!(!conclusion.has_failed());
//! ```
//!
//! A case that needs a GPU and finds none is reported as ignored, with the reason; where
//! [`REQUIRE_GPU`] is set it fails instead.

mod gpu_thread;

use std::fmt::Debug;

pub use libtest_mimic::{Arguments, Failed, Trial, run};
pub use ridgepoint::driver::{Device, Embedded};
use ridgepoint::driver::{DeviceChoice, gpus};

/// The environment variable that says that a GPU must be there.
pub const REQUIRE_GPU: &str = "RIDGEPOINT_REQUIRE_GPU";

/// PTX as [`Device::open_with`] takes it.
pub type Ptx = &'static [Embedded<'static>];

/// The case on the emulator, as `emulator::NAME`, and on the first GPU, as `cuda::NAME`.
pub fn on_both(
    name: &str,
    ptx: Ptx,
    case: impl Fn(&Device) -> Result<(), Failed> + Clone + Send + 'static,
) -> [Trial; 2] {
    let emulated = case.clone();
    [
        Trial::test(format!("emulator::{name}"), move || emulated(&emulator()?)),
        on_gpu(format!("cuda::{name}"), ptx, case),
    ]
}

/// The case on the first GPU alone. Such cases run one after the other.
pub fn on_gpu(
    name: impl Into<String>,
    ptx: Ptx,
    case: impl FnOnce(&Device) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let missing = gpus().err().map(|error| error.to_string());
    let run = move || gpu_thread::run(ptx, case);
    match missing {
        Some(reason) if std::env::var_os(REQUIRE_GPU).is_none() => Trial::test(name, run)
            .with_kind(format!("skipped: {reason}"))
            .with_ignored_flag(true),
        _ => Trial::test(name, run).with_kind("cuda"),
    }
}

/// The emulator.
///
/// # Errors
/// None: it is always there.
pub fn emulator() -> Result<Device, Failed> {
    Ok(Device::open_with(&DeviceChoice::Cpu, &[])?)
}

/// Fails where the elements differ, and names the first that does.
///
/// # Errors
/// The lengths or the elements differ.
pub fn equal<T: PartialEq + Debug>(actual: &[T], expected: &[T]) -> Result<(), Failed> {
    if actual.len() != expected.len() {
        let (actual, expected) = (actual.len(), expected.len());
        return Err(format!("{actual} elements, not {expected}").into());
    }
    match actual.iter().zip(expected).position(|(a, b)| a != b) {
        Some(i) => {
            let (actual, expected) = (&actual[i], &expected[i]);
            Err(format!("element {i} is {actual:?}, not {expected:?}").into())
        }
        None => Ok(()),
    }
}

/// Compiles the guide's code, and runs on the emulator what it launches: this crate has what that
/// needs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/writing-kernels.md")]
struct WritingKernels;
