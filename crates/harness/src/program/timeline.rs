//! The program as a timeline for Perfetto: a row for each thread of the host, its ranges, and each stream, arrows from
//! calls to their work, and memory over time.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::model::{Activity, Process, Program, StreamId, Work};
use super::story::Story;
use crate::trace::{Events, Track};

/// Rows of ranges stand below those of calls.
const RANGES: u32 = 1 << 30;

/// Writes the timeline of a program whose story this is.
///
/// # Errors
/// Errors of `output` ([`io::Error`]) when it is written to.
pub fn write_timeline(program: &Program, story: &Story, output: impl Write) -> io::Result<()> {
    let source = program.processes.iter().map(|it| it.source.as_str());
    let sources: BTreeSet<&str> = source.collect();
    let other = json!({"recorded_by": sources, "is_emulated": program.is_emulated()});
    let mut events = Events::begin(output, &other)?;
    let mut arrow = 0;
    for (index, process) in program.processes.iter().enumerate() {
        let of = Timeline {
            process,
            // Perfetto takes the row with its process's number for a main thread: no thread has so small a number.
            host: 2 * index as u32 + 1,
            device: 2 * index as u32 + 2,
        };
        of.names(&mut events)?;
        of.host(&mut events)?;
        of.device(&mut events, &mut arrow)?;
        for memory in story.memory.iter().filter(|it| it.process == process.id) {
            let name = format!("memory: {}", memory.kind);
            let track = of.on_host(0);
            for &(time, bytes) in &memory.course {
                events.push(&track.counts(&name, time / 1e3, bytes))?;
            }
        }
    }
    events.end()
}

struct Timeline<'p> {
    process: &'p Process,
    host: u32,
    device: u32,
}

impl Timeline<'_> {
    fn on_host(&self, thread: u32) -> Track {
        Track {
            process: self.host,
            thread,
        }
    }

    /// Streams of contexts after the first have further rows.
    fn on_device(&self, stream: StreamId) -> Track {
        let place = self.process.streams.ids().position(|it| it == stream);
        Track {
            process: self.device,
            thread: 1 + place.unwrap_or_default() as u32,
        }
    }

    fn names(&self, events: &mut Events<impl Write>) -> io::Result<()> {
        let process = self.process;
        let command = format!("{} ({})", process.command.join(" "), process.id);
        events.push(&self.on_host(0).of_process_named(&command))?;
        let threads: BTreeSet<u32> = process.calls.iter().map(|it| it.thread).collect();
        for thread in threads {
            let name = format!("calls of thread {thread}");
            events.push(&self.on_host(thread).named(&name))?;
        }
        let threads: BTreeSet<u32> = process.ranges.iter().map(|it| it.thread).collect();
        for thread in threads {
            let name = match thread {
                0 => "ranges".to_owned(),
                thread => format!("ranges of thread {thread}"),
            };
            events.push(&self.on_host(RANGES + thread).named(&name))?;
        }
        let devices: Vec<&str> = process.devices.iter().map(|it| it.name.as_str()).collect();
        let of_device = Track {
            process: self.device,
            thread: 0,
        };
        let kind = if process.is_emulated {
            "emulated devices"
        } else {
            "devices"
        };
        let name = format!("{kind} of {}: {}", process.id, devices.join(", "));
        events.push(&of_device.of_process_named(&name))?;
        for stream in process.streams.ids() {
            let name = format!("stream {} of context {}", stream.stream, stream.context);
            events.push(&self.on_device(stream).named(&name))?;
        }
        Ok(())
    }

    fn host(&self, events: &mut Events<impl Write>) -> io::Result<()> {
        for call in &self.process.calls {
            let times = (micro(call.start), micro(call.took()));
            let fields = fields([("where", json!(call.place.to_string()))]);
            let track = self.on_host(call.thread);
            events.push(&track.complete(("call", &call.function), times, fields))?;
        }
        for range in &self.process.ranges {
            let times = (micro(range.start), micro(range.end - range.start));
            let track = self.on_host(RANGES + range.thread);
            events.push(&track.complete(("range", &range.name), times, Map::new()))?;
        }
        Ok(())
    }

    fn device(&self, events: &mut Events<impl Write>, arrow: &mut u64) -> io::Result<()> {
        for activity in &self.process.activities {
            let track = self.on_device(activity.stream);
            let name = activity.work.label().to_string();
            let category = match activity.work {
                Work::Kernel { .. } => "kernel",
                Work::Copy { .. } => "copy",
                Work::Fill { .. } => "fill",
            };
            let times = (micro(activity.start), micro(activity.took()));
            events.push(&track.complete((category, &name), times, self.facts(activity)))?;
            if let Some(call) = self.process.caller(activity) {
                *arrow += 1;
                let from = self.on_host(call.thread);
                events.push(&from.flows_from(*arrow, micro(call.start)))?;
                events.push(&track.flows_to(*arrow, micro(activity.start)))?;
            }
        }
        Ok(())
    }

    fn facts(&self, activity: &Activity) -> Map<String, Value> {
        let mut facts = match activity.work {
            Work::Kernel { grid, block, .. } => {
                fields([("grid", json!(grid)), ("block", json!(block))])
            }
            Work::Copy { bytes, .. } | Work::Fill { bytes } => {
                let rate = bytes as f64 / activity.took().max(1) as f64;
                fields([
                    ("bytes", json!(bytes)),
                    ("gigabytes_per_second", json!(rate)),
                ])
            }
        };
        if let Some(call) = self.process.caller(activity) {
            facts.insert("where".to_owned(), json!(call.place.to_string()));
        }
        facts
    }
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let fields = fields.into_iter();
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Nanoseconds in microseconds, to the nanosecond.
fn micro(time: u64) -> f64 {
    time as f64 / 1e3
}
