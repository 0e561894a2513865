//! Counting, finding and moving the bits of integers.

use ptx::{Bfe, Bfi, Bfind, Bmsk, Count, Fns, Szext, Type, Unary, Wrap};

use super::handler::{each, handler, rare, with_type};
use super::{Lowered, Lowering};
use crate::arith::bits::{self, Excess};
use crate::arith::integer::Word;
use crate::exec::op::{Context, Op, binary, ternary};
use crate::exec::registers::{Kind, LANES, Lane};
use crate::exec::signature::{Aux, Handler, Operand as _};

impl Lowering<'_> {
    pub(super) fn popc(&mut self, it: &Count) -> Lowered<()> {
        let run = each!(unary it.ty, of long_words, bits::popc);
        self.apply(run, (it.d, Type::U32), &[(it.a, it.ty)], 0)
    }

    pub(super) fn clz(&mut self, it: &Count) -> Lowered<()> {
        let run = each!(unary it.ty, of long_words, bits::clz);
        self.apply(run, (it.d, Type::U32), &[(it.a, it.ty)], 0)
    }

    pub(super) fn brev(&mut self, it: &Unary) -> Lowered<()> {
        let run = each!(unary it.ty, of long_words, bits::brev);
        self.same(run, it.ty, it.d, &[it.a])
    }

    pub(super) fn fns(&mut self, it: &Fns) -> Lowered<()> {
        let run = rare!(|c, op| ternary(c, op, bits::fns));
        self.same(Some(run), Type::B32, it.d, &[it.mask, it.base, it.offset])
    }

    pub(super) fn bfind(&mut self, it: &Bfind) -> Lowered<()> {
        let run = match it.shift_amount {
            false => each!(unary it.ty, of long_integers, bits::bfind),
            true => each!(unary it.ty, of long_integers, bits::bfind_shiftamt),
        };
        self.apply(run, (it.d, Type::U32), &[(it.a, it.ty)], 0)
    }

    pub(super) fn bfe(&mut self, it: &Bfe) -> Lowered<()> {
        let run = with_type!(it.ty, T of long_integers,
            handler!(|c, op| ternary(c, op, |a: T, position: u32, length: u32| bits::bfe(a, position, length))));
        let sources = [(it.a, it.ty), (it.b, Type::U32), (it.c, Type::U32)];
        self.apply(run, (it.d, it.ty), &sources, 0)
    }

    pub(super) fn bfi(&mut self, it: &Bfi) -> Lowered<()> {
        let run: Option<Handler> = with_type!(it.ty, T of long_words, handler!(
            [d: <T as Lane>::Slot::KIND, a: <T as Lane>::Slot::KIND, b: <T as Lane>::Slot::KIND,
                c: Kind::Word, aux: Aux::Slot(Kind::Word)],
            |c, op| inserted::<T>(c, op)
        ));
        let run = run.ok_or("the type")?;
        let length = self.read(&it.length, super::slots::kind(Type::U32))?;
        let sources = [(it.a, it.ty), (it.b, it.ty), (it.position, Type::U32)];
        self.apply(Some(run), (it.d, it.ty), &sources, length.into())
    }

    pub(super) fn szext(&mut self, it: &Szext) -> Lowered<()> {
        let run = match (it.ty, it.wrap) {
            (Type::U32, Wrap::Clamp) => {
                handler!(|c, op| binary(c, op, |a: u32, n| bits::szext(a, n, Excess::Clamp)))
            }
            (Type::U32, Wrap::Wrap) => {
                handler!(|c, op| binary(c, op, |a: u32, n| bits::szext(a, n, Excess::Wrap)))
            }
            (Type::S32, Wrap::Clamp) => {
                handler!(|c, op| binary(c, op, |a: i32, n| bits::szext(a, n, Excess::Clamp)))
            }
            (Type::S32, Wrap::Wrap) => {
                handler!(|c, op| binary(c, op, |a: i32, n| bits::szext(a, n, Excess::Wrap)))
            }
            _ => return Err("the type".to_owned()),
        };
        self.same(Some(run), it.ty, it.d, &[it.a, it.b])
    }

    pub(super) fn bmsk(&mut self, it: &Bmsk) -> Lowered<()> {
        let run = match it.wrap {
            Wrap::Clamp => handler!(|c, op| binary(c, op, |a, b| bits::bmsk(a, b, Excess::Clamp))),
            Wrap::Wrap => handler!(|c, op| binary(c, op, |a, b| bits::bmsk(a, b, Excess::Wrap))),
        };
        self.same(Some(run), Type::B32, it.d, &[it.a, it.b])
    }
}

/// `bfi`, the slot of whose fourth source, the length, is `aux`.
///
/// # Safety
/// `a`, `b` and `d` hold lanes of the type, `c` and `aux` words.
#[inline(always)]
unsafe fn inserted<T: Lane + Word>(context: &mut Context<'_>, op: &Op) {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe {
        let (a, b) = (context.slot::<T::Slot>(op.a), context.slot::<T::Slot>(op.b));
        let (position, length) = (
            context.slot::<u32>(op.c),
            context.slot::<u32>(op.aux as u32),
        );
        let mut all = [T::of(a[0]).slot(); LANES];
        for (lane, to) in all.iter_mut().enumerate() {
            *to = bits::bfi(T::of(a[lane]), T::of(b[lane]), position[lane], length[lane]).slot();
        }
        *context.slot_mut(op.d) = all;
    }
}
