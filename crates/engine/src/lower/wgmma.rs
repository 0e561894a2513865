//! Products of four warps, and which instructions reach registers that these may have in flight.

use std::collections::BTreeMap;

use ptx::{Access, Body, Instruction, Operation, Reg, WgmmaMma, WgmmaSource};

use super::flow::{self, Piece};
use super::handler::{handler, rare};
use super::matrix::{element, sum};
use super::{Lowered, Lowering};
use crate::exec::fragment::{self, Factor, Summand};
use crate::exec::program::Meeting;
use crate::exec::registers::Kind;
use crate::exec::signature::Table;
use crate::exec::wgmma::{self, Left, Matrix, Touch, Wgmma};

impl Lowering<'_> {
    pub(super) fn wgmma_fence(&mut self) -> Lowered<()> {
        self.meet_whole()?;
        self.emit_masked(rare!([], |c, op| wgmma::fence(c, op)), 0, [0; 3], 0);
        Ok(())
    }

    pub(super) fn commit_products(&mut self) -> Lowered<()> {
        self.meet_whole()?;
        self.emit_masked(rare!([], |c, op| wgmma::commit(c, op)), 0, [0; 3], 0);
        Ok(())
    }

    /// `wgmma.wait_group`: at most so many groups are left.
    pub(super) fn wait_for_products(&mut self, but: u32) -> Lowered<()> {
        self.meet_whole()?;
        if let Some(gate) = &mut self.gate {
            gate.meeting = Meeting::Products(but);
            gate.is_for_all = false;
        }
        self.emit_masked(rare!([], |c, op| wgmma::wait(c, op)), 0, [but, 0, 0], 0);
        Ok(())
    }

    pub(super) fn wgmma(&mut self, it: &WgmmaMma) -> Lowered<()> {
        if it.sparsity.is_some() || it.bits.is_some() {
            return Err("sparse factors and single bits".to_owned());
        }
        let (n, k) = (it.shape.n as usize, it.shape.k as usize);
        let (a_of, b_of) = (element(it.a_type)?, element(it.b_type)?);
        let d_of = sum(it.d_type, it.saturate)?;
        if it.d.len() * 32 != n * d_of.bits() as usize / 2 {
            return Err(format!("{} registers for this shape", it.d.len()));
        }
        self.meet_whole()?;
        let unfenced = self.unfenced.remove(&(self.instruction as usize));
        let unfenced = unfenced.unwrap_or_default();
        let a = match &it.a {
            WgmmaSource::Registers(registers) => Left::Registers(Factor {
                of: a_of,
                slots: self.sources(registers, Kind::Word)?,
            }),
            WgmmaSource::Descriptor(descriptor) => Left::Shared(Matrix {
                of: a_of,
                descriptor: self.read(descriptor, Kind::Double)?,
                is_along_k: !it.transpose_a,
            }),
        };
        let b = Matrix {
            of: b_of,
            descriptor: self.read(&it.b, Kind::Double)?,
            is_along_k: !it.transpose_b,
        };
        let registers: Vec<Reg> = it.d.iter().map(|it| it.0).collect();
        let wgmma = Wgmma {
            n,
            k,
            a,
            b,
            d: Summand {
                of: d_of,
                slots: self.destinations(&registers, fragment::kind_of_sum(d_of))?,
            },
            adds: self.read_predicate(&it.scale_d)?,
            negates: (it.scale_a < 0) != (it.scale_b < 0),
            written: registers.iter().map(|it| it.0).collect(),
            read: sources(it).map(|it| it.0).collect(),
            unfenced,
        };
        self.wgmmas.push(wgmma);
        let index = self.wgmmas.len() as u64 - 1;
        self.emit_masked(
            handler!([aux: Table::Wgmmas], |c, op| wgmma::multiply(c, op)),
            0,
            [0; 3],
            index,
        );
        Ok(())
    }

    /// The note of an instruction that writes what a product may use before a fence.
    pub(super) fn writes_unfenced(&mut self) {
        self.emit_masked(rare!([], |c, op| wgmma::written(c, op)), 0, [0; 3], 0);
    }

    /// The check of an instruction that may reach registers in flight.
    pub(super) fn touch(&mut self, touch: &Touch) {
        self.touches.push(touch.clone());
        let index = self.touches.len() as u64 - 1;
        self.emit_masked(
            rare!([aux: Table::Touches], |c, op| wgmma::touch(c, op)),
            0,
            [0; 3],
            index,
        );
    }
}

/// The registers that a product reads or writes.
pub(super) fn operands(it: &WgmmaMma) -> impl Iterator<Item = Reg> {
    it.d.iter().map(|it| it.0).chain(sources(it))
}

/// The registers of a left factor.
pub(super) fn sources(it: &WgmmaMma) -> impl Iterator<Item = Reg> {
    let registers = match &it.a {
        WgmmaSource::Registers(registers) => registers.as_slice(),
        WgmmaSource::Descriptor(_) => &[],
    };
    registers.iter().filter_map(|it| it.register())
}

/// A register that may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flight {
    /// Groups that have been committed since, its own too.
    groups: u32,
    is_written: bool,
    /// Whether by a load of tensor memory.
    is_load: bool,
}

/// More groups than anybody leaves.
const MOST: u32 = 8;

type State = BTreeMap<Reg, Flight>;

/// The instructions that reach registers which a product or a load of tensor memory may have in flight, on some way through
/// the function.
pub(super) fn touches(body: &Body, pieces: &[Piece]) -> BTreeMap<usize, Touch> {
    let has_some = body.instructions.iter().any(|it| {
        let of = &it.operation;
        matches!(of, Operation::WgmmaMma(_) | Operation::Tcgen05Load(_))
    });
    if !has_some {
        return BTreeMap::new();
    }
    let step_at = |state: &mut State, at: usize| step(state, &body.instructions[at]);
    let mut before = flow::forward(pieces, &State::new(), step_at, join);
    let mut found = BTreeMap::new();
    for (piece, state) in pieces.iter().zip(&mut before) {
        for at in piece.straight.clone() {
            let instruction = &body.instructions[at];
            if let Some(touch) = touch(body, state, instruction) {
                found.insert(at, touch);
            }
            step(state, instruction);
        }
    }
    found
}

/// Takes in what another way brings; gives whether that is more.
fn join(into: &mut State, other: &State) -> bool {
    let before = into.clone();
    for (&register, &flight) in other {
        let known = into.entry(register).or_insert(flight);
        known.groups = known.groups.min(flight.groups);
        known.is_written |= flight.is_written;
        known.is_load |= flight.is_load;
    }
    *into != before
}

fn step(state: &mut State, instruction: &Instruction) {
    match &instruction.operation {
        Operation::WgmmaMma(it) => {
            let flight = |is_written| Flight {
                groups: 0,
                is_written,
                is_load: false,
            };
            state.extend(sources(it).map(|register| (register, flight(false))));
            state.extend(it.d.iter().map(|it| (it.0, flight(true))));
        }
        Operation::WgmmaCommitGroup => {
            let flights = state.values_mut();
            flights.for_each(|it| it.groups = (it.groups + 1).min(MOST));
        }
        Operation::WgmmaWaitGroup(but) => state.retain(|_, it| it.is_load || it.groups <= *but),
        Operation::Tcgen05Load(it) => {
            let flight = Flight {
                groups: 0,
                is_written: true,
                is_load: true,
            };
            state.extend(it.d.iter().map(|&register| (register, flight)));
        }
        Operation::Tcgen05Wait(it) if it.loads => state.retain(|_, it| !it.is_load),
        _ => {
            if let Some((from, to)) = moved(instruction) {
                match state.get(&from).copied() {
                    Some(flight) if flight.is_written => state.insert(to, flight),
                    _ => state.remove(&to),
                };
            }
        }
    }
}

/// A move from a register to another: compilers put them between products, and assemblers take them out.
pub(super) fn moved(instruction: &Instruction) -> Option<(Reg, Reg)> {
    match &instruction.operation {
        Operation::Mov(it) => Some((it.a.register()?, it.d)),
        _ => None,
    }
}

fn touch(body: &Body, state: &State, instruction: &Instruction) -> Option<Touch> {
    let named = |registers: Vec<Reg>| -> Vec<(u32, String)> {
        let in_flight = registers.into_iter().filter(|it| state.contains_key(it));
        let name = |it: Reg| (it.0, body.registers[it.0 as usize].name.clone());
        in_flight.map(name).collect()
    };
    let mut touch = Touch {
        reads: Vec::new(),
        writes: Vec::new(),
        moves: None,
    };
    if let Operation::WgmmaMma(it) = &instruction.operation {
        touch.reads = named(sources(it).collect());
    } else if let Some((from, to)) = moved(instruction) {
        touch.moves = Some((from.0, to.0));
        let is_one = state.contains_key(&from) || state.contains_key(&to);
        return is_one.then_some(touch);
    } else {
        let of = |wanted| {
            let mut registers = Vec::new();
            instruction.visit(|access, register| {
                if access == wanted {
                    registers.push(register);
                }
            });
            registers
        };
        touch.reads = named(of(Access::Use));
        touch.writes = named(of(Access::Define));
    }
    (!touch.reads.is_empty() || !touch.writes.is_empty()).then_some(touch)
}
