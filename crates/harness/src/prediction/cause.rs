//! The causes of a warp's time, and their lines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::demand::{Demand, Resource};
use crate::driver::count::{Class, Counted, Counts, Space};

/// A share of the time that a warp is on a multiprocessor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// The thing that the warp waits for.
    pub what: String,
    /// The line that makes it wait longest; none where no line does.
    pub place: Option<String>,
    /// The share, 0 to 1.
    pub share: f64,
}

/// Seconds of a warp.
pub(super) struct Parts {
    /// All of them.
    pub(super) warp: f64,
    /// Before its first instruction.
    pub(super) turn: f64,
    /// For loads of the block's other warps.
    pub(super) burst: f64,
    /// For the result of each instruction that was counted.
    pub(super) waits: Vec<f64>,
}

impl Parts {
    /// The causes, the longest first. What is left of the warp's time it waits for the busiest resource, `limit`.
    pub(super) fn causes(
        &self,
        counts: &Counts,
        demand: &Demand,
        limit: Option<Resource>,
        file: &str,
    ) -> Vec<Cause> {
        let mut causes: BTreeMap<String, Lines> = BTreeMap::new();
        for (counted, seconds) in counts.instructions.iter().zip(&self.waits) {
            let lines = causes.entry(waits_for(counted).to_owned()).or_default();
            lines.add(place(counted, file), *seconds);
        }
        causes.entry("starts of blocks".to_owned()).or_default().all += self.turn;
        let loads = causes.entry(LOADS.to_owned()).or_default();
        loads.all += self.burst;
        let known: f64 = causes.values().map(|it| it.all).sum();
        if let Some(limit) = limit {
            let queue = causes.entry(format!("the queue for {limit}")).or_default();
            queue.all += (self.warp - known).max(0.0);
            for it in demand.uses_of(limit) {
                let place = place(&counts.instructions[it.instruction], file);
                *queue.by_place.entry(place).or_default() += it.seconds;
            }
        }
        let all: f64 = causes.values().map(|it| it.all).sum();
        let causes = causes.into_iter().map(|(what, lines)| Cause {
            what,
            share: lines.all / all,
            place: lines.longest(),
        });
        let mut causes: Vec<Cause> = causes.filter(|it| it.share > 0.0).collect();
        causes.sort_by(|a, b| b.share.total_cmp(&a.share));
        causes
    }
}

/// Seconds, of all lines and of each.
#[derive(Default)]
struct Lines {
    all: f64,
    by_place: BTreeMap<String, f64>,
}

impl Lines {
    fn add(&mut self, place: String, seconds: f64) {
        self.all += seconds;
        *self.by_place.entry(place).or_default() += seconds;
    }

    fn longest(self) -> Option<String> {
        let lines = self.by_place.into_iter().filter(|it| it.1 > 0.0);
        lines.max_by(|a, b| a.1.total_cmp(&b.1)).map(|it| it.0)
    }
}

const LOADS: &str = "loads from global memory";

fn waits_for(counted: &Counted) -> &'static str {
    let reaches = |space| counted.memory.iter().any(|it| it.space == space);
    match counted.class {
        Class::Load | Class::Copy if reaches(Space::Shared) => "loads from shared memory",
        Class::Load | Class::Copy => LOADS,
        Class::Atomic => "atomics",
        Class::Barrier => "barriers",
        Class::Shuffle => "shuffles",
        _ => "results of arithmetic",
    }
}

/// The line of the source, or of the PTX.
fn place(counted: &Counted, file: &str) -> String {
    match &counted.source {
        Some(place) => place.to_string(),
        None => format!("{file}:{}", counted.ptx_line),
    }
}
