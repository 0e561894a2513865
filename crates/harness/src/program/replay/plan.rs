//! The plan of a replay: the steps of the host's threads, and the work of the devices.

use std::collections::{BTreeMap, HashMap};

use recording::{Memory, Synchronized};

use super::super::function::Purpose;
use super::super::model::{Activity, Process, StreamId, Work as Kind};
use super::super::wait::{Finder, Target};
use super::run::run;

/// A program that is run again.
#[derive(Clone, Debug)]
pub(in crate::program) struct Plan {
    pub(super) threads: Vec<Thread>,
    pub(super) works: Vec<Work>,
    /// How many streams there are.
    pub(super) streams: usize,
    /// Whether an engine has one work at a time.
    pub(super) is_exclusive: [bool; Engine::COUNT],
}

/// A thread of the host.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) steps: Vec<Step>,
    /// Nanoseconds from its last call to the process's end.
    pub(super) tail: u64,
}

/// Time of the host's own, and then a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// The recorded call; `None` where a change has put the step here.
    pub(super) call: Option<usize>,
    /// Nanoseconds from the end of the step before.
    pub(super) gap: u64,
    /// Nanoseconds that the call takes, where it waits those after the end of what it waits for.
    pub(super) cost: u64,
    /// Work that it puts into streams.
    pub(super) works: Vec<usize>,
    /// Work that it waits for.
    pub(super) awaits: Vec<usize>,
    /// Streams that it makes wait for work of others.
    pub(super) stream_waits: Vec<(usize, Vec<usize>)>,
}

/// Work of a device.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) stream: usize,
    pub(super) engine: Engine,
    /// Nanoseconds that it takes.
    pub(super) took: u64,
    /// Nanoseconds from its call to the earliest begin.
    pub(super) latency: u64,
    /// Nanoseconds after the work in front of it; less than 0 for nodes of a graph that run at once.
    pub(super) gap: i64,
}

/// A part of a device that has its own work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    Kernels,
    ToDevice,
    ToHost,
    OnDevice,
}

impl Engine {
    pub(super) const COUNT: usize = 4;

    pub(super) fn of(work: &Kind) -> Engine {
        let is_host = |it: &Memory| matches!(it, Memory::Pageable | Memory::Pinned);
        match work {
            Kind::Kernel { .. } => Engine::Kernels,
            Kind::Copy { from, .. } if is_host(from) => Engine::ToDevice,
            Kind::Copy { to, .. } if is_host(to) => Engine::ToHost,
            Kind::Copy { .. } | Kind::Fill { .. } => Engine::OnDevice,
        }
    }
}

impl Plan {
    /// That which was recorded.
    pub(in crate::program) fn of(process: &Process) -> Plan {
        let finder = Finder::new(process);
        let ids: Vec<StreamId> = process.streams.ids().collect();
        let stream = |id: StreamId| ids.binary_search(&id).unwrap_or_default();
        let stream_waits = stream_waits(process, &finder);
        let is_exclusive = exclusive(process);
        let works = Works::of(process, &stream_waits, is_exclusive, &stream);
        let mut threads: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, call) in process.calls.iter().enumerate() {
            threads.entry(call.actor).or_default().push(index);
        }
        let typical_launch = typical_launch(process);
        let mut of_threads: Vec<Thread> = Vec::new();
        for calls in threads.into_values() {
            let mut time = process.start;
            let mut steps = Vec::new();
            for index in calls {
                let call = &process.calls[index];
                let awaits = match finder.is_wait(index) {
                    true => finder.awaited(index),
                    false => full_queue(process, &finder, index, typical_launch),
                };
                let until = awaits.iter().map(|&it| process.activities[it].end).max();
                let until = until.unwrap_or(call.start).clamp(call.start, call.end);
                let waits = stream_waits.get(&index).into_iter().flatten();
                steps.push(Step {
                    call: Some(index),
                    gap: call.start.saturating_sub(time),
                    cost: call.end - until,
                    works: finder.own(index).to_vec(),
                    awaits,
                    stream_waits: waits
                        .map(|(id, after)| (stream(*id), vec![*after]))
                        .collect(),
                });
                time = time.max(call.end);
            }
            let tail = process.end.saturating_sub(time);
            of_threads.push(Thread { steps, tail });
        }
        of_threads.extend(uncalled(process));
        // Only the last thread lasts until the process ends.
        let last = of_threads
            .iter()
            .map(|it| it.tail)
            .min()
            .unwrap_or_default();
        for thread in &mut of_threads {
            thread.tail = if thread.tail == last { last } else { 0 };
        }
        Plan {
            threads: of_threads,
            works,
            streams: ids.len(),
            is_exclusive,
        }
    }

    /// As it would be if nobody recorded it: each call takes less by what the recorder, and CUPTI, take for one.
    pub(in crate::program) fn without_recorder(&self, process: &Process) -> Plan {
        /// Nanoseconds that CUPTI takes for a call beside the recorder, which accounts for 0.7 us: a launch takes 2.5 to 4 us
        /// more in recorded loops on an H200 than alone (docs/results/h200-programs). It was chosen with a view to the savings
        /// that are predicted for host-bound programs there, and it is another's on another machine.
        const CUPTI: u64 = 2_500;
        let of_recorder = process.cost / (process.calls.len() as u64).max(1);
        let of_call = match process.source.starts_with("CUPTI") {
            true => of_recorder + CUPTI,
            false => of_recorder,
        };
        let mut plan = self.clone();
        for step in plan.threads.iter_mut().flat_map(|it| &mut it.steps) {
            let before = of_call.min(step.gap);
            step.gap -= before;
            step.cost -= (of_call - before).min(step.cost / 2);
        }
        plan
    }

    /// Nanoseconds from the process's begin to its end when it runs again.
    pub(in crate::program) fn run(&self) -> u64 {
        run(self)
    }
}

/// Work whose call is not known begins when it began.
fn uncalled(process: &Process) -> Option<Thread> {
    let mut time = process.start;
    let mut steps = Vec::new();
    for (index, activity) in process.activities.iter().enumerate() {
        if activity.call.is_none() {
            steps.push(Step {
                gap: activity.start.saturating_sub(time),
                works: vec![index],
                ..Step::default()
            });
            time = time.max(activity.start);
        }
    }
    let tail = process.end.saturating_sub(time);
    (!steps.is_empty()).then_some(Thread { steps, tail })
}

/// Streams that calls make wait, each with the work of another stream.
type StreamWaits = HashMap<usize, Vec<(StreamId, usize)>>;

fn stream_waits(process: &Process, finder: &Finder<'_>) -> StreamWaits {
    let mut waits: StreamWaits = HashMap::new();
    for it in &process.synchronizations {
        let Synchronized::StreamOnEvent {
            stream,
            event,
            recording,
        } = it.on
        else {
            continue;
        };
        let context = it.context;
        if let Some(Target::Stream(of, call)) = finder.event(event, recording, it.call)
            && let Some(work) = finder.last(of, call)
        {
            let stream = StreamId { context, stream };
            waits.entry(it.call).or_default().push((stream, work));
        }
    }
    waits
}

/// An engine has one work at a time unless the recording shows several for more than a hundredth of its time.
fn exclusive(process: &Process) -> [bool; Engine::COUNT] {
    let mut until = [0; Engine::COUNT];
    let (mut sum, mut shared) = ([0; Engine::COUNT], [0; Engine::COUNT]);
    for activity in &process.activities {
        let engine = Engine::of(&activity.work) as usize;
        sum[engine] += activity.took();
        shared[engine] += activity
            .end
            .min(until[engine])
            .saturating_sub(activity.start);
        until[engine] = until[engine].max(activity.end);
    }
    std::array::from_fn(|engine| 100 * shared[engine] <= sum[engine])
}

/// The median of the launches' own times.
fn typical_launch(process: &Process) -> u64 {
    let launches = process
        .calls
        .iter()
        .filter(|it| it.purpose == Purpose::Launch);
    median(launches.map(|it| it.took()).collect()).unwrap_or_default()
}

/// The work whose end made room for a launch that found its stream's queue full.
fn full_queue(process: &Process, finder: &Finder<'_>, call: usize, typical: u64) -> Vec<usize> {
    /// No queue that is shorter is full.
    const OUTSTANDING: usize = 200;
    /// Launches that do not wait take no longer, in nanoseconds and as a multiple.
    const LONG: (u64, u64) = (20_000, 4);
    let it = &process.calls[call];
    let is_long = it.took() > LONG.0 && it.took() > LONG.1 * typical;
    let own = finder.own(call).first();
    let Some(&own) = own.filter(|_| is_long && it.purpose == Purpose::Launch) else {
        return Vec::new();
    };
    let activities = &process.activities;
    let all = process.streams.activities(activities[own].stream);
    let place = all.partition_point(|&it| it < own);
    let ended = all.partition_point(|&other| activities[other].end <= it.end);
    let is_full = place >= ended + OUTSTANDING && ended > 0;
    match is_full {
        true => vec![all[ended - 1]],
        false => Vec::new(),
    }
}

/// Finds when work could have begun, and so what the device takes to begin it.
struct Works<'p> {
    process: &'p Process,
    /// When the work in front of each one in its stream, the events that its stream waits for, and its engine let it begin.
    ready: Vec<u64>,
}

impl<'p> Works<'p> {
    fn of(
        process: &'p Process,
        stream_waits: &StreamWaits,
        is_exclusive: [bool; Engine::COUNT],
        stream: &impl Fn(StreamId) -> usize,
    ) -> Vec<Work> {
        let works = Works {
            process,
            ready: ready(process, stream_waits, is_exclusive),
        };
        let activities = process.activities.iter().enumerate();
        let at_once = activities
            .clone()
            .filter(|(index, it)| works.is_idle(*index, it, 0));
        let latencies = at_once.map(|(_, it)| it.start.saturating_sub(works.called(it)));
        let latency = median(latencies.collect()).unwrap_or(6_000);
        let behind = activities
            .clone()
            .filter(|(index, it)| !works.is_idle(*index, it, latency));
        let gaps = behind.map(|(index, it)| it.start.saturating_sub(works.ready[index]));
        let gap = median(gaps.collect()).unwrap_or(1_000);
        let of = activities.map(|(index, activity)| {
            let (called, ready) = (works.called(activity), works.ready[index]);
            let after_call = activity.start.saturating_sub(called);
            let behind = activity.start as i64 - ready as i64;
            let (latency, gap) = match works.is_idle(index, activity, latency) {
                true => (after_call, behind.min(gap as i64)),
                false => (after_call.min(latency), behind),
            };
            Work {
                stream: stream(activity.stream),
                engine: Engine::of(&activity.work),
                took: activity.took(),
                latency,
                gap,
            }
        });
        of.collect()
    }

    fn called(&self, activity: &Activity) -> u64 {
        let call = self.process.caller(activity);
        call.map_or(activity.start, |it| it.start.min(activity.start))
    }

    /// Whether the device had nothing to do when the work was launched, or would have begun it.
    fn is_idle(&self, index: usize, activity: &Activity, latency: u64) -> bool {
        self.ready[index] <= self.called(activity) + latency
    }
}

fn ready(
    process: &Process,
    stream_waits: &StreamWaits,
    is_exclusive: [bool; Engine::COUNT],
) -> Vec<u64> {
    let activities = &process.activities;
    let mut ready = vec![0; activities.len()];
    let mut engines = [0; Engine::COUNT];
    for (index, activity) in activities.iter().enumerate() {
        let engine = Engine::of(&activity.work) as usize;
        if is_exclusive[engine] {
            ready[index] = engines[engine];
        }
        engines[engine] = activity.end.max(engines[engine]);
    }
    for id in process.streams.ids() {
        let mut free = 0;
        for &index in process.streams.activities(id) {
            ready[index] = ready[index].max(free);
            free = free.max(activities[index].end);
        }
    }
    for (&call, waits) in stream_waits {
        for &(stream, after) in waits {
            let all = process.streams.activities(stream);
            let is_earlier = |it: &usize| activities[*it].call.is_none_or(|it| it <= call);
            if let Some(&next) = all.get(all.partition_point(is_earlier)) {
                ready[next] = ready[next].max(activities[after].end);
            }
        }
    }
    ready
}

pub(super) fn median(mut values: Vec<u64>) -> Option<u64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable(middle).1)
}
