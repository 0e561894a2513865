//! The order that the host makes: streams, events, waits.

use std::sync::Arc;

/// A stream, or the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream(usize);

/// The operations of a stream when the event was recorded.
#[derive(Clone, Debug)]
pub struct Event(Past);

/// A launch or a copy in a stream, or an access of the host, with all that is ordered before it.
#[derive(Clone, Debug)]
pub struct Operation {
    stream: usize,
    tick: u32,
    past: Past,
    /// The operations that the host had waited for: before all that follows, too.
    host: Past,
    /// Whether it may begin before the operation in front of it in its stream has ended.
    overlaps: bool,
}

/// Per stream, how many of its operations are known to be done.
#[derive(Clone, Debug, Default)]
struct Past(Arc<Vec<u32>>);

impl Past {
    fn of(&self, stream: usize) -> u32 {
        self.0.get(stream).copied().unwrap_or(0)
    }

    /// Whether all of the other is known to be done.
    fn has(&self, other: &Past) -> bool {
        (0..other.0.len()).all(|stream| other.of(stream) <= self.of(stream))
    }

    fn join(&mut self, other: &Past) {
        if !self.has(other) {
            let len = self.0.len().max(other.0.len());
            let both = (0..len).map(|stream| self.of(stream).max(other.of(stream)));
            self.0 = Arc::new(both.collect());
        }
    }

    fn tick(&mut self, stream: usize) -> u32 {
        let ticks = Arc::make_mut(&mut self.0);
        ticks.resize(ticks.len().max(stream + 1), 0);
        ticks[stream] += 1;
        ticks[stream]
    }
}

impl Operation {
    /// Whether the other operation is ordered before this one.
    pub fn is_after(&self, other: &Operation) -> bool {
        self.past.of(other.stream) >= other.tick
    }

    /// Its stream, and how many operations of that there are with it.
    pub(super) fn place(&self) -> (usize, u32) {
        (self.stream, self.tick)
    }

    /// The place of the operation that it may begin before the end of.
    pub(super) fn overlapped(&self) -> Option<(usize, u32)> {
        self.overlaps.then_some((self.stream, self.tick - 1))
    }

    /// How many operations of a stream are ordered before this one, which counts itself.
    pub(super) fn done_of(&self, stream: usize) -> u32 {
        self.past.of(stream)
    }

    /// How many operations of a stream are ordered before this one.
    pub(super) fn before_in(&self, stream: usize) -> u32 {
        self.past.of(stream) - u32::from(stream == self.stream)
    }

    /// How many operations of a stream are ordered before all that is yet to come.
    pub(super) fn everyones_of(&self, stream: usize) -> u32 {
        self.host.of(stream)
    }
}

/// The order of a device's operations. Each method is one call of the host's, in its order.
#[derive(Debug)]
pub struct Streams {
    /// The host is the first.
    pasts: Vec<Past>,
    /// Streams that nobody has any more.
    ended: Vec<usize>,
}

const HOST: usize = 0;

/// Destroyed streams that are looked at for another: nobody waits for those of launches that have failed, and they add up.
const RECENT: usize = 32;

impl Default for Streams {
    fn default() -> Streams {
        Streams {
            pasts: vec![Past::default()],
            ended: Vec::new(),
        }
    }
}

impl Streams {
    /// Another stream.
    pub fn stream(&mut self) -> Stream {
        let is_known = |&stream: &usize| self.pasts[HOST].has(&self.pasts[stream]);
        let recent = self.ended.len().saturating_sub(RECENT);
        if let Some(place) = self.ended[recent..].iter().rposition(is_known) {
            return Stream(self.ended.swap_remove(recent + place));
        }
        self.pasts.push(Past::default());
        Stream(self.pasts.len() - 1)
    }

    /// The stream is destroyed. Another takes its place once the host has waited for all of it: what that
    /// does comes after it anyway.
    pub fn end(&mut self, stream: Stream) {
        self.ended.push(stream.0);
    }

    /// A launch, or an asynchronous copy, is enqueued.
    pub fn enqueue(&mut self, stream: Stream) -> Operation {
        let host = self.pasts[HOST].clone();
        self.pasts[stream.0].join(&host);
        self.operation(stream.0)
    }

    /// A launch is enqueued that may begin when the one in front of it says so.
    pub fn enqueue_overlapping(&mut self, stream: Stream) -> Operation {
        Operation {
            overlaps: true,
            ..self.enqueue(stream)
        }
    }

    /// The host itself reads or writes memory that kernels reach.
    pub fn host(&mut self) -> Operation {
        self.operation(HOST)
    }

    /// An event is recorded in a stream.
    pub fn record(&mut self, stream: Stream) -> Event {
        let host = self.pasts[HOST].clone();
        self.pasts[stream.0].join(&host);
        Event(self.pasts[stream.0].clone())
    }

    /// Makes all that is enqueued from now on wait for the event.
    pub fn wait(&mut self, stream: Stream, event: &Event) {
        self.pasts[stream.0].join(&event.0);
    }

    /// The host waits for the event.
    pub fn wait_on_host(&mut self, event: &Event) {
        self.pasts[HOST].join(&event.0);
    }

    /// The host waits for a stream.
    pub fn synchronise(&mut self, stream: Stream) {
        let past = self.pasts[stream.0].clone();
        self.pasts[HOST].join(&past);
    }

    /// The host waits for the device.
    pub fn synchronise_all(&mut self) {
        for stream in 1..self.pasts.len() {
            self.synchronise(Stream(stream));
        }
    }

    fn operation(&mut self, stream: usize) -> Operation {
        let tick = self.pasts[stream].tick(stream);
        Operation {
            stream,
            tick,
            past: self.pasts[stream].clone(),
            host: self.pasts[HOST].clone(),
            overlaps: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_the_host_has_waited_for_are_taken_again() {
        let mut streams = Streams::default();
        for _ in 0..1000 {
            let stream = streams.stream();
            streams.enqueue(stream);
            streams.synchronise(stream);
            streams.end(stream);
        }
        assert_eq!(streams.pasts.len(), 2);
    }

    #[test]
    fn a_stream_is_not_after_one_that_still_runs() {
        let mut streams = Streams::default();
        let first = streams.stream();
        let before = streams.enqueue(first);
        streams.end(first);
        let other = streams.stream();
        assert!(!streams.enqueue(other).is_after(&before));
        // Nor one that took over what another waited for.
        let waiting = streams.stream();
        let event = streams.record(other);
        streams.wait(waiting, &event);
        streams.end(waiting);
        let third = streams.stream();
        assert!(!streams.enqueue(third).is_after(&before));
        assert_eq!(streams.pasts.len(), 5);
    }
}
