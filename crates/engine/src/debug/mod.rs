//! Launches under a debugger: stopped before any instruction, looked into, ended and run again.
//!
//! A launch runs on one host thread, and its steps are the same each time: whoever wants to go back ends it
//! ([`Next::Abandon`]), restores memory ([`Snapshot`](crate::memory::Snapshot)), and runs it again to an earlier step.

mod listing;
mod stopped;

use std::sync::atomic::AtomicBool;

use crate::exec::failure::Failed;
use crate::exec::options::{Options, Shape};
use crate::exec::stepper::{At, Stepper, Watch};
use crate::launch::{Beside, Checks};
use crate::launch_error::LaunchError;
use crate::module::Kernel;

pub use crate::exec::stepper::{Next, Waits};
pub use crate::source::{Frame, is_foreign, name_of};
pub use listing::{Function, Instruction};
pub use stopped::{Parameter, Register, Site, Stopped, Variable, WarpPart, Write};

/// Who is asked before the instructions of a launch.
pub trait Observer: Sync {
    /// Lanes are about to execute an instruction.
    fn before(&self, stopped: &Stopped<'_>) -> Next;

    /// One could not, for a reason that ends the launch if it goes on.
    fn failed(&self, stopped: &Stopped<'_>, lane: u32, error: &LaunchError) -> Next;

    /// The launch has ended after so many steps.
    fn ended(&self, steps: u64);
}

/// The debugger of a launch.
#[derive(Clone, Copy)]
pub struct Debugger<'d> {
    /// Who is asked.
    pub observer: &'d dyn Observer,
    /// Set by another host thread: the next instruction is asked for, however far off the next question is.
    pub is_asked_for: &'d AtomicBool,
}

impl Kernel {
    /// As [`Kernel::launch`], under a debugger, and on one core. The module is loaded by
    /// [`Module::load_for_debugging`](crate::Module::load_for_debugging): else nothing is asked.
    ///
    /// # Errors
    /// As for [`Kernel::launch`]; [`Failure::Abandoned`](crate::Failure::Abandoned) where the debugger has ended it.
    pub fn debug(
        &self,
        shape: Shape,
        options: Options,
        parameters: &[u8],
        print: &(dyn Fn(&str) + Sync),
        checks: Option<Checks<'_>>,
        debugger: Debugger<'_>,
    ) -> Result<(), LaunchError> {
        let asking = Asking {
            kernel: self,
            shape,
            observer: debugger.observer,
        };
        let stepper = Stepper::new(&asking, debugger.is_asked_for);
        let beside = Beside::Debugger(&stepper);
        let ran = self.run(shape, options, parameters, print, checks, beside);
        debugger.observer.ended(stepper.position());
        ran
    }
}

/// Asks the observer of a kernel's launch.
struct Asking<'a> {
    kernel: &'a Kernel,
    shape: Shape,
    observer: &'a dyn Observer,
}

impl Watch for Asking<'_> {
    fn before(&self, at: &At<'_, '_>) -> Next {
        self.observer
            .before(&Stopped::new(self.kernel, self.shape, at))
    }

    fn failed(&self, at: &At<'_, '_>, failed: &Failed) -> Next {
        let stopped = Stopped::new(self.kernel, self.shape, at);
        let error = self.kernel.error(failed.clone(), self.shape);
        let lane = (0..32).find(|&lane| stopped.thread(lane) == failed.thread.thread);
        let first = || stopped.running().trailing_zeros();
        self.observer
            .failed(&stopped, lane.unwrap_or_else(first), &error)
    }
}
