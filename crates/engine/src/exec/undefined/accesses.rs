//! Undefined bits of words that lanes load, store and change: from memory into registers and back.

use super::bits::ones;
use super::{define, of, set};
use crate::check::undefined::{OriginId, Place, Use, Value};
use crate::check::{self, Accessors};
use crate::exec::access::{Access, Act, Atomic, Space};
use crate::exec::checked;
use crate::exec::lanewise::extended;
use crate::exec::op::{Context, Op};
use crate::exec::registers::{FULL, LANES};
use crate::memory::Contents;

/// The place of an access in a space.
pub(in crate::exec) fn place<'l>(
    context: &Context<'l>,
    space: Space,
    who: Accessors,
) -> Option<Place<'l>> {
    Some(match space {
        Space::Global => Place::Global(context.at.launch.memory),
        Space::Shared => Place::Shared(context.at.owner.unwrap_or(who.block)),
        // SAFETY: the warp's own, which has entered and whose frames stay where they are during an access.
        Space::Local => Place::Local(unsafe { &*context.at.local.frames }),
        Space::Parameters | Space::Generic | Space::Cluster => return None,
    })
}

/// Whether what lanes have loaded is undefined: then it is so in the registers.
pub(in crate::exec) fn loaded(
    context: &mut Context<'_>,
    access: &Access,
    place: Place<'_>,
    (who, told): (Accessors, &check::Access<'_>),
) {
    let Some(checking) = &mut context.at.checking else {
        return;
    };
    if checking.checker.may_be_undefined(place, who) {
        loaded_part(context, access, place, (who, told));
    }
}

/// The same of lanes of whose words nobody has told the checker.
pub(in crate::exec) fn loaded_part(
    context: &mut Context<'_>,
    access: &Access,
    place: Place<'_>,
    (who, told): (Accessors, &check::Access<'_>),
) {
    let Act::Load { signed, .. } = access.act else {
        return;
    };
    let Some(checking) = &mut context.at.checking else {
        return;
    };
    let Some(all) = checking.checker.undefined_of(place, who, told) else {
        return;
    };
    let bits = access.element * 8;
    for (index, data) in access.data.iter().enumerate() {
        let Some(slot) = data.slot else { continue };
        let mut value = *all;
        for lane in &mut value.bits {
            let element = *lane >> (bits * index as u32) & ones(bits);
            let element = if signed {
                extended(element, bits)
            } else {
                element
            };
            *lane = element & ones(data.bits.min(data.kind.bits()));
        }
        if value.lanes() & told.lanes.mask != 0 {
            set(context, slot, told.lanes.mask, &value);
        }
    }
    context.at.tracks |= all.lanes() & told.lanes.mask != 0;
}

/// A word of each lane has been loaded from lanes and columns of tensor memory, or half of it from the next column.
pub(in crate::exec) fn tensor_loaded(
    context: &mut Context<'_>,
    op: &Op,
    slot: u32,
    (places, is_packed): (&[(usize, u32); LANES], bool),
) {
    let parts: &[(u32, u128)] = match is_packed {
        false => &[(0, 0xffff_ffff)],
        true => &[(0, 0xffff), (1, 0xffff_0000)],
    };
    define(context, slot, FULL);
    let instruction = checked::site(context.at.function_index(), op.instruction);
    let mut value = Value::default();
    for (lane, &(row, column)) in places.iter().enumerate() {
        let who = checked::accessors(context, 1 << lane);
        let (Some(checking), Some(who)) = (&mut context.at.checking, who) else {
            return;
        };
        let mut unwritten = 0;
        for &(next, bits) in parts {
            let (checker, place) = (&mut checking.checker, (row, column + next));
            if let Some(origin) = checker.unwritten_in_tensor(who, instruction, place) {
                unwritten |= bits;
                value.set(lane, unwritten, origin);
            }
        }
    }
    if value.lanes() != 0 {
        set(context, slot, FULL, &value);
        context.at.tracks = true;
    }
}

/// Tells the checker what is undefined of what lanes store.
pub(in crate::exec) fn stored(
    context: &mut Context<'_>,
    access: &Access,
    place: Place<'_>,
    (who, told): (Accessors, &check::Access<'_>),
) {
    for (index, data) in access.data.iter().enumerate() {
        let value = data
            .slot
            .and_then(|slot| of(context, slot, told.lanes.mask));
        let Some(value) = value else { continue };
        for (lane, address) in told.lanes.each() {
            let who = Accessors {
                mask: 1 << lane,
                ..who
            };
            let bits = value.bits[lane as usize] & ones(access.element * 8);
            let origin = value.origins[lane as usize];
            let at = address + u64::from(access.element) * index as u64;
            if let Some(checking) = &mut context.at.checking
                && bits != 0
            {
                let what = (bits, origin);
                let bytes = (at, access.element);
                let checker = &mut checking.checker;
                checker.store_undefined(place, who, bytes, what, told.instruction);
            }
        }
    }
}

/// The undefined bits of an atomic of one lane: of what is there, and of what it writes.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Changed {
    there: (u128, OriginId),
    given: (u128, OriginId),
}

/// Looks at what an atomic of one lane reads in memory that begins so, before it is told: `None` if it uses what is undefined, which is reported.
pub(in crate::exec) fn before_atomic(
    context: &mut Context<'_>,
    (access, atomic): (&Access, &Atomic),
    place: Place<'_>,
    (who, told): (Accessors, &check::Access<'_>),
    begins: Contents,
) -> Option<Changed> {
    let lane = who.mask.trailing_zeros() as usize;
    let may_carry = atomic.compares || atomic.exchanges;
    let checking = context.at.checking.as_mut()?;
    let checker = &mut checking.checker;
    let there =
        match may_carry && begins == Contents::Undefined || checker.may_be_stored(place, who) {
            true => checker.undefined_of(place, who, told),
            false => None,
        };
    let there = there.map_or_else(Default::default, |it| (it.bits[lane], it.origins[lane]));
    let (mut given, mut compared) = (Default::default(), Default::default());
    if context.at.tracks {
        let mask = ones(access.element * 8);
        let of = |slot| {
            let value = of(context, slot, who.mask)?;
            Some((value.bits[lane] & mask, value.origins[lane])).filter(|it| it.0 != 0)
        };
        let slots = &atomic.operands[..access.data.len()];
        given = slots.iter().find_map(|&it| of(it)).unwrap_or_default();
        if atomic.compares {
            compared = of(atomic.comparand).unwrap_or_default();
        }
    }
    let used = match () {
        // It compares its own copy of what nobody has written with what is there.
        () if atomic.compares && there.0 == compared.0 => None,
        () if atomic.compares && compared.0 & !there.0 != 0 => Some(compared),
        () if there.0 != 0 && !atomic.exchanges => Some(there),
        () if given.0 != 0 && !may_carry => Some(given),
        () => None,
    };
    if let Some((_, origin)) = used {
        let checking = context.at.checking.as_mut()?;
        let found = checking
            .checker
            .used(who, origin, told.instruction, Use::Atomic);
        let instruction = checked::of_site(told.instruction).1;
        if !checked::found(context, instruction, found) {
            return None;
        }
    }
    let there = match atomic.compares {
        true if compared.0 != 0 => compared,
        _ => there,
    };
    Some(Changed { there, given })
}

/// Has memory and registers undefined as an atomic of one lane leaves them.
pub(in crate::exec) fn after_atomic(
    context: &mut Context<'_>,
    access: &Access,
    place: Place<'_>,
    (who, told): (Accessors, &check::Access<'_>),
    Changed { there, given }: Changed,
) {
    let lane = who.mask.trailing_zeros() as usize;
    let address = told.lanes.addresses[lane];
    if told.what.writes()
        && given.0 != 0
        && let Some(checking) = &mut context.at.checking
    {
        let bytes = (address, access.element);
        let checker = &mut checking.checker;
        checker.store_undefined(place, who, bytes, given, told.instruction);
    }
    if there.0 == 0 && !context.at.tracks {
        return;
    }
    for (index, data) in access.data.iter().enumerate() {
        let Some(slot) = data.slot else { continue };
        let mut value = Value::default();
        let bits = there.0 >> (access.element * 8 * index as u32).min(127);
        value.set(lane, bits & ones(data.kind.bits()), there.1);
        set(context, slot, who.mask, &value);
        context.at.tracks |= bits != 0;
    }
}

/// The undefined bits of what one lane is about to change.
pub(in crate::exec) fn there(
    context: &mut Context<'_>,
    place: Place<'_>,
    (who, told): (Accessors, &check::Access<'_>),
) -> Option<(u128, OriginId)> {
    let lane = who.mask.trailing_zeros() as usize;
    let checking = context.at.checking.as_mut()?;
    let value = checking.checker.undefined_of(place, who, told)?;
    Some((value.bits[lane], value.origins[lane]))
}

/// Has memory and registers undefined as a swap of a part of one lane's word leaves them. The rest of the word is nobody's
/// business: that it has not changed is what the loop around the swap compares.
pub(in crate::exec) fn swapped(
    context: &mut Context<'_>,
    (access, atomic): (&Access, &Atomic),
    place: Place<'_>,
    (who, told): (Accessors, &check::Access<'_>),
    (part, there): (u128, Option<(u128, OriginId)>),
) {
    let lane = who.mask.trailing_zeros() as usize;
    let of = |slot| {
        let value = of(context, slot, who.mask)?;
        Some((value.bits[lane] & part, value.origins[lane])).filter(|it| it.0 != 0)
    };
    let (given, compared) = (of(atomic.operands[0]), of(atomic.comparand));
    if told.what.writes()
        && let Some((bits, origin)) = given
        && let Some(checking) = &mut context.at.checking
    {
        let bytes = (told.lanes.addresses[lane], told.lanes.bytes);
        let given = (bits >> part.trailing_zeros(), origin);
        let checker = &mut checking.checker;
        checker.store_undefined(place, who, bytes, given, told.instruction);
    }
    let mut value = Value::default();
    if let (Some((bits, _)), Some((known, origin))) = (there, compared)
        && bits == known
    {
        value.set(lane, bits, origin);
    }
    let slots = access.data.iter().filter_map(|it| it.slot);
    for slot in slots.chain([atomic.comparand]) {
        set(context, slot, who.mask, &value);
    }
}

/// Marks the operands of a swap that changes nothing as defined.
pub(in crate::exec) fn unchanged(
    context: &mut Context<'_>,
    access: &Access,
    atomic: &Atomic,
    mask: u32,
) {
    let slots = access.data.iter().filter_map(|it| it.slot);
    for slot in slots.chain([atomic.comparand]) {
        define(context, slot, mask);
    }
}
