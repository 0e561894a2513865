//! Signals that ask a command to end.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use super::Failure;
use super::failure::OF_SIGNALS;

/// From a terminal, from one that goes away, and from those that manage processes.
const SIGNALS: [i32; 3] = [SIGINT, SIGHUP, SIGTERM];

/// Whether a signal has asked the command to end. A second one ends it at once.
///
/// Commands that measure look at it from point to point. The others are ended by the signal itself:
/// what they write has its name once it is whole.
#[derive(Clone)]
pub(super) struct Interrupt(Arc<AtomicUsize>);

impl Interrupt {
    /// From now on signals do not end the process themselves.
    pub(super) fn watch() -> Result<Interrupt, Failure> {
        let interrupt = Interrupt(Arc::default());
        let is_second = Arc::new(AtomicBool::new(false));
        for signal in SIGNALS.into_iter().filter(|&signal| !is_ignored(signal)) {
            let first = Arc::clone(&interrupt.0);
            // Handlers run in this order.
            flag::register_conditional_shutdown(signal, OF_SIGNALS + signal, is_second.clone())
                .and_then(|_| flag::register(signal, is_second.clone()))
                .and_then(|_| flag::register_usize(signal, first, signal as usize))
                .map_err(|error| Failure::Failed(format!("cannot watch for signals: {error}")))?;
        }
        Ok(interrupt)
    }

    pub(super) fn check(&self) -> Result<(), Failure> {
        match self.signal() {
            Some(signal) => Err(Failure::Signal(signal)),
            None => Ok(()),
        }
    }

    /// The same, for what is not a command.
    pub(super) fn flow(&self) -> ControlFlow<()> {
        match self.signal() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }

    fn signal(&self) -> Option<i32> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal as i32),
        }
    }

    /// Starts a program that [`Interrupt::wait`] passes signals to: in a group of its own, because the
    /// terminal sends Ctrl-C to the whole of this process's.
    pub(super) fn start(command: &mut Command) -> io::Result<Child> {
        command.process_group(0).spawn()
    }

    /// Waits until the program ends, and passes a signal on to it and to what it has started.
    pub(super) fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
        let mut passed_on = false;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if let Some(signal) = self.signal()
                && !passed_on
            {
                let group = Pid::from_raw(child.id() as i32);
                // It may have ended just now.
                let _ = killpg(group, Signal::try_from(signal)?);
                passed_on = true;
            }
            thread::sleep(BETWEEN_LOOKS);
        }
    }
}

/// Whether the signal was ignored when the program was started, as `nohup` has it.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_passed_on_to_all_that_a_program_has_started() {
        let interrupt = Interrupt(Arc::default());
        let mut shell = Command::new("sh");
        // The shell ends once what it has started has ended.
        shell.args(["-c", "trap 'wait; exit 7' TERM; sleep 60 & wait"]);
        let mut child = Interrupt::start(&mut shell).expect("sh starts");
        thread::sleep(Duration::from_millis(300));
        interrupt.0.store(SIGTERM as usize, Ordering::Relaxed);
        assert!(matches!(interrupt.check(), Err(Failure::Signal(SIGTERM))));
        let status = interrupt.wait(&mut child).expect("it ends");
        assert_eq!(status.code(), Some(7));
    }
}
