//! Where the time went: calls of the host by function and place, work of the devices by name and place, and waits by
//! place with what was waited for.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::label::Label;
use super::model::Program;
use super::place::Place;
use super::wait::Wait;
use crate::table::Times;

/// A row: what took time, and where in the program it was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The function, the kernel, or the direction of the copy.
    pub name: String,
    /// The line that called or launched it.
    pub place: Place,
    /// Whether it is a copy of a device.
    pub is_copy: bool,
    /// How often.
    pub count: u64,
    /// Bytes that copies or fills wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Its times; `None` where the devices were emulated.
    pub times: Option<Times>,
}

/// Calls that blocked, by function and place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitRow {
    /// The function.
    pub function: String,
    /// The line that called it.
    pub place: Place,
    /// How often.
    pub count: u64,
    /// The times of the calls; `None` where the devices were emulated.
    pub times: Option<Times>,
    /// Work that they waited for, the longest first.
    pub parts: Vec<Part>,
    /// Nanoseconds of the calls' own copies and fills.
    pub own_ns: f64,
    /// Nanoseconds in which nothing ran that they waited for.
    pub rest_ns: f64,
}

/// Work that was waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// With the line that launched it, as a sentence has it.
    pub what: String,
    /// That line.
    pub place: Place,
    /// How often it was waited for.
    pub count: u64,
    /// Nanoseconds of these waits; 0 where the devices were emulated.
    pub total_ns: f64,
}

/// Calls by function and place, the longest in all first.
pub(super) fn host(program: &Program) -> Vec<Row> {
    let calls = program.processes.iter().flat_map(|it| &it.calls);
    let groups = grouped(calls.map(|it| ((&*it.function, &*it.place), it.took())));
    let rows = groups
        .into_iter()
        .map(|((function, place), times)| row(program, (function.to_owned(), place), &times, None));
    sorted(rows)
}

/// Kernels, copies and fills by name and place, the longest in all first.
pub(super) fn device(program: &Program) -> Vec<Row> {
    let nowhere = Place::default();
    let all = program.processes.iter();
    let all = all.flat_map(|process| process.activities.iter().map(move |it| (process, it)));
    let groups = grouped(all.map(|(process, it)| {
        let place = process.caller(it).map_or(&nowhere, |it| &*it.place);
        ((it.work.label(), place), it)
    }));
    let rows = groups.into_iter().map(|((label, place), activities)| {
        let times: Vec<u64> = activities.iter().map(|it| it.took()).collect();
        let bytes = activities.iter().filter_map(|it| it.work.bytes());
        let bytes = bytes.reduce(|a, b| a + b);
        Row {
            is_copy: matches!(label, Label::Copy { .. }),
            ..row(program, (label.to_string(), place), &times, bytes)
        }
    });
    sorted(rows)
}

/// Waits by function and place, the longest in all first. The waits are those of each process.
pub(super) fn waits(program: &Program, waits: &[Vec<Wait>]) -> Vec<WaitRow> {
    let nowhere = Place::default();
    let all = program.processes.iter().zip(waits);
    let all = all.flat_map(|(process, waits)| waits.iter().map(move |wait| (process, wait)));
    let groups = grouped(all.map(|(process, wait)| {
        let call = &process.calls[wait.call];
        ((&*call.function, &*call.place), (process, wait))
    }));
    let rows = groups.into_iter().map(|((function, place), waits)| {
        let parts = waits.iter().flat_map(|(process, wait)| {
            let part = |&(index, took): &(usize, u64)| {
                let activity = &process.activities[index];
                let place = process.caller(activity).map_or(&nowhere, |it| &*it.place);
                ((activity.work.label(), place), took)
            };
            wait.parts.iter().map(part)
        });
        // The library's functions do not tell one line's work apart.
        let mut lines: BTreeMap<(String, Place), Part> = BTreeMap::new();
        for ((label, place), times) in grouped(parts) {
            let place = place.line();
            let key = (label.at(&place), place);
            let part = lines.entry(key).or_insert_with_key(|(what, place)| Part {
                what: what.clone(),
                place: place.clone(),
                count: 0,
                total_ns: 0.0,
            });
            part.count += times.len() as u64;
            part.total_ns += times.iter().sum::<u64>() as f64;
        }
        let parts = lines.into_values();
        let mut parts: Vec<Part> = parts.collect();
        parts.sort_by(|a, b| {
            (b.total_ns, b.count)
                .partial_cmp(&(a.total_ns, a.count))
                .expect("finite")
        });
        let times = waits
            .iter()
            .map(|(process, it)| process.calls[it.call].took());
        WaitRow {
            function: function.to_owned(),
            place: place.clone(),
            count: waits.len() as u64,
            times: times_of(program, &times.collect::<Vec<_>>()),
            parts,
            own_ns: waits.iter().map(|(_, it)| it.own as f64).sum(),
            rest_ns: waits.iter().map(|(_, it)| it.rest as f64).sum(),
        }
    });
    let mut rows: Vec<WaitRow> = rows.collect();
    rows.sort_by(|a, b| weight(b.times, b.count).total_cmp(&weight(a.times, a.count)));
    rows
}

fn row(
    program: &Program,
    (name, place): (String, &Place),
    times: &[u64],
    bytes: Option<u64>,
) -> Row {
    Row {
        name,
        place: place.clone(),
        is_copy: false,
        count: times.len() as u64,
        bytes,
        times: times_of(program, times),
    }
}

/// Times of an emulated device, and of the host that emulates it, say nothing.
fn times_of(program: &Program, times: &[u64]) -> Option<Times> {
    match program.is_emulated() {
        true => None,
        false => Times::of(times.iter().map(|&it| it as f64)),
    }
}

fn sorted(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by(|a, b| weight(b.times, b.count).total_cmp(&weight(a.times, a.count)));
    rows
}

/// The time, or the number where there is no time.
fn weight(times: Option<Times>, count: u64) -> f64 {
    times.map_or(count as f64, |it| it.total_ns)
}

/// Values by keys, in the order in which the keys came.
pub(super) fn grouped<K: Eq + Hash + Copy, V>(
    values: impl Iterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in values {
        let place = *places.entry(key).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}
