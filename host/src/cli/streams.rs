//! Standard output and standard error: all that commands say goes through here.
//!
//! Words from files, kernels and the network reach a terminal as text alone: here control characters become visible,
//! before this program adds colours of its own.
//!
//! Rust's own macros panic where a stream takes nothing more.
//! Here the first such error is kept, and [`status`](super::failure::status) makes the exit status of it, so
//! that no command has to ask after each line.

use std::borrow::Cow;
use std::env;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::process::Stdio;
use std::sync::OnceLock;

use console::Term;

use super::colours;
use crate::driver::printable_lines;
use crate::report::Width;

/// Why standard output takes nothing more.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes text and an end of line to standard output, on a terminal no wider than that.
pub(super) fn say(text: &str) {
    let text = width(&Term::stdout()).fold(&printable_lines(text));
    print(format!("{text}\n").as_bytes());
}

/// Writes to standard output, now.
pub(super) fn print(text: &[u8]) {
    // `lost` says whether it was written.
    let _ = Stdout.write_all(text);
}

/// Writes to standard output what this program has drawn, with its colours.
pub(super) fn draw(drawn: &str) {
    // `lost` says whether it was written.
    let _ = Stdout.write_raw(drawn.as_bytes());
}

/// Writes text and an end of line to standard error, as [`say`] does. Where that fails there is nobody left to
/// tell.
pub(super) fn complain(text: &str) {
    let text = width(&Term::stderr()).fold(&printable_lines(text));
    let _ = writeln!(io::stderr(), "{}", colours::of_message(&text));
}

/// Standard error as a program's that is started.
pub(super) fn errors_of_child() -> io::Result<Stdio> {
    Ok(io::stderr().as_fd().try_clone_to_owned()?.into())
}

/// Hands text of a program on to standard error, as it is.
pub(super) fn hand_on(text: &mut impl Read) {
    // Where that fails there is nobody left to tell.
    let _ = io::copy(text, &mut io::stderr());
}

/// Writes what clap has to say, to the stream that is for it.
pub(super) fn show(said: &clap::Error) {
    let written = said.print();
    if !said.use_stderr() {
        // `lost` says whether it was written.
        let _ = keep(written.and_then(|()| io::stdout().flush()));
    }
}

/// The room on standard output.
pub(super) fn width_of_output() -> Width {
    width(&Term::stdout())
}

/// The room on standard error.
pub(super) fn width_of_errors() -> Width {
    width(&Term::stderr())
}

/// That which `COLUMNS` says, or else the terminal's; a file or a pipe has any.
fn width(stream: &Term) -> Width {
    /// No table is narrower.
    const MIN: usize = 40;
    let named = env::var("COLUMNS").ok();
    let named = named.and_then(|text| text.trim().parse::<usize>().ok());
    let of_terminal = || {
        stream
            .size_checked()
            .map(|(_, columns)| usize::from(columns))
    };
    // A terminal that does not know says 0.
    let columns = named.or_else(of_terminal).filter(|&columns| columns > 0);
    columns.map_or(Width::Any, |columns| Width::Columns(columns.max(MIN)))
}

/// How many characters of a chart stand side by side on standard output.
pub(super) fn columns() -> usize {
    const USUAL: usize = 80;
    match width_of_output() {
        Width::Columns(columns) => columns,
        Width::Any => USUAL,
    }
}

/// Why standard output took nothing more, if that is so.
pub(super) fn lost() -> Option<&'static io::Error> {
    LOST.get()
}

/// Standard output, written to without a buffer. After an error it is not written to again. A file or a pipe is given the
/// bytes as they are, and a terminal shows them.
pub(super) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match is_terminal() {
            true => self.write_raw(&shown(bytes)),
            false => self.write_raw(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stdout {
    fn write_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(error) = lost() {
            return Err(error.kind().into());
        }
        let mut stdout = io::stdout().lock();
        keep(stdout.write_all(bytes).and_then(|()| stdout.flush()))
    }
}

fn is_terminal() -> bool {
    static TERMINAL: OnceLock<bool> = OnceLock::new();
    *TERMINAL.get_or_init(|| io::stdout().is_terminal())
}

/// Bytes as a terminal shows them and does not obey them.
fn shown(bytes: &[u8]) -> Cow<'_, [u8]> {
    match str::from_utf8(bytes).map(printable_lines) {
        Ok(Cow::Borrowed(_)) => Cow::Borrowed(bytes),
        Ok(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
        Err(_) => Cow::Owned(
            printable_lines(&String::from_utf8_lossy(bytes))
                .into_owned()
                .into_bytes(),
        ),
    }
}

/// Keeps the first error of standard output.
fn keep(written: io::Result<()>) -> io::Result<()> {
    written.map_err(|error| {
        let kind = error.kind();
        // A second one adds nothing.
        let _ = LOST.set(error);
        kind.into()
    })
}
