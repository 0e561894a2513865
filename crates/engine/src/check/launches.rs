//! The launches that are not yet before everything, by number and by stream.
//!
//! A stream's operations come after one another, so what is before an operation, or before all that is yet to come,
//! is the beginning of each stream: however many launches the host has not waited for, a search finds the first that
//! is not.

use std::collections::{BTreeMap, VecDeque};

use super::access::LaunchId;
use super::chains::View;
use super::streams::Operation;

/// A launch, and what has begun since.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) id: LaunchId,
    pub(super) operation: Operation,
    pub(super) device: u32,
    pub(super) blocks_per_cluster: u64,
    pub(super) start: u32,
    /// Everything before this time was before it as it began.
    pub(super) floor: u32,
    /// The launch that it may have begun before the end of, and the time before which everything was before it then.
    pub(super) begun_beside: Option<(LaunchId, u32)>,
    /// Whether it has let launches begin that depend on it.
    pub(super) has_let_begin: bool,
    /// Its blocks' knowledge of others: everything after the launch has it.
    pub(super) known: View,
}

#[derive(Debug, Default)]
pub(super) struct Launches {
    /// By rising number, and so by rising start.
    by_number: BTreeMap<LaunchId, Launch>,
    /// Of each stream that has some, in its order.
    by_stream: BTreeMap<usize, VecDeque<Place>>,
    /// Those whose blocks have not all ended.
    running: Vec<LaunchId>,
}

/// Where a launch is in its stream.
#[derive(Debug)]
struct Place {
    tick: u32,
    id: LaunchId,
    /// When the first began of it and of those behind it.
    start: u32,
}

impl Launches {
    /// Another launch, which runs.
    pub(super) fn begin(&mut self, launch: Launch) {
        let (stream, tick) = launch.operation.place();
        let places = self.by_stream.entry(stream).or_default();
        // The last, unless threads have begun theirs in another order than they have enqueued them.
        let at = places.partition_point(|place| place.tick < tick);
        let behind = places.get(at).map_or(launch.start, |place| place.start);
        let place = Place {
            tick,
            id: launch.id,
            start: launch.start.min(behind),
        };
        places.insert(at, place);
        self.running.push(launch.id);
        self.by_number.insert(launch.id, launch);
    }

    /// All its blocks have ended.
    pub(super) fn end(&mut self, id: LaunchId) {
        self.running.retain(|running| *running != id);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }

    pub(super) fn are_running(&self) -> bool {
        !self.running.is_empty()
    }

    pub(super) fn get(&self, id: LaunchId) -> Option<&Launch> {
        self.by_number.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: LaunchId) -> Option<&mut Launch> {
        self.by_number.get_mut(&id)
    }

    /// All, by rising number.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Launch> {
        self.by_number.values()
    }

    /// When the first of all began.
    pub(super) fn first_start(&self) -> Option<u32> {
        let (_, first) = self.by_number.first_key_value()?;
        Some(first.start)
    }

    /// When the first began that the operation is not after.
    pub(super) fn first_start_unordered(&self, operation: &Operation) -> Option<u32> {
        let first = |(stream, places): (&usize, &VecDeque<Place>)| {
            let done = operation.done_of(*stream);
            let at = places.partition_point(|place| place.tick <= done);
            places.get(at).map(|place| place.start)
        };
        self.by_stream.iter().filter_map(first).min()
    }

    /// The launch in front of an operation that may begin beside it, if it is one that lets it.
    pub(super) fn beside(&self, operation: &Operation) -> Option<&Launch> {
        let (stream, tick) = operation.overlapped()?;
        let places = self.by_stream.get(&stream)?;
        let at = places
            .binary_search_by_key(&tick, |place| place.tick)
            .ok()?;
        self.get(places[at].id).filter(|it| it.has_let_begin)
    }

    /// Forgets launches that are before all that is yet to come, an operation being the latest, and before all that runs: one that
    /// began beside another may go on when that has been waited for. `forgotten` is given each.
    pub(super) fn forget_everyones(
        &mut self,
        operation: &Operation,
        mut forgotten: impl FnMut(&Launch),
    ) {
        let running = self.running.iter().filter_map(|id| self.by_number.get(id));
        let running: Vec<Operation> = running.map(|launch| launch.operation.clone()).collect();
        let by_number = &mut self.by_number;
        self.by_stream.retain(|stream, places| {
            let done = operation.everyones_of(*stream);
            let of_running = running.iter().map(|it| it.before_in(*stream));
            let done = of_running.fold(done, u32::min);
            while let Some(place) = places.pop_front_if(|place| place.tick <= done) {
                by_number.remove(&place.id).iter().for_each(&mut forgotten);
            }
            !places.is_empty()
        });
    }

    /// Forgets the oldest of those that have ended, but for so many.
    pub(super) fn forget_oldest(&mut self, kept: usize) {
        while self.by_number.len() > kept + self.running.len() {
            let mut ended = self.by_number.keys();
            let oldest = ended.find(|id| !self.running.contains(id)).copied();
            let Some(launch) = oldest.and_then(|id| self.by_number.remove(&id)) else {
                return;
            };
            let (stream, tick) = launch.operation.place();
            if let Some(places) = self.by_stream.get_mut(&stream) {
                let at = places.binary_search_by_key(&tick, |place| place.tick);
                at.ok().and_then(|at| places.remove(at));
                if places.is_empty() {
                    self.by_stream.remove(&stream);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::streams::Streams;
    use super::*;

    fn begin(launches: &mut Launches, number: u32, operation: Operation) {
        launches.begin(Launch {
            id: LaunchId(number),
            operation,
            device: 0,
            blocks_per_cluster: 1,
            start: 10 * number,
            floor: 0,
            begun_beside: None,
            has_let_begin: false,
            known: View::default(),
        });
    }

    fn numbers(launches: &Launches) -> Vec<u32> {
        launches.iter().map(|launch| launch.id.0).collect()
    }

    #[test]
    fn what_an_event_leaves_unordered_begins_behind_it() {
        let (mut launches, mut streams) = (Launches::default(), Streams::default());
        let [first, second] = [streams.stream(), streams.stream()];
        begin(&mut launches, 1, streams.enqueue(first));
        let event = streams.record(first);
        begin(&mut launches, 2, streams.enqueue(first));
        let unordered = |operation: &Operation| launches.first_start_unordered(operation);
        assert_eq!(unordered(&streams.enqueue(second)), Some(10));
        streams.wait(second, &event);
        assert_eq!(unordered(&streams.enqueue(second)), Some(20));
        assert_eq!(unordered(&streams.enqueue(first)), None);
    }

    #[test]
    fn launches_begin_in_another_order_than_they_were_enqueued() {
        let (mut launches, mut streams) = (Launches::default(), Streams::default());
        let [first, second] = [streams.stream(), streams.stream()];
        let before = streams.enqueue(first);
        let event = streams.record(first);
        begin(&mut launches, 1, streams.enqueue(first));
        begin(&mut launches, 2, before);
        let unordered = |operation: &Operation| launches.first_start_unordered(operation);
        assert_eq!(unordered(&streams.enqueue(second)), Some(10));
        streams.wait(second, &event);
        assert_eq!(unordered(&streams.enqueue(second)), Some(10));
    }

    #[test]
    fn what_the_host_has_waited_for_is_forgotten_but_not_before_what_runs_beside_it() {
        let (mut launches, mut streams) = (Launches::default(), Streams::default());
        let [first, second] = [streams.stream(), streams.stream()];
        begin(&mut launches, 1, streams.enqueue(first));
        begin(&mut launches, 2, streams.enqueue(second));
        begin(&mut launches, 3, streams.enqueue(first));
        launches.end(LaunchId(1));
        launches.end(LaunchId(3));
        streams.synchronise(first);
        launches.forget_everyones(&streams.host(), |_| ());
        assert_eq!(numbers(&launches), [1, 2, 3]);
        launches.end(LaunchId(2));
        launches.forget_everyones(&streams.host(), |_| ());
        assert_eq!(numbers(&launches), [2]);
        streams.synchronise(second);
        launches.forget_everyones(&streams.host(), |_| ());
        assert!(launches.is_empty());
    }

    #[test]
    fn the_oldest_goes_but_for_what_runs() {
        let (mut launches, mut streams) = (Launches::default(), Streams::default());
        let stream = streams.stream();
        for number in 1..=5 {
            begin(&mut launches, number, streams.enqueue(stream));
        }
        for number in 2..=5 {
            launches.end(LaunchId(number));
        }
        launches.forget_oldest(2);
        assert_eq!(numbers(&launches), [1, 4, 5]);
        let other = streams.stream();
        let unordered = launches.first_start_unordered(&streams.enqueue(other));
        assert_eq!(unordered, Some(10));
    }
}
