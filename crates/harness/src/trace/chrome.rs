//! Chrome's trace format, which Perfetto and `chrome://tracing` open.

use std::io::{self, Write};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::Trace;
use super::events::{Events, Track};
use crate::driver::trace::Launch;

const HOST: u32 = 1;
/// No stream's number: Perfetto takes the row that has its process's number for a main thread, and
/// puts it first.
const DEVICE: u32 = 1000;
/// The calls are the main thread's.
const CALLS: u32 = HOST;
/// The ranges of the first thread; those of others follow.
const RANGES: u32 = 2;

/// Writes the trace: a row for the ranges of each of the host's threads, one for the driver's calls,
/// and one for each stream of the device.
///
/// # Errors
/// Errors of `output` ([`io::Error`]) when it is written to.
pub fn write_chrome(trace: &Trace, output: impl Write) -> io::Result<()> {
    let threads = threads(trace);
    let mut events = names(trace, threads.len());
    let mut complete = Vec::new();
    for range in &trace.ranges {
        let fields = range
            .fields
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)));
        let thread = threads.iter().position(|it| *it == range.thread);
        let row = (HOST, RANGES + thread.unwrap_or(0) as u32, "range");
        complete.push(event(
            trace,
            row,
            range.name,
            range.began,
            range.took,
            fields.collect(),
        ));
    }
    for call in &trace.calls {
        let row = (HOST, CALLS, "driver");
        complete.push(event(
            trace,
            row,
            call.function,
            call.began,
            call.took,
            Map::new(),
        ));
    }
    for span in &trace.spans {
        let mut fields = span.launch.map_or_else(Map::new, launch);
        let mut category = "kernel";
        if span.bytes > 0 {
            category = "copy";
            let rate = span.bytes as f64 / span.took.as_secs_f64() / 1e9;
            fields.insert("bytes".to_owned(), json!(span.bytes));
            fields.insert("gigabytes_per_second".to_owned(), json!(rate));
        }
        let row = (DEVICE, span.stream, category);
        complete.push(event(trace, row, &span.name, span.began, span.took, fields));
    }
    complete.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    events.extend(complete.into_iter().map(|(_, event)| event));
    let other = json!({"device_times": trace.source.to_string()});
    let mut written = Events::begin(output, &other)?;
    events.iter().try_for_each(|event| written.push(event))?;
    written.end()
}

/// How a kernel was launched.
fn launch(launch: Launch) -> Map<String, Value> {
    let fields = [
        ("grid", json!(launch.grid)),
        ("block", json!(launch.block)),
        ("registers", json!(launch.registers)),
        ("shared_bytes", json!(launch.shared)),
    ];
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

/// A complete event, and its beginning in microseconds.
fn event(
    trace: &Trace,
    (process, row, category): (u32, u32, &str),
    name: &str,
    began: Instant,
    took: Duration,
    fields: Map<String, Value>,
) -> (f64, Value) {
    let began = microseconds(began.saturating_duration_since(trace.began));
    let track = track(process, row);
    let times = (began, microseconds(took));
    (began, track.complete((category, name), times, fields))
}

fn track(process: u32, thread: u32) -> Track {
    Track { process, thread }
}

/// To the nanosecond.
fn microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

/// The threads that have ranges, in order of appearance.
fn threads(trace: &Trace) -> Vec<ThreadId> {
    let mut threads = Vec::new();
    for range in &trace.ranges {
        if !threads.contains(&range.thread) {
            threads.push(range.thread);
        }
    }
    threads
}

/// Returns the events that name the rows.
fn names(trace: &Trace, threads: usize) -> Vec<Value> {
    let mut names = vec![
        track(HOST, 0).of_process_named("host"),
        track(HOST, CALLS).named("driver calls"),
        track(DEVICE, 0).of_process_named("device"),
    ];
    for thread in 0..threads as u32 {
        let text = format!("ranges of thread {}", thread + 1);
        names.push(track(HOST, RANGES + thread).named(&text));
    }
    let mut streams: Vec<u32> = trace.spans.iter().map(|span| span.stream).collect();
    streams.sort_unstable();
    streams.dedup();
    for stream in streams {
        names.push(track(DEVICE, stream).named(&format!("stream {stream}")));
    }
    names
}
