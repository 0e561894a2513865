//! Where in the source an emulated thread panicked.

use std::cell::RefCell;
use std::panic;
use std::sync::Once;

use cuda_std::emulation;

thread_local! {
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on notes the place of each emulated thread's panic, which is reported as the launch's
/// error instead of printed. Other panics are printed as before.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if emulation::current().is_some() {
                PLACE.set(info.location().map(ToString::to_string));
            } else {
                previous(info);
            }
        }));
    });
}

/// The place of the last panic of an emulated thread on this host thread.
pub(crate) fn take() -> String {
    PLACE
        .take()
        .unwrap_or_else(|| "an unknown place".to_owned())
}
