//! Signals that ask a command to end.

use std::fs;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use nix::sys::prctl;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

use super::failure::OF_SIGNALS;
use super::{Failure, destination, failure};

/// From a terminal, from one that goes away, and from those that manage processes.
const SIGNALS: [i32; 3] = [SIGINT, SIGHUP, SIGTERM];

/// How long a command that measures may take until it looks whether a signal has come.
const PATIENCE: Duration = Duration::from_millis(800);

/// How soon another signal is the same request: `timeout` sends its own to the command, and then to its whole group.
const BURST: Duration = Duration::from_millis(50);

/// The signal that has asked this process to end, and how the command answers it.
#[derive(Default)]
struct Asked {
    /// 0 where none has.
    signal: Arc<AtomicUsize>,
    /// Whether the command looks at it from point to point.
    is_watched: AtomicBool,
    /// Whether it has seen it, and so ends by itself.
    is_noticed: AtomicBool,
    /// The group of the program that it was passed on to and that has not ended, or 0.
    told: AtomicI32,
}

static ASKED: OnceLock<Asked> = OnceLock::new();

/// Answers signals from now on, whatever the command does: one that watches for them has a while to see them and to end with
/// charts and reports of what it has measured. Where it does not, and where a second signal comes, the process ends here, with the
/// rows so far in their files.
pub(super) fn guard() -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Failed(format!("cannot watch for signals: {error}"));
    let asked = ASKED.get_or_init(Asked::default);
    let (told, tells) = UnixStream::pair().map_err(failed)?;
    // Where even the thread below hangs, as on a disk that does not answer.
    let is_ending = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS.into_iter().filter(|&signal| !is_ignored(signal)) {
        let first = Arc::clone(&asked.signal);
        // Handlers run in this order.
        flag::register_conditional_shutdown(signal, OF_SIGNALS + signal, is_ending.clone())
            .and_then(|_| flag::register_usize(signal, first, signal as usize))
            .and_then(|_| low_level::pipe::register(signal, tells.try_clone()?))
            .map_err(failed)?;
    }
    thread::Builder::new()
        .name("signals".to_owned())
        .stack_size(256 << 10)
        .spawn(move || answer(told, asked, &is_ending))
        .map_err(failed)?;
    Ok(())
}

/// Waits for signals, and ends the process where the command does not.
fn answer(mut told: UnixStream, asked: &Asked, is_ending: &AtomicBool) {
    if told.read_exact(&mut [0]).is_err() {
        return;
    }
    if asked.is_watched.load(Ordering::SeqCst) {
        thread::sleep(BURST);
        forget(&mut told);
        // Where the time cannot be limited, the second signal is waited for.
        let _ = told.set_read_timeout(Some(PATIENCE));
        let is_second = told.read_exact(&mut [0]).is_ok();
        if !is_second && asked.is_noticed.load(Ordering::SeqCst) {
            let _ = told.set_read_timeout(None);
            let _ = told.read_exact(&mut [0]);
        }
    }
    is_ending.store(true, Ordering::SeqCst);
    end_what_was_told(asked);
    destination::settle();
    let signal = asked.signal.load(Ordering::SeqCst) as i32;
    failure::say_ended_by(signal);
    // The other threads may hold anything that an orderly end would wait for.
    low_level::exit(OF_SIGNALS + signal)
}

/// Takes what has come so far.
fn forget(told: &mut UnixStream) {
    if told.set_nonblocking(true).is_ok() {
        while told.read(&mut [0; 16]).is_ok_and(|count| count > 0) {}
    }
    let _ = told.set_nonblocking(false);
}

/// Ends a program that takes its time over the signal: in a group of its own, it would be left behind, where no Ctrl-C reaches it.
fn end_what_was_told(asked: &Asked) {
    match asked.told.load(Ordering::SeqCst) {
        0 => (),
        group => drop(killpg(Pid::from_raw(group), Signal::SIGKILL)),
    }
}

/// Whether a signal has asked the command to end: commands that measure look at it from point to point.
#[derive(Clone)]
pub(super) struct Interrupt(&'static Asked);

impl Interrupt {
    /// From now on the command has a while to see a signal.
    pub(super) fn watch() -> Interrupt {
        let asked = ASKED.get_or_init(Asked::default);
        asked.is_watched.store(true, Ordering::SeqCst);
        Interrupt(asked)
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

    /// The signal, which is noticed by that.
    fn signal(&self) -> Option<i32> {
        match self.0.signal.load(Ordering::SeqCst) {
            0 => None,
            signal => {
                self.0.is_noticed.store(true, Ordering::SeqCst);
                Some(signal as i32)
            }
        }
    }

    /// Starts a program that [`Interrupt::wait`] passes signals to: in a group of its own, because the
    /// terminal sends Ctrl-C to the whole of this process's. It ends with the thread that starts it, even if that is killed.
    pub(super) fn start(command: &mut Command) -> io::Result<Child> {
        let own = Pid::this();
        let with_this = move || {
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            // This process may have been killed before.
            match Pid::parent() == own {
                true => Ok(()),
                false => Err(io::ErrorKind::BrokenPipe.into()),
            }
        };
        // SAFETY: it makes two system calls, which may be made between fork and exec, and allocates nothing.
        unsafe { command.pre_exec(with_this) };
        command.process_group(0).spawn()
    }

    /// Waits until the program ends, and passes a signal on to it and to what it has started.
    pub(super) fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
        let mut passed_on = false;
        loop {
            if let Some(status) = child.try_wait()? {
                self.0.told.store(0, Ordering::SeqCst);
                return Ok(status);
            }
            if let Some(signal) = self.signal()
                && !passed_on
            {
                let group = Pid::from_raw(child.id() as i32);
                // It may have ended just now.
                let _ = killpg(group, Signal::try_from(signal)?);
                self.0.told.store(group.as_raw(), Ordering::SeqCst);
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
        let interrupt = Interrupt(Box::leak(Box::default()));
        let mut shell = Command::new("sh");
        // The shell ends once what it has started has ended.
        shell.args(["-c", "trap 'wait; exit 7' TERM; sleep 60 & wait"]);
        let mut child = Interrupt::start(&mut shell).expect("sh starts");
        thread::sleep(Duration::from_millis(300));
        interrupt.0.signal.store(SIGTERM as usize, Ordering::SeqCst);
        assert!(matches!(interrupt.check(), Err(Failure::Signal(SIGTERM))));
        let status = interrupt.wait(&mut child).expect("it ends");
        assert_eq!(status.code(), Some(7));
    }
}
