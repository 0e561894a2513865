//! The time of a warp that has a multiprocessor to itself: what depends on what, and how long each result takes.
//!
//! Within a basic block an instruction is issued as soon as its operands are there: `ptxas` moves loads up as far as it can, if there
//! are registers for what they bring. A block takes as long as its longest chain of dependent instructions, or a
//! cycle for each that is issued. A value that another block loaded is waited for as often as the rarer of both blocks runs: a
//! loop waits once for what was loaded before it.

use std::collections::HashMap;
use std::ops::Range;

use ptx::Body;

use super::cost::{Cost, Latency};
use super::flow;
use crate::driver::count::{Counted, Counts, Space};

/// Registers that hold something else than what loads bring: addresses, counters, sums. Of few registers it is half.
const RESERVED: f64 = 12.0;

/// Cycles of what differs between launches of the same kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycles {
    /// A load that L1 does not have.
    pub(super) load: f64,
    /// One that it has.
    pub(super) l1: f64,
    pub(super) atomic: f64,
    pub(super) barrier: f64,
}

/// The code of a launch as chains of instructions.
pub(super) struct Path {
    blocks: Vec<Block>,
    counted: usize,
    /// How many registers the function with the most of them has.
    registers: usize,
    /// Registers for what loads bring.
    room: f64,
}

/// The way of an average warp.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) cycles: f64,
    /// Cycles that it waits for the result of each instruction that was counted.
    pub(super) waits: Vec<f64>,
}

struct Block {
    /// How often a warp comes by.
    runs: f64,
    /// Whether values are from another function.
    begins_function: bool,
    steps: Vec<Step>,
    /// The registers that it writes, and the step that does so last.
    written: Vec<(usize, usize)>,
}

struct Step {
    /// Its index among those that were counted.
    counted: usize,
    slots: f64,
    latency: Latency,
    /// The share of a load's requests that L1 does not have.
    missed: f64,
    is_load: bool,
    /// Registers that it writes, of 32 bits.
    words: f64,
    uses: Vec<Use>,
}

/// Where the value of a register that a step reads is from.
#[derive(Clone, Copy)]
enum Use {
    /// From this step of the same block.
    Step(usize),
    /// From another block, in this register.
    Register(usize),
}

/// A value that is there, or will be.
#[derive(Clone, Copy)]
struct Value {
    at: f64,
    /// How often its block runs.
    runs: f64,
    counted: usize,
}

impl Path {
    /// The path of counts of a module's kernel, whose instructions have these costs and whose threads so many registers.
    pub(super) fn new(
        counts: &Counts,
        module: &ptx::Module,
        costs: &[Cost],
        registers: u32,
    ) -> Path {
        let registers_of_threads = f64::from(registers);
        let (mut blocks, mut registers) = (Vec::new(), 0);
        for (name, range) in functions(&counts.instructions) {
            let function = module.functions.iter().find(|it| it.name == name);
            let Some(body) = function.and_then(|it| it.body.as_ref()) else {
                continue;
            };
            registers = registers.max(body.registers.len());
            let by_place: HashMap<usize, usize> = range
                .map(|index| (counts.instructions[index].instruction as usize, index))
                .collect();
            let order = flow::blocks(body, |at| by_place.contains_key(&at));
            for (number, places) in order.into_iter().enumerate() {
                let counted = places.filter_map(|at| Some((at, *by_place.get(&at)?)));
                let counted: Vec<(usize, usize)> = counted.collect();
                let warps = counted
                    .first()
                    .map_or(0, |&(_, index)| counts.instructions[index].warps);
                let mut written = HashMap::new();
                let steps = counted.iter().enumerate().map(|(step, &(at, index))| {
                    let of = (index, &counts.instructions[index]);
                    Step::new(body, (step, at), of, &costs[index], &mut written)
                });
                blocks.push(Block {
                    runs: warps as f64 / counts.warps as f64,
                    begins_function: number == 0,
                    steps: steps.collect(),
                    written: written.into_iter().collect(),
                });
            }
        }
        Path {
            blocks,
            counted: counts.instructions.len(),
            registers,
            room: registers_of_threads - RESERVED.min(registers_of_threads / 2.0),
        }
    }

    /// The way of an average warp where results take so long.
    pub(super) fn walk(&self, cycles: &Cycles) -> Way {
        let mut way = Way {
            cycles: 0.0,
            waits: vec![0.0; self.counted],
        };
        let nothing = vec![None; self.registers];
        let mut values = nothing.clone();
        let mut now = 0.0;
        for block in &self.blocks {
            if block.begins_function {
                values.clone_from(&nothing);
            }
            let own = block.run(&nothing, 0.0, self.room, cycles);
            let full = block.run(&values, now, self.room, cycles);
            for (counted, share) in &own.chain {
                way.waits[*counted] += share * block.runs;
            }
            way.cycles += own.cycles * block.runs;
            let more = full.cycles - own.cycles;
            if let Some(value) = full.late.filter(|_| more > 0.0) {
                let runs = block.runs.min(value.runs);
                way.cycles += more * runs;
                way.waits[value.counted] += more * runs;
            }
            now += full.cycles;
            for &(register, by) in &block.written {
                values[register] = Some(Value {
                    at: full.issued[by].done,
                    runs: block.runs,
                    counted: block.steps[by].counted,
                });
            }
        }
        way
    }
}

/// The functions of counts, and where each one's instructions stand.
fn functions(instructions: &[Counted]) -> Vec<(&str, Range<usize>)> {
    let mut functions: Vec<(&str, Range<usize>)> = Vec::new();
    for (index, counted) in instructions.iter().enumerate() {
        match functions.last_mut() {
            Some((name, range)) if *name == counted.function => range.end = index + 1,
            _ => functions.push((&counted.function, index..index + 1)),
        }
    }
    functions
}

impl Step {
    /// A step by its number in its block, which steps have `written` before it, and its place in the body.
    fn new(
        body: &Body,
        (number, at): (usize, usize),
        (index, counted): (usize, &Counted),
        cost: &Cost,
        written: &mut HashMap<usize, usize>,
    ) -> Step {
        let instruction = &body.instructions[at];
        let global = counted.memory.iter().filter(|it| it.space == Space::Global);
        let missed = global.map(|it| it.new_sectors as f64 / it.requests.max(1) as f64);
        let definitions = instruction.definitions();
        let bits = definitions
            .iter()
            .map(|it| body.registers[it.0 as usize].ty.bits());
        let words = bits.map(|it| f64::from(it.div_ceil(32))).sum();
        let uses = instruction.uses().into_iter().map(|it| it.0 as usize);
        let uses = uses.map(|it| {
            let by = written.get(&it);
            by.map_or(Use::Register(it), |by| Use::Step(*by))
        });
        let uses = uses.collect();
        written.extend(definitions.iter().map(|it| (it.0 as usize, number)));
        Step {
            counted: index,
            slots: cost.slots,
            latency: cost.latency,
            missed: missed.sum::<f64>().min(1.0),
            is_load: cost.latency == Latency::Load,
            words,
            uses,
        }
    }

    fn cycles(&self, cycles: &Cycles) -> f64 {
        match self.latency {
            Latency::Cycles(it) => it,
            Latency::Load => self.missed * cycles.load + (1.0 - self.missed) * cycles.l1,
            Latency::Atomic => cycles.atomic,
            Latency::Barrier => cycles.barrier,
        }
    }
}

/// A block that has run.
struct Ran {
    cycles: f64,
    /// The longest chain: cycles of each of its instructions.
    chain: Vec<(usize, f64)>,
    /// The value of another block that the longest chain begins with.
    late: Option<Value>,
    issued: Vec<Issued>,
}

/// An instruction of a block that has run: when it was issued and its result was there, and what it waited for.
#[derive(Clone, Copy)]
struct Issued {
    at: f64,
    done: f64,
    behind: Option<Behind>,
}

#[derive(Clone, Copy)]
enum Behind {
    Step(usize),
    Other(Value),
}

impl Block {
    /// Runs it from `now` on, with the values of other blocks, and so many registers for what loads bring.
    fn run(&self, before: &[Option<Value>], now: f64, room: f64, cycles: &Cycles) -> Ran {
        let mut issued: Vec<Issued> = Vec::with_capacity(self.steps.len());
        // Loads whose results have no reader yet: their steps and registers.
        let mut brought: Vec<(usize, f64)> = Vec::new();
        let mut barrier: Option<usize> = None;
        let mut last: Option<usize> = None;
        let mut slots = 0.0;
        for (index, step) in self.steps.iter().enumerate() {
            let mut start = Issued {
                at: now,
                done: now,
                behind: None,
            };
            let mut wait = |at: f64, behind: Behind| {
                if at > start.at {
                    (start.at, start.behind) = (at, Some(behind));
                }
            };
            for source in &step.uses {
                match *source {
                    Use::Step(by) => wait(issued[by].done, Behind::Step(by)),
                    Use::Register(register) => {
                        if let Some(value) = before[register] {
                            wait(value.at, Behind::Other(value));
                        }
                    }
                }
            }
            if let Some(by) = barrier {
                wait(issued[by].done, Behind::Step(by));
            }
            if step.is_load {
                while brought.iter().map(|it| it.1).sum::<f64>() + step.words > room {
                    let done = |it: &(usize, f64)| issued[it.0].done;
                    let first = (0..brought.len())
                        .min_by(|a, b| done(&brought[*a]).total_cmp(&done(&brought[*b])));
                    let Some(first) = first else { break };
                    let (by, _) = brought.swap_remove(first);
                    wait(issued[by].done, Behind::Step(by));
                }
                brought.push((index, step.words));
            }
            if let (Latency::Barrier, Some(by)) = (step.latency, last) {
                wait(end(&self.steps, &issued, by), Behind::Step(by));
            }
            slots += step.slots;
            start.done = start.at + step.cycles(cycles);
            issued.push(start);
            if step.latency == Latency::Barrier {
                barrier = Some(index);
            }
            let is_last =
                |by: usize| end(&self.steps, &issued, index) >= end(&self.steps, &issued, by);
            if last.is_none_or(is_last) {
                last = Some(index);
            }
        }
        let chained = last.map_or(0.0, |by| end(&self.steps, &issued, by) - now);
        let (chain, late) = self.chain(&issued, last, now);
        Ran {
            cycles: chained.max(slots),
            chain,
            late,
            issued,
        }
    }

    /// The longest chain, from its end.
    fn chain(
        &self,
        issued: &[Issued],
        last: Option<usize>,
        now: f64,
    ) -> (Vec<(usize, f64)>, Option<Value>) {
        let mut chain = Vec::new();
        let mut until = last.map_or(now, |by| end(&self.steps, issued, by));
        let mut next = last.map(Behind::Step);
        while let Some(Behind::Step(by)) = next {
            chain.push((self.steps[by].counted, until - issued[by].at));
            until = issued[by].at;
            next = issued[by].behind;
        }
        match next {
            Some(Behind::Other(value)) => (chain, Some(value)),
            _ => (chain, None),
        }
    }
}

/// When a block can end as far as an instruction is concerned: a load's result may come later, where something waits for it.
fn end(steps: &[Step], issued: &[Issued], index: usize) -> f64 {
    match steps[index].is_load {
        true => issued[index].at + steps[index].slots,
        false => issued[index].done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::count::{Footprint, Memory};
    use crate::prediction::Board;

    /// Counts of one warp that runs a kernel of this body, where an instruction runs as often as `runs` says of it.
    fn counts(module: &ptx::Module, runs: impl Fn(usize) -> u64) -> Counts {
        let function = &module.functions[0];
        let body = function.body.as_ref().expect("a body");
        let all = body.instructions.iter().enumerate();
        let instructions = all.map(|(index, instruction)| {
            let facts = instruction.operation.facts();
            let warps = runs(index);
            let is_global = matches!(&instruction.operation, ptx::Operation::Ld(it) if it.space == ptx::Space::Global);
            let memory = is_global.then_some(Memory {
                space: Space::Global,
                requests: warps,
                bytes: 128 * warps,
                sectors: 4 * warps,
                least_sectors: 4 * warps,
                new_sectors: 4 * warps,
                wavefronts: 0,
                conflicts: 0,
                stride: Some(4),
            });
            Counted {
                function: function.name.clone(),
                instruction: index as u32,
                ptx_line: instruction.line,
                text: String::new(),
                source: None,
                callee: None,
                class: facts.class,
                element: facts.element,
                operations_per_thread: facts.operations,
                runtime_operations: 0,
                warps,
                lanes: 32 * warps,
                threads: 32 * warps,
                memory: memory.into_iter().collect(),
                branch: None,
            }
        });
        Counts {
            kernel: function.name.clone(),
            launches: 1,
            blocks: 1,
            warps: 1,
            threads: 32,
            instructions: instructions.collect(),
            footprint: Footprint::default(),
        }
    }

    /// The way of a warp through a body, where a load takes 1000 cycles.
    fn way(body: &str, registers: u32, runs: impl Fn(usize) -> u64) -> Way {
        let ptx = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x) {{
             .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<40>; .reg .b64 %rd<5>;\n{body}\nret; }}"
        );
        let module = ptx::parse(&ptx).expect("a module");
        let counts = counts(&module, runs);
        let board = Board::named("h200").expect("known");
        let instructions = &module.functions[0]
            .body
            .as_ref()
            .expect("a body")
            .instructions;
        let costs = instructions
            .iter()
            .map(|it| Cost::of(&it.operation, &board, 1.0));
        let costs: Vec<Cost> = costs.collect();
        let cycles = Cycles {
            load: 1000.0,
            l1: 40.0,
            atomic: 400.0,
            barrier: 20.0,
        };
        Path::new(&counts, &module, &costs, registers).walk(&cycles)
    }

    /// Rounds of loads in a number of cycles.
    fn rounds(way: &Way) -> f64 {
        (way.cycles / 1000.0).floor()
    }

    #[test]
    fn loads_are_in_flight_together_unless_one_needs_the_other() {
        let together = "ld.param.u64 %rd1, [x]; ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+128]; add.f32 %f3, %f1, %f2;";
        assert_eq!(rounds(&way(together, 32, |_| 1)), 1.0);
        let chase = "ld.param.u64 %rd1, [x]; ld.global.u64 %rd2, [%rd1]; ld.global.u64 %rd3, [%rd2]; add.s64 %rd4, %rd3, 1;";
        let chased = way(chase, 32, |_| 1);
        assert_eq!(rounds(&chased), 2.0);
        assert_eq!((chased.waits[1], chased.waits[2]), (1000.0, 1000.0));
    }

    #[test]
    fn registers_bound_the_loads_in_flight() {
        let load = |i: usize| {
            format!(
                "ld.global.v4.f32 {{%f{i}, %f{}, %f{}, %f{}}}, [%rd1];",
                i + 1,
                i + 2,
                i + 3
            )
        };
        let loads: String = (0..8).map(|i| load(4 * i)).collect();
        let body = format!("ld.param.u64 %rd1, [x]; {loads} add.f32 %f39, %f3, %f31;");
        // 8 loads of 4 registers: of 64 registers 52 are free for them, of 32 registers 20, of 20 registers 10.
        let of = |registers| rounds(&way(&body, registers, |_| 1));
        assert_eq!([64, 32, 20].map(of), [1.0, 2.0, 4.0]);
    }

    #[test]
    fn a_loop_waits_once_for_what_was_loaded_before_it() {
        let body = "ld.param.u64 %rd1, [x]; ld.global.f32 %f1, [%rd1]; mov.u32 %r1, 0; \
                    NEXT: fma.rn.f32 %f2, %f1, %f1, %f2; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 100; @%p1 bra NEXT;";
        let waited = way(body, 32, |at| if (3..7).contains(&at) { 100 } else { 1 });
        assert_eq!(rounds(&waited), 1.0);
        // And each turn takes as long as its chain of two.
        assert!(
            (1800.0..1900.0).contains(&waited.cycles),
            "{}",
            waited.cycles
        );
    }
}
