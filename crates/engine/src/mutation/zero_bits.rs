//! Bits of registers that are 0 whatever a launch is given: a mask that differs in those alone masks the same.

use ptx::{Body, Half, Instruction, Kind, Operand, Operation, Reg, SpecialRegister, Type};

/// For each register the bits that every value has as 0, of all that are ever in it.
pub(super) struct ZeroBits(Vec<u64>);

impl ZeroBits {
    /// Those of a function: begun with all bits, of which each instruction that writes a register takes some, until none takes more.
    pub(super) fn of(body: &Body) -> ZeroBits {
        let mut bits = ZeroBits(vec![u64::MAX; body.registers.len()]);
        loop {
            let before = bits.0.clone();
            for instruction in &body.instructions {
                let zero = bits.of_result(&instruction.operation);
                for register in instruction.definitions() {
                    bits.0[register.0 as usize] &= zero;
                }
            }
            if bits.0 == before {
                return bits;
            }
        }
    }

    /// Whether an `and` with the next constant in place of its own has the same result.
    pub(super) fn hide_next_constant(&self, instruction: &Instruction) -> bool {
        let Operation::And(it) = &instruction.operation else {
            return false;
        };
        match (it.a, it.b) {
            (masked, Operand::Immediate(mask)) | (Operand::Immediate(mask), masked) => {
                let changed = (mask ^ mask.wrapping_add(1)) & all(it.ty);
                changed & !self.of_operand(masked) == 0
            }
            _ => false,
        }
    }

    fn of_operand(&self, operand: Operand) -> u64 {
        use SpecialRegister as S;
        match operand {
            Operand::Register(register) => self.of_register(register),
            Operand::Immediate(bits) => !bits,
            // A block has up to 1024 threads.
            Operand::Special(S::Tid(_)) => !0x3ff,
            Operand::Special(S::Ntid(_)) => !0x7ff,
            Operand::Special(S::Laneid) => !0x1f,
            _ => 0,
        }
    }

    fn of_register(&self, register: Reg) -> u64 {
        self.0[register.0 as usize]
    }

    /// Zeros at the end of every value of an operand.
    fn trailing(&self, operand: Operand) -> u32 {
        self.of_operand(operand).trailing_ones()
    }

    fn of_result(&self, operation: &Operation) -> u64 {
        use Operation as O;
        let of = |operand| self.of_operand(operand);
        let above = |ty: Type| !all(ty);
        match operation {
            O::Mov(it) => of(it.a) | above(it.ty),
            O::And(it) => of(it.a) | of(it.b) | above(it.ty),
            O::Or(it) | O::Xor(it) => (of(it.a) & of(it.b)) | above(it.ty),
            O::Selp(it) => (of(it.a) & of(it.b)) | above(it.ty),
            O::Shl(it) => match it.b {
                Operand::Immediate(by) if by < u64::from(it.ty.bits()) => {
                    (of(it.a) << by) | lowest(by as u32) | above(it.ty)
                }
                _ => above(it.ty),
            },
            O::Shr(it) if it.ty.kind() != Kind::Signed => match it.b {
                Operand::Immediate(by) if by < u64::from(it.ty.bits()) => {
                    let zero = of(it.a) | above(it.ty);
                    (zero >> by) | !(all(it.ty) >> by)
                }
                _ => above(it.ty),
            },
            // Of a sum as many as both have at the end, of a product as many as both have together.
            O::IntegerAdd(it) | O::IntegerSub(it)
                if !it.saturate && !it.carry_in && is_one(it.ty) =>
            {
                lowest(self.trailing(it.a).min(self.trailing(it.b))) | above(it.ty)
            }
            O::IntegerMul(it) if it.half != Half::Hi => {
                let width = if it.half == Half::Wide {
                    2 * it.ty.bits()
                } else {
                    it.ty.bits()
                };
                lowest(self.trailing(it.a) + self.trailing(it.b)) | !lowest(width)
            }
            O::Cvt(it) if it.from.kind() == Kind::Unsigned && is_integer(it.to) => {
                of(it.a) | above(it.from)
            }
            _ => 0,
        }
    }
}

/// Whether a value is one integer.
fn is_one(ty: Type) -> bool {
    !matches!(ty, Type::U16x2 | Type::S16x2)
}

fn is_integer(ty: Type) -> bool {
    matches!(ty.kind(), Kind::Unsigned | Kind::Signed)
}

/// The bits of a type's values.
fn all(ty: Type) -> u64 {
    lowest(ty.bits())
}

/// So many bits from the lowest on.
fn lowest(bits: u32) -> u64 {
    match bits {
        0..64 => (1 << bits) - 1,
        _ => u64::MAX,
    }
}
