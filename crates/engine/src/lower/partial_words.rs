//! Atomics of 8 and 16 bits, of which compilers make loops that compare and swap the aligned word around them.

use std::collections::{BTreeMap, HashSet};

use ptx::{Access, Address, AtomicOperator, Base, Body, Instruction, Operand, Operation, Reg};

/// How many instructions before a swap its mask is looked for, at most.
const MOST: usize = 32;

/// The words of which such loops change a part.
#[derive(Debug, Default)]
pub(crate) struct PartialWords {
    /// By the register of the word's address, how many bytes are changed.
    bytes: BTreeMap<Reg, u32>,
}

/// The instructions of a body, by what they define.
struct Definitions<'b> {
    instructions: &'b [Instruction],
    /// The only instruction that defines each register.
    only: BTreeMap<Reg, Option<usize>>,
}

impl PartialWords {
    /// Looks for the loops of a body.
    pub(crate) fn of(body: &Body) -> PartialWords {
        let swaps = body.instructions.iter().filter_map(swap);
        let swaps: Vec<_> = swaps.collect();
        if swaps.is_empty() {
            return PartialWords::default();
        }
        let definitions = Definitions::of(body);
        let part = |(address, new): (Reg, Reg)| {
            let is_word = definitions.is_word_start(address);
            Some((address, definitions.bytes_of_mask(new).filter(|_| is_word)?))
        };
        PartialWords {
            bytes: swaps.into_iter().filter_map(part).collect(),
        }
    }

    /// Returns how many bytes are meant by an access to the word at an address.
    pub(super) fn bytes_at(&self, address: &Address) -> Option<u32> {
        match address.base {
            Base::Register(register) if address.offset == 0 => self.bytes.get(&register).copied(),
            _ => None,
        }
    }
}

/// The registers of the address and of the new value, of a swap of a word.
fn swap(instruction: &Instruction) -> Option<(Reg, Reg)> {
    let Operation::Atom(it) = &instruction.operation else {
        return None;
    };
    let is_swap = it.operator == AtomicOperator::CompareAndSwap && it.ty.bits() == 32;
    match (it.address.base, it.a.first()) {
        (Base::Register(address), Some(&Operand::Register(new)))
            if is_swap && it.address.offset == 0 =>
        {
            Some((address, new))
        }
        _ => None,
    }
}

impl<'b> Definitions<'b> {
    fn of(body: &'b Body) -> Definitions<'b> {
        let mut only = BTreeMap::new();
        for (index, instruction) in body.instructions.iter().enumerate() {
            instruction.visit(|access, register| {
                if access == Access::Define {
                    let known = only.entry(register).or_insert(Some(index));
                    *known = known.filter(|it| *it == index);
                }
            });
        }
        Definitions {
            instructions: &body.instructions,
            only,
        }
    }

    fn operation(&self, register: Reg) -> Option<&'b Operation> {
        let index = (*self.only.get(&register)?)?;
        Some(&self.instructions[index].operation)
    }

    /// Whether a register is an address of which the lowest two bits were taken away.
    fn is_word_start(&self, register: Reg) -> bool {
        let Some(Operation::And(it)) = self.operation(register) else {
            return false;
        };
        let is_mask = |operand: &Operand| match operand {
            Operand::Immediate(bits) => *bits == (-4i64).cast_unsigned() || *bits == 0xffff_fffc,
            _ => false,
        };
        is_mask(&it.a) || is_mask(&it.b)
    }

    /// The bytes of the mask by which a new value was made: 1 or 2 bytes of ones, shifted to their place.
    fn bytes_of_mask(&self, new: Reg) -> Option<u32> {
        let (mut left, mut seen) = (vec![new], HashSet::new());
        while let Some(register) = left.pop() {
            if !seen.insert(register) || seen.len() > MOST {
                continue;
            }
            let Some(index) = self.only.get(&register).copied().flatten() else {
                continue;
            };
            let instruction = &self.instructions[index];
            if let Operation::Shl(it) = &instruction.operation
                && let Some(ones) = self.constant(&it.a)
                && let 0xff | 0xffff = ones
            {
                return Some(if ones == 0xff { 1 } else { 2 });
            }
            left.extend(instruction.uses());
        }
        None
    }

    fn constant(&self, operand: &Operand) -> Option<u64> {
        match operand {
            Operand::Immediate(bits) => Some(*bits),
            Operand::Register(register) => match self.operation(*register)? {
                Operation::Mov(it) => match it.a {
                    Operand::Immediate(bits) => Some(bits),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }
}
