//! Launches under a debugger, where a front has asked for one.

use std::sync::LazyLock;

use debugger::{Debugger, Link, Relaunch};
use engine::LaunchError;
use engine::memory::Snapshot;

use crate::device;
use crate::settings::{MOST_COPIED, settings};

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

/// A launch, and the memory as it was before, where it is not too much.
pub(crate) struct Again<'a> {
    run: &'a Run<'a>,
    before: Result<Snapshot, u64>,
}

impl<'a> Again<'a> {
    pub(crate) fn new(run: &'a Run<'a>) -> Again<'a> {
        let memory = device::space();
        let before = match Snapshot::bytes_of(memory) {
            bytes if bytes > MOST_COPIED => Err(bytes),
            _ => Ok(Snapshot::take(memory)),
        };
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
        if let Ok(before) = &self.before {
            before.restore(device::space());
        }
    }

    fn no_way_back(&self) -> Option<String> {
        let bytes = self.before.as_ref().err()?;
        Some(format!(
            "{bytes} bytes of memory would have been copied to run the launch again; at most {MOST_COPIED} are"
        ))
    }
}
