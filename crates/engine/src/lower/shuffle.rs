//! Shuffles.

use ptx::{Operand, Shfl, ShuffleMode};

use super::handler::handler;
use super::{Lowered, Lowering};
use crate::exec::failure::Cause;
use crate::exec::op::{Context, Op, each_lane, lanes_where};
use crate::exec::program::Meeting;
use crate::exec::registers::{Kind, LANES};
use crate::exec::shuffle::read_by;
use crate::exec::signature::Aux;
use crate::exec::signature::Handler;

impl Lowering<'_> {
    pub(super) fn shfl(&mut self, it: &Shfl) -> Lowered<()> {
        let a = self.plain(&it.a, Kind::Word)?;
        let b = self.plain(&it.b, Kind::Word)?;
        let c = self.plain(&it.c, Kind::Word)?;
        let meeting = Meeting::Shuffle(it.mode);
        self.meet(it.mask.as_ref(), Some((a, Kind::Word)), meeting)?;
        if let Some(gate) = &mut self.gate {
            gate.from = Some((b, c));
        }
        let d = match it.d {
            Some(d) => self.write(d).0,
            None => self.scratch(Kind::Word),
        };
        let p = match it.p {
            Some(p) => self.write(p).0,
            None => self.scratch(Kind::Predicate),
        };
        let run = fixed(it).unwrap_or_else(|| by_lane(it.mode));
        self.emit_masked(run, d, [a, b, c], u64::from(p));
        Ok(())
    }
}

/// # Safety
/// `a`, `b`, `c` and `d` hold words, `aux` is the slot of a predicate.
#[inline(always)]
unsafe fn shuffle(context: &mut Context<'_>, op: &crate::exec::op::Op, mode: ShuffleMode) {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe {
        let values = *context.slot::<u32>(op.a);
        let amounts = context.slot::<u32>(op.b);
        let bounds = context.slot::<u32>(op.c);
        let source = |lane: usize| read_by(mode, lane as u32, amounts[lane], bounds[lane]);
        // The lanes first, which takes a few vector instructions, and then their values.
        let sources = each_lane(|lane| match source(lane) {
            (source, true) => source & 31,
            _ => lane as u32,
        });
        let within = lanes_where(|lane| source(lane).1);
        if context.at.checking.is_some() {
            check_segments(context, op);
        }
        let shuffled = each_lane(|lane| values[sources[lane] as usize & 31]);
        context.set_running(op.d, &shuffled);
        context.set_predicate_of_running(op.aux as u32, within);
    }
}

/// Finds segments whose lanes are no power of two: they would share lanes.
///
/// # Safety
/// As for [`shuffle`].
unsafe fn check_segments(context: &mut Context<'_>, op: &Op) {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let bounds = unsafe { context.slot::<u32>(op.c) };
    let lanes = |lane: usize| 32 - (bounds[lane] >> 8 & 31);
    let odd = lanes_where(|lane| !lanes(lane).is_power_of_two()) & context.mask;
    if odd != 0 {
        let lane = odd.trailing_zeros();
        let text = format!(
            "it shuffles within segments of {} lanes, which is no power of two",
            lanes(lane as usize & 31)
        );
        let all = std::mem::replace(&mut context.mask, 1 << lane);
        context.fault(Cause::misuse(text), op.instruction);
        context.mask = all;
    }
}

/// Returns the handler that shuffles by amounts and bounds that lie in slots.
fn by_lane(mode: ShuffleMode) -> Handler {
    match mode {
        ShuffleMode::Up => {
            handler!([d: Kind::Word, a: Kind::Word, b: Kind::Word, c: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| shuffle(c, op, ShuffleMode::Up))
        }
        ShuffleMode::Down => {
            handler!([d: Kind::Word, a: Kind::Word, b: Kind::Word, c: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| shuffle(c, op, ShuffleMode::Down))
        }
        ShuffleMode::Butterfly => {
            handler!([d: Kind::Word, a: Kind::Word, b: Kind::Word, c: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| shuffle(c, op, ShuffleMode::Butterfly))
        }
        ShuffleMode::Index => {
            handler!([d: Kind::Word, a: Kind::Word, b: Kind::Word, c: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| shuffle(c, op, ShuffleMode::Index))
        }
    }
}

/// Returns the handler that shuffles among all lanes by an amount that is known here, as reductions do.
fn fixed(it: &Shfl) -> Option<Handler> {
    let known = |operand: &Operand| match operand {
        Operand::Immediate(bits) => Some(*bits as u32),
        _ => None,
    };
    let (amount, bounds) = (known(&it.b)?, known(&it.c)?);
    macro_rules! by {
        ($f:ident) => {
            match amount {
                1 => handler!([d: Kind::Word, a: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| fixed_shuffle(c, op, $f::<1>)),
                2 => handler!([d: Kind::Word, a: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| fixed_shuffle(c, op, $f::<2>)),
                4 => handler!([d: Kind::Word, a: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| fixed_shuffle(c, op, $f::<4>)),
                8 => handler!([d: Kind::Word, a: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| fixed_shuffle(c, op, $f::<8>)),
                16 => handler!([d: Kind::Word, a: Kind::Word, aux: Aux::Slot(Kind::Predicate)], |c, op| fixed_shuffle(c, op, $f::<16>)),
                _ => return None,
            }
        };
    }
    Some(match (it.mode, bounds) {
        (ShuffleMode::Up, 0) => by!(up),
        (ShuffleMode::Down, 31) => by!(down),
        (ShuffleMode::Butterfly, 31) => by!(butterfly),
        _ => return None,
    })
}

/// # Safety
/// `a` and `d` hold words, `aux` is the slot of a predicate.
#[inline(always)]
unsafe fn fixed_shuffle(
    context: &mut Context<'_>,
    op: &Op,
    f: impl Fn(&[u32; LANES]) -> ([u32; LANES], u32),
) {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe {
        let (shuffled, within) = f(context.slot(op.a));
        context.set_running(op.d, &shuffled);
        context.set_predicate_of_running(op.aux as u32, within);
    }
}

/// The values that lanes get, and the lanes that read from one within bounds.
#[inline(always)]
fn up<const BY: usize>(values: &[u32; LANES]) -> ([u32; LANES], u32) {
    let mut shuffled = *values;
    shuffled[BY..].copy_from_slice(&values[..LANES - BY]);
    (shuffled, u32::MAX << BY)
}

/// As [`up`].
#[inline(always)]
fn down<const BY: usize>(values: &[u32; LANES]) -> ([u32; LANES], u32) {
    let mut shuffled = *values;
    shuffled[..LANES - BY].copy_from_slice(&values[BY..]);
    (shuffled, u32::MAX >> BY)
}

/// As [`up`].
#[inline(always)]
fn butterfly<const BY: usize>(values: &[u32; LANES]) -> ([u32; LANES], u32) {
    (each_lane(|lane| values[lane ^ BY]), u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(mode: ShuffleMode, amount: u32, bounds: u32) -> ([u32; LANES], u32) {
        let read = |lane: usize| read_by(mode, lane as u32, amount, bounds);
        let value = |lane: usize| match read(lane) {
            (from, true) => 100 + from,
            _ => 100 + lane as u32,
        };
        let within = (0..LANES).fold(0, |mask, lane| mask | u32::from(read(lane).1) << lane);
        (std::array::from_fn(value), within)
    }

    #[test]
    fn a_known_amount_shuffles_as_one_from_a_slot_does() {
        let values = std::array::from_fn(|lane| 100 + lane as u32);
        macro_rules! by {
            ($($amount:literal)*) => {$(
                assert_eq!(up::<$amount>(&values), expected(ShuffleMode::Up, $amount, 0));
                assert_eq!(down::<$amount>(&values), expected(ShuffleMode::Down, $amount, 31));
                let crossed = expected(ShuffleMode::Butterfly, $amount, 31);
                assert_eq!(butterfly::<$amount>(&values), crossed);
            )*};
        }
        by!(1 2 4 8 16);
    }
}
