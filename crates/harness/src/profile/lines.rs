//! Counts added up by source line.

use std::collections::HashMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::cost;
use super::source::Context;
use crate::driver::count::{Class, Counted, Counts, Space};

/// A line of the source, or of PTX that names no source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Text of the line, where the file is here.
    pub text: Option<String>,
    /// Its share of the kernel's cost, 0 to 1: of issue slots, sectors and wavefronts.
    pub share: f64,
    /// Its counts.
    #[serde(flatten)]
    pub sums: Sums,
    /// The instructions that it became.
    pub ptx: Vec<Instruction>,
}

/// An instruction of the PTX.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// Its line in the PTX, from 1.
    pub line: u32,
    /// As it is written.
    pub text: String,
    /// Its class.
    pub class: String,
    /// Bytes from one lane's access to the next one's, where all of them are that far apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<i64>,
    /// Its counts.
    #[serde(flatten)]
    pub sums: Sums,
}

/// Counts of one or more instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Times that a warp issued them.
    pub warps: u64,
    /// Lanes that executed them.
    pub threads: u64,
    /// Operations on floating point.
    pub flop: u64,
    /// Accesses to memory other than parameters, each of a warp: a vector is one.
    #[serde(default)]
    pub requests: u64,
    /// Bytes of global memory that lanes asked for.
    pub bytes: u64,
    /// Sectors of 32 bytes for these.
    pub sectors: u64,
    /// The sectors that as many bytes take side by side.
    pub least_sectors: u64,
    /// The sectors that their block had not reached before in this way.
    #[serde(default)]
    pub new_sectors: u64,
    /// Passes through the banks of shared memory.
    pub wavefronts: u64,
    /// Those of them that conflicts cost.
    pub conflicts: u64,
    /// Times that lanes of a warp parted.
    pub splits: u64,
    /// Times that a warp came to a barrier.
    #[serde(default)]
    pub barriers: u64,
    /// Atomics, each of a lane.
    #[serde(default)]
    pub atomics: u64,
}

impl Sums {
    /// Of all instructions of launches.
    pub(crate) fn of_launches(counts: &[Counts]) -> Sums {
        let all = counts.iter().flat_map(|it| &it.instructions);
        all.fold(Sums::default(), |mut sums, counted| {
            sums += Sums::of(counted);
            sums
        })
    }

    /// Of one instruction.
    pub(super) fn of(counted: &Counted) -> Sums {
        let of = |class, count| if counted.class == class { count } else { 0 };
        let mut sums = Sums {
            warps: counted.warps,
            threads: counted.threads,
            flop: if counted.is_float() {
                counted.operations()
            } else {
                0
            },
            splits: counted.branch.map_or(0, |it| it.splits),
            barriers: of(Class::Barrier, counted.warps),
            atomics: of(Class::Atomic, counted.threads),
            ..Sums::default()
        };
        for memory in &counted.memory {
            if memory.space != Space::Parameters {
                sums.requests += memory.requests;
            }
            if memory.space == Space::Global {
                sums.bytes += memory.bytes;
                sums.sectors += memory.sectors;
                sums.least_sectors += memory.least_sectors;
                sums.new_sectors += memory.new_sectors;
            }
            sums.wavefronts += memory.wavefronts;
            sums.conflicts += memory.conflicts;
        }
        sums
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.warps += other.warps;
        self.threads += other.threads;
        self.flop += other.flop;
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.sectors += other.sectors;
        self.least_sectors += other.least_sectors;
        self.new_sectors += other.new_sectors;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
        self.splits += other.splits;
        self.barriers += other.barriers;
        self.atomics += other.atomics;
    }
}

/// Where an instruction is from: file and line.
pub(super) fn place(counted: &Counted, ptx_file: &str) -> (String, u32) {
    match &counted.source {
        Some(place) => (place.file.clone(), place.line),
        None => (ptx_file.to_owned(), counted.ptx_line),
    }
}

/// That of all its accesses, where there is one.
fn stride(counted: &Counted) -> Option<i64> {
    let mut strides = counted.memory.iter().map(|it| it.stride);
    let first = strides.next()?;
    first.filter(|_| strides.all(|it| it == first))
}

/// The hottest first.
pub(super) fn lines(counts: &Counts, ptx_file: &str, context: &mut Context) -> Vec<Line> {
    let mut index = HashMap::new();
    let mut lines: Vec<(Line, f64)> = Vec::new();
    for counted in &counts.instructions {
        let (file, line) = place(counted, ptx_file);
        let at = *index.entry((file.clone(), line)).or_insert_with(|| {
            let text = context.line(&file, line);
            lines.push((
                Line {
                    file,
                    line,
                    text,
                    ..Line::default()
                },
                0.0,
            ));
            lines.len() - 1
        });
        let (line, cycles) = &mut lines[at];
        let sums = Sums::of(counted);
        line.sums += sums;
        line.ptx.push(Instruction {
            line: counted.ptx_line,
            text: counted.text.clone(),
            class: counted.class.name().to_owned(),
            stride: stride(counted),
            sums,
        });
        *cycles += cost::cycles(counted);
    }
    let all: f64 = lines.iter().map(|(_, cycles)| cycles).sum();
    lines.sort_by(|a, b| b.1.total_cmp(&a.1));
    let shared = lines.into_iter().map(|(line, cycles)| Line {
        share: cycles / all,
        ..line
    });
    shared.collect()
}
