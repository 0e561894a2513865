//! The common part of the examples: the command line, the device, and the line that says how fast it was.

use std::env;
use std::error::Error;
use std::path::PathBuf;

use clap::Parser;
use ridgepoint_driver::{Device, DeviceChoice, Embedded, Prepared, Stream};
use ridgepoint_harness::measure::{self, Runs};

/// The result of every example's `main`.
pub type Outcome = Result<(), Box<dyn Error>>;

/// `--device` and `--n`.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// auto, cuda, cuda:N, cpu or cpu:sm_NN
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// How much to work on
    #[arg(long)]
    n: Option<usize>,
}

/// How much to work on where the command line does not say.
#[derive(Clone, Copy, Debug)]
pub struct Default {
    /// On a GPU.
    pub gpu: usize,
    /// On the emulator.
    pub emulator: usize,
}

/// The device that the command line asks for, with the examples' kernels, and how much to work on.
///
/// # Errors
/// Those of [`Device::open`].
pub fn start(default: Default) -> Result<(Device, usize), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let device = Device::open(&arguments.device, ptx())?;
    let n = arguments.n.unwrap_or(match device.properties().gpu {
        Some(_) => default.gpu,
        None => default.emulator,
    });
    Ok((device, n))
}

/// The PTX of the examples' kernels.
#[inline(never)] // Else each place that calls it has a copy.
pub fn ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}

/// A file of nvcc's in `benches`, or, away from the source tree, in the folder that `NVCC_PTX` names.
pub fn nvcc_ptx(file: &str) -> PathBuf {
    let benches = concat!(env!("CARGO_MANIFEST_DIR"), "/benches");
    let folder = env::var_os("NVCC_PTX").map_or_else(|| benches.into(), PathBuf::from);
    folder.join(file)
}

/// The median time of a launch in seconds, of ten after three.
///
/// # Safety
/// As for [`Prepared::launch`].
///
/// # Errors
/// Those of [`Prepared::launch`].
pub unsafe fn seconds<S: cuda_std::launch::Signature>(
    prepared: &Prepared<'_, S>,
    stream: &Stream<'_>,
    arguments: &S::Arguments<'_>,
) -> Result<f64, Box<dyn Error>> {
    let runs = Runs {
        warmup: 3,
        timed: 10,
    };
    // SAFETY: the caller's contract.
    let mut milliseconds = unsafe { measure::time(prepared, stream, arguments, runs) }?;
    milliseconds.sort_by(f64::total_cmp);
    Ok(milliseconds[milliseconds.len() / 2] / 1e3)
}

/// Says what was checked, how fast it was, and on which device.
pub fn report(device: &Device, what: &str, rate: f64, unit: &str) {
    println!(
        "{what}: checked, {rate:.1} {unit} on {}",
        device.properties().name
    );
}
