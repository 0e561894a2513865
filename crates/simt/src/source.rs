//! Places in the source, as a report names them.

use std::panic::Location;

use cuda_std::emulation::{Place, SOURCES};

const OWN_SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// Files that are not the kernel's author's: the compiler's libraries, ptx-std and the emulator.
fn is_foreign(file: &str) -> bool {
    file.starts_with("/rustc/")
        || file.starts_with("/usr/src/rustc-") // Debian's.
        || file.contains("/rustlib/src/")
        || file.contains("/backtrace-")
        || file.contains("/corosensei-")
        || file.starts_with(SOURCES)
        || file.starts_with(OWN_SOURCES)
}

/// File and line of the innermost function of the kernel's author. Without debug information, the
/// address.
pub(crate) fn describe(place: Place) -> String {
    match place {
        Place::Source(location) => line(location),
        Place::Code(address) => {
            // The call, not what comes after it.
            let mut seen = Lines::default();
            backtrace::resolve((address - 1) as *mut _, |symbol| seen.add(symbol));
            seen.best().unwrap_or_else(|| format!("{address:#x}"))
        }
    }
}

/// File and line.
pub(crate) fn line(location: &Location<'_>) -> String {
    format!("{}:{}", location.file(), location.line())
}

/// File and line of the innermost function of the kernel's author on this stack.
pub(crate) fn here() -> String {
    let mut seen = Lines::default();
    backtrace::trace(|frame| {
        backtrace::resolve_frame(frame, |symbol| seen.add(symbol));
        seen.own.is_none()
    });
    seen.best().unwrap_or_else(|| "an unknown place".to_owned())
}

#[derive(Default)]
struct Lines {
    own: Option<String>,
    any: Option<String>,
}

impl Lines {
    fn add(&mut self, symbol: &backtrace::Symbol) {
        let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno()) else {
            return;
        };
        let file = file.to_string_lossy();
        let text = format!("{file}:{line}");
        if !is_foreign(&file) {
            self.own.get_or_insert_with(|| text.clone());
        }
        self.any.get_or_insert(text);
    }

    fn best(self) -> Option<String> {
        self.own.or(self.any)
    }
}
