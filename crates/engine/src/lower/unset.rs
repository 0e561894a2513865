//! Reads of a register, or of a value that a function returns, before anything has been written there.

use std::collections::BTreeSet;

use ptx::{Address, Base, Body, Function, Instruction, Operation, ParameterStorage, Reg, Symbol};

use super::Lowering;
use super::flow::{End, Piece};
use crate::exec::program::Unset;

/// The bytes of a function's returned values that are looked at, and the registers: compilers return more by a pointer, and
/// read few registers before they write them.
const MOST_BYTES: usize = 512;
const MOST_REGISTERS: usize = 256;

/// The bytes of a function's returned values, one behind the other, a bit each.
type Bytes = [u64; MOST_BYTES / 64];

impl Lowering<'_> {
    /// The registers of which a path from the function's first instruction, one that guards allow, reads a value and writes none
    /// before, and the bytes of returned values without one on a path to the function's end, guards aside.
    pub(super) fn unset(&mut self, pieces: &[Piece], at_entry: BTreeSet<Reg>) -> Vec<Unset> {
        let Some(body) = &self.function.body else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for register in at_entry.into_iter().take(MOST_REGISTERS) {
            let known = &body.registers[register.0 as usize];
            all.push(Unset {
                slot: self.slots.of(register).0,
                bits: u128::MAX >> (128 - known.ty.bits()),
                name: known.name.clone(),
            });
        }
        let missing = missing(self.function, body, pieces);
        let firsts = firsts(self.function);
        for ((returned, words), first) in
            (self.function.returns.iter().zip(&self.returns)).zip(firsts)
        {
            for byte in (0..returned.bytes as usize).filter(|byte| has(&missing, first + byte)) {
                let (slot, _) = words.place(byte as u32 / 4);
                let bits = 0xff << (byte % 4 * 8);
                match all.last_mut().filter(|it: &&mut Unset| it.slot == slot) {
                    Some(word) => word.bits |= bits,
                    None => all.push(Unset {
                        slot,
                        bits,
                        name: returned.name.clone(),
                    }),
                }
            }
        }
        all
    }
}

/// Where each returned value begins among the bytes of all.
fn firsts(function: &Function) -> Vec<usize> {
    let ends = function.returns.iter().scan(0usize, |end, it| {
        let first = *end;
        *end = end.saturating_add(usize::try_from(it.bytes).unwrap_or(usize::MAX));
        Some(first)
    });
    ends.collect()
}

fn has(bytes: &Bytes, byte: usize) -> bool {
    bytes
        .get(byte / 64)
        .is_some_and(|word| word >> (byte % 64) & 1 == 1)
}

/// The bytes of a function's returned values in memory that a path to its end leaves as they were.
fn missing(function: &Function, body: &Body, pieces: &[Piece]) -> Bytes {
    let firsts = firsts(function);
    let mut whole = Bytes::default();
    for (returned, first) in function.returns.iter().zip(&firsts) {
        if returned.storage == ParameterStorage::Memory {
            let end = first.saturating_add(returned.bytes as usize);
            (*first..end.min(MOST_BYTES)).for_each(|byte| whole[byte / 64] |= 1 << (byte % 64));
        }
    }
    let mut at_end = Bytes::default();
    if whole == at_end {
        return at_end;
    }
    // The bytes that may be missing where a piece begins become more until nothing changes.
    let mut at_start: Vec<Option<Bytes>> = vec![None; pieces.len()];
    at_start[0] = Some(whole);
    let mut changed = vec![0];
    while let Some(index) = changed.pop() {
        let (piece, mut left) = (&pieces[index], at_start[index].unwrap_or_default());
        for instruction in &body.instructions[piece.straight.clone()] {
            stored(instruction, &firsts, |byte| {
                if let Some(word) = left.get_mut(byte / 64) {
                    *word &= !(1 << (byte % 64));
                }
            });
        }
        if piece.end == End::Return {
            add(&mut at_end, &left);
        }
        for target in piece.end.targets() {
            let is_new = at_start[target].is_none();
            if add(at_start[target].get_or_insert_default(), &left) || is_new {
                changed.push(target);
            }
        }
    }
    at_end
}

/// Adds bytes to others, and says whether there are more now.
fn add(to: &mut Bytes, more: &Bytes) -> bool {
    let before = *to;
    to.iter_mut().zip(more).for_each(|(to, more)| *to |= more);
    *to != before
}

/// Tells the bytes of returned values that an instruction stores.
fn stored(instruction: &Instruction, firsts: &[usize], tell: impl FnMut(usize)) {
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
    let bytes = store.a.len() * store.ty.bytes() as usize;
    let first = firsts[value as usize].saturating_add(offset as usize);
    (first..first.saturating_add(bytes)).for_each(tell);
}
