//! The emulator's record of who has used its memory, and in which order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use engine::check::{Event, Known, Stream, Turn, Turns};
use engine::memory::{Contents, Direction};

use super::emulated_memory;

static IS_USED: AtomicBool = AtomicBool::new(false);

/// The checks of this process, of all emulated devices. A checked launch holds them until it has ended, but for when it
/// only waits.
pub(super) fn checking() -> Turn<'static> {
    static CHECKING: LazyLock<Turns> = LazyLock::new(Turns::default);
    IS_USED.store(true, Ordering::Relaxed);
    CHECKING.take()
}

/// The checks, if something has been checked before.
fn used() -> Option<Turn<'static>> {
    IS_USED.load(Ordering::Relaxed).then(checking)
}

/// A stream of the emulator, as far as checks go: made when it is first needed.
#[derive(Default)]
pub(super) struct Order(Mutex<Option<Stream>>);

impl Drop for Order {
    fn drop(&mut self) {
        let stream = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = stream.take() {
            checking().streams.end(stream);
        }
    }
}

impl Order {
    /// Its number in the checks.
    pub(super) fn stream(&self, checking: &mut Known) -> Stream {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *stream.get_or_insert_with(|| checking.streams.stream())
    }

    /// The host has waited for it.
    pub(super) fn synchronized(&self) {
        if let Some(mut checking) = used() {
            let stream = self.stream(&mut checking);
            checking.streams.synchronise(stream);
        }
    }

    /// A place in it.
    pub(super) fn record(&self) -> Option<Event> {
        let mut checking = used()?;
        let stream = self.stream(&mut checking);
        Some(checking.streams.record(stream))
    }

    /// Lets work that is enqueued after this wait for an event.
    pub(super) fn wait(&self, event: Option<&Event>) {
        if let (Some(mut checking), Some(event)) = (used(), event) {
            let stream = self.stream(&mut checking);
            checking.streams.wait(stream, event);
        }
    }
}

/// The host has waited for an event.
pub(super) fn waited(event: Option<&Event>) {
    if let (Some(mut checking), Some(event)) = (used(), event) {
        checking.streams.wait_on_host(event);
    }
}

/// A launch without checks has run.
pub(super) fn unchecked() {
    if let Some(mut checking) = used() {
        checking.checker.trust(emulated_memory::memory());
    }
}

/// The host, or a copy in a stream, reaches bytes of a buffer.
///
/// # Errors
/// A kernel, of another stream or not waited for, may use those bytes at the same time: the finding, for
/// [`DriverError::HostAccess`](super::DriverError::HostAccess).
pub(super) fn accessed(
    order: Option<&Order>,
    (start, bytes): (u64, u64),
    direction: Direction,
    contents: Contents,
) -> engine::check::Checked {
    let is_first = contents == Contents::Undefined && direction == Direction::Write;
    let Some(mut checking) = used().filter(|_| bytes > 0) else {
        // Nobody remembers which of its bytes: checks that begin later take all of them for written.
        if is_first {
            emulated_memory::memory().define(start);
        }
        return Ok(());
    };
    let operation = match order {
        Some(order) => {
            let stream = order.stream(&mut checking);
            checking.streams.enqueue(stream)
        }
        None => checking.streams.host(),
    };
    let owner = emulated_memory::memory()
        .find(start)
        .and_then(|it| it.device);
    let memory = emulated_memory::memory_of(owner.unwrap_or(0));
    checking
        .checker
        .host(memory, operation, (start, bytes), direction)
}

/// A copy in a stream, between devices, reaches bytes.
///
/// # Errors
/// As [`accessed`].
pub(super) fn copied(
    order: &Order,
    (start, bytes): (u64, u64),
    direction: Direction,
) -> engine::check::Checked {
    let contents = emulated_memory::memory().find(start).map(|it| it.contents);
    let contents = contents.unwrap_or(Contents::Defined);
    accessed(Some(order), (start, bytes), direction, contents)
}
