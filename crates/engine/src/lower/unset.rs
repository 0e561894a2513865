//! Reads of a register, or of a value that a function returns, before anything has been written there.

use std::collections::BTreeSet;

use ptx::{Address, Base, Body, Function, Instruction, Operation, Symbol};

use super::Lowering;
use super::flow::{End, Piece};
use super::hoist::Hoisted;
use crate::exec::program::Unset;
use crate::exec::registers::Kind;

/// A byte of a returned value: the value's index and the byte's.
type Byte = (u32, u64);

impl Lowering<'_> {
    /// The registers of which a path from the function's first instruction reads a value and writes none before, and the
    /// bytes of returned values without one on a path to the function's end.
    pub(super) fn unset(&mut self, pieces: &[Piece], hoisted: &Hoisted) -> Vec<Unset> {
        let Some(body) = &self.function.body else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for register in std::mem::take(&mut self.slots.at_entry) {
            // What is computed once for all blocks has a value wherever it stands.
            if hoisted.registers.contains(&register) {
                continue;
            }
            let known = &body.registers[register.0 as usize];
            all.push(Unset {
                slot: self.slots.of(register).0,
                bits: ones(known.ty.bits()),
                name: known.name.clone(),
            });
        }
        for (value, byte) in missing(self.function, body, pieces) {
            let slot = self.returns[value as usize].slot + byte as u32 / 4 * Kind::Word.bytes();
            let bits = 0xff << (byte % 4 * 8);
            match all.last_mut().filter(|it| it.slot == slot) {
                Some(word) => word.bits |= bits,
                None => all.push(Unset {
                    slot,
                    bits,
                    name: self.function.returns[value as usize].name.clone(),
                }),
            }
        }
        all
    }
}

/// The bytes of a function's returned values that a path to its end leaves as they were.
fn missing(function: &Function, body: &Body, pieces: &[Piece]) -> BTreeSet<Byte> {
    let returns = (0u32..).zip(&function.returns);
    let whole: BTreeSet<Byte> = returns
        .flat_map(|(value, it)| (0..it.bytes).map(move |byte| (value, byte)))
        .collect();
    if whole.is_empty() {
        return whole;
    }
    // What may be missing where a piece begins grows until nothing changes.
    let mut at_start: Vec<Option<BTreeSet<Byte>>> = vec![None; pieces.len()];
    at_start[0] = Some(whole);
    let mut at_end = BTreeSet::new();
    let mut changed = vec![0];
    while let Some(index) = changed.pop() {
        let (piece, mut left) = (&pieces[index], at_start[index].clone().unwrap_or_default());
        for instruction in &body.instructions[piece.straight.clone()] {
            stored(instruction, |byte| _ = left.remove(&byte));
        }
        if piece.end == End::Return {
            at_end.extend(&left);
        }
        for target in piece.end.targets() {
            let is_new = at_start[target].is_none();
            let known = at_start[target].get_or_insert_default();
            let before = known.len();
            known.extend(&left);
            if is_new || known.len() != before {
                changed.push(target);
            }
        }
    }
    at_end
}

/// Tells the bytes of returned values that an instruction stores.
fn stored(instruction: &Instruction, mut tell: impl FnMut(Byte)) {
    let Operation::St(store) = &instruction.operation else {
        return;
    };
    let Address {
        base: Base::Symbol(Symbol::Return(value)),
        offset,
    } = store.address
    else {
        return;
    };
    let bytes = store.a.len() as u64 * u64::from(store.ty.bytes());
    let first = offset as u64;
    (first..first.saturating_add(bytes)).for_each(|byte| tell((value, byte)));
}

fn ones(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}
