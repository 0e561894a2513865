//! Reports of atomics to the checker: of several lanes at once where those are alike.

use super::access::{Access, Atomic, Data, Host, Space};
use super::checked::{self, accessors, found, tell_checker, told, who};
use super::lanewise::{lane_of, read};
use super::op::{Context, Op};
use super::registers::lanes_of;
use super::undefined;
use crate::check::{AccessKind, Order, Strength};
use crate::memory::{Contents, Lanes};

/// Tells the checker of an atomic, lane by lane as far as the lanes differ.
///
/// # Safety
/// The lanes have been resolved to `host`; the slots are of their kinds.
pub(super) unsafe fn tell(
    context: &mut Context<'_>,
    op: &Op,
    (access, atomic): (&Access, &Atomic),
    (space, host): (Space, &Host<'_>),
    lanes: &Lanes<'_>,
) -> bool {
    let (order, scope) = (checked::order(access.order), checked::scope(access.scope));
    // SAFETY: the operation is the one that this function was given, of a verified program.
    let equal = unsafe { swapped(context, (access, atomic), host, lanes) };
    let what = |lane: usize| match equal >> lane & 1 == 1 {
        true => AccessKind::Atomic(order, scope),
        false => AccessKind::Read(Strength::Strong(order, scope)),
    };
    let are_plain = is_plain(context, op, (access, atomic), space, lanes);
    let mut left = lanes.mask;
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        let alike = if equal >> first & 1 == 1 {
            equal
        } else {
            !equal
        };
        // Those from the first one on until another differs.
        let until = (left & !alike).trailing_zeros();
        let alike = left & ((1_u64 << until) - 1) as u32;
        let mask = if are_plain { alike } else { 1 << first };
        left &= !mask;
        let some = Lanes::new(lanes.addresses, mask, lanes.bytes);
        let may_be = if are_plain {
            let Some(who) = accessors(context, mask) else {
                return true;
            };
            let told = told(context, op, access, &some, what(first));
            let checked = tell_checker(context, op, access, space, (who, &told));
            found(context, op.instruction, checked)
        } else {
            // SAFETY: the contract of this function.
            unsafe { checked::tell(context, op, access, (space, host), &some, what(first)) }
        };
        if !may_be {
            return false;
        }
    }
    true
}

/// The lanes of an atomic that write: of those that compare, who finds what it expects, after those before it.
///
/// # Safety
/// The lanes have been resolved to `host`; the slots are of their kinds.
unsafe fn swapped(
    context: &Context<'_>,
    (access, atomic): (&Access, &Atomic),
    host: &Host<'_>,
    lanes: &Lanes<'_>,
) -> u32 {
    if !atomic.compares {
        return lanes.mask;
    }
    let of = |slot, lane| {
        let data = Data {
            slot: Some(slot),
            kind: atomic.kind,
            bits: 128,
        };
        // SAFETY: the contract of this function.
        unsafe { lane_of(context, data, lane) }
    };
    let (mut swapped, mut written) = (0, Vec::new());
    for lane in lanes_of(lanes.mask) {
        let address = lanes.addresses[lane];
        let by_others = written.iter().rev().find(|(at, _)| *at == address);
        let now = by_others.map_or_else(
            // SAFETY: the contract of this function.
            || unsafe { read(host.at(lane), access.element, access.order) },
            |(_, value)| *value,
        );
        if now == of(atomic.comparand, lane) {
            swapped |= 1 << lane;
            written.push((address, of(atomic.operands[0], lane)));
        }
    }
    swapped
}

/// Whether the lanes of an atomic may be told together: it orders nothing else, and nothing of it is undefined.
fn is_plain(
    context: &Context<'_>,
    op: &Op,
    (access, atomic): (&Access, &Atomic),
    space: Space,
    lanes: &Lanes<'_>,
) -> bool {
    let may_be_undefined = || {
        let checking = context.at.checking.as_ref()?;
        let who = who(context)?;
        let place = undefined::place(context, space, who)?;
        let may_carry = atomic.compares || atomic.exchanges;
        Some(
            checking.checker.may_be_stored(place, who)
                || may_carry && checked::contents(context, op, space, lanes) == Contents::Undefined,
        )
    };
    matches!(space, Space::Global | Space::Shared)
        && checked::order(access.order) == Order::Relaxed
        && !context.at.tracks
        && may_be_undefined() == Some(false)
}
