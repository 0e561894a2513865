//! The messages of emulated threads that panic.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use cuda_std::emulation;

thread_local! {
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on notes the place of each emulated thread's panic, which is reported as the launch's
/// error instead of printed. Other panics are printed as before.
pub(crate) fn note_places() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // With these words the standard library ends the process, where it checks pointers.
            let ends = |text: &str| text.starts_with("unsafe precondition(s) violated");
            match emulation::current() {
                Some(_) if !info.payload_as_str().is_some_and(ends) => note(info),
                _ => previous(info),
            }
        }));
    });
}

fn note(info: &PanicHookInfo<'_>) {
    PLACE.set(info.location().map(ToString::to_string));
}

/// The place of the last panic of an emulated thread on this host thread.
pub(crate) fn place() -> String {
    PLACE
        .take()
        .unwrap_or_else(|| "an unknown place".to_owned())
}

/// The text of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(no message)").to_owned()
}
