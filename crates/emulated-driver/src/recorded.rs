//! The calls of a program of the emulated devices, as a recording: as CUPTI's on a GPU, but that work is done in
//! the call that asks for it, in the emulator's time.

use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use recorder::Recorder;
use recording::{
    Activity, Allocation, Device, Event, Memory, Record, Synchronization, Synchronized, Work,
};

use crate::allocations::{self, Kind};
use crate::device;
use crate::findings::say;

/// Where work is done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    pub(crate) device: u32,
    pub(crate) context: u32,
    pub(crate) stream: u32,
    /// The graph that it is in; 0 where in none.
    pub(crate) graph: u32,
}

thread_local! {
    /// The number of the call that goes on; 0 where none does.
    static CALL: Cell<u32> = const { Cell::new(0) };
}

/// The process's recorder, where the environment asks for one.
pub(crate) fn recorder() -> Option<&'static Recorder> {
    static RECORDER: LazyLock<Option<Recorder>> = LazyLock::new(|| {
        let folder = recorder::folder()?;
        let recorder = match Recorder::create(&folder, "the emulator", true, now) {
            Ok(recorder) => recorder,
            Err(error) => {
                say(&format!(
                    "nothing is recorded: {}: {error}",
                    folder.display()
                ));
                return None;
            }
        };
        for id in 0..device::count() {
            let name = device::name(id);
            recorder.write(&Record::Device(Device { id, name }));
        }
        // SAFETY: the handler has the prototype; the library stays in the process.
        unsafe { libc::atexit(end) };
        Some(recorder)
    });
    // A process that was forked off must not wait for locks that its parent's threads held.
    RECORDER.as_ref().filter(|it| it.is_own())
}

extern "C" fn end() {
    if let Some(recorder) = recorder() {
        recorder.end(0);
    }
}

/// Nanoseconds since 1970, which never go back.
fn now() -> u64 {
    static BEGUN: LazyLock<(Instant, Duration)> = LazyLock::new(|| {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        (Instant::now(), since_1970.unwrap_or_default())
    });
    (BEGUN.1 + BEGUN.0.elapsed()).as_nanos() as u64
}

/// Runs a call, which gives its `CUresult`.
pub(crate) fn call(name: &str, body: impl FnOnce() -> u32) -> u32 {
    static NUMBERS: AtomicU32 = AtomicU32::new(1);
    let Some(recorder) = recorder() else {
        return body();
    };
    let Some(function) = recorder.function(name) else {
        return body();
    };
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    let before = CALL.replace(number);
    recorder.enter(function, number);
    let status = body();
    let _ = recorder.leave(function, number, status);
    CALL.set(before);
    status
}

/// Returns the number of this thread's call; 0 where none is recorded.
pub(crate) fn number_of_call() -> u32 {
    CALL.get()
}

/// Does what a call has asked for that has returned.
pub(crate) fn within<R>(call: u32, body: impl FnOnce() -> R) -> R {
    let before = CALL.replace(call);
    let result = body();
    CALL.set(before);
    result
}

/// The recorder and the number of this thread's call, where it is recorded.
fn current() -> Option<(&'static Recorder, u32)> {
    let recorder = recorder()?;
    let call = CALL.get();
    (call != 0 && recorder.has_call(call)).then_some((recorder, call))
}

/// Does a device's work. What it is said to be is asked for where it is recorded alone.
pub(crate) fn work<R>(
    place: Place,
    what: impl FnOnce(&Recorder) -> Work,
    run: impl FnOnce() -> R,
) -> R {
    let Some((recorder, correlation)) = current() else {
        return run();
    };
    let start = now();
    let result = run();
    let end = now();
    recorder.write(&Record::Activity(Activity {
        work: what(recorder),
        device: place.device,
        context: place.context,
        stream: place.stream,
        correlation,
        graph: place.graph,
        start,
        end,
    }));
    result
}

/// The host, or a stream, waits: for nothing, since all is done.
pub(crate) fn wait(context: u32, on: Synchronized) {
    if let Some((recorder, correlation)) = current() {
        let now = now();
        recorder.write(&Record::Synchronization(Synchronization {
            on,
            context,
            correlation,
            start: now,
            end: now,
        }));
    }
}

/// An event is put into a stream. The answer numbers its recordings in the process.
pub(crate) fn event(event: u32, place: Place) -> u64 {
    static NUMBERS: AtomicU64 = AtomicU64::new(1);
    let recording = NUMBERS.fetch_add(1, Ordering::Relaxed);
    if let Some((recorder, correlation)) = current() {
        recorder.write(&Record::Event(Event {
            event,
            recording,
            context: place.context,
            stream: place.stream,
            correlation,
        }));
    }
    recording
}

/// Memory is allocated, or freed.
pub(crate) fn memory(kind: Kind, (address, bytes): (u64, u64), device: u32, is_release: bool) {
    if let Some((recorder, correlation)) = current() {
        recorder.write(&Record::Allocation(Allocation {
            memory: memory_of(kind),
            is_release,
            is_pooled: matches!(kind, Kind::OfPool(_) | Kind::OfGraph),
            address,
            bytes,
            device,
            correlation,
            time: now(),
        }));
    }
}

/// Which memory an address is of.
pub(crate) fn memory_at(address: u64) -> Memory {
    match allocations::holding(address) {
        None => Memory::Pageable,
        Some((_, Some(allocated))) => memory_of(allocated.kind),
        // Variables of modules.
        Some((_, None)) => Memory::Device,
    }
}

fn memory_of(kind: Kind) -> Memory {
    match kind {
        Kind::Device | Kind::OfPool(_) | Kind::OfGraph => Memory::Device,
        Kind::Managed => Memory::Managed,
        Kind::Host | Kind::Registered => Memory::Pinned,
    }
}

/// A number for an object that recordings name.
pub(crate) fn number() -> u32 {
    static NUMBERS: AtomicU32 = AtomicU32::new(1);
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}
