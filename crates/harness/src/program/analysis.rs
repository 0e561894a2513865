//! All that a recorded program tells, as text, files and pages show it.

use serde::{Deserialize, Serialize};

use super::model::{Process, Program};
use super::roofline::Roofline;
use super::story::Story;
use super::tables::{self, Row, WaitRow};
use super::wait::{Wait, waits};

/// All that a recorded program tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Nanoseconds from the first call to the last.
    pub whole_ns: f64,
    /// Whether the devices were emulated: then there are no times.
    pub is_emulated: bool,
    /// The processes.
    pub processes: Vec<ProcessFacts>,
    /// How busy the devices were, why they were idle, and what to change.
    pub story: Story,
    /// Calls that blocked, by place, the longest in all first.
    pub waits: Vec<WaitRow>,
    /// Calls by function and place, the longest in all first.
    pub host: Vec<Row>,
    /// Kernels, copies and fills by name and place, the longest in all first.
    pub device: Vec<Row>,
    /// The kernels under the roofline, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roofline: Option<Roofline>,
}

/// A process, and how whole its recording is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessFacts {
    /// Its number.
    pub id: u32,
    /// Its command line.
    pub command: Vec<String>,
    /// The recorder.
    pub recorded_by: String,
    /// Its devices' names.
    pub devices: Vec<String>,
    /// The parts of it that were recorded; `None` where all of it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartFacts>,
    /// Whether its recording has an end: it was not killed.
    pub has_ended: bool,
    /// Records for which the recording had no room.
    pub refused: u64,
    /// Records of devices that the recorder lost.
    pub lost: u64,
    /// Pieces of work whose call is not known.
    pub uncalled: u64,
    /// Nanoseconds that the recorder took in the process's threads.
    pub recorder_ns: f64,
    /// Calls that were recorded.
    pub calls: u64,
    /// Pieces of work of devices that were recorded.
    pub activities: u64,
}

/// The parts of a process that were recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartFacts {
    /// The parts that were asked for, in words.
    pub asked: String,
    /// How many there were.
    pub count: u64,
    /// Nanoseconds of all of them.
    pub total_ns: f64,
}

impl Analysis {
    /// Of a program, without its roofline.
    pub fn of(program: &Program) -> Analysis {
        let waits: Vec<Vec<Wait>> = program.processes.iter().map(waits).collect();
        Analysis {
            whole_ns: program.took() as f64,
            is_emulated: program.is_emulated(),
            processes: program.processes.iter().map(ProcessFacts::of).collect(),
            story: Story::of(program, &waits),
            waits: tables::waits(program, &waits),
            host: tables::host(program),
            device: tables::device(program),
            roofline: None,
        }
    }
}

impl Analysis {
    /// The rows of copies.
    pub(super) fn copies(&self) -> impl Iterator<Item = &Row> {
        self.device.iter().filter(|it| it.is_copy)
    }
}

impl ProcessFacts {
    fn of(process: &Process) -> ProcessFacts {
        ProcessFacts {
            id: process.id,
            command: process.command.clone(),
            recorded_by: process.source.clone(),
            devices: process.devices.iter().map(|it| it.name.clone()).collect(),
            part: PartFacts::of(process),
            has_ended: process.has_ended,
            refused: process.missing.refused,
            lost: process.missing.lost,
            uncalled: process.missing.uncalled,
            recorder_ns: process.cost as f64,
            calls: process.calls.len() as u64,
            activities: process.activities.len() as u64,
        }
    }
}

impl PartFacts {
    fn of(process: &Process) -> Option<PartFacts> {
        let times = process
            .parts
            .iter()
            .map(|(start, end)| end.saturating_sub(*start));
        Some(PartFacts {
            asked: process.asked.clone()?,
            count: process.parts.len() as u64,
            total_ns: times.sum::<u64>() as f64,
        })
    }
}
