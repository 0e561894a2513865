//! Advice: a line that costs more than it must, and what to do about it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{cost, lines};
use crate::driver::count::{Class, Counted, Counts, Memory, SECTOR, Space};
use crate::table::counted;

/// A kind of avoidable cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Lanes of a warp reach more sectors than their bytes take.
    Uncoalesced,
    /// Lanes of a warp reach different words of one bank of shared memory.
    BankConflict,
    /// Lanes of a warp go different ways.
    DivergentBranch,
    /// A block reads what it has read before.
    RedundantLoad,
    /// Memory of each thread's own: spilled registers, or an array that is indexed.
    LocalMemory,
}

/// Something to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Advice {
    /// The kind.
    pub kind: Kind,
    /// The file of the line, the source's or the PTX's.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The share of the kernel's cost that it is, 0 to 1.
    pub share: f64,
    /// Seconds of the predicted time that it would save, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saves_seconds: Option<f64>,
    /// Description of what the line does.
    pub finding: String,
    /// Description of what to do.
    pub remedy: String,
}

/// One sentence.
impl fmt::Display for Advice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Advice {
            file,
            line,
            finding,
            remedy,
            ..
        } = self;
        write!(formatter, "{file}:{line} {finding}: {remedy}.")
    }
}

/// The least share of the cost that is worth a sentence.
const MIN_SHARE: f64 = 0.01;

/// The most expensive first.
pub(super) fn advice(counts: &Counts, ptx_file: &str) -> Vec<Advice> {
    let all: f64 = counts.instructions.iter().map(cost::cycles).sum();
    let of_branch = cost_of_a_split(counts);
    let mut groups: BTreeMap<(String, u32, Kind), Group<'_>> = BTreeMap::new();
    for counted in &counts.instructions {
        let (file, line) = lines::place(counted, ptx_file);
        let mut add = |kind, cycles: f64| {
            if cycles > 0.0 {
                let key = (file.clone(), line, kind);
                groups.entry(key).or_default().add(counted, cycles);
            }
        };
        for memory in &counted.memory {
            add(Kind::Uncoalesced, uncoalesced(memory));
            add(Kind::RedundantLoad, redundant(counted.class, memory));
            if memory.space == Space::Shared {
                add(Kind::BankConflict, memory.conflicts as f64);
            }
            if memory.space == Space::Local {
                add(Kind::LocalMemory, cost::repeated(memory.sectors));
            }
        }
        let splits = counted.branch.map_or(0, |it| it.splits);
        add(Kind::DivergentBranch, splits as f64 * of_branch);
    }
    let told = groups
        .into_iter()
        .filter_map(|((file, line, kind), group)| {
            let share = group.cycles / all;
            let (finding, remedy) = group.told(kind, counts.launches)?;
            (share >= MIN_SHARE).then_some(Advice {
                kind,
                file,
                line,
                share,
                saves_seconds: None,
                finding,
                remedy,
            })
        });
    let mut advice: Vec<Advice> = told.collect();
    advice.sort_by(|a, b| b.share.total_cmp(&a.share));
    advice
}

/// Cycles for sectors that the same bytes side by side would not take.
fn uncoalesced(memory: &Memory) -> f64 {
    match memory.space {
        Space::Global if memory.sectors > memory.least_sectors => {
            let excess = memory.sectors - memory.least_sectors;
            cost::memory(memory) * excess as f64 / memory.sectors as f64
        }
        _ => 0.0,
    }
}

/// Cycles for sectors that the block has loaded before, of those that coalesced loads take.
fn redundant(class: Class, memory: &Memory) -> f64 {
    let again = memory.least_sectors.saturating_sub(memory.new_sectors);
    match (class, memory.space) {
        // Less than half of them is what neighbouring warps share at their edges.
        (Class::Load, Space::Global) if 2 * again > memory.least_sectors => cost::repeated(again),
        _ => 0.0,
    }
}

/// Issue slots that inactive lanes leave empty, for each time that a branch parts a warp.
fn cost_of_a_split(counts: &Counts) -> f64 {
    let branches = counts.instructions.iter().filter_map(|it| it.branch);
    let splits: u64 = branches.map(|it| it.splits).sum();
    let idle = counts.instructions.iter().map(|it| {
        let active = it.lanes as f64 / (32 * it.warps.max(1)) as f64;
        cost::cycles(it) * (1.0 - active).max(0.0)
    });
    match splits {
        0 => 0.0,
        splits => idle.sum::<f64>() / splits as f64,
    }
}

/// Instructions of a line that have one thing in common.
#[derive(Default)]
struct Group<'c> {
    instructions: Vec<&'c Counted>,
    cycles: f64,
}

impl<'c> Group<'c> {
    fn add(&mut self, counted: &'c Counted, cycles: f64) {
        self.instructions.push(counted);
        self.cycles += cycles;
    }

    /// Describes what it does and what to do; none where that is not enough to speak of.
    fn told(&self, kind: Kind, launches: u64) -> Option<(String, String)> {
        match kind {
            Kind::Uncoalesced => self.uncoalesced(),
            Kind::BankConflict => Some(self.conflicts()),
            Kind::DivergentBranch => self.divergent(launches),
            Kind::RedundantLoad => Some(self.redundant()),
            Kind::LocalMemory => Some(self.local()),
        }
    }

    fn memory(&self, space: Space) -> impl Iterator<Item = &'c Memory> + '_ {
        let all = self.instructions.iter().flat_map(|it| &it.memory);
        all.filter(move |it| it.space == space)
    }

    fn sum(&self, space: Space, of: fn(&Memory) -> u64) -> u64 {
        self.memory(space).map(of).sum()
    }

    /// `loads`, `stores`
    fn verb(&self) -> &'static str {
        match self.instructions[0].class {
            Class::Load => "loads",
            Class::Store => "stores",
            Class::Atomic => "changes",
            Class::Copy => "copies",
            _ => "reaches",
        }
    }

    /// Bytes of a lane's access, and the distance between neighbours where all have the same.
    fn pattern(&self, space: Space) -> (u64, Option<i64>) {
        let mut strides = self.memory(space).map(|it| it.stride);
        let first = strides.next().flatten();
        let stride = first.filter(|_| strides.all(|it| it == first));
        let threads: u64 = self.instructions.iter().map(|it| it.threads).sum();
        (self.sum(space, |it| it.bytes) / threads.max(1), stride)
    }

    fn uncoalesced(&self) -> Option<(String, String)> {
        let space = Space::Global;
        let (sectors, least) = (
            self.sum(space, |it| it.sectors),
            self.sum(space, |it| it.least_sectors),
        );
        if sectors * 5 < least * 6 {
            return None;
        }
        let (bytes, stride) = self.pattern(space);
        let used = (least * SECTOR).min(self.sum(space, |it| it.bytes));
        let moved = sectors * SECTOR;
        let percent = 100.0 * used as f64 / moved as f64;
        let distance = match stride {
            Some(stride) => format!("{} apart", counted(stride.unsigned_abs(), "byte")),
            None => "at no common stride".to_owned(),
        };
        let finding = format!(
            "{} {bytes} bytes per lane, {distance}: {percent:.1} % of the bytes moved are used \
             ({used} of {moved})",
            self.verb()
        );
        let remedy = match stride.map(i64::unsigned_abs) {
            Some(stride) if stride == bytes => {
                "let the first lane of each warp begin at a multiple of 32 bytes"
            }
            Some(stride) if stride <= SECTOR => {
                "keep one array per field, or load the whole structure with one wide access"
            }
            Some(_) => {
                "let neighbouring lanes access neighbouring elements: reorder the index, or go through a \
                 tile in shared memory"
            }
            None => "sort the indices, or gather through shared memory",
        };
        Some((finding, remedy.to_owned()))
    }

    fn conflicts(&self) -> (String, String) {
        let space = Space::Shared;
        let (bytes, stride) = self.pattern(space);
        let (wavefronts, conflicts) = (
            self.sum(space, |it| it.wavefronts),
            self.sum(space, |it| it.conflicts),
        );
        let ways = wavefronts as f64 / (wavefronts - conflicts).max(1) as f64;
        let distance = match stride {
            Some(stride) => format!("{} apart", counted(stride.unsigned_abs(), "byte")),
            None => "at no common stride".to_owned(),
        };
        let finding = format!(
            "{} {bytes} bytes per lane in shared memory, {distance}: {wavefronts} wavefronts where {} \
             would do, {ways:.1} times as many",
            self.verb(),
            wavefronts - conflicts
        );
        let remedy = match stride {
            Some(stride) if stride % 128 == 0 => {
                "make a row one element longer, such as 33 for 32, so that lanes reach different banks"
            }
            _ => {
                "lay the array out so that neighbouring lanes reach neighbouring words, or pad its rows"
            }
        };
        (finding, remedy.to_owned())
    }

    fn divergent(&self, launches: u64) -> Option<(String, String)> {
        let splits: u64 = self
            .instructions
            .iter()
            .filter_map(|it| it.branch)
            .map(|it| it.splits)
            .sum();
        let warps: u64 = self.instructions.iter().map(|it| it.warps).sum();
        let share = 100.0 * splits as f64 / warps.max(1) as f64;
        // One in each launch is the end of the data, which nobody can help.
        if splits <= launches {
            return None;
        }
        let finding =
            format!("diverges in {share:.1} % of the warps that reach it ({splits} of {warps})");
        let remedy = "let all lanes of a warp take the same side, by whole warps or by sorted data, or \
                      compute both sides and select";
        Some((finding, remedy.to_owned()))
    }

    fn redundant(&self) -> (String, String) {
        let space = Space::Global;
        let (sectors, new) = (
            self.sum(space, |it| it.sectors),
            self.sum(space, |it| it.new_sectors),
        );
        let times = sectors as f64 / new.max(1) as f64;
        let finding = format!(
            "reloads what its block has loaded before: {sectors} sectors, {new} of them new, each {times:.1} \
             times"
        );
        let remedy = "keep it in registers, or stage it in shared memory once per block";
        (finding, remedy.to_owned())
    }

    fn local(&self) -> (String, String) {
        let bytes = self.sum(Space::Local, |it| it.bytes);
        let finding = format!(
            "{} {bytes} bytes in local memory: spilled registers, or an array with a variable index",
            self.verb()
        );
        let remedy =
            "index arrays by constants, so that they stay in registers, or use smaller ones";
        (finding, remedy.to_owned())
    }
}
