//! The emulator's words, as tests compare them.

use ridgepoint_driver::DriverError;

/// Returns the emulator's words for a kernel.
pub(crate) fn said_of(kernel: &str, error: &DriverError) -> Option<String> {
    let text = error.to_string();
    let text = match error {
        DriverError::Emulated { .. } => {
            text.strip_prefix(&format!("kernel {kernel} on the emulator: "))
        }
        DriverError::Engine(_) => text.strip_prefix(&format!("on the emulator: {kernel}: ")),
        _ => None,
    };
    // Of the libraries' lines, which other versions of them have elsewhere.
    text.map(|text| without(text, "(inlined: "))
}

/// Without the notes of places that begin so.
fn without(text: &str, note: &str) -> String {
    let mut parts = text.split(note);
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.find([',', ')']) {
            Some(end) if part[end..].starts_with(')') => {
                rest.truncate(rest.trim_end().len());
                rest += &part[end + 1..];
            }
            Some(end) => rest += &format!("({}", part[end + 1..].trim_start()),
            None => rest += part,
        }
    }
    rest
}

/// A report, as far as the compiler tells of places: Rust before 1.99 does not say where inlined code was called from,
/// and the author's line that comes before stands for it.
pub(crate) fn as_told(report: &str) -> String {
    if cfg!(tells_calls) {
        return report.to_owned();
    }
    let report = without(report, "(inlined at ");
    let mut parts = report.split(".rs:");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rest += ".rs";
        rest += part.trim_start_matches(|it: char| it.is_ascii_digit());
    }
    rest
}
