//! Where in the source an emulated thread panicked, or ended the process.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use cuda_std::emulation::{self, Coordinates};

use crate::{Thread, source};

thread_local! {
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
    static KERNEL: Cell<&'static str> = const { Cell::new("") };
}

/// The kernel whose threads run on this host thread from now on.
pub(crate) fn runs(kernel: &'static str) {
    KERNEL.set(kernel);
}

/// From now on notes the place of each emulated thread's panic, which is reported as the launch's
/// error instead of printed. Other panics are printed as before.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| match emulation::current() {
            Some(thread) => note(info, thread),
            None => previous(info),
        }));
    });
}

fn note(info: &PanicHookInfo<'_>, thread: Coordinates) {
    // With these words the standard library ends the process, where it checks pointers and indices.
    match info.payload_as_str() {
        Some(message) if message.starts_with("unsafe precondition(s) violated") => {
            say_last(message, thread);
        }
        _ => PLACE.set(info.location().map(ToString::to_string)),
    }
}

/// Says where the process ends, because no launch returns any more. Not to what a test captures.
fn say_last(message: &str, thread: Coordinates) {
    let thread = Thread {
        block: thread.block_idx,
        thread: thread.thread_idx,
    };
    let (kernel, place) = (KERNEL.get(), source::here());
    let _ = writeln!(
        io::stderr(),
        "kernel {kernel} on the emulator: {thread} ends the process at {place}: {message}\n\
         `ridgepoint check --` reports such an access as the failure of its test."
    );
}

/// The place of the last panic of an emulated thread on this host thread.
pub(crate) fn take() -> String {
    PLACE
        .take()
        .unwrap_or_else(|| "an unknown place".to_owned())
}
