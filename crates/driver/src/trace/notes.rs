//! Work timed by events: one before each launch and copy, and one after.
//!
//! So a span begins when its stream has come to the work: of a copy that waits for the copy engine,
//! the wait is part.

use std::collections::HashMap;
use std::fmt;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cuda_std::launch::Home;

use super::super::context::Context;
use super::super::event::{Event, Timing};
use super::{Span, running};

/// The notes of one device.
pub(crate) struct Notes {
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

impl Notes {
    /// For a device that is just opened. `gpu` is a GPU's context.
    pub(super) fn begin(home: &'static Home, gpu: Option<&Context>) -> Option<Notes> {
        let event = match gpu {
            // Nothing runs yet, so the device comes to it at once.
            Some(context) => Event::record(context, std::ptr::null_mut(), Timing::On).ok()?,
            None => Event::emulated(home, None),
        };
        event.synchronize().ok()?;
        Some(Notes {
            base: (Instant::now(), event),
            notes: Mutex::default(),
        })
    }

    pub(crate) fn add(
        &self,
        stream: u32,
        name: &'static str,
        bytes: u64,
        start: Event<'static>,
        end: Event<'static>,
    ) {
        self.lock().push(Note {
            stream,
            name,
            bytes,
            start,
            end,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Note>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.end.synchronize().ok()?;
        let between = |earlier: &Event<'_>, event: &Event<'_>| {
            let milliseconds = event.milliseconds_since(earlier).ok()?;
            Some(Duration::from_secs_f64(milliseconds.max(0.0) / 1e3))
        };
        Some(Span {
            stream: self.stream,
            name: self.name.into(),
            bytes: self.bytes,
            launch: None,
            began: instant + between(earlier, &self.start)?,
            took: between(&self.start, &self.end)?,
        })
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        let notes = mem::take(&mut *self.lock());
        if let Some(trace) = &mut *running() {
            cuda_loader::unrecorded(|| trace.recorded.spans.extend(self.spans(&notes)));
        }
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Notes")
    }
}
