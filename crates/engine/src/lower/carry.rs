//! Sums of more than one register: `.cc` keeps the carry in a predicate of the function, which `addc`,
//! `subc` and `madc` add. There is one carry, as hardware has it: a difference adds the complement and 1, so its
//! carry is set where nothing was borrowed. PTX ISA calls it a borrow, but what nvcc writes (`subc.cc` before
//! `addc`, in divisions of 128 bits) counts on the hardware's.

use ptx::{Half, IntegerMad, IntegerSum, Operand, Reg, Type};

use super::handler::{handler, with_type};
use super::slots::kind;
use super::{Lowered, Lowering};
use crate::arith::integer;
use crate::exec::op::{Context, Op, signs};
use crate::exec::registers::{Kind, LANES, Lane};
use crate::exec::signature::{Aux, CARRY_IN as IN, CARRY_OUT as OUT, Handler, Operand as _};

/// Where no carry is added, 1 is: a difference begins so.
const ONE: u64 = 4;
/// Where the carry's slot begins in `aux`.
const SLOT: u32 = 3;

/// A handler of a function of three numbers and a carry.
macro_rules! chained {
    ($ty:expr, $group:ident, $f:expr) => {
        with_type!($ty, T of $group, handler!(
            [d: <T as Lane>::Slot::KIND, a: <T as Lane>::Slot::KIND, b: <T as Lane>::Slot::KIND,
                c: <T as Lane>::Slot::KIND, aux: Aux::Above(SLOT)],
            |c, op| chained::<T>(c, op, $f)
        ))
    };
}

impl Lowering<'_> {
    pub(super) fn add_with_carry(&mut self, it: &IntegerSum) -> Lowered<()> {
        let run = chained!(it.ty, long_words, |a, b, _, carry| integer::add_with_carry(
            a, b, carry
        ));
        self.sum_with_carry(it, run, 0)
    }

    pub(super) fn sub_with_carry(&mut self, it: &IntegerSum) -> Lowered<()> {
        let run = chained!(it.ty, long_words, |a, b, _, carry| integer::sub_with_carry(
            a, b, carry
        ));
        self.sum_with_carry(it, run, ONE)
    }

    /// `first` is [`ONE`] for a difference.
    fn sum_with_carry(&mut self, it: &IntegerSum, run: Option<Handler>, first: u64) -> Lowered<()> {
        if it.saturate {
            return Err("`.sat` with a carry".to_owned());
        }
        self.chained(
            run,
            (it.d, it.ty),
            [it.a, it.b, it.b],
            first | flags(it.carry_in, it.carry_out),
        )
    }

    pub(super) fn mad_with_carry(&mut self, it: &IntegerMad) -> Lowered<()> {
        if it.saturate {
            return Err("`.sat` with a carry".to_owned());
        }
        let run = match it.half {
            Half::Lo => chained!(it.ty, long_words, |a, b, c, carry| {
                integer::mad_lo_with_carry(a, b, c, carry)
            }),
            Half::Hi => chained!(it.ty, long_integers, |a, b, c, carry| {
                integer::mad_hi_with_carry(a, b, c, carry)
            }),
            Half::Wide => None,
        };
        self.chained(
            run,
            (it.d, it.ty),
            [it.a, it.b, it.c],
            flags(it.carry_in, it.carry_out),
        )
    }

    fn chained(
        &mut self,
        run: Option<Handler>,
        (d, ty): (Reg, Type),
        sources: [Operand; 3],
        flags: u64,
    ) -> Lowered<()> {
        let run = run.ok_or("the type")?;
        let mut slots = [0; 3];
        for (slot, operand) in slots.iter_mut().zip(&sources) {
            *slot = self.read(operand, kind(ty))?;
        }
        let (d, of) = self.write(d);
        if of != kind(ty) {
            return Err("a register of another width".to_owned());
        }
        let carry = match self.carry {
            Some(carry) => carry,
            None => *self.carry.insert(self.slots.add(Kind::Predicate)),
        };
        self.emit_masked(run, d, slots, u64::from(carry) << SLOT | flags);
        Ok(())
    }
}

/// How an instruction uses the carry.
fn flags(carry_in: bool, carry_out: bool) -> u64 {
    (u64::from(carry_in) * IN) | (u64::from(carry_out) * OUT)
}

/// `d = f(a, b, c, carry)`, and the carry where it is kept.
///
/// # Safety
/// The sources and `d` hold lanes of the type, and `aux` has the slot of a predicate.
#[inline(always)]
unsafe fn chained<T: Lane>(
    context: &mut Context<'_>,
    op: &Op,
    f: impl Fn(T, T, T, bool) -> (T, bool),
) {
    let slot = (op.aux >> SLOT) as u32;
    // SAFETY: the slots are those of a verified program, of their kinds.
    unsafe {
        let carried = if op.aux & IN != 0 {
            context.predicate(slot)
        } else if op.aux & ONE != 0 {
            u32::MAX
        } else {
            0
        };
        let [a, b, c] = [op.a, op.b, op.c].map(|it| context.slot::<T::Slot>(it));
        let mut all = *a;
        let mut carries = [0; LANES];
        for lane in 0..LANES {
            let carry = carried >> lane & 1 != 0;
            let (result, carry) = f(T::of(a[lane]), T::of(b[lane]), T::of(c[lane]), carry);
            all[lane] = result.slot();
            carries[lane] = u32::from(carry).wrapping_neg();
        }
        context.set_running(op.d, &all);
        if op.aux & OUT != 0 {
            context.set_predicate_of_running(slot, signs(&carries));
        }
    }
}
