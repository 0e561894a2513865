//! `st.bulk`: zeros in shared memory.

use super::access::Space;
use super::checked;
use super::failure::Cause;
use super::op::{Context, Op};
use super::registers::lanes_of;
use super::shared_operand::{Address, SharedOperand};
use crate::check::{AccessKind, Checker, Strength};
use crate::finding_kind::FindingKind;
use crate::memory::Fault;

/// Bytes that the address and the size are multiples of.
const UNIT: u64 = 8;

/// Writes zeros, lane by lane.
///
/// # Safety
/// `a` holds addresses and `b` sizes, both of 64 bits; `aux` is added to the addresses, which are generic where `c` is 1.
pub(crate) unsafe fn store(context: &mut Context<'_>, op: &Op) {
    let mask = context.mask;
    for lane in lanes_of(mask) {
        // SAFETY: the slots are those of a verified program, of their kinds.
        if let Err(failure) = unsafe { one(context, op, lane) } {
            context.mask = 1 << lane;
            context.fault(failure, op.instruction);
            break;
        }
    }
    context.mask = mask;
}

/// # Safety
/// As for [`store`].
unsafe fn one(context: &mut Context<'_>, op: &Op, lane: usize) -> Result<(), Cause> {
    let to = Address {
        slot: op.a,
        offset: op.aux.cast_signed(),
        space: match op.c {
            1 => Space::Generic,
            _ => Space::Shared,
        },
    };
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let bytes = unsafe { context.slot::<u64>(op.b)[lane] };
    if bytes % UNIT != 0 {
        let text = format!("a store of {bytes} bytes of zeros, no multiple of {UNIT}");
        return Err(Cause::misuse(text));
    }
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the slots are those of a verified program, of their kinds.
    let spot = unsafe { to.spot(context, lane, UNIT as u32)? };
    let layout = &context.at.layout;
    let is_there = |at: &u64| layout.holds(*at, at + UNIT - 1);
    let mut all = (spot.offset..spot.offset.saturating_add(bytes)).step_by(UNIT as usize);
    if let Some(address) = all.find(|at| !is_there(at)) {
        return Err(Cause::Fault(Fault {
            kind: FindingKind::OutOfBounds,
            lane: lane as u32,
            bytes: UNIT as u32,
            place: Box::new(layout.place(address)),
        }));
    }
    for behind in (0..bytes).step_by(UNIT as usize) {
        let word = SharedOperand {
            offset: spot.offset + behind,
            host: spot.host.wrapping_add(behind as usize),
            owner: spot.owner,
        };
        let what = AccessKind::Write(Strength::Weak);
        checked::shared_word(context, op, lane, &word, what, Checker::shared_of)?;
        word.write(0);
    }
    Ok(())
}
