//! Launches under a debugger, where a front has asked for one.

use std::sync::LazyLock;

use debugger::{Debugger, Link, Relaunch};
use engine::LaunchError;
use engine::memory::Snapshot;

use crate::device;
use crate::settings::settings;

/// The process's debugger, as long as a front leads it.
pub(crate) fn debugger() -> Option<&'static Debugger> {
    static DEBUGGER: LazyLock<Option<Debugger>> = LazyLock::new(|| {
        let path = settings().debugger.as_ref()?;
        // One process is debugged: the others find nobody at the socket.
        Link::connect(path).ok().map(Debugger::new)
    });
    DEBUGGER.as_ref().filter(|it| it.is_attached())
}

/// How a debugger runs a launch once.
#[derive(Clone, Copy)]
pub(crate) struct Debugged<'d> {
    pub(crate) debugger: engine::debug::Debugger<'d>,
    /// Whether it does what no run before has done.
    pub(crate) is_new: &'d (dyn Fn() -> bool + Sync),
}

/// Runs a launch once.
type Run<'a> = dyn Fn(Debugged<'_>) -> Result<(), Box<LaunchError>> + 'a;

/// A launch, and the memory as it was before.
pub(crate) struct Again<'a> {
    run: &'a Run<'a>,
    before: Snapshot,
}

impl<'a> Again<'a> {
    pub(crate) fn new(run: &'a Run<'a>) -> Again<'a> {
        let before = Snapshot::take(device::space());
        Again { run, before }
    }
}

impl Relaunch for Again<'_> {
    fn run(
        &self,
        debugger: engine::debug::Debugger<'_>,
        is_new: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), LaunchError> {
        (self.run)(Debugged { debugger, is_new }).map_err(|error| *error)
    }

    fn restore(&self) {
        self.before.restore(device::space());
    }
}
