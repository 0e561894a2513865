//! Changes of a program, as its author would make them, made to what is run again.

use std::collections::HashSet;

use recording::Memory;

use super::super::function::{Purpose, is_asynchronous};
use super::super::model::{Process, Work as Kind};
use super::super::place::Place;
use super::plan::{Engine, Plan, Step, Thread, Work, median};

/// A change. Calls are numbers of the process's.
#[derive(Clone, Debug)]
pub(in crate::program) enum Change {
    /// These calls are not made, nor their copies, but for the last one: a value stays on the device.
    Removed(HashSet<usize>),
    /// These calls are not made, whatever they are: memory is used again.
    Saved(HashSet<usize>),
    /// These copies go to memory that is page-locked, without blocking, and what the host does with them happens after
    /// the next ones were asked for.
    Later(HashSet<usize>),
    /// These copies are of page-locked memory, and do not block.
    Pinned(HashSet<usize>),
    /// Large copies to the device begin work that is independent of that before, in one of several streams in turn.
    Streams,
    /// Launches that follow each other are one launch of a graph.
    Graphs,
}

/// Times of work on this machine, as the recording shows them.
#[derive(Clone, Copy, Debug)]
struct Costs {
    /// Bytes per nanosecond of copies of page-locked memory: to the device, and to the host.
    pinned: [f64; 2],
    /// Nanoseconds of a call that copies without blocking.
    copy: u64,
    /// Nanoseconds of a call that launches.
    launch: u64,
    /// Nanoseconds of the host's own before a launch.
    gap: u64,
}

impl Plan {
    /// With a change.
    pub(in crate::program) fn with(&self, process: &Process, change: &Change) -> Plan {
        let costs = Costs::of(process, self);
        let mut plan = self.clone();
        match change {
            Change::Removed(calls) => plan.remove(process, calls, costs),
            Change::Saved(calls) => plan.save(calls),
            Change::Later(calls) => plan.postpone(process, calls, costs),
            Change::Pinned(calls) => plan.pin(process, calls, costs),
            Change::Streams => plan.spread(process),
            Change::Graphs => plan.gather(process),
        }
        plan
    }

    fn remove(&mut self, process: &Process, calls: &HashSet<usize>, costs: Costs) {
        let last = last_round(process, calls);
        let is_removed = |step: &Step| {
            let call = step.call.as_ref();
            call.is_some_and(|it| calls.contains(it) && !last.contains(it))
        };
        for thread in &mut self.threads {
            let mut steps: Vec<Step> = Vec::new();
            let mut old = std::mem::take(&mut thread.steps).into_iter().peekable();
            while let Some(mut first) = old.next() {
                if !is_removed(&first) {
                    steps.push(first);
                    continue;
                }
                while let Some(other) = old.next_if(is_removed) {
                    first.works.extend(other.works);
                }
                for &work in &first.works {
                    let work = &mut self.works[work];
                    (work.took, work.latency, work.gap) = (0, 0, 0);
                }
                first.awaits.clear();
                let line = |step: &Step| step.call.map(|it| process.calls[it].place.to_string());
                let is_used = old.peek().is_some_and(|next| line(next) == line(&first));
                match (first.works.is_empty(), is_used) {
                    // Nothing but waits.
                    (true, _) => first.cost = 0,
                    // A value that is kept is copied on the device.
                    (false, false) => first.cost = costs.launch,
                    // A value that the same line hands to a kernel stays where it is, and the host has nothing to do for it.
                    (false, true) => {
                        if let Some(next) = old.peek_mut() {
                            next.gap = next.gap.max(first.gap);
                        }
                        (first.gap, first.cost) = (0, 0);
                    }
                }
                steps.push(first);
            }
            thread.steps = steps;
        }
    }

    fn save(&mut self, calls: &HashSet<usize>) {
        for step in self.threads.iter_mut().flat_map(|it| &mut it.steps) {
            if step.call.as_ref().is_some_and(|it| calls.contains(it)) {
                step.cost = 0;
                step.awaits.clear();
            }
        }
    }

    fn pin(&mut self, process: &Process, calls: &HashSet<usize>, costs: Costs) {
        for thread in &mut self.threads {
            // Some libraries wait for the copy by a call of their own.
            let mut follows = None;
            for step in &mut thread.steps {
                let Some(call) = step.call else {
                    continue;
                };
                let it = &process.calls[call];
                if calls.contains(&call) {
                    let is_to_device = step
                        .works
                        .iter()
                        .any(|&work| self.works[work].engine == Engine::ToDevice);
                    pin_works(&mut self.works, process, &step.works, costs);
                    if is_asynchronous(&it.function) || is_to_device {
                        step.cost = costs.copy;
                        step.awaits.clear();
                    }
                    follows = is_to_device.then(|| it.place.clone());
                } else if it.purpose == Purpose::Wait && follows.as_ref() == Some(&it.place) {
                    step.cost = step.cost.min(costs.copy);
                    step.awaits.clear();
                } else if it.purpose == Purpose::Launch {
                    follows = None;
                }
            }
        }
    }

    fn postpone(&mut self, process: &Process, calls: &HashSet<usize>, costs: Costs) {
        let threads = std::mem::take(&mut self.threads);
        let threads = threads.into_iter().map(|thread| {
            let mut steps = Vec::new();
            // What the host does with the copies that were asked for last.
            let mut owed: Vec<Step> = Vec::new();
            let mut station: Option<Vec<Step>> = None;
            for mut step in thread.steps {
                let call = step.call.map(|it| (it, &process.calls[it]));
                let is_moved = call.is_some_and(|(it, _)| calls.contains(&it));
                let begins_work = call.is_some_and(|(_, it)| {
                    matches!(it.purpose, Purpose::Launch | Purpose::Fill | Purpose::Copy)
                });
                if let Some(asked) = &mut station {
                    if is_moved || !begins_work {
                        asked.push(step);
                        continue;
                    }
                    // The host's time before the next launch is for the copies.
                    let own = step.gap.saturating_sub(costs.gap);
                    step.gap -= own;
                    let asked = station.take().unwrap_or_default();
                    let next = self.split(process, (asked, own), costs, &mut steps);
                    steps.extend(std::mem::replace(&mut owed, next));
                }
                match is_moved {
                    true => station = Some(vec![step]),
                    false => steps.push(step),
                }
            }
            if let Some(asked) = station {
                let next = self.split(process, (asked, 0), costs, &mut steps);
                steps.extend(std::mem::replace(&mut owed, next));
            }
            steps.extend(owed);
            Thread {
                steps,
                tail: thread.tail,
            }
        });
        self.threads = threads.collect();
    }

    /// Asks for the copies of a station now, and returns what the host does when they are there: it waits for all of
    /// them, and then takes the time that it took between its calls and after them.
    fn split(
        &mut self,
        process: &Process,
        (station, after): (Vec<Step>, u64),
        costs: Costs,
        steps: &mut Vec<Step>,
    ) -> Vec<Step> {
        let mut owed = Step {
            cost: after,
            ..Step::default()
        };
        for (index, step) in station.into_iter().enumerate() {
            pin_works(&mut self.works, process, &step.works, costs);
            owed.awaits.extend(&step.awaits);
            let is_wait = !step.awaits.is_empty();
            let (gap, later) = if index == 0 {
                (step.gap, 0)
            } else {
                (0, step.gap)
            };
            owed.cost += later;
            steps.push(Step {
                gap,
                cost: match (is_wait, step.works.is_empty()) {
                    (true, true) => 0,
                    (true, false) => costs.copy,
                    (false, _) => step.cost,
                },
                awaits: Vec::new(),
                ..step
            });
        }
        vec![owed]
    }

    fn spread(&mut self, process: &Process) {
        /// Streams that take turns.
        const TURNS: usize = 4;
        let first = self.streams;
        // The work of each stream in its old order.
        let mut order: Vec<Vec<usize>> = vec![Vec::new(); first];
        let mut place_of = vec![0; self.works.len()];
        for id in process.streams.ids() {
            let mut turn = 0;
            let mut was_copied = true;
            for &index in process.streams.activities(id) {
                let work = &mut self.works[index];
                let is_copied =
                    work.engine == Engine::ToDevice && is_large(&process.activities[index].work);
                turn += usize::from(is_copied && !was_copied);
                was_copied = is_copied;
                place_of[index] = order[work.stream].len();
                order[work.stream].push(index);
                work.stream = first + TURNS * work.stream + turn % TURNS;
            }
        }
        self.streams = first + TURNS * first;
        let copies = process.activities.iter().filter(|it| is_large(&it.work));
        let copies = copies.filter_map(|it| process.caller(it));
        let copies: HashSet<&Place> = copies.map(|it| &*it.place).collect();
        let works = &self.works;
        // Who waited for a work waited for those in front of it, which are now in streams of their own.
        let in_front = |work: usize| {
            let stream = (works[work].stream - first) / TURNS;
            let mut seen = HashSet::new();
            let earlier = order[stream][..=place_of[work]].iter().rev().take(1000);
            let last = earlier.filter(move |&&it| seen.insert(works[it].stream));
            last.copied().collect::<Vec<usize>>()
        };
        for thread in &mut self.threads {
            let last = thread.steps.iter().rposition(|it| !it.awaits.is_empty());
            for (index, step) in thread.steps.iter_mut().enumerate() {
                let call = step.call.map(|it| &process.calls[it]);
                // A library's own wait for each of these copies would keep the batches apart.
                let is_of_copy = call
                    .is_some_and(|it| it.purpose == Purpose::Wait && copies.contains(&*it.place));
                step.awaits = match is_of_copy && last != Some(index) {
                    true => Vec::new(),
                    false => step.awaits.iter().flat_map(|&it| in_front(it)).collect(),
                };
                step.stream_waits.clear();
            }
        }
    }

    fn gather(&mut self, process: &Process) {
        /// Nanoseconds of the launch of a graph, and between its nodes.
        const LAUNCH: u64 = 8_000;
        const BETWEEN: i64 = 1_000;
        /// Time of the host's own that is more than what it takes to launch, in nanoseconds.
        const OTHER: u64 = 200_000;
        for thread in &mut self.threads {
            // The first launch of the graph: where it comes again, a loop begins its next round.
            let mut first = None;
            for step in &mut thread.steps {
                let Some(call) = step.call.map(|it| &process.calls[it]) else {
                    continue;
                };
                let is_inner = step.awaits.is_empty()
                    && matches!(call.purpose, Purpose::Launch | Purpose::Other)
                    && step.gap < OTHER;
                let work = step
                    .works
                    .first()
                    .map(|&it| process.activities[it].work.label());
                let launch = (&*call.place, work);
                if !is_inner || first == Some(launch) {
                    first = None;
                }
                if !is_inner {
                    continue;
                }
                if first.is_some() {
                    (step.gap, step.cost) = (0, 0);
                    for &work in &step.works {
                        let work = &mut self.works[work];
                        work.gap = work.gap.min(BETWEEN);
                    }
                } else if call.purpose == Purpose::Launch {
                    first = Some(launch);
                    step.cost = LAUNCH;
                }
            }
        }
    }
}

/// Whether it is a copy that is worth a change: those of a few values are not.
pub(in crate::program) fn is_large(work: &Kind) -> bool {
    /// Bytes.
    const LARGE: u64 = 64 << 10;
    matches!(work, Kind::Copy { bytes, .. } if *bytes >= LARGE)
}

/// The last of these calls, and those right before it at the same line: what the host needs at last it copies then.
fn last_round(process: &Process, calls: &HashSet<usize>) -> HashSet<usize> {
    let Some(&last) = calls.iter().max() else {
        return HashSet::new();
    };
    let place = &process.calls[last].place;
    let earlier = (0..=last).rev();
    let own = earlier.take_while(|&it| process.calls[it].place == *place);
    own.collect()
}

/// Copies of pageable memory take as long as those of page-locked memory.
fn pin_works(all: &mut [Work], process: &Process, works: &[usize], costs: Costs) {
    /// Nanoseconds of the shortest copy.
    const LEAST: u64 = 1_500;
    for &index in works {
        let Kind::Copy { from, to, bytes } = process.activities[index].work else {
            continue;
        };
        let work = &mut all[index];
        let rate = match work.engine {
            Engine::ToDevice => costs.pinned[0],
            Engine::ToHost => costs.pinned[1],
            Engine::Kernels | Engine::OnDevice => continue,
        };
        if [from, to].contains(&Memory::Pageable) {
            work.took = work.took.min(LEAST + (bytes as f64 / rate) as u64);
        }
    }
}

impl Costs {
    fn of(process: &Process, plan: &Plan) -> Costs {
        /// Bytes per nanosecond of a link of PCIe 5 with 16 lanes, where the recording has no copy of page-locked memory.
        const USUAL: f64 = 55.0;
        /// Copies that are shorter say little of the link.
        const BYTES: u64 = 1 << 20;
        let pinned = |engine| {
            let activities = process.activities.iter();
            let rates = activities.filter_map(|it| match it.work {
                Kind::Copy { from, to, bytes }
                    if bytes >= BYTES
                        && Engine::of(&it.work) == engine
                        && [from, to].contains(&Memory::Pinned) =>
                {
                    // In bytes per microsecond, for a median of whole numbers.
                    Some((1000 * bytes) / it.took().max(1))
                }
                _ => None,
            });
            median(rates.collect()).map_or(USUAL, |it| it as f64 / 1000.0)
        };
        let calls = process.calls.iter();
        let copies =
            calls.filter(|it| it.purpose == Purpose::Copy && is_asynchronous(&it.function));
        let short = copies.map(|it| it.took()).filter(|&it| it < 30_000);
        let steps = plan.threads.iter().flat_map(|it| &it.steps);
        let launches = steps.filter(|step| {
            let call = step.call.map(|it| process.calls[it].purpose);
            call == Some(Purpose::Launch)
        });
        let launches: Vec<&Step> = launches.collect();
        Costs {
            pinned: [pinned(Engine::ToDevice), pinned(Engine::ToHost)],
            copy: median(short.collect()).unwrap_or(6_000),
            launch: median(launches.iter().map(|it| it.cost).collect()).unwrap_or(5_000),
            gap: median(launches.iter().map(|it| it.gap).collect()).unwrap_or_default(),
        }
    }
}
