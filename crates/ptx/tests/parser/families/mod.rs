//! Each family of instructions: text to typed values.

mod arithmetic;
mod control;
mod matrices;
mod memory;
mod movement;
mod refused;
mod text;

use ptx::{Address, Base, Operand, Predicate, Reg};

const fn imm(bits: u64) -> Operand {
    Operand::Immediate(bits)
}

const fn yes(value: Operand) -> Predicate {
    Predicate {
        value,
        negated: false,
    }
}

const fn no(value: Operand) -> Predicate {
    Predicate {
        value,
        negated: true,
    }
}

const fn at(register: u32, offset: i64) -> Address {
    Address {
        base: Base::Register(Reg(register)),
        offset,
    }
}
