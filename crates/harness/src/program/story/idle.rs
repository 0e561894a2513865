//! When a device was idle, and why.
//!
//! A gap ends with a piece of work. Had its call not been made when the gap began, then the host was late: its time until the call
//! goes to what it did, a call or code of its own. The rest, up to the work's begin, is the launch's latency, or
//! another stream's event.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::super::function::Purpose;
use super::super::model::{Activity, Call, Process, Program, Work};
use super::super::place::Place;

/// The time of a device from its first work to its last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Idle {
    /// The process.
    pub process: u32,
    /// The device's number in it.
    pub device: u32,
    /// Nanoseconds from the program's first call to its first work.
    pub before_ns: f64,
    /// Nanoseconds in which it had work.
    pub busy_ns: f64,
    /// Nanoseconds of these in which a kernel ran.
    pub kernels_ns: f64,
    /// Nanoseconds between pieces of work in which it had none.
    pub idle_ns: f64,
    /// Why, the longest in all first.
    pub causes: Vec<Cause>,
}

/// A cause of gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// The cause.
    pub why: Why,
    /// The function that was called; empty for code of the host's own.
    pub function: String,
    /// The line that the host was at: that of the call, or of the last one before its own code.
    pub place: Place,
    /// The line that launched the work behind the gap.
    pub next: Place,
    /// How often.
    pub count: u64,
    /// Nanoseconds in all.
    pub total_ns: f64,
}

/// Kinds of causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The host ran code of its own: the program's, Python's, a print, a file.
    HostCode,
    /// The host was launching.
    Launching,
    /// The host came back from a wait, or copied pageable memory.
    Blocked,
    /// The host allocated or freed memory.
    Memory,
    /// The host loaded a module.
    Loading,
    /// The host made another call.
    OtherCall,
    /// The work was launched, and had not begun: its latency.
    Latency,
    /// The work's stream waited for another.
    OtherStream,
}

/// Each device of each process.
pub(super) fn idle(program: &Program) -> Vec<Idle> {
    let processes = program.processes.iter();
    processes
        .flat_map(|it| of_process(it, program.start))
        .collect()
}

fn of_process(process: &Process, begin: u64) -> Vec<Idle> {
    let mut devices: BTreeMap<u32, Vec<&Activity>> = BTreeMap::new();
    for activity in &process.activities {
        devices.entry(activity.device).or_default().push(activity);
    }
    let host = Host::of(process);
    let of_device = |(device, activities): (u32, Vec<&Activity>)| {
        let first = activities.first()?;
        let mut causes = Causes::default();
        let (mut busy, mut idle, mut until) = (0, 0, first.start);
        let (mut kernels, mut kernel_until) = (0, first.start);
        for activity in &activities {
            // Of the time between two recorded parts nothing is known.
            if activity.start > until && !process.is_unrecorded_between(until, activity.start) {
                idle += activity.start - until;
                host.explain(activity, (until, activity.start), &mut causes);
            }
            busy += activity.end.saturating_sub(activity.start.max(until));
            until = until.max(activity.end);
            if matches!(activity.work, Work::Kernel { .. }) {
                kernels += activity
                    .end
                    .saturating_sub(activity.start.max(kernel_until));
                kernel_until = kernel_until.max(activity.end);
            }
        }
        Some(Idle {
            process: process.id,
            device,
            before_ns: first.start.saturating_sub(begin) as f64,
            busy_ns: busy as f64,
            kernels_ns: kernels as f64,
            idle_ns: idle as f64,
            causes: causes.sorted(),
        })
    };
    devices.into_iter().filter_map(of_device).collect()
}

/// A cause without its times.
type Key<'p> = (Why, &'p str, &'p Place, &'p Place);

#[derive(Default)]
struct Causes<'p>(HashMap<Key<'p>, (u64, u64)>);

impl<'p> Causes<'p> {
    fn add(&mut self, key: Key<'p>, time: u64) {
        if time > 0 {
            let (count, sum) = self.0.entry(key).or_default();
            *count += 1;
            *sum += time;
        }
    }

    /// The longest first. The library's functions are left out: of a line there is one cause.
    fn sorted(self) -> Vec<Cause> {
        let mut lines: BTreeMap<(Why, String, Place, Place), (u64, u64)> = BTreeMap::new();
        for ((why, function, place, next), (count, sum)) in self.0 {
            let key = (why, function.to_owned(), place.line(), next.line());
            let sums = lines.entry(key).or_default();
            *sums = (sums.0 + count, sums.1 + sum);
        }
        let causes = lines.into_iter();
        let causes = causes.map(|((why, function, place, next), (count, sum))| Cause {
            why,
            function,
            place,
            next,
            count,
            total_ns: sum as f64,
        });
        let mut causes: Vec<Cause> = causes.collect();
        causes.sort_by(|a, b| b.total_ns.total_cmp(&a.total_ns));
        causes
    }
}

/// The calls of each thread.
struct Host<'p> {
    process: &'p Process,
    threads: HashMap<u32, Vec<usize>>,
    nowhere: &'static Place,
}

impl<'p> Host<'p> {
    fn of(process: &'p Process) -> Host<'p> {
        static NOWHERE: Place = Place {
            file: String::new(),
            line: None,
            function: String::new(),
            through: None,
        };
        let mut threads: HashMap<u32, Vec<usize>> = HashMap::new();
        for (index, call) in process.calls.iter().enumerate() {
            threads.entry(call.actor).or_default().push(index);
        }
        Host {
            process,
            threads,
            nowhere: &NOWHERE,
        }
    }

    fn explain<'c>(&self, work: &Activity, (start, end): (u64, u64), causes: &mut Causes<'c>)
    where
        'p: 'c,
    {
        let Some(index) = work.call else {
            causes.add((Why::Latency, "", self.nowhere, self.nowhere), end - start);
            return;
        };
        let call = &self.process.calls[index];
        let late = call.start.clamp(start, end);
        let why = match late == start && end - start > 20_000 {
            true => Why::OtherStream,
            false => Why::Latency,
        };
        causes.add((why, "", &call.place, &call.place), end - late);
        let calls = &self.threads[&call.actor];
        let mut place = calls.partition_point(|&it| it < index);
        // From the call backwards: each one, and the time between.
        let mut time = late;
        while time > start && place > 0 {
            place -= 1;
            let before = &self.process.calls[calls[place]];
            let ended = before.end.clamp(start, time);
            causes.add(
                (Why::HostCode, "", &before.place, &call.place),
                time - ended,
            );
            let began = before.start.clamp(start, ended);
            let key = (
                why_of(before),
                &*before.function,
                &*before.place,
                &*call.place,
            );
            causes.add(key, ended - began);
            time = began;
        }
        causes.add((Why::HostCode, "", self.nowhere, &call.place), time - start);
    }
}

fn why_of(call: &Call) -> Why {
    match call.purpose {
        Purpose::Launch => Why::Launching,
        Purpose::Wait | Purpose::Copy => Why::Blocked,
        Purpose::Allocation | Purpose::Release => Why::Memory,
        Purpose::Loading => Why::Loading,
        Purpose::Fill | Purpose::Order | Purpose::Other => Why::OtherCall,
    }
}
