//! Why a command does not simply end, and the exit status of each reason.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use super::streams;
use crate::driver::DriverError;
use crate::driver::errors::LimitError;

/// The help on exit statuses; docs/measuring.md says the same.
pub(super) const STATUSES: &str = "\
Exit status:
    0  done
    1  done, and something was found: a slower or missing row, none that could be judged, no convergence, a failed
       test, a finding of check
    2  the arguments are wrong, or cannot be met with this device
    3  could not run or could not write: no driver, an unreadable input, a full disk
  129  ended by SIGHUP, within a second; what was measured is written, as for 130 and 143
  130  ended by SIGINT (Ctrl-C)
  141  the reader of standard output went away
  143  ended by SIGTERM";

/// The shell's status of a process that signal 0 ended; the others are counted from here.
pub(super) const OF_SIGNALS: i32 = 128;
const SIGPIPE: i32 = 13;

/// Why a command does not simply end.
#[derive(Debug)]
pub(super) enum Failure {
    /// It did what was asked, and the answer is not what one hopes for.
    Found(String),
    /// An argument cannot be met, on this machine or at all.
    Usage(String),
    /// Something went wrong.
    Failed(String),
    /// A signal asked it to end. What was measured is written.
    Signal(i32),
    /// A program that it has run ended with this status, which is the command's.
    Program(u8),
    /// Standard output takes nothing more, and nothing else was to be written.
    NoOutput,
}

impl Failure {
    /// Returns its text.
    pub(super) fn text(&self) -> String {
        match self {
            Failure::Found(text) | Failure::Usage(text) | Failure::Failed(text) => text.clone(),
            Failure::Signal(_) => "ended by a signal".to_owned(),
            Failure::Program(status) => format!("the program has ended with status {status}"),
            Failure::NoOutput => "nobody reads standard output".to_owned(),
        }
    }

    pub(super) fn failed(error: impl fmt::Display) -> Failure {
        Failure::Failed(error.to_string())
    }
}

pub(super) fn cannot_write(path: &Path, error: &dyn fmt::Display) -> Failure {
    Failure::Failed(format!("cannot write {}: {error}", path.display()))
}

pub(super) fn driver_failure(error: DriverError) -> Failure {
    match error {
        DriverError::NoSuchGpu { .. }
        | DriverError::Limit(LimitError::Block { .. } | LimitError::Grid { .. })
        | DriverError::OutputThreads { .. }
        | DriverError::OutOfMemory { .. } => Failure::Usage(error.to_string()),
        DriverError::NoDriver(_) | DriverError::NoGpu => {
            Failure::Failed(format!("{error}; the emulator needs none: --device cpu"))
        }
        _ => Failure::failed(error),
    }
}

fn ended_by(signal: i32) -> String {
    let name = signal_hook::low_level::signal_name(signal).unwrap_or("a signal");
    format!("ended by {name}")
}

/// Says so where the process ends without coming back to [`status`].
pub(super) fn say_ended_by(signal: i32) {
    streams::complain(&format!("error: {}", ended_by(signal)));
}

/// Says why the command did not simply end, and gives the status for it. A reader of standard output
/// that went away, such as `head`, needs no message.
pub(super) fn status(ended: Result<(), Failure>) -> ExitCode {
    let lost = streams::lost();
    let lost_for_good = lost.filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
    if let Some(error) = lost_for_good {
        streams::complain(&format!("error: cannot write standard output: {error}"));
    }
    let (status, message) = match ended {
        Ok(()) | Err(Failure::NoOutput) => (0, None),
        Err(Failure::Found(message)) => (1, Some(message)),
        Err(Failure::Usage(message)) => (2, Some(message)),
        Err(Failure::Failed(message)) => (3, Some(message)),
        // The program has said why.
        Err(Failure::Program(status)) => (i32::from(status), None),
        Err(Failure::Signal(signal)) => (OF_SIGNALS + signal, Some(ended_by(signal))),
    };
    if let Some(message) = message {
        streams::complain(&format!("error: {message}"));
    }
    let status = match (status, lost_for_good, lost) {
        (0 | 1, Some(_), _) => 3,
        (0, None, Some(_)) => OF_SIGNALS + SIGPIPE,
        (status, ..) => status,
    };
    ExitCode::from(status as u8)
}
