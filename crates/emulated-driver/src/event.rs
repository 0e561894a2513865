//! Events: places in streams, and their times.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use engine::check;
use recording::Synchronized;

use crate::capture;
use crate::context::{self, current};
use crate::graph::{Graph, Node};
use crate::handles::{Handle, end, keep, lock, look};
use crate::order;
use crate::recorded;
use crate::status::{Answer, Status};
use crate::stream::{self, Stream};

/// An event.
pub(crate) struct Event {
    pub(crate) context: Handle,
    is_timed: bool,
    /// By what recordings name it.
    number: u32,
    place: Mutex<Option<Place>>,
}

/// Where an event was recorded last.
#[derive(Clone)]
pub(crate) enum Place {
    /// In a stream: nothing is known of the order where launches are not checked.
    Stream {
        order: Option<check::Event>,
        at: Instant,
        /// Which of all recordings of events it is.
        recording: u64,
    },
    /// In a stream that captures: in the graph, behind nodes.
    Graph {
        graph: Arc<Graph>,
        after: Vec<Arc<Node>>,
    },
}

const DISABLE_TIMING: u32 = 2;

impl Event {
    fn place(&self) -> Option<Place> {
        lock(&self.place).clone()
    }

    /// Records it in a stream.
    pub(crate) fn record(&self, stream: &Stream) -> Answer {
        let place = match capture::place_in(stream) {
            Some(place) => place,
            None => self.now(&stream.lane()),
        };
        self.set(place);
        Ok(())
    }

    /// The place of all that a lane has done until now.
    pub(crate) fn now(&self, lane: &order::Lane) -> Place {
        let order = order::if_checked().map(|mut known| {
            lane.settle(&mut known);
            known.streams.record(lane.order)
        });
        Place::Stream {
            order,
            at: Instant::now(),
            recording: recorded::event(self.number, lane.place),
        }
    }

    pub(crate) fn set(&self, place: Place) {
        *lock(&self.place) = Some(place);
    }

    /// Makes a stream's later work wait for it.
    fn wait_in(&self, stream: &Arc<Stream>) -> Answer {
        match self.place() {
            None => Ok(()),
            Some(Place::Stream {
                order, recording, ..
            }) => {
                let (event, place) = (self.number, stream.place());
                let on = Synchronized::StreamOnEvent {
                    stream: place.stream,
                    event,
                    recording,
                };
                recorded::wait(place.context, on);
                if let (Some(order), Some(mut known)) = (order, order::if_checked()) {
                    known.streams.wait(stream.lane_alone(), &order);
                }
                Ok(())
            }
            Some(Place::Graph { graph, after }) => capture::join(stream, graph, after),
        }
    }

    /// The host waits for it.
    fn wait_on_host(&self) -> Answer {
        match self.place() {
            Some(Place::Graph { .. }) => Err(Status::CAPTURED_EVENT),
            Some(Place::Stream {
                order, recording, ..
            }) => {
                let event = self.number;
                let on = Synchronized::Event { event, recording };
                recorded::wait(context::number(self.context), on);
                if let (Some(order), Some(mut known)) = (order, order::if_checked()) {
                    known.streams.wait_on_host(&order);
                }
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn time(&self) -> Answer<Instant> {
        match self.place() {
            Some(Place::Stream { at, .. }) if self.is_timed => Ok(at),
            _ => Err(Status::INVALID_HANDLE),
        }
    }
}

fn elapsed(first: Handle, last: Handle) -> Answer<f32> {
    let first = look::<Event>(first)?.time()?;
    let last = look::<Event>(last)?.time()?;
    let seconds = last.saturating_duration_since(first).as_secs_f64();
    // Never none: programs divide by it, and repeat until it is enough.
    Ok((seconds * 1e3).max(1e-3) as f32)
}

fn create(flags: u32) -> Answer<Handle> {
    let context = current()?.handle;
    let is_timed = flags & DISABLE_TIMING == 0;
    Ok(keep(Event {
        context,
        is_timed,
        number: recorded::number(),
        place: Mutex::default(),
    }))
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::Out;

    driver! {
        fn cuEventCreate(to: Out<Handle>, flags: u32) { to.check()?; to.put(create(flags)?) }
        fn cuEventDestroy_v2(event: Handle) { end::<Event>(event).map(drop) }
        fn cuEventRecord | cuEventRecord_ptsz(event: Handle, stream: Handle) { look::<Event>(event)?.record(&*stream::of(stream)?) }
        fn cuEventRecordWithFlags | cuEventRecordWithFlags_ptsz(event: Handle, stream: Handle, _flags: u32) {
            look::<Event>(event)?.record(&*stream::of(stream)?)
        }
        fn cuEventSynchronize(event: Handle) { look::<Event>(event)?.wait_on_host() }
        // A program relies on "done" as on a wait.
        fn cuEventQuery(event: Handle) { look::<Event>(event)?.wait_on_host() }
        fn cuEventElapsedTime(to: Out<f32>, first: Handle, last: Handle) { to.put(elapsed(first, last)?) }
        fn cuEventElapsedTime_v2(to: Out<f32>, first: Handle, last: Handle) { to.put(elapsed(first, last)?) }
        fn cuStreamWaitEvent | cuStreamWaitEvent_ptsz(stream: Handle, event: Handle, _flags: u32) {
            look::<Event>(event)?.wait_in(&stream::of(stream)?)
        }
    }
}
