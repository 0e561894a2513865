//! Waits of the host: for each call that blocked, what it waited for.
//!
//! A call waits for work of a device that was put into a stream before it. Each moment of the call goes to the work that
//! ran then, and what is left is the host's own: to wake up, to copy pageable memory, to make the call.

use std::collections::{BTreeMap, HashMap};

use recording::{Memory, Synchronized};

use super::function::{Purpose, is_asynchronous};
use super::model::{Call, EventRecord, Process, StreamId, Synchronization, Work};

/// A call that blocked.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The call.
    pub call: usize,
    /// The work that it waited for, and for how many nanoseconds. Of emulated devices there are no times.
    pub parts: Vec<(usize, u64)>,
    /// Nanoseconds of the call's own copies or fills.
    pub own: u64,
    /// Nanoseconds in which no such work ran.
    pub rest: u64,
}

/// The waits of a process, in the order of its calls.
pub fn waits(process: &Process) -> Vec<Wait> {
    let mut finder = Finder::new(process);
    let calls = 0..process.calls.len();
    calls.filter_map(|call| finder.wait(call)).collect()
}

/// The work that a call may wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// That which was put into this stream by calls before this one.
    Stream(StreamId, usize),
    /// All of these streams.
    Streams(Vec<StreamId>),
}

pub(super) struct Finder<'p> {
    process: &'p Process,
    own: HashMap<usize, Vec<usize>>,
    synchronizations: HashMap<usize, Vec<&'p Synchronization>>,
    /// The recordings of each event, by their calls.
    events: HashMap<u32, Vec<&'p EventRecord>>,
    /// Of each stream, how many activities earlier waits have seen.
    seen: BTreeMap<StreamId, usize>,
}

impl<'p> Finder<'p> {
    pub(super) fn new(process: &'p Process) -> Finder<'p> {
        let mut own: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, activity) in process.activities.iter().enumerate() {
            if let Some(call) = activity.call {
                own.entry(call).or_default().push(index);
            }
        }
        let mut synchronizations: HashMap<usize, Vec<&Synchronization>> = HashMap::new();
        for synchronization in &process.synchronizations {
            if !matches!(synchronization.on, Synchronized::StreamOnEvent { .. }) {
                let all = synchronizations.entry(synchronization.call).or_default();
                all.push(synchronization);
            }
        }
        let mut events: HashMap<u32, Vec<&EventRecord>> = HashMap::new();
        for record in &process.events {
            events.entry(record.event).or_default().push(record);
        }
        for records in events.values_mut() {
            records.sort_by_key(|it| it.call);
        }
        Finder {
            process,
            own,
            synchronizations,
            events,
            seen: BTreeMap::new(),
        }
    }

    fn wait(&mut self, call: usize) -> Option<Wait> {
        if !self.is_wait(call) {
            return None;
        }
        let targets = self.targets(call);
        match self.process.is_emulated {
            true => Some(self.ordered(call, &targets)),
            false => Some(self.timed(call, &targets)),
        }
    }

    /// Whether the call blocked the host.
    pub(super) fn is_wait(&self, call: usize) -> bool {
        let it = &self.process.calls[call];
        let is_synchronized = self.synchronizations.contains_key(&call);
        match it.purpose {
            Purpose::Wait => true,
            Purpose::Copy => is_synchronized || self.is_blocking_copy(call),
            Purpose::Fill => is_synchronized,
            Purpose::Allocation | Purpose::Release | Purpose::Loading => {
                is_synchronized || self.lets_the_device_end(it)
            }
            Purpose::Launch | Purpose::Order | Purpose::Other => false,
        }
    }

    /// For a call that blocks, the last work of each stream that it waits for.
    pub(super) fn awaited(&self, call: usize) -> Vec<usize> {
        let targets = self.targets(call).into_iter();
        let awaited = targets.flat_map(|it| match it {
            Target::Stream(stream, until) => vec![(stream, until)],
            Target::Streams(all) => all.into_iter().map(|it| (it, call)).collect(),
        });
        awaited
            .filter_map(|(stream, until)| self.last(stream, until))
            .collect()
    }

    /// The last work that this call or an earlier one has put into a stream.
    pub(super) fn last(&self, stream: StreamId, call: usize) -> Option<usize> {
        let all = self.process.streams.activities(stream);
        let activities = &self.process.activities;
        let is_earlier = |it: &usize| activities[*it].call.is_none_or(|it| it <= call);
        all[..all.partition_point(is_earlier)].last().copied()
    }

    /// The work that the call has put into streams.
    pub(super) fn own(&self, call: usize) -> &[usize] {
        self.own.get(&call).map_or(&[], |it| it)
    }

    /// Whether the host goes on only when the copy is done: one of pageable memory, or by a function that is not
    /// asynchronous. Some return earlier all the same, when the bytes are in a buffer of the driver.
    fn is_blocking_copy(&self, call: usize) -> bool {
        let it = &self.process.calls[call];
        let own = self.own(call);
        own.iter().any(|&index| {
            let activity = &self.process.activities[index];
            let Work::Copy { from, to, .. } = activity.work else {
                return false;
            };
            let is_pageable = [from, to].contains(&Memory::Pageable);
            let is_on_device = [from, to] == [Memory::Device; 2];
            let may_block = is_pageable || !is_asynchronous(&it.function);
            let has_blocked = self.process.is_emulated || it.end >= activity.end;
            may_block && !is_on_device && has_blocked
        })
    }

    /// Whether the device was at work for most of the call, and had nothing more to do at its end.
    fn lets_the_device_end(&self, call: &Call) -> bool {
        if self.process.is_emulated {
            return false;
        }
        let time = (call.start, call.end);
        let (mut last, mut covered) = (0, 0);
        for stream in self.process.streams.ids() {
            let all = &self.process.activities;
            let mut until = call.start;
            for index in self.process.streams.between(all, stream, time) {
                let end = all[index].end;
                covered += end
                    .min(call.end)
                    .saturating_sub(all[index].start.max(until));
                until = until.max(end);
                last = last.max(end);
            }
        }
        last <= call.end && 2 * covered > call.took()
    }

    /// The work that the call waits for, other than its own.
    fn targets(&self, call: usize) -> Vec<Target> {
        let streams = &self.process.streams;
        let of_context = |context: u32| {
            let own = streams.ids().filter(move |it| it.context == context);
            Target::Streams(own.collect())
        };
        let synchronizations = self.synchronizations.get(&call);
        let of_synchronizations = synchronizations
            .into_iter()
            .flatten()
            .map(|it| match it.on {
                Synchronized::Stream(stream) => Target::Stream(
                    StreamId {
                        context: it.context,
                        stream,
                    },
                    call,
                ),
                Synchronized::Event { event, recording } => self
                    .event(event, recording, call)
                    .unwrap_or_else(|| of_context(it.context)),
                Synchronized::Context | Synchronized::StreamOnEvent { .. } => {
                    of_context(it.context)
                }
            });
        let mut targets: Vec<Target> = of_synchronizations.collect();
        let own = self.own(call).iter();
        targets.extend(own.map(|&it| Target::Stream(self.process.activities[it].stream, call)));
        if targets.is_empty() {
            targets.push(Target::Streams(streams.ids().collect()));
        }
        targets
    }

    /// The work in front of an event, as it was when this call was made.
    pub(super) fn event(&self, event: u32, recording: u64, call: usize) -> Option<Target> {
        let records = self.events.get(&event)?;
        let earlier = &records[..records.partition_point(|it| it.call < call)];
        let is_it = |it: &&&EventRecord| recording == 0 || it.recording == recording;
        let record = earlier.iter().rfind(is_it)?;
        Some(Target::Stream(record.stream, record.call))
    }

    /// The wait with the time of each part.
    fn timed(&self, call: usize, targets: &[Target]) -> Wait {
        let it = &self.process.calls[call];
        let activities = &self.process.activities;
        let streams = &self.process.streams;
        let within = (it.start, it.end);
        let mut concerned: Vec<usize> = Vec::new();
        for target in targets {
            match target {
                Target::Stream(stream, until) => {
                    let between = streams.between(activities, *stream, within);
                    let is_earlier =
                        |it: &usize| activities[*it].call.is_none_or(|it| it <= *until);
                    concerned.extend(between.filter(is_earlier));
                }
                Target::Streams(all) => {
                    for &stream in all {
                        let between = streams.between(activities, stream, within);
                        let is_earlier =
                            |it: &usize| activities[*it].call.is_none_or(|it| it <= call);
                        concerned.extend(between.filter(is_earlier));
                    }
                }
            }
        }
        concerned.sort_unstable();
        concerned.dedup();
        let mut parts = Vec::new();
        let mut time = it.start;
        for &index in &concerned {
            let activity = &activities[index];
            // The stream may have waited for work of another.
            self.of_others(call, (time, activity.start.min(it.end)), &mut parts);
            time = time.max(activity.start);
            let end = activity.end.min(it.end);
            if end > time {
                parts.push((index, end - time));
                time = end;
            }
        }
        let sum: u64 = parts.iter().map(|(_, took)| took).sum();
        let own = self.own(call);
        let of_own = parts.iter().filter(|(index, _)| own.contains(index));
        let own_time = of_own.map(|(_, took)| took).sum();
        parts.retain(|(index, _)| !own.contains(index));
        Wait {
            call,
            parts,
            own: own_time,
            rest: it.took().saturating_sub(sum),
        }
    }

    /// The work of any stream between these times.
    fn of_others(&self, call: usize, (start, end): (u64, u64), parts: &mut Vec<(usize, u64)>) {
        let activities = &self.process.activities;
        let streams = &self.process.streams;
        let all = streams
            .ids()
            .flat_map(|it| streams.between(activities, it, (start, end)));
        let mut all: Vec<usize> = all
            .filter(|&it| activities[it].call.is_none_or(|it| it < call))
            .collect();
        all.sort_unstable();
        let mut time = start;
        for index in all {
            let activity = &activities[index];
            let from = time.max(activity.start);
            let until = activity.end.min(end);
            if until > from {
                parts.push((index, until - from));
                time = until;
            }
        }
    }

    /// The wait with the work that no earlier one has waited for.
    fn ordered(&mut self, call: usize, targets: &[Target]) -> Wait {
        let activities = &self.process.activities;
        let own = self.own(call).to_vec();
        let mut parts = Vec::new();
        for target in targets {
            let (streams, until) = match target {
                Target::Stream(stream, until) => (vec![*stream], *until),
                Target::Streams(streams) => (streams.clone(), call),
            };
            for stream in streams {
                let seen = self.seen.entry(stream).or_default();
                let of_stream = &self.process.streams.activities(stream)[*seen..];
                let is_earlier = |it: &&usize| activities[**it].call.is_none_or(|it| it <= until);
                let earlier: Vec<usize> =
                    of_stream.iter().take_while(is_earlier).copied().collect();
                *seen += earlier.len();
                let others = earlier.into_iter().filter(|it| !own.contains(it));
                parts.extend(others.map(|it| (it, 0)));
            }
        }
        Wait {
            call,
            parts,
            own: 0,
            rest: 0,
        }
    }
}
