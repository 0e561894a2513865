//! The activities of each stream, found by time.

use std::collections::BTreeMap;

use super::model::{Activity, StreamId};

/// The activities of each stream of a process.
#[derive(Clone, Debug, Default)]
pub struct Streams(BTreeMap<StreamId, Stream>);

/// Numbers of activities by their starts, and for each the latest end of those up to it.
#[derive(Clone, Debug, Default)]
struct Stream {
    activities: Vec<usize>,
    ends: Vec<u64>,
}

impl Streams {
    /// Of activities by their starts.
    pub(super) fn of(activities: &[Activity]) -> Streams {
        let mut streams: BTreeMap<StreamId, Stream> = BTreeMap::new();
        for (index, activity) in activities.iter().enumerate() {
            let stream = streams.entry(activity.stream).or_default();
            let latest = stream.ends.last().copied().unwrap_or_default();
            stream.activities.push(index);
            stream.ends.push(latest.max(activity.end));
        }
        Streams(streams)
    }

    /// The streams, in order.
    pub fn ids(&self) -> impl Iterator<Item = StreamId> {
        self.0.keys().copied()
    }

    /// The activities of a stream, by their starts.
    pub fn activities(&self, stream: StreamId) -> &[usize] {
        self.0.get(&stream).map_or(&[], |it| &it.activities)
    }

    /// The activities of a stream that run between these times, by their starts.
    pub fn between(
        &self,
        all: &[Activity],
        stream: StreamId,
        (start, end): (u64, u64),
    ) -> impl Iterator<Item = usize> {
        let (activities, first) = match self.0.get(&stream) {
            Some(it) => (
                &it.activities[..],
                it.ends.partition_point(|&it| it <= start),
            ),
            None => (&[][..], 0),
        };
        let own = activities[first..].iter().copied();
        let own = own.take_while(move |&it| all[it].start < end);
        own.filter(move |&it| all[it].end > start)
    }
}
