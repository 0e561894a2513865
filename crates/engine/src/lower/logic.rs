//! Logic on bits and on predicates, and shifts.

use ptx::{Binary, Direction, Lop3, Shf, Shift, Type, Unary, Wrap};

use super::handler::{each, handler, with_type};
use super::{Lowered, Lowering};
use crate::arith::bits::{self, Excess};
use crate::exec::op::{binary, both_predicates, compare, predicates, ternary, unary};
use crate::exec::registers::Kind;
use crate::exec::signature::Handler;

/// A handler of an operator on all bits of a word, of a double word, or of predicates.
macro_rules! bitwise {
    ($ty:expr, |$a:ident, $b:ident| $value:expr) => {
        match $ty {
            Type::Pred => Some(handler!(|c, op| both_predicates(c, op, |$a, $b| $value))),
            Type::B16 | Type::B32 => {
                Some(handler!(|c, op| binary(c, op, |$a: u32, $b: u32| $value)))
            }
            Type::B64 => Some(handler!(|c, op| binary(c, op, |$a: u64, $b: u64| $value))),
            _ => None,
        }
    };
}

impl Lowering<'_> {
    pub(super) fn and(&mut self, it: &Binary) -> Lowered<()> {
        self.bitwise(it, bitwise!(it.ty, |a, b| a & b))
    }

    pub(super) fn or(&mut self, it: &Binary) -> Lowered<()> {
        self.bitwise(it, bitwise!(it.ty, |a, b| a | b))
    }

    pub(super) fn xor(&mut self, it: &Binary) -> Lowered<()> {
        self.bitwise(it, bitwise!(it.ty, |a, b| a ^ b))
    }

    pub(super) fn cnot(&mut self, it: &Unary) -> Lowered<()> {
        let run = each!(unary it.ty, of words, bits::cnot);
        self.same(run, it.ty, it.d, &[it.a])
    }

    fn bitwise(&mut self, it: &Binary, run: Option<Handler>) -> Lowered<()> {
        self.same(run, it.ty, it.d, &[it.a, it.b])
    }

    pub(super) fn not(&mut self, it: &Unary) -> Lowered<()> {
        let run = match it.ty {
            Type::Pred => Some(handler!(|c, op| predicates(c, op, |a| !a))),
            Type::B16 => Some(handler!(|c, op| unary(c, op, |a: u16| !a))),
            Type::B32 => Some(handler!(|c, op| unary(c, op, |a: u32| !a))),
            Type::B64 => Some(handler!(|c, op| unary(c, op, |a: u64| !a))),
            _ => None,
        };
        self.same(run, it.ty, it.d, &[it.a])
    }

    pub(super) fn lop3(&mut self, it: &Lop3) -> Lowered<()> {
        let sources = [it.a, it.b, it.c];
        let mut slots = [0; 3];
        for (slot, operand) in slots.iter_mut().zip(&sources) {
            *slot = self.read(operand, Kind::Word)?;
        }
        let run = three_inputs(it.table);
        let Some(p) = it.p else {
            let d = it.d.ok_or("no destination")?;
            return self.finish_in(run, (d, Kind::Word), slots, it.table.into());
        };
        let combination = it
            .combination
            .as_ref()
            .ok_or("a predicate without an operator")?;
        let with = self.read_predicate(&combination.with)?;
        let result = self.value(run, Kind::Word, slots, it.table.into());
        let zero = self.constant(Kind::Word, 0);
        let differs = handler!(|c, op| compare(c, op, |a: u32, b: u32| a != b));
        let is_set = self.value(differs, Kind::Predicate, [result, zero, 0], 0);
        let combine = super::compare::combining(combination.operator);
        self.finish_in(combine, (p, Kind::Predicate), [is_set, with, 0], 0)?;
        if let Some(d) = it.d {
            let copy = handler!(|c, op| unary(c, op, |a: u32| a));
            self.finish_in(copy, (d, Kind::Word), [result, 0, 0], 0)?;
        }
        Ok(())
    }

    pub(super) fn shf(&mut self, it: &Shf) -> Lowered<()> {
        use Excess as E;
        let run = match (it.direction, it.wrap) {
            (Direction::Left, Wrap::Clamp) => {
                handler!(|c, op| ternary(c, op, |a, b, n| bits::shf_l(a, b, n, E::Clamp)))
            }
            (Direction::Left, Wrap::Wrap) => {
                handler!(|c, op| ternary(c, op, |a, b, n| bits::shf_l(a, b, n, E::Wrap)))
            }
            (Direction::Right, Wrap::Clamp) => {
                handler!(|c, op| ternary(c, op, |a, b, n| bits::shf_r(a, b, n, E::Clamp)))
            }
            (Direction::Right, Wrap::Wrap) => {
                handler!(|c, op| ternary(c, op, |a, b, n| bits::shf_r(a, b, n, E::Wrap)))
            }
        };
        self.same(Some(run), Type::B32, it.d, &[it.a, it.b, it.c])
    }

    pub(super) fn shl(&mut self, it: &Shift) -> Lowered<()> {
        let run = with_type!(it.ty, T of words, handler!(|c, op| binary(c, op, |a: T, n: u32| bits::shl(a, n))));
        self.apply(run, (it.d, it.ty), &[(it.a, it.ty), (it.b, Type::U32)], 0)
    }

    pub(super) fn shr(&mut self, it: &Shift) -> Lowered<()> {
        let run = with_type!(it.ty, T of integers, handler!(|c, op| binary(c, op, |a: T, n: u32| bits::shr(a, n))));
        self.apply(run, (it.d, it.ty), &[(it.a, it.ty), (it.b, Type::U32)], 0)
    }
}

/// The handler of a table; the common ones have one of their own.
fn three_inputs(table: u8) -> Handler {
    macro_rules! tables {
        ($($table:literal)*) => {
            match table {
                $($table => handler!(|c, op| ternary(c, op, |a, b, d| bits::lop3(a, b, d, $table))),)*
                _ => handler!(|c, op| {
                    let table = op.aux as u8;
                    ternary(c, op, |a, b, d| bits::lop3(a, b, d, table))
                }),
            }
        };
    }
    // Sums and carries of three bits, choices, and pairs of `and`, `or` and `xor`.
    tables!(0x80 0xfe 0x96 0xe8 0xca 0xea 0xf8 0x78 0x6a 0x28)
}
