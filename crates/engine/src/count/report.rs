//! The counts of a launch, by instruction.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use ptx::{Body, Instruction, Operation};

use super::tally::{OfAccess, OfBlock, OfFunction, Tally};
use super::{Branch, Buffer, Counted, Counts, Footprint, Memory, Space};
use crate::memory::Memory as DeviceMemory;
use crate::source;

/// The end of a basic block, as far as counts tell ends apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockEnd {
    /// By a branch that lanes take or do not.
    Branch,
    /// By a branch to one of several targets.
    Switch,
    /// By anything else.
    Other,
}

/// A kernel's code as counts show it: PTX, and which instructions each basic block has.
pub(crate) trait Listing: fmt::Debug + Sync {
    /// The kernel's name.
    fn name(&self) -> &str;

    /// The module.
    fn ptx(&self) -> &ptx::Module;

    /// The module's text.
    fn text(&self) -> &str;

    /// Calls `block` for each basic block of a function that has run, with the instructions that it issues.
    fn each_block(&self, function: u32, block: &mut dyn FnMut(Range<u32>, BlockEnd));

    /// The device's memory.
    fn memory(&self) -> &DeviceMemory;
}

/// The counts of a launch, by instructions that the module knows: [`Tallied::counts`] gives them their texts and lines.
#[derive(Debug)]
pub struct Tallied<'k> {
    code: &'k dyn Listing,
    grid: [u32; 3],
    block: [u32; 3],
    tally: Tally,
}

impl<'k> Tallied<'k> {
    pub(crate) fn new(
        code: &'k dyn Listing,
        (grid, block): ([u32; 3], [u32; 3]),
        tally: Tally,
    ) -> Tallied<'k> {
        Tallied {
            code,
            grid,
            block,
            tally,
        }
    }

    /// The counts of the launch.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts {
            kernel: self.code.name().to_owned(),
            launches: 0,
            blocks: 0,
            warps: 0,
            threads: 0,
            instructions: Vec::new(),
            footprint: Footprint::default(),
        };
        self.add_instructions(&mut counts);
        counts.footprint = self.footprint();
        counts
    }

    /// Adds the launch to what others of the kernel did, as [`Counts::add`] adds its [`Tallied::counts`], but makes no
    /// text that is there.
    pub fn add_to(&self, counts: &mut Counts) {
        self.add_instructions(counts);
        counts.footprint.add(&self.footprint());
    }

    fn footprint(&self) -> Footprint {
        self.tally.footprint(self.code.memory())
    }

    fn add_instructions(&self, counts: &mut Counts) {
        let blocks: u64 = self.grid.into_iter().map(u64::from).product();
        let threads: u64 = self.block.into_iter().map(u64::from).product();
        counts.launches += 1;
        counts.blocks += blocks;
        counts.warps += blocks * threads.div_ceil(32);
        counts.threads += blocks * threads;
        self.tally.add_to(self.code, counts);
    }
}

impl Tally {
    fn add_to(&self, code: &dyn Listing, counts: &mut Counts) {
        let mut missing = Vec::new();
        for (index, tally) in (0..).zip(&self.functions) {
            let Some(tally) = tally else { continue };
            let function = Ran::new(tally, code, index);
            let known = counts.instructions_of(function.name());
            missing.extend(function.add_to(known));
        }
        if !missing.is_empty() {
            counts.instructions.extend(missing);
            counts.sort();
        }
    }

    fn footprint(&self, memory: &DeviceMemory) -> Footprint {
        let totals = self.reached.totals();
        let mut buffers = self.buffers(memory);
        // Addresses, by which allocations are listed, are the system's.
        buffers.sort_by(|a, b| a.name.cmp(&b.name));
        Footprint {
            read: totals.read,
            written: totals.written,
            either: totals.either,
            read_by_blocks: self.read_by_blocks,
            written_by_blocks: self.written_by_blocks,
            buffers,
        }
    }

    /// The allocations that were reached.
    fn buffers(&self, memory: &DeviceMemory) -> Vec<Buffer> {
        let span = self.reached.span();
        memory.while_nothing_is_freed(|live| {
            let before = live.range(..span.start).next_back();
            let all = before.into_iter().chain(live.range(span));
            let reached = all.filter_map(|(_, it)| {
                let totals = self.reached.of_allocation(it.start, it.bytes);
                (totals.either > 0).then(|| Buffer {
                    name: it.label.name.to_string(),
                    bytes: it.bytes,
                    read: totals.read,
                    written: totals.written,
                    either: totals.either,
                })
            });
            reached.collect()
        })
    }
}

/// How often an instruction was issued, for how many lanes, and where those went.
#[derive(Clone, Copy, Default)]
pub(super) struct Issues {
    pub(super) warps: u64,
    pub(super) lanes: u64,
    pub(super) threads: u64,
    pub(super) runtime_operations: u64,
    pub(super) branch: Option<Branch>,
}

/// The counts of a function, by the lines of its PTX.
struct Ran<'t> {
    code: &'t dyn Listing,
    function: &'t ptx::Function,
    body: &'t Body,
    /// Of each of its instructions.
    issues: Vec<Issues>,
    /// Of those that did something with memory.
    memory: BTreeMap<u32, Vec<Memory>>,
}

impl<'t> Ran<'t> {
    fn new(tally: &OfFunction, code: &'t dyn Listing, index: u32) -> Self {
        let function = &code.ptx().functions[index as usize];
        let body = function.body.as_ref().expect("it has run");
        let mut issues = vec![Issues::default(); body.instructions.len()];
        let mut tallies = tally.blocks.iter();
        code.each_block(index, &mut |block, end| {
            if let Some(tally) = tallies.next().filter(|it| it.runs > 0) {
                issued((block, end), tally, body, &mut issues);
            }
        });
        for (&at, &operations) in &tally.products {
            issues[at as usize].runtime_operations = operations;
        }
        Ran {
            code,
            function,
            body,
            issues,
            memory: accesses(tally),
        }
    }

    fn name(&self) -> &str {
        &self.function.name
    }

    /// Adds its instructions to those that are known, which are in the order of the PTX, and gives the others.
    fn add_to(mut self, known: &mut [Counted]) -> Vec<Counted> {
        let (mut missing, mut next) = (Vec::new(), 0);
        for at in 0..self.issues.len() as u32 {
            let issues = self.issues[at as usize];
            if issues.warps == 0 {
                continue;
            }
            let memory = self.reached(at, &issues);
            while known.get(next).is_some_and(|it| it.instruction < at) {
                next += 1;
            }
            match known.get_mut(next).filter(|it| it.instruction == at) {
                Some(known) => known.add_issues(&issues, &memory),
                None => missing.push(self.counted(at, issues, memory)),
            }
        }
        missing
    }

    /// Returns the accesses of an instruction to memory.
    fn reached(&mut self, at: u32, issues: &Issues) -> Vec<Memory> {
        let instruction = &self.body.instructions[at as usize];
        let mut reached = self.memory.remove(&at).unwrap_or_default();
        reached.extend(of_parameters(instruction, issues));
        name_constants(instruction, &mut reached);
        reached
    }

    fn counted(&self, at: u32, issues: Issues, memory: Vec<Memory>) -> Counted {
        let instruction = &self.body.instructions[at as usize];
        let facts = instruction.operation.facts();
        let places = source::places(self.code.ptx(), self.body, at as usize);
        Counted {
            function: self.function.name.clone(),
            instruction: at,
            ptx_line: instruction.line,
            text: instruction.text(self.code.text()).to_owned(),
            callee: places.callee(),
            source: places.own,
            class: facts.class,
            element: facts.element,
            operations_per_thread: facts.operations,
            runtime_operations: issues.runtime_operations,
            warps: issues.warps,
            lanes: issues.lanes,
            threads: issues.threads,
            memory,
            branch: issues.branch,
        }
    }
}

/// The instructions of a basic block. Its last one may have a guard, or be a branch.
fn issued(
    (block, end): (Range<u32>, BlockEnd),
    tally: &OfBlock,
    body: &Body,
    issues: &mut [Issues],
) {
    for at in block.clone() {
        let instruction = &mut issues[at as usize];
        instruction.warps += tally.runs;
        instruction.lanes += tally.lanes;
        instruction.threads += tally.lanes;
    }
    let Some(last) = block.last() else {
        return;
    };
    let instruction = &mut issues[last as usize];
    let not_taken = match end {
        BlockEnd::Branch => tally.lanes - tally.taken,
        BlockEnd::Switch | BlockEnd::Other => 0,
    };
    instruction.threads -= not_taken;
    if end != BlockEnd::Other && body.instructions[last as usize].is_branch() {
        let branch = instruction.branch.get_or_insert_default();
        branch.taken += tally.lanes - not_taken;
        branch.not_taken += not_taken;
        branch.splits += tally.splits;
    }
}

/// Returns the accesses of each instruction to each space. A copy has two, each in a space of its own.
fn accesses(tally: &OfFunction) -> BTreeMap<u32, Vec<Memory>> {
    let mut all: BTreeMap<(u32, Space), OfAccess> = BTreeMap::new();
    for (space, access) in tally.accesses() {
        let of = all.entry((access.instruction, space)).or_default();
        of.add(&access);
    }
    let mut by_instruction: BTreeMap<u32, Vec<Memory>> = BTreeMap::new();
    for ((instruction, space), access) in &all {
        let memory = by_instruction.entry(*instruction).or_default();
        memory.push(access.memory(*space));
    }
    by_instruction
}

impl OfAccess {
    fn memory(&self, space: Space) -> Memory {
        Memory {
            space,
            requests: self.requests,
            bytes: self.bytes,
            sectors: self.sectors,
            least_sectors: self.least_sectors,
            new_sectors: self.new_sectors,
            wavefronts: self.wavefronts,
            conflicts: self.conflicts,
            stride: self.stride(),
        }
    }
}

impl OfAccess {
    /// The most frequent distance between neighbours.
    fn stride(&self) -> Option<i64> {
        let simple = [(i64::from(self.width), self.consecutive), (0, self.same)];
        let all = simple
            .into_iter()
            .chain(self.strides())
            .filter(|it| it.1 > 0);
        let regular: u64 = all.clone().map(|it| it.1).sum();
        let most = all.reduce(|most, it| if it.1 > most.1 { it } else { most });
        most.filter(|_| self.irregular <= regular).map(|it| it.0)
    }
}

/// Loads and stores of parameters by name, which the engine has in registers.
fn of_parameters(instruction: &Instruction, issues: &Issues) -> Option<Memory> {
    use ptx::Space::{Param, ParamEntry, ParamFunction};
    let (space, bytes, address) = match &instruction.operation {
        Operation::Ld(it) => (it.space, it.ty.bytes() * it.d.len() as u32, it.address),
        Operation::St(it) => (it.space, it.ty.bytes() * it.a.len() as u32, it.address),
        _ => return None,
    };
    let is_named = matches!(address.base, ptx::Base::Symbol(_));
    let is_parameter = matches!(space, Param | ParamEntry | ParamFunction);
    (is_named && is_parameter).then(|| Memory {
        space: Space::Parameters,
        requests: issues.warps,
        bytes: issues.threads * u64::from(bytes),
        sectors: 0,
        least_sectors: 0,
        new_sectors: 0,
        wavefronts: 0,
        conflicts: 0,
        stride: Some(0),
    })
}

/// Makes constant the space of accesses that the engine takes for global and the instruction calls constant.
fn name_constants(instruction: &Instruction, memory: &mut [Memory]) {
    if let Operation::Ld(load) = &instruction.operation
        && load.space == ptx::Space::Const
    {
        memory.iter_mut().for_each(|it| it.space = Space::Constant);
    }
}
