//! Devices that execute programs.

mod emulator;
mod gpu;

pub use emulator::{Emulator, Mode};
pub use gpu::{Gpu, Level, MOST};

use crate::program::Program;

/// The words that a program has written: one for each register of each thread, or why it did not run to its end.
pub type Outcome = Result<Vec<u64>, String>;

/// A device that executes programs.
pub trait Device {
    /// The name in logs.
    fn name(&self) -> String;

    /// Executes programs of one module: an outcome for each.
    ///
    /// # Errors
    /// The device is lost, and what it would do after this is of no use.
    fn run(&mut self, programs: &[Program]) -> Result<Vec<Outcome>, String>;

    /// Executes programs as [`Device::run`] does, but without the optimiser of the device's assembler. `None`: it has none.
    fn run_unoptimised(&mut self, _: &[Program]) -> Option<Result<Vec<Outcome>, String>> {
        None
    }
}
