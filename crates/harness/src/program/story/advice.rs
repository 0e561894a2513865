//! Advice on changes, with what each would save: the program is replayed with it.

use std::collections::{BTreeMap, HashMap, HashSet};

use recording::Memory;
use serde::{Deserialize, Serialize};

use super::super::function::Purpose;
use super::super::model::{Call, Process, Program, Work};
use super::super::place::Place;
use super::super::replay::{Change, Plan, is_large};
use super::super::wait::Wait;
use crate::table::{counted, listed};

/// Advice that saves less of the program's time is none.
const LEAST: f64 = 0.01;
/// Places whose waits are looked at, the longest first.
const PLACES: usize = 8;
/// Bytes of a copy that brings a few values.
const VALUES: u64 = 4096;

/// A change that would save time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The cause of the cost: part of a sentence.
    pub finding: String,
    /// The remedy: a sentence.
    pub remedy: String,
    /// The lines.
    pub places: Vec<Place>,
    /// How often it happens.
    pub count: u64,
    /// Nanoseconds that it would save, by replaying the program with the change; `None` where devices were emulated.
    pub saving_ns: Option<f64>,
}

/// Advice, and how well the replay repeats what was recorded.
pub(super) struct Advised {
    pub(super) advice: Vec<Advice>,
    pub(super) replay_error: Option<f64>,
}

/// A change that may be worth it.
struct Candidate {
    advice: Advice,
    changes: Vec<Change>,
}

pub(super) fn advice(program: &Program, waits: &[Vec<Wait>]) -> Advised {
    let mut all = Vec::new();
    let mut replay_error: Option<f64> = None;
    for (process, waits) in program.processes.iter().zip(waits) {
        let candidates = Candidates { process, waits }.all();
        if process.is_emulated {
            all.extend(candidates.into_iter().map(|it| it.advice));
            continue;
        }
        if process.activities.is_empty() {
            continue;
        }
        let plan = Plan::of(process);
        let recorded = (process.end - process.start) as f64;
        let (start, end) = process.span().unwrap_or_default();
        let least = LEAST * (end - start) as f64;
        let error = plan.run() as f64 / recorded.max(1.0) - 1.0;
        let is_worse = replay_error.is_none_or(|it: f64| it.abs() < error.abs());
        replay_error = if is_worse { Some(error) } else { replay_error };
        // Nobody records the program that is changed.
        let plan = plan.without_recorder(process);
        let unchanged = plan.run() as f64;
        for Candidate {
            mut advice,
            changes,
        } in candidates
        {
            let mut changed = plan.clone();
            for change in &changes {
                changed = changed.with(process, change);
            }
            let saving = unchanged - changed.run() as f64;
            if saving > least {
                advice.saving_ns = Some(saving);
                all.push(advice);
            }
        }
    }
    let weight = |it: &Advice| it.saving_ns.unwrap_or(it.count as f64);
    all.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    Advised {
        advice: all,
        replay_error,
    }
}

struct Candidates<'p> {
    process: &'p Process,
    waits: &'p [Wait],
}

/// The calls of a line that wait.
struct Line<'p> {
    place: &'p Place,
    calls: Vec<usize>,
    took: u64,
}

impl<'p> Candidates<'p> {
    fn all(&self) -> Vec<Candidate> {
        let lines = self.lines();
        let mut all: Vec<Candidate> = Vec::new();
        let mut postponed = HashSet::new();
        for line in lines.iter().take(PLACES) {
            all.extend(self.of_line(line, &mut postponed));
        }
        let pinned = self.pageable();
        all.extend(self.pinned(&pinned));
        all.extend(self.streams(&pinned));
        all.extend(self.graphs());
        all.extend(self.memory());
        all
    }

    /// The lines that wait, the longest first.
    fn lines(&self) -> Vec<Line<'p>> {
        let mut lines: HashMap<&Place, Line<'p>> = HashMap::new();
        for wait in self.waits {
            let call = &self.process.calls[wait.call];
            let line = lines.entry(&call.place).or_insert_with(|| Line {
                place: &call.place,
                calls: Vec::new(),
                took: 0,
            });
            line.calls.push(wait.call);
            line.took += call.took();
        }
        let mut lines: Vec<Line<'p>> = lines.into_values().collect();
        lines.sort_by(|a, b| {
            let longest = (b.took, b.calls.len()).cmp(&(a.took, a.calls.len()));
            longest.then_with(|| a.place.cmp(b.place))
        });
        lines
    }

    fn of_line(&self, line: &Line<'_>, postponed: &mut HashSet<usize>) -> Option<Candidate> {
        let purposes = line.calls.iter().map(|&it| self.process.calls[it].purpose);
        let only_waits = purposes.clone().all(|it| it == Purpose::Wait);
        let of_memory = purposes.clone().all(|it| {
            matches!(
                it,
                Purpose::Allocation | Purpose::Release | Purpose::Loading
            )
        });
        let at_line = self.copies_at(line.place);
        let to_host = at_line
            .iter()
            .filter(|it| it.is_to_host)
            .map(|it| it.bytes)
            .max();
        if of_memory || line.calls.len() < 2 || postponed.contains(&line.calls[0]) {
            return None;
        }
        let function = &self.process.calls[line.calls[0]].function;
        let place = line.place;
        match to_host {
            Some(bytes) if bytes > VALUES => {
                let station = self.stations(line.place);
                postponed.extend(&station);
                Some(self.later(&station, line))
            }
            Some(_) if self.stations_are_larger(line.place) => None,
            Some(bytes) => {
                let reads: HashSet<usize> = line.calls.iter().copied().collect();
                let copies = at_line.iter().map(|it| it.call);
                let count = at_line.iter().filter(|it| it.is_to_host).count() as u64;
                Some(Candidate {
                    advice: Advice {
                        finding: format!(
                            "the host reads {} at {place} {}, and waits for the device each time",
                            counted(bytes, "byte"),
                            times(count)
                        ),
                        remedy: "Keep the value on the device, and read it once after the loop."
                            .to_owned(),
                        places: vec![place.clone()],
                        count,
                        saving_ns: None,
                    },
                    changes: vec![Change::Removed(reads.into_iter().chain(copies).collect())],
                })
            }
            // Who waits for an event knows what for.
            None if only_waits && !function.contains("Event") => {
                let count = line.calls.len() as u64;
                Some(Candidate {
                    advice: Advice {
                        finding: format!("{function} at {place} waits {}", times(count)),
                        remedy: "Wait only where the host needs a result: record an event and wait for that, or \
                                 wait once after the loop."
                            .to_owned(),
                        places: vec![place.clone()],
                        count,
                        saving_ns: None,
                    },
                    changes: vec![Change::Removed(line.calls.iter().copied().collect())],
                })
            }
            None => None,
        }
    }

    fn later(&self, station: &HashSet<usize>, line: &Line<'_>) -> Candidate {
        let mut places: Vec<Place> = self.places(station);
        // A wait that comes once is the end of the loop.
        let comes_again = |place: &Place| {
            let calls = station.iter().map(|&it| &self.process.calls[it].place);
            calls.filter(|it| ***it == *place).count() > 1
        };
        places.retain(comes_again);
        let copies = self.copies_at(line.place);
        let count = copies.iter().filter(|it| it.is_to_host).count() as u64;
        Candidate {
            advice: Advice {
                finding: format!(
                    "the host waits {} for the copies at {}, and the device waits while the host uses them",
                    times(count),
                    names(&places)
                ),
                remedy: "Copy to page-locked memory without blocking, record an event, launch the next steps, and \
                         wait for the event before the host uses the copies."
                    .to_owned(),
                places,
                count,
                saving_ns: None,
            },
            changes: vec![Change::Later(station.clone())],
        }
    }

    /// The calls that wait, without a launch between them, where one of them is at this place.
    fn stations(&self, place: &Place) -> HashSet<usize> {
        let mut found = HashSet::new();
        let waits: HashSet<usize> = self.waits.iter().map(|it| it.call).collect();
        let copies = self.process.activities.iter().filter(|it| {
            matches!(it.work, Work::Copy { from, to, .. } if to == Memory::Device && from != to)
        });
        let to_device: HashSet<usize> = copies.filter_map(|it| it.call).collect();
        let mut station: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut keep = |station: &mut Vec<usize>| {
            let is_it = station
                .iter()
                .any(|&it| *self.process.calls[it].place == *place);
            found.extend(station.drain(..).filter(|_| is_it));
        };
        for (index, call) in self.process.calls.iter().enumerate() {
            let of_thread = station.entry(call.actor).or_default();
            match call.purpose {
                _ if waits.contains(&index) && !to_device.contains(&index) => of_thread.push(index),
                Purpose::Launch | Purpose::Fill | Purpose::Copy => keep(of_thread),
                _ => {}
            }
        }
        station.values_mut().for_each(keep);
        found
    }

    /// Whether the calls that wait beside those at this place copy more than values.
    fn stations_are_larger(&self, place: &Place) -> bool {
        let station = self.stations(place);
        let copies = self
            .process
            .activities
            .iter()
            .filter(|it| it.call.is_some_and(|it| station.contains(&it)));
        copies
            .filter_map(|it| it.work.bytes())
            .any(|it| it > VALUES)
    }

    fn copies_at(&self, place: &Place) -> Vec<CopyAt> {
        let copies = self.process.activities.iter().filter_map(|it| {
            let call = it.call?;
            let Work::Copy { from, to, bytes } = it.work else {
                return None;
            };
            let is_here = *self.process.calls[call].place == *place;
            is_here.then_some(CopyAt {
                call,
                bytes,
                is_to_host: from == Memory::Device && to != Memory::Device,
            })
        });
        copies.collect()
    }

    /// Copies of much pageable memory.
    fn pageable(&self) -> HashSet<usize> {
        let copies = self
            .process
            .activities
            .iter()
            .filter_map(|it| match it.work {
                Work::Copy { from, to, .. } => {
                    let is_pageable = [from, to].contains(&Memory::Pageable);
                    it.call.filter(|_| is_pageable && is_large(&it.work))
                }
                _ => None,
            });
        copies.collect()
    }

    fn pinned(&self, pageable: &HashSet<usize>) -> Option<Candidate> {
        let places = self.places(pageable);
        let count = pageable.len() as u64;
        (count > 0).then(|| Candidate {
            advice: Advice {
                finding: format!(
                    "{} of pageable memory at {} {} slow and {} the host",
                    counted(count, "copy").replace("copys", "copies"),
                    names(&places),
                    if count == 1 { "is" } else { "are" },
                    if count == 1 { "blocks" } else { "block" },
                ),
                remedy: "Page-lock (pin) this memory once, and copy without blocking.".to_owned(),
                places,
                count,
                saving_ns: None,
            },
            changes: vec![Change::Pinned(pageable.clone())],
        })
    }

    /// Batches that follow each other in a stream: copies to the device, kernels, copies to the host.
    fn streams(&self, pageable: &HashSet<usize>) -> Option<Candidate> {
        let mut batches = HashSet::new();
        let mut count = 0;
        let mut streams = 0;
        for id in self.process.streams.ids() {
            let before = batches.len();
            let mut has_kernel = true;
            for &index in self.process.streams.activities(id) {
                let activity = &self.process.activities[index];
                match activity.work {
                    Work::Kernel { .. } => has_kernel = true,
                    Work::Copy { from, to, .. }
                        if to == Memory::Device && from != to && is_large(&activity.work) =>
                    {
                        count += u64::from(has_kernel);
                        has_kernel = false;
                        batches.extend(activity.call);
                    }
                    _ => {}
                }
            }
            streams += u32::from(batches.len() > before);
        }
        // They have several already.
        if streams > 1 {
            return None;
        }
        let places = self.places(&batches);
        let mut changes = vec![Change::Streams];
        let mut remedy =
            "Give each batch one of several streams in turn, if they do not depend on each other: \
                          copies run beside kernels."
                .to_owned();
        if !pageable.is_empty() {
            changes.insert(0, Change::Pinned(pageable.clone()));
            remedy = format!("Page-lock the memory and copy without blocking. {remedy}");
        }
        (count > 1).then(|| Candidate {
            advice: Advice {
                finding: format!(
                    "the copies at {} and the kernels behind them run one after the other, {}",
                    names(&places),
                    times(count)
                ),
                remedy,
                places,
                count,
                saving_ns: None,
            },
            changes,
        })
    }

    fn graphs(&self) -> Option<Candidate> {
        /// Fewer launches are not worth a graph.
        const FEW: u64 = 100;
        let is_launch =
            |it: &&Call| it.purpose == Purpose::Launch && !it.function.contains("Graph");
        let launches: Vec<&Call> = self.process.calls.iter().filter(is_launch).collect();
        let count = launches.len() as u64;
        let mut lines: HashMap<&Place, u64> = HashMap::new();
        for call in &launches {
            *lines.entry(&call.place).or_default() += 1;
        }
        let most = lines.iter().max_by_key(|(place, count)| (**count, *place));
        let (place, _) = most?;
        (count >= FEW && !self.process.is_emulated).then(|| Candidate {
            advice: Advice {
                finding: format!(
                    "the device waits for the host to launch {}, most of them at {place}",
                    counted(count, "kernel")
                ),
                remedy: "Capture the launches of a step in a CUDA graph, and launch the graph."
                    .to_owned(),
                places: vec![(*place).clone()],
                count,
                saving_ns: None,
            },
            changes: vec![Change::Graphs],
        })
    }

    /// Lines that allocate and free memory again and again.
    fn memory(&self) -> Option<Candidate> {
        let calls = self.process.calls.iter().enumerate();
        let of_memory =
            calls.filter(|(_, it)| matches!(it.purpose, Purpose::Allocation | Purpose::Release));
        let mut lines: HashMap<(&Place, u32), Vec<usize>> = HashMap::new();
        for (index, call) in of_memory {
            let line = (&*call.place, call.actor);
            lines.entry(line).or_default().push(index);
        }
        // The first of a thread has to be.
        let again = lines.into_values().filter(|it| it.len() > 2);
        let calls: HashSet<usize> = again.flat_map(|it| it.into_iter().skip(1)).collect();
        let places = self.places(&calls);
        let count = calls.len() as u64;
        (count > 0).then(|| Candidate {
            advice: Advice {
                finding: format!(
                    "memory is allocated or freed {} at {}",
                    times(count),
                    names(&places)
                ),
                remedy: "Allocate once and use the memory again, or allocate from a pool in the order of the stream."
                    .to_owned(),
                places,
                count,
                saving_ns: None,
            },
            changes: vec![Change::Saved(calls)],
        })
    }

    /// The places of these calls, the most frequent first.
    fn places(&self, calls: &HashSet<usize>) -> Vec<Place> {
        let mut places: HashMap<&Place, u64> = HashMap::new();
        for &call in calls {
            *places.entry(&self.process.calls[call].place).or_default() += 1;
        }
        let mut places: Vec<(&Place, u64)> = places.into_iter().collect();
        places.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        places.into_iter().map(|(place, _)| place.clone()).collect()
    }
}

struct CopyAt {
    call: usize,
    bytes: u64,
    is_to_host: bool,
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

/// The first places of a list.
fn names(places: &[Place]) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<String> = places.iter().take(SHOWN).map(ToString::to_string).collect();
    if places.len() > SHOWN {
        names.push(counted((places.len() - SHOWN) as u64, "other place"));
    }
    listed(&names)
}
