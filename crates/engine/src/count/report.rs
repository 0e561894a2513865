//! What was counted, by instruction.

use std::collections::BTreeMap;

use ptx::{Body, Instruction, Operation};

use super::class::Sort;
use super::tally::{OfAccess, OfBlock, OfFunction, Tally};
use super::{Branch, Buffer, Counted, Counts, Footprint, Memory, Space};
use crate::Shape;
use crate::exec::program::{Block, Then};
use crate::memory::Allocation;
use crate::module::Code;
use crate::source;

impl Tally {
    /// The counts of a launch that has ended.
    pub(crate) fn counts(&self, code: &Code, shape: Shape) -> Counts {
        let blocks: u64 = shape.grid.into_iter().map(u64::from).product();
        let threads: u64 = shape.block.into_iter().map(u64::from).product();
        let own = code.function_index();
        let others = 0..self.functions.len() as u32;
        let order = [own].into_iter().chain(others.filter(|&it| it != own));
        let counted = order.filter_map(|index| {
            let function = self.functions.get(index as usize)?.as_deref()?;
            Some(of_function(function, code, index))
        });
        let instructions = counted.flatten().collect();
        Counts {
            kernel: code.function().name.clone(),
            launches: 1,
            blocks,
            warps: blocks * threads.div_ceil(32),
            threads: blocks * threads,
            instructions,
            footprint: self.footprint(&code.memory().allocations()),
        }
    }

    fn footprint(&self, allocations: &[Allocation]) -> Footprint {
        let totals = self.reached.totals();
        let buffers = allocations.iter().filter_map(|allocation| {
            let (start, bytes) = (allocation.start, allocation.bytes);
            let totals = self.reached.of_allocation(start, bytes);
            (totals.either > 0).then(|| Buffer {
                name: allocation.label.name.to_string(),
                bytes,
                read: totals.read,
                written: totals.written,
                either: totals.either,
            })
        });
        // Addresses, by which allocations are listed, are the system's.
        let mut buffers: Vec<Buffer> = buffers.collect();
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
}

/// How often an instruction was issued, for how many lanes, and where those went.
#[derive(Clone, Copy, Default)]
struct Issues {
    warps: u64,
    lanes: u64,
    threads: u64,
    branch: Option<Branch>,
}

fn of_function(tally: &OfFunction, code: &Code, index: u32) -> Vec<Counted> {
    let program = code.program(index).expect("it has run");
    let function = &code.ptx().functions[index as usize];
    let body = function.body.as_ref().expect("it has run");
    let mut issues = vec![Issues::default(); body.instructions.len()];
    for (block, tally) in program.blocks.iter().zip(&tally.blocks) {
        if tally.runs > 0 {
            issued(block, tally, body, &mut issues);
        }
    }
    let mut memory = accesses(tally);
    let all = body.instructions.iter().zip(&issues).enumerate();
    let ran = all.filter(|(_, (_, issues))| issues.warps > 0);
    ran.map(|(at, (instruction, issues))| {
        let sort = Sort::of(&instruction.operation);
        let places = source::places(code.ptx(), body, at);
        let mut reached = memory.remove(&(at as u32)).unwrap_or_default();
        reached.extend(of_parameters(instruction, issues));
        name_constants(instruction, &mut reached);
        Counted {
            function: function.name.clone(),
            instruction: at as u32,
            ptx_line: instruction.line,
            text: instruction.text(code.text()).to_owned(),
            callee: places.callee(),
            source: places.own,
            class: sort.class,
            element: sort.element,
            operations_per_thread: sort.operations,
            warps: issues.warps,
            lanes: issues.lanes,
            threads: issues.threads,
            memory: reached,
            branch: issues.branch,
        }
    })
    .collect()
}

/// The instructions of a basic block. Its last one may have a guard, or be a branch.
fn issued(block: &Block, tally: &OfBlock, body: &Body, issues: &mut [Issues]) {
    for at in block.issues.clone() {
        let instruction = &mut issues[at as usize];
        instruction.warps += tally.runs;
        instruction.lanes += tally.lanes;
        instruction.threads += tally.lanes;
    }
    let Some(last) = block.issues.clone().last() else {
        return;
    };
    let instruction = &mut issues[last as usize];
    let not_taken = match block.then {
        Then::Branch { .. } => tally.lanes - tally.taken,
        _ => 0,
    };
    instruction.threads -= not_taken;
    if matches!(block.then, Then::Branch { .. } | Then::Switch { .. })
        && body.instructions[last as usize].is_branch()
    {
        let branch = instruction.branch.get_or_insert_default();
        branch.taken += tally.lanes - not_taken;
        branch.not_taken += not_taken;
        branch.splits += tally.splits;
    }
}

/// What each instruction did in each space. A copy has two accesses, each in a space of its own.
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

/// What the engine takes for global memory is constant where the instruction says so.
fn name_constants(instruction: &Instruction, memory: &mut [Memory]) {
    if let Operation::Ld(load) = &instruction.operation
        && load.space == ptx::Space::Const
    {
        memory.iter_mut().for_each(|it| it.space = Space::Constant);
    }
}
