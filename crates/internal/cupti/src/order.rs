//! Calls that order work: what they wait for is told by their arguments, so that CUPTI's records of it, which cost each
//! launch, are not needed.

use std::ffi::c_void;

use crate::activity::StreamId;
use crate::library::Functions;

/// A wait, or an event put into a stream, by a call. Events are the program's handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The host waits for a context.
    Context(u32),
    /// The host waits for a stream.
    Stream(StreamId),
    /// The host waits for an event, in this context.
    Event(u64, u32),
    /// A stream waits for an event.
    StreamOnEvent(StreamId, u64),
    /// An event is put into a stream.
    Record(u64, StreamId),
}

/// Which of them a function is; the arguments of driver and runtime are in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Context,
    Stream,
    Event,
    StreamOnEvent,
    Record,
}

impl Kind {
    pub(crate) fn of(name: &str) -> Option<Kind> {
        let is = |part: &str| name.contains(part);
        match () {
            () if is("DeviceSynchronize") || is("CtxSynchronize") => Some(Kind::Context),
            () if is("StreamSynchronize") => Some(Kind::Stream),
            () if is("EventSynchronize") => Some(Kind::Event),
            () if is("StreamWaitEvent") => Some(Kind::StreamOnEvent),
            () if is("EventRecord") => Some(Kind::Record),
            () => None,
        }
    }

    /// Reads the order that a call of such a function makes; `None` where CUPTI does not know the stream.
    ///
    /// # Safety
    /// `arguments` are those of the call, which has succeeded, and `context` is the current one.
    pub(crate) unsafe fn read(
        self,
        functions: &Functions,
        (context, number): (*mut c_void, u32),
        arguments: *const *mut c_void,
        has_own_default: bool,
    ) -> Option<Order> {
        // SAFETY: the functions of a kind have as many arguments as are asked for; each is in a place of 8 bytes.
        let argument = |index: usize| unsafe { *arguments.add(index) };
        let event = |index| argument(index).addr() as u64;
        let stream = |index| {
            let mut stream = 0;
            // SAFETY: the call has succeeded with this stream in this context; the last is a place to write to.
            let answer = unsafe {
                (functions.stream_id)(
                    context,
                    argument(index),
                    has_own_default.into(),
                    &mut stream,
                )
            };
            (answer == 0).then_some(StreamId {
                context: number,
                stream,
            })
        };
        Some(match self {
            Kind::Context => Order::Context(number),
            Kind::Stream => Order::Stream(stream(0)?),
            Kind::Event => Order::Event(event(0), number),
            Kind::StreamOnEvent => Order::StreamOnEvent(stream(0)?, event(1)),
            Kind::Record => Order::Record(event(0), stream(1)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_order_work_are_known_by_their_names() {
        for (name, kind) in [
            ("cudaDeviceSynchronize_v3020", Some(Kind::Context)),
            ("cuCtxSynchronize", Some(Kind::Context)),
            ("cudaStreamSynchronize_ptsz_v7000", Some(Kind::Stream)),
            ("cuEventSynchronize", Some(Kind::Event)),
            ("cudaStreamWaitEvent_v3020", Some(Kind::StreamOnEvent)),
            ("cudaEventRecordWithFlags_v11010", Some(Kind::Record)),
            ("cudaLaunchKernel_v7000", None),
        ] {
            assert_eq!(Kind::of(name), kind, "{name}");
        }
    }
}
