//! Collecting records.

use std::ffi::c_void;
use std::mem;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::activity::{Activity, StreamId};
use crate::buffers::{self, requested};
use crate::error::Error;
use crate::library::{Functions, Version, functions};
use crate::record::{self, Fields};

/// The kinds of records that are collected.
const KINDS: [u32; 3] = [record::CONCURRENT_KERNEL, record::MEMCPY, record::MEMSET];

/// The records of the running session so far. CUPTI's callbacks are given nothing to find it by, so there
/// is one for the process.
static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

struct Running {
    functions: &'static Functions,
    clock: Clock,
    collected: Collected,
}

/// All that a session has collected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// In no particular order.
    pub activities: Vec<Activity>,
    /// How many more there were, of which CUPTI has no record or no times.
    pub lost: usize,
}

fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Collects what the GPUs do for this process until it ends. There is one at a time.
#[derive(Debug)]
pub struct Session {
    subscriber: *mut c_void,
    functions: &'static Functions,
}

// SAFETY: the subscriber is a handle that any thread may use.
unsafe impl Send for Session {}

impl Session {
    /// Begins to collect. Best before the first call of the driver.
    ///
    /// # Errors
    /// There is no library, another session goes on, or CUPTI refuses: where another profiler is
    /// attached, or where there is no driver.
    pub fn begin() -> Result<Session, Error> {
        Session::with(functions()?)
    }

    fn with(functions: &'static Functions) -> Result<Session, Error> {
        let mut subscriber = ptr::null_mut();
        {
            let mut running = running();
            if running.is_some() {
                return Err(Error::Busy);
            }
            // Says whether another profiler is there, which collecting alone does not.
            // SAFETY: the handle is a place to write to; no callback is asked for.
            functions.checked("cuptiSubscribe", unsafe {
                (functions.subscribe)(&mut subscriber, ignored, ptr::null_mut())
            })?;
            let clock = Clock::read(functions).inspect_err(|_| {
                // SAFETY: the handle is the one above, and not used again.
                unsafe { (functions.unsubscribe)(subscriber) };
            })?;
            *running = Some(Running {
                functions,
                clock,
                collected: Collected::default(),
            });
        }
        // From here on its `Drop` undoes what was done.
        let session = Session {
            subscriber,
            functions,
        };
        // SAFETY: both callbacks keep CUPTI's contract for them.
        functions.checked("cuptiActivityRegisterCallbacks", unsafe {
            (functions.register_callbacks)(requested, completed)
        })?;
        for kind in KINDS {
            // SAFETY: it takes a number.
            functions.checked("cuptiActivityEnable", unsafe { (functions.enable)(kind) })?;
        }
        Ok(session)
    }

    /// The library's version.
    pub fn version(&self) -> Version {
        self.functions.version
    }

    /// By what the stream is known in [`Activity::stream`].
    ///
    /// # Errors
    /// CUPTI's.
    ///
    /// # Safety
    /// `context` and `stream` are handles of the driver, and alive.
    pub unsafe fn stream_id(
        &self,
        context: *mut c_void,
        stream: *mut c_void,
    ) -> Result<StreamId, Error> {
        // In this program the stream of no name is one for all threads.
        const PER_THREAD: u8 = 0;
        let mut id = StreamId {
            context: 0,
            stream: 0,
        };
        let functions = self.functions;
        // SAFETY: the caller vouches for the handles; the rest are places to write to.
        unsafe {
            let answer = (functions.context_id)(context, &mut id.context);
            functions.checked("cuptiGetContextId", answer)?;
            let answer = (functions.stream_id)(context, stream, PER_THREAD, &mut id.stream);
            functions.checked("cuptiGetStreamIdEx", answer)?;
        }
        Ok(id)
    }

    /// Has CUPTI hand over its records. The device must have been waited for, and its context must
    /// still be there: with it go the records that have not been handed over.
    pub fn flush(&self) {
        const FORCED: u32 = 1;
        // SAFETY: it takes a number. What it answers is all the same: what it had it has given.
        unsafe { (self.functions.flush_all)(FORCED) };
    }

    /// Ends, and returns what was collected. As for [`Session::flush`], which is part of it.
    pub fn end(self) -> Collected {
        self.flush();
        let mut dropped = 0;
        // SAFETY: it takes no context and a place to write to.
        unsafe { (self.functions.dropped)(ptr::null_mut(), 0, &mut dropped) };
        let mut collected = running()
            .as_mut()
            .map_or_else(Collected::default, |it| mem::take(&mut it.collected));
        collected.lost += dropped;
        collected
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for kind in KINDS {
            // SAFETY: it takes a number.
            unsafe { (self.functions.disable)(kind) };
        }
        // SAFETY: the handle is that of `begin`, and not used again.
        unsafe { (self.functions.unsubscribe)(self.subscriber) };
        *running() = None;
    }
}

/// A moment on both clocks: the host's, and CUPTI's in nanoseconds.
struct Clock {
    host: Instant,
    cupti: u64,
}

impl Clock {
    /// Reads both, CUPTI's between two readings of the host's. Of several, the closest.
    fn read(functions: &Functions) -> Result<Clock, Error> {
        let mut closest: Option<(Duration, Clock)> = None;
        for _ in 0..10 {
            let mut cupti = 0;
            let before = Instant::now();
            // SAFETY: it takes a place to write to.
            let answer = unsafe { (functions.timestamp)(&mut cupti) };
            let half = before.elapsed() / 2;
            functions.checked("cuptiGetTimestamp", answer)?;
            if closest.as_ref().is_none_or(|(least, _)| half < *least) {
                let host = before + half;
                closest = Some((half, Clock { host, cupti }));
            }
        }
        Ok(closest.expect("of ten readings there is one").1)
    }

    fn instant(&self, cupti: u64) -> Instant {
        match cupti.checked_sub(self.cupti) {
            Some(later) => self.host + Duration::from_nanos(later),
            None => self.host - Duration::from_nanos(self.cupti - cupti),
        }
    }
}

unsafe extern "C" fn ignored(_: *mut c_void, _: u32, _: u32, _: *const c_void) {}

/// Reads the records of a buffer, and frees it.
///
/// # Safety
/// The buffer is one of `buffers::requested`, with so many valid bytes of records.
unsafe extern "C" fn completed(_: *mut c_void, _: u32, buffer: *mut u8, _: usize, valid: usize) {
    let mut running = running();
    let functions = running.as_ref().map(|it| it.functions);
    // SAFETY: the caller's contract; what is there are CUPTI's records.
    unsafe {
        buffers::read(functions, buffer, valid, |record| {
            if let (Some(fields), Some(running)) = (record::read(record), &mut *running) {
                running.collected.add(&running.clock, fields);
            }
        });
    }
}

impl Collected {
    fn add(&mut self, clock: &Clock, fields: Fields) {
        // Both are 0 where CUPTI could not take the times, and the end is where it is not over.
        if fields.start == 0 || fields.end < fields.start {
            self.lost += 1;
            return;
        }
        self.activities.push(Activity {
            stream: fields.stream,
            began: clock.instant(fields.start),
            took: Duration::from_nanos(fields.end - fields.start),
            work: fields.work,
        });
    }
}

#[cfg(test)]
pub(crate) mod tests;
