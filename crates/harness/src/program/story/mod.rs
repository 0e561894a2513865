//! The story of a program: how busy its devices were, why they were idle, what ran at once, its memory, and what to
//! change.

mod advice;
mod idle;
mod memory;
mod overlap;
mod sentence;
mod text;

use serde::{Deserialize, Serialize};

use super::model::Program;
use super::wait::Wait;
pub use advice::Advice;
pub use idle::{Cause, Idle, Why};
pub use memory::{MemoryUse, Share};
pub use overlap::Overlap;
pub(super) use text::text;

/// The story of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// One sentence: the share of the time in which the devices were busy, and the reason that cost most of the rest.
    pub sentence: String,
    /// The times of each device that had work, by process; empty where they were emulated.
    pub devices: Vec<Idle>,
    /// Copies that ran at the same time as kernels, by direction; empty where the devices were emulated.
    pub overlap: Vec<Overlap>,
    /// Calls that launched.
    pub launches: u64,
    /// Nanoseconds of a launch on the host; `None` where the devices were emulated.
    pub launch_ns: Option<f64>,
    /// Memory, by kind.
    pub memory: Vec<MemoryUse>,
    /// Advice, ordered by what it would save.
    pub advice: Vec<Advice>,
    /// The replayed time of the unchanged program over the recorded one, less 1; `None` where nothing was replayed.
    pub replay_error: Option<f64>,
}

impl Story {
    /// Of a program and the waits of its processes.
    pub(super) fn of(program: &Program, waits: &[Vec<Wait>]) -> Story {
        let is_emulated = program.is_emulated();
        let devices = match is_emulated {
            true => Vec::new(),
            false => idle::idle(program),
        };
        let launches = program.processes.iter().flat_map(|it| &it.calls);
        let launches = launches.filter(|it| it.purpose == super::Purpose::Launch);
        let times: Vec<u64> = launches.map(|it| it.took()).collect();
        let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
        let advised = advice::advice(program, waits);
        let overlap = match is_emulated {
            true => Vec::new(),
            false => overlap::overlap(program),
        };
        Story {
            sentence: sentence::sentence(program, &devices, &advised.advice),
            devices,
            overlap,
            launches: times.len() as u64,
            launch_ns: (!is_emulated && !times.is_empty()).then_some(mean),
            memory: memory::memory(program),
            advice: advised.advice,
            replay_error: advised.replay_error,
        }
    }
}
