//! What the emulator says, as tests compare it.

use ridgepoint_driver::DriverError;

/// What the emulator says of a kernel.
pub(crate) fn said_of(kernel: &str, error: &DriverError) -> Option<String> {
    let text = error.to_string();
    let text = match error {
        DriverError::Emulated { .. } => {
            text.strip_prefix(&format!("kernel {kernel} on the emulator: "))
        }
        DriverError::Engine(_) => text.strip_prefix(&format!("on the emulator: {kernel}: ")),
        _ => None,
    };
    text.map(without_libraries)
}

/// Without the lines of the libraries that were inlined, which other versions of them have elsewhere.
fn without_libraries(text: &str) -> String {
    let mut parts = text.split("(inlined: ");
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
