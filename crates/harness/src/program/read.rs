//! The records of a process, read into its model.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use recording::{Device, Event, Part, Process as Header, Range as RangeRecord, Record, Recording};

use super::function::{Purpose, documented};
use super::kernel_name::readable;
use super::model::{
    Activity, Allocated, Call, EventRecord, Missing, Process, Range, StreamId, Synchronization,
    Work,
};
use super::place::{Place, Places};
use super::streams::Streams;

/// The record that says which process it is.
pub(super) fn header(recording: &Recording) -> Option<&Header> {
    recording.records.iter().find_map(|it| match it {
        Record::Process(header) => Some(header),
        _ => None,
    })
}

/// Turns the records of a process into its model.
pub(super) struct Reader<'r> {
    records: &'r [Record],
    refused: u64,
    header: &'r Header,
    /// The distance from the process's clock to the program's.
    offset: i128,
    texts: HashMap<u32, Arc<str>>,
    unknown: Arc<str>,
    /// By stack: the place, and the thread of the callers where it is another.
    places: HashMap<u32, (Arc<Place>, u32)>,
    nowhere: Arc<Place>,
}

impl<'r> Reader<'r> {
    pub(super) fn new(
        recording: &'r Recording,
        header: &'r Header,
        begin: u64,
        directory: &Path,
    ) -> Reader<'r> {
        let records = &recording.records[..];
        let modules = records.iter().filter_map(|it| match it {
            Record::Module(module) => Some(module.clone()),
            _ => None,
        });
        let mut finder = Places::new(modules.collect(), directory);
        let mut texts = HashMap::new();
        let mut places = HashMap::new();
        for record in records {
            match record {
                Record::Text(text) => {
                    texts.insert(text.id, Arc::from(&*text.text));
                }
                Record::Stack(stack) => {
                    let place = Arc::new(finder.of(&stack.frames));
                    places.insert(stack.id, (place, stack.of_thread));
                }
                _ => {}
            }
        }
        Reader {
            records,
            refused: recording.refused,
            header,
            offset: i128::from(header.unix_time) - i128::from(begin) - i128::from(header.time),
            texts,
            unknown: Arc::from("a name that was not recorded"),
            places,
            nowhere: Arc::default(),
        }
    }

    /// The time since the program's begin. Nothing is earlier.
    fn time(&self, time: u64) -> u64 {
        (i128::from(time) + self.offset).clamp(0, i128::from(u64::MAX)) as u64
    }

    fn text(&self, id: u32) -> Arc<str> {
        self.texts.get(&id).unwrap_or(&self.unknown).clone()
    }

    /// The parts of the process that were recorded, where parts were asked for; `u64::MAX` where one's end is not known. Of a
    /// part's ends the first counts.
    fn parts(&self) -> Vec<(u64, u64)> {
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for record in self.records {
            match record {
                Record::Part(Part::Begin(time)) => parts.push((self.time(*time), u64::MAX)),
                Record::Part(Part::End(time)) => {
                    if let Some((_, end)) = parts.last_mut() {
                        *end = self.time(*time).min(*end);
                    }
                }
                _ => {}
            }
        }
        parts
    }

    pub(super) fn process(&self) -> Process {
        let calls = self.calls();
        let by_correlation: HashMap<u32, usize> = calls
            .iter()
            .enumerate()
            .map(|(index, call)| (call.correlation, index))
            .collect();
        let call_of = |correlation: u32| by_correlation.get(&correlation).copied();
        let activities = self.activities(call_of);
        let end = self.records.iter().find_map(|it| match it {
            Record::End(end) => Some(end),
            _ => None,
        });
        let seen = || {
            let calls = calls.iter().map(|it| it.end);
            calls.chain(activities.iter().map(|it| it.end)).max()
        };
        let mut parts = self.parts();
        let start = parts
            .first()
            .map_or_else(|| self.time(self.header.time), |part| part.0);
        let ended = end
            .map(|it| self.time(it.time))
            .max(seen())
            .unwrap_or(start);
        for (_, end) in &mut parts {
            *end = ended.min(*end);
        }
        let end_time = parts
            .last()
            .map_or(ended, |part| part.1.max(seen().unwrap_or(start)));
        let asked = self.records.iter().find_map(|it| match it {
            Record::Asked(words) => Some(words.clone()),
            _ => None,
        });
        let missing = Missing {
            refused: self.refused,
            lost: end.map_or(0, |it| it.lost),
            uncalled: activities.iter().filter(|it| it.call.is_none()).count() as u64,
        };
        Process {
            id: self.header.id,
            parent: self.header.parent,
            command: self.header.command.clone(),
            source: self.header.source.clone(),
            is_emulated: self.header.is_emulated,
            has_ended: end.is_some(),
            missing,
            cost: end.map_or(0, |it| it.cost),
            asked,
            parts,
            start,
            end: end_time,
            devices: self.devices(),
            synchronizations: self.synchronizations(call_of),
            events: self.events(call_of),
            allocations: self.allocations(call_of),
            ranges: self.ranges(end_time),
            streams: Streams::of(&activities),
            calls,
            activities,
        }
    }

    fn calls(&self) -> Vec<Call> {
        let mut functions: HashMap<u32, (Arc<str>, Purpose)> = HashMap::new();
        let mut calls = Vec::new();
        for record in self.records {
            let Record::Call(call) = record else {
                continue;
            };
            let function = functions.entry(call.name).or_insert_with(|| {
                let name: Arc<str> = Arc::from(documented(&self.text(call.name)));
                let purpose = Purpose::of(&name);
                (name, purpose)
            });
            let stack = self.places.get(&call.stack);
            let (place, of_thread) = stack.map_or((&self.nowhere, 0), |it| (&it.0, it.1));
            calls.push(Call {
                function: function.0.clone(),
                purpose: function.1,
                thread: call.thread,
                actor: match of_thread {
                    0 => call.thread,
                    actor => actor,
                },
                place: place.clone(),
                start: self.time(call.start),
                end: self.time(call.end.max(call.start)),
                correlation: call.correlation,
            });
        }
        calls.sort_by_key(|it| it.start);
        calls
    }

    fn activities(&self, call_of: impl Fn(u32) -> Option<usize>) -> Vec<Activity> {
        let mut names: HashMap<u32, Arc<str>> = HashMap::new();
        let mut activities = Vec::new();
        for record in self.records {
            let Record::Activity(activity) = record else {
                continue;
            };
            let work = match &activity.work {
                recording::Work::Kernel(kernel) => Work::Kernel {
                    name: names
                        .entry(kernel.name)
                        .or_insert_with(|| Arc::from(readable(&self.text(kernel.name))))
                        .clone(),
                    symbol: self.text(kernel.name),
                    grid: kernel.grid,
                    block: kernel.block,
                },
                recording::Work::Copy {
                    from, to, bytes, ..
                } => Work::Copy {
                    from: *from,
                    to: *to,
                    bytes: *bytes,
                },
                recording::Work::Fill { bytes } => Work::Fill { bytes: *bytes },
            };
            activities.push(Activity {
                work,
                device: activity.device,
                stream: StreamId {
                    context: activity.context,
                    stream: activity.stream,
                },
                call: call_of(activity.correlation),
                graph: activity.graph,
                start: self.time(activity.start),
                end: self.time(activity.end.max(activity.start)),
            });
        }
        activities.sort_by_key(|it| it.start);
        activities
    }

    fn devices(&self) -> Vec<Device> {
        let devices = self.records.iter().filter_map(|it| match it {
            Record::Device(device) => Some(device.clone()),
            _ => None,
        });
        devices.collect()
    }

    fn synchronizations(&self, call_of: impl Fn(u32) -> Option<usize>) -> Vec<Synchronization> {
        let all = self.records.iter().filter_map(|it| match it {
            Record::Synchronization(it) => Some(Synchronization {
                on: it.on,
                context: it.context,
                call: call_of(it.correlation)?,
            }),
            _ => None,
        });
        all.collect()
    }

    fn events(&self, call_of: impl Fn(u32) -> Option<usize>) -> Vec<EventRecord> {
        let all = self.records.iter().filter_map(|it| match it {
            Record::Event(Event {
                event,
                recording,
                context,
                stream,
                correlation,
            }) => Some(EventRecord {
                event: *event,
                recording: *recording,
                stream: StreamId {
                    context: *context,
                    stream: *stream,
                },
                call: call_of(*correlation)?,
            }),
            _ => None,
        });
        all.collect()
    }

    fn allocations(&self, call_of: impl Fn(u32) -> Option<usize>) -> Vec<Allocated> {
        let all = self.records.iter().filter_map(|it| match it {
            Record::Allocation(of) => Some(Allocated {
                of: of.clone(),
                call: call_of(of.correlation),
                time: self.time(of.time),
            }),
            _ => None,
        });
        let mut all: Vec<Allocated> = all.collect();
        all.sort_by_key(|it| it.time);
        all
    }

    /// A range without an end lasts as long as the process.
    fn ranges(&self, end: u64) -> Vec<Range> {
        let mut open: BTreeMap<u32, usize> = BTreeMap::new();
        let mut ranges: Vec<Range> = Vec::new();
        for record in self.records {
            let Record::Range(range) = record else {
                continue;
            };
            match *range {
                RangeRecord::Begin {
                    id,
                    thread,
                    name,
                    time,
                } => {
                    open.insert(id, ranges.len());
                    ranges.push(self.range((thread, name), time, end));
                }
                RangeRecord::Mark { thread, name, time } => {
                    ranges.push(self.range((thread, name), time, self.time(time)));
                }
                RangeRecord::End { id, time } => {
                    if let Some(index) = open.remove(&id) {
                        ranges[index].end = self.time(time);
                    }
                }
            }
        }
        ranges.sort_by_key(|it| it.start);
        ranges
    }

    fn range(&self, (thread, name): (u32, u32), start: u64, end: u64) -> Range {
        Range {
            name: self.text(name),
            thread,
            start: self.time(start),
            end,
        }
    }
}
