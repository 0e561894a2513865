//! Events: places in streams, and their times.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use engine::check;
use recording::Synchronized;

use crate::capture;
use crate::context::{self, Context, current};
use crate::handles::{Handle, Kept, end, keep_as, lock, look, reserve};
use crate::order::{self, Lane};
use crate::queue;
use crate::recorded;
use crate::status::{Answer, Status};
use crate::stream::{self, Stream};
use crate::work::{Work, submit};

/// An event.
pub(crate) struct Event {
    pub(crate) handle: Handle,
    pub(crate) context: Handle,
    is_timed: bool,
    /// By what recordings name it.
    number: u32,
    place: Mutex<Option<Place>>,
}

/// Where an event was recorded last.
#[derive(Clone)]
pub(crate) enum Place {
    /// In a stream.
    Stream(Arc<Recording>),
    /// In a stream that captures.
    Captured(capture::Place),
}

/// A place in a stream that an event was recorded at.
pub(crate) struct Recording {
    /// The event's number.
    event: u32,
    reached: OnceLock<Reached>,
}

/// A place that a stream has come to.
struct Reached {
    /// All that was done until then: nothing is known of it where launches are not checked.
    order: Option<check::Event>,
    at: Instant,
    /// Which of all recordings of events it is.
    number: u64,
}

const DISABLE_TIMING: u32 = 2;

impl Recording {
    /// The stream has come to it: all is done that a lane was given until now.
    pub(crate) fn reach(&self, lane: &Lane) {
        let order = order::if_checked().map(|mut known| {
            lane.settle(&mut known);
            known.streams.record(lane.order)
        });
        self.reached.get_or_init(|| Reached {
            order,
            at: Instant::now(),
            number: recorded::event(self.event, lane.place),
        });
    }

    /// Makes what a lane does later come after it.
    pub(crate) fn hold(&self, lane: &Lane) {
        let Some(reached) = self.reached.get() else {
            return;
        };
        let on = Synchronized::StreamOnEvent {
            stream: lane.place.stream,
            event: self.event,
            recording: reached.number,
        };
        recorded::wait(lane.place.context, on);
        if let (Some(order), Some(mut known)) = (&reached.order, order::if_checked()) {
            known.streams.wait(lane.order, order);
        }
    }
}

impl Event {
    fn place(&self) -> Option<Place> {
        lock(&self.place).clone()
    }

    fn set(&self, place: Place) {
        *lock(&self.place) = Some(place);
    }

    fn next_recording(&self) -> Arc<Recording> {
        Arc::new(Recording {
            event: self.number,
            reached: OnceLock::new(),
        })
    }

    /// Records it in a stream.
    ///
    /// # Errors
    /// They are of different contexts.
    fn record(&self, stream: &Arc<Stream>) -> Answer {
        if self.context != stream.context {
            return Err(Status::INVALID_HANDLE);
        }
        let place = match capture::place_in(stream)? {
            Some(place) => Place::Captured(place),
            None => {
                let recording = self.next_recording();
                submit(stream, Work::Reach(Arc::clone(&recording)))?;
                Place::Stream(recording)
            }
        };
        self.set(place);
        Ok(())
    }

    /// Records it behind all that a lane has done.
    pub(crate) fn record_now(&self, lane: &Lane) {
        let recording = self.next_recording();
        recording.reach(lane);
        self.set(Place::Stream(recording));
    }

    /// Where it was recorded last in a stream.
    pub(crate) fn recording(&self) -> Option<Arc<Recording>> {
        match self.place()? {
            Place::Stream(recording) => Some(recording),
            Place::Captured(_) => None,
        }
    }

    /// It is to be recorded later: returns where.
    pub(crate) fn will_be_recorded(&self) -> Arc<Recording> {
        let recording = self.next_recording();
        self.set(Place::Stream(Arc::clone(&recording)));
        recording
    }

    /// Makes what a lane does later come after where it was recorded last.
    pub(crate) fn hold(&self, lane: &Lane) {
        if let Some(recording) = self.recording() {
            recording.hold(lane);
        }
    }

    /// Makes a stream's later work wait for it.
    fn wait_in(&self, stream: &Arc<Stream>) -> Answer {
        match self.place() {
            None => Ok(()),
            Some(Place::Stream(recording)) => {
                capture::admit_work(stream)?;
                // A graph has nothing that comes before its launch.
                capture::refuse(stream, Status::STREAM_CAPTURE_ISOLATION)?;
                submit(stream, Work::Wait(recording))
            }
            Some(Place::Captured(place)) => place.join(stream),
        }
    }

    /// Returns where it was recorded in a stream; none where it was not yet.
    ///
    /// # Errors
    /// It was recorded in a stream that captures.
    fn recorded(&self) -> Answer<Option<Arc<Recording>>> {
        match self.place() {
            None => Ok(None),
            Some(Place::Stream(recording)) => Ok(Some(recording)),
            Some(Place::Captured(place)) => Err(place.refuse_host()),
        }
    }

    /// Refuses the host to wait for it or to ask after it where a capture forbids that.
    fn admitted(&self) -> Answer<&Event> {
        self.recorded()?;
        capture::admit_unsafe()?;
        Ok(self)
    }

    /// The host waits for it.
    fn wait_on_host(&self) -> Answer {
        let Some(recording) = self.recorded()? else {
            return Ok(());
        };
        queue::wait_for_event(&recording);
        if let Some(reached) = recording.reached.get() {
            let (event, recording) = (self.number, reached.number);
            let on = Synchronized::Event { event, recording };
            recorded::wait(context::number(self.context), on);
            if let (Some(order), Some(mut known)) = (&reached.order, order::if_checked()) {
                known.streams.wait_on_host(order);
            }
        }
        look::<Context>(self.context)?.streams.failure()
    }

    /// Answers whether the stream has come to it. A program relies on that as on a wait.
    fn query(&self) -> Answer {
        match self.recorded()? {
            Some(recording) if recording.reached.get().is_none() => Err(Status::NOT_READY),
            _ => self.wait_on_host(),
        }
    }

    fn time(&self) -> Answer<Instant> {
        let recording = match self.place() {
            Some(Place::Stream(recording)) if self.is_timed => recording,
            _ => return Err(Status::INVALID_HANDLE),
        };
        let reached = recording.reached.get().ok_or(Status::NOT_READY)?;
        Ok(reached.at)
    }
}

/// `CU_EVENT_RECORD_EXTERNAL` and `CU_EVENT_WAIT_EXTERNAL`: where the stream captures, a node does it at each launch of the graph.
const EXTERNAL: u32 = 1;

/// Records an event in a stream, or adds a node that does so.
///
/// # Errors
/// A node is asked for where no graph is captured.
fn record(event: Handle, stream: Handle, flags: u32) -> Answer {
    let (event, stream) = (look::<Event>(event)?, stream::of(stream)?);
    match (flags & EXTERNAL != 0, stream.is_capturing()) {
        (true, true) => submit(&stream, Work::Record(event)),
        (true, false) => Err(Status::ILLEGAL_STATE),
        (false, _) => event.record(&stream),
    }
}

/// Makes a stream wait for an event, or adds a node that does so.
///
/// # Errors
/// As [`record`].
fn wait(stream: Handle, event: Handle, flags: u32) -> Answer {
    let (event, stream) = (look::<Event>(event)?, stream::of(stream)?);
    match (flags & EXTERNAL != 0, stream.is_capturing()) {
        (true, true) => submit(&stream, Work::Await(event)),
        (true, false) => Err(Status::ILLEGAL_STATE),
        (false, _) => event.wait_in(&stream),
    }
}

fn elapsed(first: Handle, last: Handle) -> Answer<f32> {
    let (first, last) = (look::<Event>(first)?, look::<Event>(last)?);
    if first.context != last.context {
        return Err(Status::INVALID_HANDLE);
    }
    let (first, last) = (first.time()?, last.time()?);
    let seconds = last.saturating_duration_since(first).as_secs_f64();
    // Never none: programs divide by it, and repeat until it is enough.
    Ok((seconds * 1e3).max(1e-3) as f32)
}

fn create(flags: u32) -> Answer<Handle> {
    let context = current()?.handle;
    let is_timed = flags & DISABLE_TIMING == 0;
    let handle = reserve();
    let event = Event {
        handle,
        context,
        is_timed,
        number: recorded::number(),
        place: Mutex::default(),
    };
    keep_as(handle, Event::object(event.into()));
    Ok(handle)
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::Out;

    driver! {
        fn cuEventCreate(to: Out<Handle>, flags: u32) { to.check()?; to.put(create(flags)?) }
        fn cuEventDestroy_v2(event: Handle) { end::<Event>(event).map(drop) }
        fn cuEventRecord | cuEventRecord_ptsz(event: Handle, stream: Handle) { record(event, stream, 0) }
        fn cuEventRecordWithFlags | cuEventRecordWithFlags_ptsz(event: Handle, stream: Handle, flags: u32) { record(event, stream, flags) }
        fn cuEventSynchronize(event: Handle) { look::<Event>(event)?.admitted()?.wait_on_host() }
        fn cuEventQuery(event: Handle) { look::<Event>(event)?.admitted()?.query() }
        fn cuEventElapsedTime(to: Out<f32>, first: Handle, last: Handle) { to.put(elapsed(first, last)?) }
        fn cuEventElapsedTime_v2(to: Out<f32>, first: Handle, last: Handle) { to.put(elapsed(first, last)?) }
        fn cuStreamWaitEvent | cuStreamWaitEvent_ptsz(stream: Handle, event: Handle, flags: u32) { wait(stream, event, flags) }
    }
}
