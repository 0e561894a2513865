//! From a function of PTX to a program.

mod across;
mod apply;
mod asynchronous;
pub(crate) mod atomic;
mod bits;
mod carry;
pub(crate) mod cluster;
mod compare;
pub(crate) mod control;
mod convert;
pub(crate) mod fences;
mod float;
pub(crate) mod flow;
mod functions;
mod half;
pub(crate) mod handler;
mod hoist;
mod image;
mod integer;
mod layout;
mod liveness;
mod locals;
mod logic;
mod matrix;
mod memory;
mod modifiers;
mod movement;
mod narrow;
mod operation;
mod parameters;
pub(crate) mod partial_words;
mod parts;
mod refused;
pub(crate) mod roots;
mod rounding;
pub(crate) mod shuffle;
mod slots;
mod spread;
mod tensor_map;
mod tensor_memory;
mod unset;
mod video;
mod wgmma;
mod wmma;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use ptx::{
    Function, Instruction, Operand, Operation, ParameterStorage, Predicate, Reg, SpecialRegister,
};

use crate::exec::access::Access;
use crate::exec::bulk::Bulk;
use crate::exec::fragment::Product;
use crate::exec::mbarrier::Mbarrier;
use crate::exec::op::{Op, predicates};
use crate::exec::program::{
    Block, Constant, Decoded, Draft, Gate, Parameter, Program, Unset, Words, steps_per_look,
};
use crate::exec::registers::Kind;
use crate::exec::signature::{Aux, Handler, Signature};
use crate::exec::slot_map::SlotMap;
use crate::exec::spread::Spread;
use crate::exec::steps::{Step, Steps};
use crate::exec::tensor_memory::Instruction as OnTensorMemory;
use crate::exec::unlowered::{Internal, Unlowered, Unsupported};
use crate::exec::verify;
use crate::exec::wgmma::{Touch, Wgmma};
use flow::End;
pub(crate) use layout::Layout;
pub use layout::PANIC_RECORD;
use partial_words::PartialWords;
use slots::Slots;

/// Why one instruction cannot be lowered.
pub(crate) type Lowered<T> = Result<T, String>;

/// An operation, and what its handler asks of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emitted {
    pub(crate) op: Op,
    pub(crate) signature: Signature,
}

impl Emitted {
    /// Has it executed by another handler.
    pub(crate) fn handle_by(&mut self, handler: Handler) {
        (self.op.run, self.signature) = (handler.run, handler.signature);
    }
}

/// The state of a function's lowering.
pub(crate) struct Lowering<'m> {
    pub(crate) layout: Layout<'m>,
    /// Which function of the module.
    pub(crate) index: u32,
    pub(crate) function: &'m Function,
    pub(crate) slots: Slots,
    pub(crate) ops: Vec<Emitted>,
    pub(crate) accesses: Vec<Access>,
    pub(crate) products: Vec<Product>,
    pub(crate) wgmmas: Vec<Wgmma>,
    pub(crate) touches: Vec<Touch>,
    /// The instructions that may have written a register since the last fence, and the register, of each product.
    unfenced: BTreeMap<usize, Vec<(u32, String)>>,
    pub(crate) tensor_memory: Vec<OnTensorMemory>,
    pub(crate) mbarriers: Vec<Mbarrier>,
    pub(crate) bulks: Vec<Bulk>,
    pub(crate) videos: Vec<crate::arith::video::Instruction>,
    /// Slots of operands that are lists.
    pub(crate) lists: Vec<u32>,
    pub(crate) roots: roots::Roots,
    /// The words of which atomics of fewer bits change a part.
    pub(crate) partial_words: PartialWords,
    constants: HashMap<(Kind, u128), u32>,
    specials: HashMap<SpecialRegister, u32>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) returns: Vec<Words>,
    /// Words of variables of calls, by variable.
    pub(crate) variables: HashMap<u32, Words>,
    pub(crate) locals: locals::Locals,
    /// Slots for values within one instruction, and how many of them are in use.
    scratch: HashMap<Kind, Vec<u32>>,
    used: HashMap<Kind, usize>,
    /// The predicate that `.cc` writes, once there is one.
    pub(crate) carry: Option<u32>,
    /// The instruction that is lowered.
    pub(crate) instruction: u32,
    /// How what is undefined of its sources spreads.
    spread: Spread,
    /// The gate of the block that begins with it.
    pub(crate) gate: Option<Gate>,
    /// Whether it runs once a launch.
    pub(crate) is_hoisted: bool,
}

/// The program of a function of a module.
///
/// # Errors
/// It has an instruction that the engine does not execute.
pub(crate) fn lower(layout: &Layout<'_>, index: u32) -> Result<Program, Unlowered> {
    verified(layout, index, decode(layout, index)?)
}

/// The program of a draft of a function.
///
/// # Errors
/// Something of it is not what its user wants.
pub(crate) fn verified(
    layout: &Layout<'_>,
    index: u32,
    draft: Draft,
) -> Result<Program, Unlowered> {
    let function = &layout.module.functions[index as usize];
    Program::verified(draft).map_err(|fault| internal(function, fault).into())
}

/// Decodes a function of a module.
///
/// # Errors
/// As for [`lower`].
pub(crate) fn decode(layout: &Layout<'_>, index: u32) -> Result<Draft, Unlowered> {
    let function = &layout.module.functions[index as usize];
    let body = function.body.as_ref().expect("declarations are not called");
    let pieces = flow::pieces(body);
    let hoisted = match layout.is_stepped {
        false => hoist::hoisted(function, body, &pieces),
        true => hoist::Hoisted::default(),
    };
    let partial_words = PartialWords::of(body);
    let passed = |it: &[ptx::Parameter]| it.iter().filter_map(in_register).collect::<Vec<_>>();
    let (taken, returned) = (passed(&function.parameters), passed(&function.returns));
    let pinned: BTreeSet<Reg> = match layout.is_stepped {
        false => {
            let pinned = hoisted.registers.iter().copied();
            let pinned = pinned.chain(partial_words.registers());
            pinned
                .chain(taken.iter().chain(&returned).copied())
                .collect()
        }
        true => (0..body.registers.len() as u32).map(Reg).collect(),
    };
    let (slots, mut at_entry) = Slots::new(body, &pieces, (&pinned, &returned));
    at_entry.retain(|it| !hoisted.registers.contains(it) && !taken.contains(it));
    let locals = locals::Locals::of(function, body);
    let unfenced = fences::unfenced(body, &pieces).into_iter();
    let unfenced = unfenced.map(|(product, all)| {
        let name = |it: Reg| body.registers[it.0 as usize].name.clone();
        (
            product,
            all.into_iter()
                .map(|(writer, it)| (writer, name(it)))
                .collect(),
        )
    });
    let mut lowering = Lowering {
        layout: *layout,
        index,
        function,
        slots,
        ops: Vec::new(),
        accesses: Vec::new(),
        products: Vec::new(),
        wgmmas: Vec::new(),
        touches: Vec::new(),
        unfenced: unfenced.collect(),
        tensor_memory: Vec::new(),
        mbarriers: Vec::new(),
        bulks: Vec::new(),
        videos: Vec::new(),
        lists: Vec::new(),
        partial_words,
        roots: roots::Roots::of(layout, index, function, body, &locals),
        constants: HashMap::new(),
        specials: HashMap::new(),
        parameters: Vec::new(),
        returns: Vec::new(),
        variables: HashMap::new(),
        locals,
        scratch: HashMap::new(),
        used: HashMap::new(),
        carry: None,
        instruction: 0,
        spread: Spread::Whole,
        gate: None,
        is_hoisted: false,
    };
    lowering.signature().map_err(|why| lowering.refused(why))?;
    let touches = wgmma::touches(body, &pieces);
    let written = lowering.unfenced.values().flatten();
    let written: BTreeSet<u32> = written.map(|&(writer, _)| writer).collect();
    let mut blocks = Vec::new();
    let mut launch_ops = Vec::new();
    let mut steps = Vec::new();
    for piece in &pieces {
        let mut of_piece = Vec::new();
        let start = lowering.ops.len();
        lowering.gate = None;
        let mut gate = None;
        for index in piece.straight.clone() {
            of_piece.push(Step::new(index, lowering.ops.len()));
            lowering.part(index)?;
            let touch = touches.get(&index);
            let is_behind = is_exchange(&body.instructions[index]);
            if let Some(touch) = touch.filter(|_| !is_behind) {
                lowering.instruction = index as u32;
                lowering.touch(touch);
            }
            let is_written = written.contains(&(index as u32));
            if is_written && !is_behind {
                lowering.instruction = index as u32;
                lowering.writes_unfenced();
            }
            let is_hoisted = hoisted.instructions.contains(&index);
            let before = lowering.ops.len();
            lowering.is_hoisted = is_hoisted;
            lowering.instruction(index)?;
            if let Some(touch) = touch.filter(|_| is_behind) {
                lowering.touch(touch);
            }
            if is_written && is_behind {
                lowering.writes_unfenced();
            }
            if is_hoisted {
                launch_ops.extend(lowering.ops.drain(before..));
            }
            if index == piece.straight.start {
                gate = lowering.gate.take();
            }
        }
        if let Some(last) = piece.last(body) {
            of_piece.push(Step::new(last, lowering.ops.len()));
        }
        let then = lowering.end(&piece.end)?;
        steps.push(of_piece);
        blocks.push(Block {
            start: start as u32,
            end: lowering.ops.len() as u32,
            gate,
            through: 0,
            then,
            instruction: lowering.instruction,
            issues: piece.issues.start as u32..piece.issues.end as u32,
        });
    }
    Block::link(&mut blocks);
    let steps = layout
        .is_stepped
        .then(|| Steps::new(body, steps, lowering.slots.of_registers()));
    let unset = lowering.unset(&pieces, at_entry);
    lowering.finish(blocks, launch_ops, steps, unset)
}

/// The register that a parameter lies in.
fn in_register(parameter: &ptx::Parameter) -> Option<Reg> {
    match parameter.storage {
        ParameterStorage::Register(register) => register,
        ParameterStorage::Memory => None,
    }
}

fn ops(emitted: &[Emitted]) -> Vec<Op> {
    emitted.iter().map(|it| it.op).collect()
}

fn signatures(emitted: &[Emitted]) -> Vec<Signature> {
    emitted.iter().map(|it| it.signature).collect()
}

/// Describes a function that the verification refuses.
fn internal(function: &Function, fault: verify::Fault) -> Internal {
    let body = function.body.as_ref();
    let instruction = fault.instruction.and_then(|it| {
        let all = body.map(|body| &body.instructions);
        all.and_then(|all| all.get(it as usize))
    });
    Internal {
        function: function.name.clone(),
        instruction: fault.instruction,
        line: instruction.map_or(0, |it| it.line),
        why: fault.why,
    }
}

/// Whether an instruction's first operation must be the first of its block, because lanes give each other
/// values there.
fn is_exchange(instruction: &Instruction) -> bool {
    flow::meets(instruction) && !matches!(instruction.operation, Operation::WgmmaMma(_))
}

impl Lowering<'_> {
    /// Lowers the instruction of this index.
    fn instruction(&mut self, index: usize) -> Result<(), Unsupported> {
        let function = self.function;
        let body = function.body.as_ref().expect("it has one");
        let instruction = &body.instructions[index];
        self.instruction = index as u32;
        self.used.clear();
        self.spread = spread::of(&instruction.operation);
        let lowered = self.operation(&instruction.operation);
        self.spread = Spread::Whole;
        lowered.map_err(|why| self.unsupported(instruction, why))
    }

    /// Refuses the function as it is declared.
    fn refused(&self, why: String) -> Unsupported {
        let body = self.function.body.as_ref();
        let first = body.and_then(|it| it.instructions.first());
        Unsupported {
            text: format!(".func {}", self.function.name),
            function: self.function.name.clone(),
            line: first.map_or(0, |it| it.line),
            why,
        }
    }

    fn unsupported(&self, instruction: &Instruction, why: String) -> Unsupported {
        Unsupported {
            text: instruction.text(self.layout.text).to_owned(),
            function: self.function.name.clone(),
            line: instruction.line,
            why,
        }
    }

    /// How a block ends.
    fn end(&mut self, end: &End) -> Result<crate::exec::program::Then, Unsupported> {
        let function = self.function;
        let body = function.body.as_ref().expect("it has one");
        if let End::Splits { instruction, .. } | End::By { instruction, .. } = end {
            self.instruction = *instruction as u32;
        }
        self.used.clear();
        self.then(end)
            .map_err(|why| self.unsupported(&body.instructions[self.instruction as usize], why))
    }

    fn finish(
        self,
        blocks: Vec<Block>,
        launch_ops: Vec<Emitted>,
        steps: Option<Steps>,
        unset: Vec<Unset>,
    ) -> Result<Draft, Unlowered> {
        let constant = |((kind, bits), slot)| Constant { slot, kind, bits };
        let (block_specials, launch_specials) = self
            .specials
            .into_iter()
            .partition(|it| !control::is_fixed_by_launch(it.0));
        let bytes = self.slots.map.bytes();
        let register_bytes = bytes.map_err(|actual| Unlowered::Registers {
            function: self.function.name.clone(),
            actual,
            limit: SlotMap::MOST_BYTES,
        })?;
        let steps_per_look = steps_per_look(&blocks);
        let decoded = Decoded {
            name: self.function.name.clone(),
            index: self.index,
            ops: ops(&self.ops),
            blocks,
            register_bytes,
            slots: self.slots.map,
            constants: self.constants.into_iter().map(constant).collect(),
            launch_specials,
            block_specials,
            launch_ops: ops(&launch_ops),
            parameters: self.parameters,
            returns: self.returns,
            unset,
            accesses: self.accesses,
            products: self.products,
            wgmmas: self.wgmmas,
            touches: self.touches,
            tensor_memory: self.tensor_memory,
            mbarriers: self.mbarriers,
            bulks: self.bulks,
            videos: self.videos,
            lists: self.lists,
            frame: Arc::new(self.locals.frame),
            steps_per_look,
            steps,
        };
        Ok(Draft {
            decoded,
            signatures: [signatures(&self.ops), signatures(&launch_ops)],
        })
    }
}

// What the families of instructions use.
impl Lowering<'_> {
    /// The slot that holds an operand. A register of another width is brought to the kind: cut, or
    /// extended by zeros.
    pub(crate) fn read(&mut self, operand: &Operand, kind: Kind) -> Lowered<u32> {
        match *operand {
            Operand::Immediate(bits) if kind == Kind::Predicate => {
                let truth = if bits == 0 { 0 } else { u32::MAX };
                Ok(self.constant(kind, truth.into()))
            }
            Operand::Immediate(bits) => Ok(self.constant(kind, u128::from(bits))),
            Operand::Register(register) => {
                let (slot, of) = self.slots.of(register);
                match of == kind {
                    true => Ok(slot),
                    false => self.resized(slot, of, kind),
                }
            }
            Operand::Special(special) => {
                let (slot, of) = self.special(special)?;
                match of == kind {
                    true => Ok(slot),
                    false => self.resized(slot, of, kind),
                }
            }
            Operand::Symbol { symbol, offset } => {
                let slot = self.address_of(symbol, offset)?;
                match kind {
                    Kind::Double => Ok(slot),
                    other => self.resized(slot, Kind::Double, other),
                }
            }
        }
    }

    /// The slot of a predicate, negated where it is.
    pub(crate) fn read_predicate(&mut self, predicate: &Predicate) -> Lowered<u32> {
        let slot = match predicate.value {
            Operand::Immediate(truth) => {
                let truth = (truth != 0) != predicate.negated;
                return Ok(self.constant(Kind::Predicate, if truth { u32::MAX.into() } else { 0 }));
            }
            ref operand => self.read(operand, Kind::Predicate)?,
        };
        if !predicate.negated {
            return Ok(slot);
        }
        let negated = self.scratch(Kind::Predicate);
        let run = handler::handler!(|c, op| predicates(c, op, |a| !a));
        self.push(run, Some(Kind::Predicate), negated, [slot, 0, 0], 0);
        Ok(negated)
    }

    /// The slot of a register that is written, and its kind.
    pub(crate) fn write(&mut self, register: Reg) -> (u32, Kind) {
        self.slots.of(register)
    }

    /// `register = f(sources)`, for all lanes of the destination.
    pub(crate) fn emit(&mut self, run: Handler, register: Reg, sources: &[u32]) {
        let (slot, kind) = self.write(register);
        self.emit_to(run, slot, kind, sources);
    }

    /// As [`Lowering::emit`], into a slot.
    pub(crate) fn emit_to(&mut self, run: Handler, slot: u32, kind: Kind, sources: &[u32]) {
        let mut slots = [0; 3];
        slots[..sources.len()].copy_from_slice(sources);
        self.push(run, Some(kind), slot, slots, 0);
    }

    /// An operation whose handler looks at the mask itself.
    pub(crate) fn emit_masked(&mut self, run: Handler, d: u32, sources: [u32; 3], aux: u64) {
        self.push(run, None, d, sources, aux);
    }

    pub(crate) fn push(
        &mut self,
        handler: Handler,
        writes: Option<Kind>,
        d: u32,
        [a, b, c]: [u32; 3],
        aux: u64,
    ) {
        let instruction = self.instruction;
        let accesses_memory = false;
        let Handler { run, signature } = handler;
        let spread = match signature.aux {
            Aux::Access(_) => Spread::Access,
            _ => self.spread,
        };
        let op = Op {
            run,
            writes,
            d,
            a,
            b,
            c,
            aux,
            instruction,
            accesses_memory,
            spread,
        };
        self.ops.push(Emitted { op, signature });
    }

    /// The slot of a constant.
    pub(crate) fn constant(&mut self, kind: Kind, bits: u128) -> u32 {
        let bits = match kind {
            Kind::Predicate | Kind::Word => bits & u128::from(u32::MAX),
            Kind::Double => bits & u128::from(u64::MAX),
            Kind::Quad => bits,
        };
        let slots = &mut self.slots;
        *self
            .constants
            .entry((kind, bits))
            .or_insert_with(|| slots.add(kind))
    }

    /// A slot for a value within the instruction.
    pub(crate) fn scratch(&mut self, kind: Kind) -> u32 {
        let used = self.used.entry(kind).or_default();
        // What runs once a launch keeps its slots: others must not write them meanwhile.
        let slots = self.scratch.entry(kind).or_default();
        if self.is_hoisted {
            return self.slots.add(kind);
        }
        if *used == slots.len() {
            slots.push(self.slots.add(kind));
        }
        *used += 1;
        slots[*used - 1]
    }

    /// The slot of a special register that a launch or a block fixes.
    pub(crate) fn fixed_special(&mut self, special: SpecialRegister) -> u32 {
        let slots = &mut self.slots;
        let kind = control::kind_of_special(special);
        *self
            .specials
            .entry(special)
            .or_insert_with(|| slots.add(kind))
    }

    /// A slot brought to another kind: cut, or extended by zeros.
    pub(crate) fn resized(&mut self, slot: u32, from: Kind, to: Kind) -> Lowered<u32> {
        use crate::exec::op::unary;
        use handler::handler;
        let run = match (from, to) {
            (Kind::Double, Kind::Word) => handler!(|c, op| unary(c, op, |a: u64| a as u32)),
            (Kind::Word, Kind::Double) => handler!(|c, op| unary(c, op, |a: u32| u64::from(a))),
            (Kind::Quad, Kind::Double) => handler!(|c, op| unary(c, op, |a: u128| a as u64)),
            (Kind::Double, Kind::Quad) => handler!(|c, op| unary(c, op, |a: u64| u128::from(a))),
            _ => return Err(format!("a register of {from:?} where {to:?} is wanted")),
        };
        let resized = self.scratch(to);
        self.emit_to(run, resized, to, &[slot]);
        Ok(resized)
    }
}
