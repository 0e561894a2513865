//! Events, and what waits for them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use cupti::Order;
use recorder::Recorder;
use recording::{Event, Record, Synchronization, Synchronized};

/// How often each event was put into a stream: by its handle, which another event may have later.
#[derive(Debug, Default)]
pub(crate) struct Events(Mutex<HashMap<u64, u64>>);

impl Events {
    /// Writes what a call has ordered.
    pub(crate) fn tell(
        &self,
        recorder: &Recorder,
        correlation: u32,
        order: Order,
        (start, end): (u64, u64),
    ) {
        let (on, context) = match order {
            Order::Context(context) => (Synchronized::Context, context),
            Order::Stream(stream) => (Synchronized::Stream(stream.stream), stream.context),
            Order::Event(handle, context) => {
                let (event, recording) = (number(handle), self.last(handle));
                (Synchronized::Event { event, recording }, context)
            }
            Order::StreamOnEvent(stream, handle) => {
                let on = Synchronized::StreamOnEvent {
                    stream: stream.stream,
                    event: number(handle),
                    recording: self.last(handle),
                };
                (on, stream.context)
            }
            Order::Record(handle, stream) => {
                return recorder.write(&Record::Event(Event {
                    event: number(handle),
                    recording: self.next(handle),
                    context: stream.context,
                    stream: stream.stream,
                    correlation,
                }));
            }
        };
        recorder.write(&Record::Synchronization(Synchronization {
            on,
            context,
            correlation,
            start,
            end,
        }));
    }

    fn next(&self, handle: u64) -> u64 {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(handle).or_default();
        *count += 1;
        *count
    }

    fn last(&self, handle: u64) -> u64 {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&handle).copied().unwrap_or(0)
    }
}

/// A handle is an address of 16 bytes at least.
fn number(handle: u64) -> u32 {
    (handle >> 4) as u32
}
