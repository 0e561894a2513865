//! Instructions that work across the lanes of a warp.

use ptx::{Activemask, Match, MatchMode, Operand, Redux, ReduxOperator, Type, Vote, VoteMode};

use super::handler::{handler, rare};
use super::{Lowered, Lowering};
use crate::arith::{atomic, float};
use crate::exec::op::{Context, each_lane};
use crate::exec::program::{Gate, Meeting};
use crate::exec::registers::{Kind, LANES, lanes_of};
use crate::exec::signature::Aux;

impl Lowering<'_> {
    pub(super) fn activemask(&mut self, it: &Activemask) -> Lowered<()> {
        let d = self.write(it.d).0;
        let run = handler!([d: Kind::Word], |c, op| c.set_running(op.d, &[c.mask; LANES]));
        self.emit_masked(run, d, [0; 3], 0);
        Ok(())
    }

    pub(super) fn barrier_warp(&mut self, mask: &Operand) -> Lowered<()> {
        self.meet(Some(mask), None, Meeting::Sync)?;
        // Groups that meet go on behind the instruction's first operation.
        self.emit_masked(handler!([], |_c, _op| ()), 0, [0; 3], 0);
        Ok(())
    }

    /// Lanes of the mask wait for each other.
    pub(super) fn meet(
        &mut self,
        mask: Option<&Operand>,
        source: Option<(u32, Kind)>,
        meeting: Meeting,
    ) -> Lowered<()> {
        let Some(mask) = mask else { return Ok(()) };
        // Read before the block begins: a constant or a register as it is then.
        let before = self.ops.len();
        let members = self.read(mask, Kind::Word)?;
        if self.ops.len() != before {
            return Err("a mask of such a kind".to_owned());
        }
        let is_all = matches!(mask, Operand::Immediate(bits) if *bits as u32 == u32::MAX);
        self.gate = Some(Gate {
            members,
            is_for_all: is_all && meeting != Meeting::Sync,
            source,
            meeting,
            from: None,
        });
        Ok(())
    }

    /// The slot of an operand that needs no operation, because a gate comes before the block's first.
    pub(super) fn plain(&mut self, operand: &Operand, kind: Kind) -> Lowered<u32> {
        let before = self.ops.len();
        let slot = self.read(operand, kind)?;
        match self.ops.len() == before {
            true => Ok(slot),
            false => Err("an operand of another width".to_owned()),
        }
    }

    pub(super) fn vote(&mut self, it: &Vote) -> Lowered<()> {
        let a = match it.a.value {
            Operand::Register(_) => self.plain(&it.a.value, Kind::Predicate)?,
            _ => self.read_predicate(&it.a)?,
        };
        let meeting = Meeting::Vote(it.mode);
        self.meet(it.mask.as_ref(), Some((a, Kind::Predicate)), meeting)?;
        let members = match &it.mask {
            Some(mask) => self.read(mask, Kind::Word)?,
            None => {
                let running = self.scratch(Kind::Word);
                let run = handler!([d: Kind::Word], |c, op| *c.slot_mut(op.d) = [c.mask; LANES]);
                self.push(run, Some(Kind::Word), running, [0; 3], 0);
                running
            }
        };
        let negated = it.a.negated && it.a.value.register().is_some();
        let d = self.write(it.d).0;
        let run = match it.mode {
            VoteMode::Ballot => {
                handler!([d: Kind::Word, a: Kind::Predicate, b: Kind::Word], |c, op| {
                    let yes = said(c, op.a, op.aux) & members_of(c, op.b);
                    c.set_running(op.d, &[yes; LANES]);
                })
            }
            VoteMode::All => {
                handler!([d: Kind::Predicate, a: Kind::Predicate, b: Kind::Word], |c, op| {
                    let members = members_of(c, op.b);
                    let yes = said(c, op.a, op.aux) & members;
                    c.set_predicate_of_running(op.d, truth(yes == members));
                })
            }
            VoteMode::Any => {
                handler!([d: Kind::Predicate, a: Kind::Predicate, b: Kind::Word], |c, op| {
                    let yes = said(c, op.a, op.aux) & members_of(c, op.b);
                    c.set_predicate_of_running(op.d, truth(yes != 0));
                })
            }
            VoteMode::Uni => {
                handler!([d: Kind::Predicate, a: Kind::Predicate, b: Kind::Word], |c, op| {
                    let members = members_of(c, op.b);
                    let yes = said(c, op.a, op.aux) & members;
                    c.set_predicate_of_running(op.d, truth(yes == 0 || yes == members));
                })
            }
        };
        self.emit_masked(run, d, [a, members, 0], u64::from(negated));
        Ok(())
    }

    pub(super) fn matching(&mut self, it: &Match) -> Lowered<()> {
        let kind = super::slots::kind(it.ty);
        let a = self.plain(&it.a, kind)?;
        let meeting = Meeting::Match(it.mode);
        self.meet(Some(&it.mask), Some((a, kind)), meeting)?;
        let members = self.read(&it.mask, Kind::Word)?;
        let d = match it.d {
            Some(d) => self.write(d).0,
            None => self.scratch(Kind::Word),
        };
        let p = match it.p {
            Some(p) => self.write(p).0,
            None => self.scratch(Kind::Predicate),
        };
        let run = match (it.mode, kind) {
            (MatchMode::Any, Kind::Double) => {
                handler!([d: Kind::Word, a: Kind::Double, b: Kind::Word], |c, op| match_any::<u64>(c, op.d, op.a, op.b))
            }
            (MatchMode::Any, _) => {
                handler!([d: Kind::Word, a: Kind::Word, b: Kind::Word], |c, op| match_any::<u32>(c, op.d, op.a, op.b))
            }
            (MatchMode::All, Kind::Double) => {
                handler!([d: Kind::Word, a: Kind::Double, b: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| match_all::<u64>(c, op.d, op.a, op.b, op.aux as u32))
            }
            (MatchMode::All, _) => {
                handler!([d: Kind::Word, a: Kind::Word, b: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| match_all::<u32>(c, op.d, op.a, op.b, op.aux as u32))
            }
        };
        self.emit_masked(run, d, [a, members, 0], u64::from(p));
        Ok(())
    }

    pub(super) fn redux(&mut self, it: &Redux) -> Lowered<()> {
        let a = self.plain(&it.a, Kind::Word)?;
        let meeting = Meeting::Reduction(it.operator);
        self.meet(Some(&it.mask), Some((a, Kind::Word)), meeting)?;
        let members = self.read(&it.mask, Kind::Word)?;
        let d = self.write(it.d).0;
        macro_rules! reduced {
            ($T:ty, $f:expr) => {
                handler!([d: Kind::Word, a: Kind::Word, b: Kind::Word], |c, op| {
                    let values = *c.slot::<u32>(op.a);
                    let members = members_of(c, op.b);
                    let reduced =
                        atomic::redux(lanes_of(members).map(|lane| values[lane] as $T), $f);
                    c.set_running(op.d, &[reduced.unwrap_or_default() as u32; LANES]);
                })
            };
        }
        macro_rules! reduced_f32 {
            ($f:path) => {
                rare!([d: Kind::Word, a: Kind::Word, b: Kind::Word], |c, op| {
                    let values = c.slot::<u32>(op.a).map(|bits| bits & op.aux as u32);
                    let lanes = lanes_of(members_of(c, op.b));
                    let reduced = atomic::redux_f32(lanes.map(|it| f32::from_bits(values[it])), $f);
                    c.set_running(op.d, &[reduced.unwrap_or_default().to_bits(); LANES]);
                })
            };
        }
        // What is kept of each value.
        let kept = if it.abs { i32::MAX as u32 } else { u32::MAX };
        let run = match (it.operator, it.ty) {
            (ReduxOperator::Min, Type::F32) if it.nan => reduced_f32!(float::min_nan),
            (ReduxOperator::Max, Type::F32) if it.nan => reduced_f32!(float::max_nan),
            (ReduxOperator::Min, Type::F32) => reduced_f32!(float::min),
            (ReduxOperator::Max, Type::F32) => reduced_f32!(float::max),
            _ if it.abs || it.nan || it.ty == Type::F32 => return Err("the type".to_owned()),
            (ReduxOperator::Add, _) => reduced!(u32, |a: u32, b: u32| a.wrapping_add(b)),
            (ReduxOperator::Min, Type::S32) => reduced!(i32, |a: i32, b: i32| a.min(b)),
            (ReduxOperator::Max, Type::S32) => reduced!(i32, |a: i32, b: i32| a.max(b)),
            (ReduxOperator::Min, _) => reduced!(u32, |a: u32, b: u32| a.min(b)),
            (ReduxOperator::Max, _) => reduced!(u32, |a: u32, b: u32| a.max(b)),
            (ReduxOperator::And, _) => reduced!(u32, |a: u32, b: u32| a & b),
            (ReduxOperator::Or, _) => reduced!(u32, |a: u32, b: u32| a | b),
            (ReduxOperator::Xor, _) => reduced!(u32, |a: u32, b: u32| a ^ b),
        };
        self.emit_masked(run, d, [a, members, 0], kept.into());
        Ok(())
    }

    pub(super) fn elect(
        &mut self,
        d: Option<ptx::Reg>,
        p: ptx::Reg,
        mask: &Operand,
    ) -> Lowered<()> {
        self.meet(Some(mask), None, Meeting::Election)?;
        let members = self.read(mask, Kind::Word)?;
        let d = match d {
            Some(d) => self.write(d).0,
            None => self.scratch(Kind::Word),
        };
        let p = self.write(p).0;
        let run = handler!([d: Kind::Word, b: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| {
            let leader = members_of(c, op.b).trailing_zeros();
            c.set_running(op.d, &[leader; LANES]);
            c.set_predicate_of_running(op.aux as u32, 1u32.checked_shl(leader).unwrap_or(0));
        });
        self.emit_masked(run, d, [0, members, 0], u64::from(p));
        Ok(())
    }
}

fn truth(it: bool) -> u32 {
    if it { u32::MAX } else { 0 }
}

/// The lanes that take part: those of the mask that have not ended.
///
/// # Safety
/// The slot holds words.
unsafe fn members_of(context: &Context<'_>, slot: u32) -> u32 {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let masks = unsafe { context.slot::<u32>(slot) };
    masks[context.mask.trailing_zeros() as usize & 31] & context.at.live
}

/// Returns the lanes' predicates, negated if `negated` is not 0.
///
/// # Safety
/// The slot holds a predicate.
unsafe fn said(context: &Context<'_>, slot: u32, negated: u64) -> u32 {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let lanes = unsafe { context.predicate(slot) };
    if negated == 0 { lanes } else { !lanes }
}

/// # Safety
/// `a` holds `T`, the others words.
unsafe fn match_any<T: Copy + PartialEq>(context: &mut Context<'_>, d: u32, a: u32, members: u32) {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe {
        let values = *context.slot::<T>(a);
        let members = members_of(context, members);
        let same = each_lane(|lane| {
            let others = lanes_of(members).filter(|&other| values[other] == values[lane]);
            others.fold(0_u32, |mask, other| mask | 1 << other)
        });
        context.set_running(d, &same);
    }
}

/// # Safety
/// `a` holds `T`, `d` and `members` words, `p` a predicate.
unsafe fn match_all<T: Copy + PartialEq>(
    context: &mut Context<'_>,
    d: u32,
    a: u32,
    members: u32,
    p: u32,
) {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe {
        let values = *context.slot::<T>(a);
        let members = members_of(context, members);
        let first = values[members.trailing_zeros() as usize & 31];
        let all = lanes_of(members).all(|lane| values[lane] == first);
        context.set_running(d, &[if all { members } else { 0 }; LANES]);
        context.set_predicate_of_running(p, truth(all));
    }
}
