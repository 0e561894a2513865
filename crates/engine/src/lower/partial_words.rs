//! Atomics of 8 and 16 bits, of which compilers make loops that compare and swap the aligned word around them; of those
//! that change bits alone, one `or`, `xor` or `and` of that word.

use std::collections::{BTreeMap, HashSet, VecDeque};

use ptx::{Access, Address, AtomicOperator, Base, Body, Instruction, Operand, Operation, Reg};

/// How many instructions before a swap its mask is looked for, at most.
const MOST: usize = 32;

/// The words of which such atomics change a part.
#[derive(Debug, Default)]
pub(crate) struct PartialWords {
    /// By the register of the word's address, how many bytes a loop changes.
    bytes: BTreeMap<Reg, u32>,
    /// By the number of the instruction, the part that it changes without a loop.
    placed: BTreeMap<usize, Placed>,
}

/// A part of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// The bit that it begins at.
    pub(super) begins: Reg,
    /// Its bytes, at least: PTX does not always say that a value has 16 bits.
    pub(super) bytes: u32,
}

/// An instruction that changes a whole word.
struct Change {
    operator: AtomicOperator,
    address: Reg,
    operand: Reg,
}

/// The instructions of a body, by what they define.
struct Definitions<'b> {
    instructions: &'b [Instruction],
    /// The only instruction that defines each register.
    only: BTreeMap<Reg, Option<usize>>,
}

impl PartialWords {
    /// Looks for the atomics of a body.
    pub(crate) fn of(body: &Body) -> PartialWords {
        let changes = body.instructions.iter().enumerate();
        let changes = changes.filter_map(|(index, it)| Some((index, change(it)?)));
        let changes: Vec<_> = changes.collect();
        let mut words = PartialWords::default();
        if changes.is_empty() {
            return words;
        }
        let definitions = Definitions::of(body);
        for (index, it) in changes {
            if !definitions.is_word_start(it.address) {
                continue;
            }
            match it.operator {
                AtomicOperator::CompareAndSwap => {
                    let bytes = definitions.bytes_of_mask(it.operand);
                    words.bytes.extend(bytes.map(|bytes| (it.address, bytes)));
                }
                _ => {
                    let placed = definitions.placed(&it);
                    words.placed.extend(placed.map(|placed| (index, placed)));
                }
            }
        }
        words
    }

    /// Returns the registers that tell where parts begin: they are read where nothing else may read them any more.
    pub(super) fn registers(&self) -> impl Iterator<Item = Reg> {
        self.placed.values().map(|it| it.begins)
    }

    /// Returns the part that an instruction changes without a loop.
    pub(super) fn placed(&self, instruction: u32) -> Option<Placed> {
        self.placed.get(&(instruction as usize)).copied()
    }

    /// Returns how many bytes are meant by an access to the word at an address.
    pub(super) fn bytes_at(&self, address: &Address) -> Option<u32> {
        match address.base {
            Base::Register(register) if address.offset == 0 => self.bytes.get(&register).copied(),
            _ => None,
        }
    }
}

/// The change of a word that may be one of a part.
fn change(instruction: &Instruction) -> Option<Change> {
    let (operator, ty, address, operands) = match &instruction.operation {
        Operation::Atom(it) => (it.operator, it.ty, &it.address, &it.a),
        Operation::Red(it) => (it.operator, it.ty, &it.address, &it.a),
        _ => return None,
    };
    let may_be_part = ty.bits() == 32 && address.offset == 0;
    match (operator, address.base, &operands[..]) {
        (
            AtomicOperator::CompareAndSwap
            | AtomicOperator::Or
            | AtomicOperator::Xor
            | AtomicOperator::And,
            Base::Register(address),
            &[Operand::Register(operand)],
        ) if may_be_part => Some(Change {
            operator,
            address,
            operand,
        }),
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

    /// The part of a word that the operand of an `or`, `xor` or `and` changes: a value shifted to its place, with ones around it
    /// in an `and`.
    fn placed(&self, change: &Change) -> Option<Placed> {
        let placed = if change.operator == AtomicOperator::And {
            let Operation::Or(it) = self.operation(change.operand)? else {
                return None;
            };
            let is_value = |of| self.shifted(of).is_some();
            let (of, around) = match is_value(it.a) {
                true => (it.a, it.b),
                false => (it.b, it.a),
            };
            let Operation::Not(mask) = self.operation(register(around)?)? else {
                return None;
            };
            let ((_, begins), (ones, mask)) = (self.shifted(of)?, self.shifted(mask.a)?);
            Placed {
                begins: Some(begins).filter(|it| *it == mask)?,
                bytes: bytes_of_ones(self.constant(&ones)?)?,
            }
        } else {
            let (value, begins) = self.shifted(Operand::Register(change.operand))?;
            Placed {
                begins,
                bytes: if self.is_half(&value) { 2 } else { 1 },
            }
        };
        // The bit is 8 times the number of a byte.
        let is_bit = match self.operation(placed.begins)? {
            Operation::Shl(it) => it.b == Operand::Immediate(3),
            _ => false,
        };
        is_bit.then_some(placed)
    }

    /// A value that was shifted to the left, and by what.
    fn shifted(&self, operand: Operand) -> Option<(Operand, Reg)> {
        match self.operation(register(operand)?)? {
            Operation::Shl(it) => Some((it.a, register(it.b)?)),
            _ => None,
        }
    }

    /// Whether a value says that it has 16 bits.
    fn is_half(&self, value: &Operand) -> bool {
        match register(*value).and_then(|it| self.operation(it)) {
            Some(Operation::Ld(it)) => it.ty.bits() == 16,
            Some(Operation::Cvt(it)) => self.is_half(&it.a),
            Some(Operation::And(it)) => [it.a, it.b].contains(&Operand::Immediate(0xffff)),
            _ => self
                .constant(value)
                .is_some_and(|it| (0x100..=0xffff).contains(&it)),
        }
    }

    /// The bytes of the mask by which a new value was made: 1 or 2 bytes of ones, shifted to their place. The nearest
    /// instructions come first: behind them is how the address and the value were computed, which may be much.
    fn bytes_of_mask(&self, new: Reg) -> Option<u32> {
        let (mut left, mut seen) = (VecDeque::from([new]), HashSet::new());
        while let Some(register) = left.pop_front() {
            if !seen.insert(register) || seen.len() > MOST {
                continue;
            }
            let Some(index) = self.only.get(&register).copied().flatten() else {
                continue;
            };
            let instruction = &self.instructions[index];
            if let Operation::Shl(it) = &instruction.operation
                && let Some(bytes) = self.constant(&it.a).and_then(bytes_of_ones)
            {
                return Some(bytes);
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

fn register(operand: Operand) -> Option<Reg> {
    match operand {
        Operand::Register(register) => Some(register),
        _ => None,
    }
}

/// How many bytes a mask covers, of those of a part.
fn bytes_of_ones(mask: u64) -> Option<u32> {
    match mask {
        0xff => Some(1),
        0xffff => Some(2),
        _ => None,
    }
}
