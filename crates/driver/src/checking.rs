//! The emulator's record of who has used its memory, and in which order.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use engine::check::{Event, Known, Stream, Turn, Turns};
use engine::memory::{Contents, Direction};

use super::emulated_memory;

static IS_USED: AtomicBool = AtomicBool::new(false);

/// The checks of this process, of all emulated devices, or of what runs [apart]. A checked launch holds them until it has ended,
/// but for when it only waits.
pub(super) fn checking() -> Turn<'static> {
    static CHECKING: LazyLock<Turns> = LazyLock::new(Turns::default);
    IS_USED.store(true, Ordering::Relaxed);
    APART.get().unwrap_or(&CHECKING).take()
}

thread_local! {
    /// The checks of what this thread runs apart.
    static APART: Cell<Option<&'static Turns>> = const { Cell::new(None) };
}

/// Whether the calling thread does its work [apart].
pub(super) fn is_apart() -> bool {
    APART.get().is_some()
}

/// Does work whose checked launches need not take turns with those of other threads: on the emulator with memory and streams that
/// are made and dropped in it, and that no other thread uses meanwhile. Elsewhere it changes nothing. The heap is the device's:
/// kernels that allocate must not run apart at the same time, or one launch's blocks count as leaks of another.
///
/// ```
/// use ridgepoint_driver::{Device, DeviceChoice, DriverError, Emulation, Schedule, apart};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let sums: Vec<f32> = std::thread::scope(|scope| {
///     let work = |seed: u64| {
///         let schedule = Schedule::Seeded(seed);
///         let emulation = Emulation { is_checked: true, schedule, ..Emulation::default() };
///         let seeded = device.with_emulation(emulation).expect("an emulator");
///         apart(|| {
///             let numbers = seeded.buffer_from(&[seed as f32; 4])?.to_vec()?;
///             Ok::<_, DriverError>(numbers.iter().sum())
///         })
///     };
///     let threads = [1, 2].map(|seed| scope.spawn(move || work(seed)));
///     threads.into_iter().map(|it| it.join().expect("no panic")).collect::<Result<_, _>>()
/// })?;
/// assert_eq!(sums, [4.0, 8.0]);
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
///
/// # Panics
/// A checked launch of the work uses a stream that was made outside of it.
pub fn apart<R>(work: impl FnOnce() -> R) -> R {
    /// Those of threads that have ended their work.
    static FREE: Mutex<Vec<&'static Turns>> = Mutex::new(Vec::new());
    struct Back(&'static Turns, Option<&'static Turns>);
    impl Drop for Back {
        fn drop(&mut self) {
            *self.0.take() = Known::default();
            APART.set(self.1);
            let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
            free.push(self.0);
        }
    }
    let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let own = free.unwrap_or_else(|| Box::leak(Box::default()));
    let _back = Back(own, APART.replace(Some(own)));
    work()
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
