//! When each piece of work began on the device and ended, for timelines.
//!
//! Between [`begin`] and [`take`], every device that is opened notes for each launch and copy an event
//! before it and one after. So a span begins when its stream has come to the work: of a copy that
//! waits for the copy engine, the wait is part. Otherwise nothing is noted, and nothing costs.

use std::collections::HashMap;
use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cust::sys;

use super::event::{Event, Timing};

/// A piece of work of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The number of its stream, from 1 on.
    pub stream: u32,
    /// The kernel, or the kind of copy.
    pub name: &'static str,
    /// Bytes that it copies; 0 of a kernel.
    pub bytes: u64,
    /// When its stream had come to it.
    pub began: Instant,
    /// From then until it was done.
    pub took: Duration,
}

static IS_ON: AtomicBool = AtomicBool::new(false);
static SPANS: Mutex<Vec<Span>> = Mutex::new(Vec::new());

/// Traces the devices that are opened from now on.
pub fn begin() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// Ends the trace: the spans of all devices that have been closed since, by their beginnings.
pub fn take() -> Vec<Span> {
    IS_ON.store(false, Ordering::Relaxed);
    let mut spans = mem::take(&mut *lock(&SPANS));
    spans.sort_by_key(|span| span.began);
    spans
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What one device has noted.
pub(super) struct Recorder {
    /// A moment on both clocks.
    base: (Instant, Event<'static>),
    notes: Mutex<Vec<Note>>,
}

struct Note {
    stream: u32,
    name: &'static str,
    bytes: u64,
    start: Event<'static>,
    end: Event<'static>,
}

impl Recorder {
    /// A recorder for a device that is just opened, if there is a trace. `gpu` is a GPU's number.
    pub(super) fn begin(gpu: Option<u32>) -> Option<Recorder> {
        if !IS_ON.load(Ordering::Relaxed) {
            return None;
        }
        let event = match gpu {
            // Nothing runs yet, so the device comes to it at once.
            Some(_) => Event::record(std::ptr::null_mut(), Timing::On).ok()?,
            None => Event::emulated(),
        };
        event.wait().ok()?;
        Some(Recorder {
            base: (Instant::now(), event),
            notes: Mutex::default(),
        })
    }

    pub(super) fn add(
        &self,
        stream: u32,
        name: &'static str,
        bytes: u64,
        start: Event<'static>,
        end: Event<'static>,
    ) {
        lock(&self.notes).push(Note {
            stream,
            name,
            bytes,
            start,
            end,
        });
    }

    /// The notes as spans, but those whose work has failed.
    ///
    /// Each is placed after the last of its stream. A GPU tells the time between two events as an
    /// `f32`: ten seconds after the base that is good to a microsecond, and spans would overlap.
    fn spans<'n>(&'n self, notes: &'n [Note]) -> Vec<Span> {
        let (instant, event) = &self.base;
        let mut last = HashMap::new();
        let span = |note: &'n Note| {
            let last = last.entry(note.stream).or_insert((*instant, event));
            let span = note.span(*last)?;
            *last = (span.began + span.took, &note.end);
            Some(span)
        };
        notes.iter().filter_map(span).collect()
    }
}

impl Note {
    /// As a span, by an earlier moment on both clocks. `None` if its work has failed.
    fn span(&self, (instant, earlier): (Instant, &Event<'_>)) -> Option<Span> {
        self.end.wait().ok()?;
        let between = |earlier: &Event<'_>, event: &Event<'_>| {
            let milliseconds = event.milliseconds_since(earlier).ok()?;
            Some(Duration::from_secs_f64(milliseconds.max(0.0) / 1e3))
        };
        Some(Span {
            stream: self.stream,
            name: self.name,
            bytes: self.bytes,
            began: instant + between(earlier, &self.start)?,
            took: between(&self.start, &self.end)?,
        })
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let notes = mem::take(&mut *lock(&self.notes));
        cuda_loader::unrecorded(|| lock(&SPANS).extend(self.spans(&notes)));
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Recorder")
    }
}

// SAFETY: events are handles that any thread may use.
unsafe impl Send for Recorder {}
// SAFETY: as above; the notes are behind a lock.
unsafe impl Sync for Recorder {}

/// Runs `work` in the range that profilers capture with `--capture-range=cudaProfilerApi`.
pub fn captured<R>(work: impl FnOnce() -> R) -> R {
    let is_there = cuda_loader::driver().is_ok();
    // SAFETY: both take nothing; without a profiler, or a context, they answer an error or do
    // nothing, which is all the same here.
    unsafe {
        if is_there {
            sys::cuProfilerStart();
        }
        let result = work();
        if is_there {
            sys::cuProfilerStop();
        }
        result
    }
}
