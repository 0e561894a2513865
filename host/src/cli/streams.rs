//! Standard output and standard error: all that commands say goes through here.
//!
//! Rust's own macros panic where a stream takes nothing more.
//! Here the first such error is kept, and [`status`](super::failure::status) makes the exit status of it, so
//! that no command has to ask after each line.

use std::io::{self, Write};
use std::sync::OnceLock;

/// Why standard output takes nothing more.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Writes a line to standard output.
pub(super) fn say(text: &str) {
    print(format!("{text}\n").as_bytes());
}

/// Writes to standard output, now.
pub(super) fn print(text: &[u8]) {
    // `lost` says whether it was written.
    let _ = Stdout.write_all(text);
}

/// Writes a line to standard error. Where that fails there is nobody left to tell.
pub(super) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Writes what clap has to say, to the stream that is for it.
pub(super) fn show(said: &clap::Error) {
    let written = said.print();
    if !said.use_stderr() {
        // `lost` says whether it was written.
        let _ = keep(written.and_then(|()| io::stdout().flush()));
    }
}

/// How many characters stand side by side on standard output: those of the terminal, or 80 elsewhere.
pub(super) fn columns() -> usize {
    const USUAL: usize = 80;
    const LEAST: usize = 40;
    let of_terminal = console::Term::stdout().size_checked();
    of_terminal.map_or(USUAL, |(_, columns)| usize::from(columns).max(LEAST))
}

/// Why standard output took nothing more, if that is so.
pub(super) fn lost() -> Option<&'static io::Error> {
    LOST.get()
}

/// Standard output, written to without a buffer. After an error it is not written to again.
pub(super) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(error) = lost() {
            return Err(error.kind().into());
        }
        let mut stdout = io::stdout().lock();
        keep(stdout.write_all(bytes).and_then(|()| stdout.flush()))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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
