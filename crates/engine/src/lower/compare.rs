//! Comparison, and what is chosen by it.

use ptx::{BooleanOperator, Comparison, Operand, Reg, Selp, Set, Setp, Slct, Type};

use super::handler::{each, handler};
use super::slots::kind;
use super::{Lowered, Lowering};
use crate::arith::compare as relation;
use crate::arith::float;
use crate::arith::half::{Bf16, F16, Half};
use crate::exec::op::{Context, Op, both_predicates, predicates, ternary, unary};
use crate::exec::registers::{Kind, LANES};
use crate::exec::signature::{Executed, Handler, Operand as _, Predicate};

/// A handler of `d = c ? a : b` of words or double words, without branches.
macro_rules! selected {
    ($T:ty) => {
        handler!([d: <$T>::KIND, a: <$T>::KIND, b: <$T>::KIND, c: Kind::Predicate], |c, op| {
            let (a, b) = (c.slot::<$T>(op.a), c.slot::<$T>(op.b));
            let by = c.predicate(op.c);
            let mut all: [$T; LANES] = [0; LANES];
            for (lane, to) in all.iter_mut().enumerate() {
                let mask = <$T>::from(by >> lane & 1).wrapping_neg();
                *to = a[lane] & mask | b[lane] & !mask;
            }
            *c.slot_mut(op.d) = all;
        })
    };
}
/// Two values that are compared, and in which type.
#[derive(Clone, Copy)]
struct Pair {
    ty: Type,
    a: u32,
    b: u32,
}

impl Lowering<'_> {
    pub(super) fn setp(&mut self, it: &Setp) -> Lowered<()> {
        let pairs = self.pairs(it.ty, it.ftz, &it.a, &it.b)?;
        let with = match &it.combination {
            Some(combination) => Some((
                combining(combination.operator),
                self.read_predicate(&combination.with)?,
            )),
            None => None,
        };
        if let ([pair], None, None, Some(p)) = (&pairs[..], with, it.q, it.p) {
            let (run, sources) = related(it.comparison, *pair)?;
            return self.finish_in(run, (p, Kind::Predicate), sources, 0);
        }
        // What is combined with may be what is written: both answers come first.
        let (mut p, mut q) = (self.related(it.comparison, pairs[0])?, None);
        if it.q.is_some() {
            q = Some(match pairs.get(1) {
                Some(pair) => self.related(it.comparison, *pair)?,
                None => self.negated(p),
            });
        }
        if let Some((run, with)) = with {
            p = self.value(run, Kind::Predicate, [p, with, 0], 0);
            q = q.map(|q| self.value(run, Kind::Predicate, [q, with, 0], 0));
        }
        for (register, slot) in [(it.p, Some(p)), (it.q, q)] {
            if let (Some(register), Some(slot)) = (register, slot) {
                self.copy_predicate(register, slot)?;
            }
        }
        Ok(())
    }

    pub(super) fn set(&mut self, it: &Set) -> Lowered<()> {
        let pairs = self.pairs(it.source, it.ftz, &it.a, &it.b)?;
        let [low, high] = truths(it.destination, pairs.len()).ok_or("the types")?;
        let with = match &it.combination {
            Some(combination) => Some((
                combining(combination.operator),
                self.read_predicate(&combination.with)?,
            )),
            None => None,
        };
        let mut answers = Vec::new();
        for pair in pairs {
            let answer = self.related(it.comparison, pair)?;
            answers.push(match with {
                Some((run, with)) => self.value(run, Kind::Predicate, [answer, with, 0], 0),
                None => answer,
            });
        }
        let run = handler!(|c, op| chosen(c, op));
        let upper = answers.get(1).copied().unwrap_or(answers[0]);
        self.finish_in(
            run,
            (it.d, Kind::Word),
            [answers[0], upper, 0],
            u64::from(high) << 32 | u64::from(low),
        )
    }

    /// Returns the pairs to compare: two values, or each half of them; halves as `f32`, which is exact.
    fn pairs(&mut self, ty: Type, ftz: bool, a: &Operand, b: &Operand) -> Lowered<Vec<Pair>> {
        let (a, b) = (self.read(a, kind(ty))?, self.read(b, kind(ty))?);
        if ty == Type::F32 && ftz {
            let run = handler!(|c, op| unary(c, op, float::flush));
            let [a, b] = [a, b].map(|it| self.value(run, Kind::Word, [it, 0, 0], 0));
            return Ok(vec![Pair { ty, a, b }]);
        }
        let parts: Vec<Handler> = match ty {
            Type::F16 => vec![handler!(|c, op| widened::<F16>(c, op, 0))],
            Type::Bf16 => vec![handler!(|c, op| widened::<Bf16>(c, op, 0))],
            Type::F16x2 => vec![
                handler!(|c, op| widened::<F16>(c, op, 0)),
                handler!(|c, op| widened::<F16>(c, op, 16)),
            ],
            Type::Bf16x2 => vec![
                handler!(|c, op| widened::<Bf16>(c, op, 0)),
                handler!(|c, op| widened::<Bf16>(c, op, 16)),
            ],
            _ if ftz => return Err("`.ftz` of this type".to_owned()),
            _ => return Ok(vec![Pair { ty, a, b }]),
        };
        let flags = u64::from(ftz);
        let mut pair = |run| {
            let [a, b] = [a, b].map(|it| self.value(run, Kind::Word, [it, 0, 0], flags));
            Pair {
                ty: Type::F32,
                a,
                b,
            }
        };
        Ok(parts.into_iter().map(&mut pair).collect())
    }

    fn related(&mut self, comparison: Comparison, pair: Pair) -> Lowered<u32> {
        let (run, sources) = related(comparison, pair)?;
        Ok(self.value(run, Kind::Predicate, sources, 0))
    }

    fn negated(&mut self, predicate: u32) -> u32 {
        let run = handler!(|c, op| predicates(c, op, |a| !a));
        self.value(run, Kind::Predicate, [predicate, 0, 0], 0)
    }

    fn copy_predicate(&mut self, register: Reg, slot: u32) -> Lowered<()> {
        let run = handler!(|c, op| predicates(c, op, |a| a));
        self.finish_in(run, (register, Kind::Predicate), [slot, 0, 0], 0)
    }

    pub(super) fn selp(&mut self, it: &Selp) -> Lowered<()> {
        let run = match kind(it.ty) {
            Kind::Word => selected!(u32),
            Kind::Double => selected!(u64),
            _ => return Err("the type".to_owned()),
        };
        let kind = kind(it.ty);
        let (a, b) = (self.read(&it.a, kind)?, self.read(&it.b, kind)?);
        let by = self.read_predicate(&it.c)?;
        self.finish_in(run, (it.d, kind), [a, b, by], 0)
    }

    pub(super) fn slct(&mut self, it: &Slct) -> Lowered<()> {
        use relation::{slct, slct_f32};
        // A subnormal selector below zero is zero with `.ftz`.
        let run = match (it.selector, kind(it.ty), it.ftz) {
            (Type::S32, Kind::Word, false) => {
                handler!(|c, op| ternary(c, op, |a: u32, b: u32, by| slct(a, b, by)))
            }
            (Type::S32, Kind::Double, false) => {
                handler!(|c, op| ternary(c, op, |a: u64, b: u64, by| slct(a, b, by)))
            }
            (Type::F32, Kind::Word, false) => {
                handler!(|c, op| ternary(c, op, |a: u32, b: u32, by| slct_f32(a, b, by)))
            }
            (Type::F32, Kind::Double, false) => {
                handler!(|c, op| ternary(c, op, |a: u64, b: u64, by| slct_f32(a, b, by)))
            }
            (Type::F32, Kind::Word, true) => {
                handler!(|c, op| ternary(c, op, |a: u32, b: u32, by| slct_f32(
                    a,
                    b,
                    float::flush(by)
                )))
            }
            (Type::F32, Kind::Double, true) => {
                handler!(|c, op| ternary(c, op, |a: u64, b: u64, by| slct_f32(
                    a,
                    b,
                    float::flush(by)
                )))
            }
            _ => return Err("the type or a modifier".to_owned()),
        };
        let sources = [(it.a, it.ty), (it.b, it.ty), (it.c, it.selector)];
        self.apply(Some(run), (it.d, it.ty), &sources, 0)
    }
}

/// The handler of a comparison, and its sources: exchanged for what is greater.
fn related(comparison: Comparison, Pair { ty, a, b }: Pair) -> Lowered<(Handler, [u32; 3])> {
    use Comparison as C;
    let (comparison, sources) = match comparison {
        C::Gt => (C::Lt, [b, a, 0]),
        C::Ge => (C::Le, [b, a, 0]),
        C::Hi => (C::Lo, [b, a, 0]),
        C::Hs => (C::Ls, [b, a, 0]),
        C::Gtu => (C::Ltu, [b, a, 0]),
        C::Geu => (C::Leu, [b, a, 0]),
        other => (other, [a, b, 0]),
    };
    let run = match ty.is_float() {
        true => of_floats(comparison, ty),
        false => of_integers(comparison, ty),
    };
    Ok((run.ok_or("the comparison of this type")?, sources))
}

fn of_integers(comparison: Comparison, ty: Type) -> Option<Handler> {
    use Comparison as C;
    match comparison {
        C::Eq => each!(compare ty, of words, relation::eq),
        C::Ne => each!(compare ty, of words, |a, b| a != b),
        C::Lt => each!(compare ty, of integers, relation::lt),
        C::Le => each!(compare ty, of integers, relation::le),
        C::Lo => each!(compare unsigned(ty), of integers, relation::lt),
        C::Ls => each!(compare unsigned(ty), of integers, relation::le),
        _ => None,
    }
}

fn of_floats(comparison: Comparison, ty: Type) -> Option<Handler> {
    use Comparison as C;
    match comparison {
        C::Eq => each!(compare ty, of floats, relation::eq),
        C::Ne => each!(compare ty, of floats, relation::ne),
        C::Lt => each!(compare ty, of floats, relation::lt),
        C::Le => each!(compare ty, of floats, relation::le),
        C::Equ => each!(compare ty, of floats, relation::equ),
        C::Neu => each!(compare ty, of floats, relation::neu),
        C::Ltu => each!(compare ty, of floats, relation::ltu),
        C::Leu => each!(compare ty, of floats, relation::leu),
        C::Num => each!(compare ty, of floats, relation::num),
        C::Nan => each!(compare ty, of floats, relation::nan),
        _ => None,
    }
}

/// The type without a sign.
fn unsigned(ty: Type) -> Type {
    match ty {
        Type::S16 => Type::U16,
        Type::S32 => Type::U32,
        Type::S64 => Type::U64,
        other => other,
    }
}

/// A handler that combines predicates.
pub(super) fn combining(operator: BooleanOperator) -> Handler {
    match operator {
        BooleanOperator::And => handler!(|c, op| both_predicates(c, op, |a, b| a & b)),
        BooleanOperator::Or => handler!(|c, op| both_predicates(c, op, |a, b| a | b)),
        BooleanOperator::Xor => handler!(|c, op| both_predicates(c, op, |a, b| a ^ b)),
    }
}

/// Returns the results of `set` for true, in the lower and in the upper half, of one or two comparisons.
fn truths(destination: Type, comparisons: usize) -> Option<[u32; 2]> {
    const F16_ONE: u32 = F16::ONE as u32;
    const BF16_ONE: u32 = Bf16::ONE as u32;
    Some(match (destination, comparisons) {
        (Type::U32 | Type::S32, 1) => [u32::MAX, 0],
        (Type::U16 | Type::S16, 1) => [0xFFFF, 0],
        (Type::F32, 1) => [1f32.to_bits(), 0],
        (Type::F16, 1) => [F16_ONE, 0],
        (Type::Bf16, 1) => [BF16_ONE, 0],
        (Type::U32 | Type::S32, 2) => [0xFFFF, 0xFFFF_0000],
        (Type::F16x2, 2) => [F16_ONE, F16_ONE << 16],
        (Type::Bf16x2, 2) => [BF16_ONE, BF16_ONE << 16],
        _ => return None,
    })
}

/// The lower half of `aux` where the predicate `a` is true, with the upper where `b` is.
///
/// # Safety
/// `a` and `b` hold predicates, `d` words.
#[inline(always)]
unsafe fn chosen(context: &mut Context<'_>, op: &Op) -> Executed<u32, Predicate, Predicate> {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe {
        let (lower, upper) = (context.predicate(op.a), context.predicate(op.b));
        let mut all = [0; LANES];
        for (lane, to) in all.iter_mut().enumerate() {
            let of = |lanes: u32| (lanes >> lane & 1).wrapping_neg();
            *to = of(lower) & op.aux as u32 | of(upper) & (op.aux >> 32) as u32;
        }
        *context.slot_mut(op.d) = all;
    }
    Executed::YES
}

/// A half of each lane, from this bit on, as `f32`: flushed where `aux` says so.
///
/// # Safety
/// `a` and `d` hold words.
#[inline(always)]
unsafe fn widened<H: Half>(context: &mut Context<'_>, op: &Op, shift: u32) -> Executed<u32, u32> {
    let ftz = op.aux != 0;
    // SAFETY: the slots are those of a verified program, of their kinds.
    unsafe {
        unary(context, op, |a: u32| {
            let half = (a >> shift) as u16;
            H::to_f32(if ftz {
                crate::arith::half::flush::<H>(half)
            } else {
                half
            })
        })
    }
}
