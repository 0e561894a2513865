//! Words of which an atomic of 8 or 16 bits changes a part: what counts as accessed is that part.

use super::access::{Access, Act, Atomic, Data, Host, Space, resolve};
use super::checked;
use super::lanewise::{lane_of, read};
use super::op::{Context, Op};
use super::registers::{Kind, lanes_of};
use super::undefined;
use crate::check::{AccessKind, Strength};
use crate::memory::{Fault, LANES, Lanes};

/// Whether some byte of each lane's word is there: the others may lie behind an object that ends within the word.
///
/// # Safety
/// As for [`access`](super::access::access).
pub(super) unsafe fn is_there(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    lanes: &Lanes<'_>,
) -> bool {
    if !matches!(space, Space::Global | Space::Shared) {
        return false;
    }
    // SAFETY: the contract of this function.
    if let Some((addresses, bytes)) = unsafe { placed(context, access, lanes) } {
        let parts = Lanes::new(&addresses, lanes.mask, bytes);
        // SAFETY: the contract of this function.
        return unsafe { resolve(context, op, access, space, &parts) }.is_ok();
    }
    access.part_bytes.is_some()
        && lanes_of(lanes.mask).all(|lane| {
            lanes.addresses[lane].is_multiple_of(4)
                && (0..4).any(|byte| {
                    let mut addresses = [0; LANES];
                    addresses[lane] = lanes.addresses[lane] + byte;
                    let one = Lanes::new(&addresses, 1 << lane, 1);
                    // SAFETY: the contract of this function.
                    let found: Result<(), Fault> =
                        unsafe { resolve(context, op, access, space, &one) };
                    found.is_ok()
                })
        })
}

/// Finds the parts that lanes change without a loop, and their bytes: none if one of them changes more of its word.
///
/// # Safety
/// The access is one of the running program.
pub(super) unsafe fn placed(
    context: &mut Context<'_>,
    access: &Access,
    lanes: &Lanes<'_>,
) -> Option<([u64; LANES], u32)> {
    let Act::Atomic(atomic) = &access.act else {
        return None;
    };
    let part = atomic.part?;
    let (mut addresses, mut bytes) = (*lanes.addresses, part.bytes);
    for lane in lanes_of(lanes.mask) {
        let data = |slot, kind| Data {
            slot: Some(slot),
            kind,
            bits: 128,
        };
        // SAFETY: the slots are the program's own, of these kinds: `exec::verify`, slots.
        let (operand, begins) = unsafe {
            (
                lane_of(context, data(atomic.operands[0], atomic.kind), lane),
                lane_of(context, data(part.begins, Kind::Word), lane) as u32,
            )
        };
        // The bits that are not what they were before, be they zeros or ones.
        let word = u128::from(u32::MAX);
        let changed = (atomic.update)(0, operand, 0) | !(atomic.update)(word, operand, 0);
        let is_within = |bytes: u32| {
            let ones = u128::from(u32::MAX >> (32 - 8 * bytes));
            begins < 32
                && begins.is_multiple_of(8 * bytes)
                && (changed & word) & !(ones << begins) == 0
        };
        bytes = (bytes..=2).find(|&bytes| is_within(bytes))?;
        addresses[lane] += u64::from(begins / 8);
    }
    let is_aligned = |lane: usize| addresses[lane].is_multiple_of(bytes.into());
    lanes_of(lanes.mask)
        .all(is_aligned)
        .then_some((addresses, bytes))
}

/// Tells the checker of an access to such words. Gives whether it may be made.
///
/// # Safety
/// As for [`checked::check`].
pub(super) unsafe fn check(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    (space, host): (Space, &Host<'_>),
    lanes: &Lanes<'_>,
    bytes: u32,
) -> bool {
    match &access.act {
        Act::Atomic(atomic) => lanes_of(lanes.mask).all(|lane| {
            let one = Lanes::new(lanes.addresses, 1 << lane, lanes.bytes);
            // SAFETY: the contract of this function.
            unsafe { swap(context, op, (access, atomic), (space, host), &one, bytes) }
        }),
        // Whether it was the last value, the swap finds out.
        _ => {
            let what = AccessKind::Read(Strength::Weak);
            let told = checked::told(context, op, access, lanes, what);
            let who = checked::accessors(context, lanes.mask);
            let place = who.and_then(|who| undefined::place(context, space, who));
            if let (Some(who), Some(place)) = (who, place) {
                undefined::loaded_part(context, access, place, (who, &told));
            }
            true
        }
    }
}

/// # Safety
/// As for [`check`].
unsafe fn swap(
    context: &mut Context<'_>,
    op: &Op,
    (access, atomic): (&Access, &Atomic),
    (space, host): (Space, &Host<'_>),
    lanes: &Lanes<'_>,
    bytes: u32,
) -> bool {
    let lane = lanes.mask.trailing_zeros() as usize;
    let (Some(who), strength) = (
        checked::accessors(context, lanes.mask),
        checked::strength_of(access),
    ) else {
        return true;
    };
    let data = |slot| Data {
        slot: Some(slot),
        kind: atomic.kind,
        bits: 128,
    };
    // SAFETY: the lane has been resolved to `host`; the slots are the program's own, of this kind: `exec::verify`, slots.
    let (now, new, comparand) = unsafe {
        (
            read(host.at(lane), access.element, access.order),
            lane_of(context, data(atomic.operands[0]), lane),
            lane_of(context, data(atomic.comparand), lane),
        )
    };
    // Where nothing changes, nobody can tell which part it is.
    let first = (new ^ comparand).trailing_zeros() / 8 / bytes * bytes;
    let is_change = first < access.element;
    let part = if is_change {
        u128::from(u32::MAX >> (32 - 8 * bytes)) << (8 * first)
    } else {
        0
    };
    let what = match (now == comparand, strength) {
        (true, Strength::Strong(order, scope)) => AccessKind::Atomic(order, scope),
        _ => AccessKind::Read(strength),
    };
    if is_change {
        let mut addresses = [0; LANES];
        addresses[lane] = lanes.addresses[lane] + u64::from(first);
        let lanes = Lanes::new(&addresses, 1 << lane, bytes);
        let told = checked::told(context, op, access, &lanes, what);
        let place = undefined::place(context, space, who);
        let there = place.and_then(|place| undefined::there(context, place, (who, &told)));
        let found = checked::tell_checker(context, op, access, space, (who, &told));
        if !checked::found(context, op.instruction, found) {
            return false;
        }
        if let Some(place) = place {
            let there = there.map(|(bits, origin)| (bits << (8 * first), origin));
            undefined::swapped(
                context,
                (access, atomic),
                place,
                (who, &told),
                (part, there),
            );
        }
    } else if context.at.tracks {
        undefined::unchanged(context, access, atomic, who.mask);
    }
    true
}
