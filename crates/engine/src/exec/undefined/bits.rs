//! Undefined bits of lanes: united, spread and at their extremes.

use crate::check::undefined::Value;
use crate::exec::registers::{Kind, LANES, lanes_of};
use crate::exec::spread::Widths;

/// An extreme of undefined bits: the least, the greatest, and both of signed numbers.
pub(super) fn extreme(bits: u128, which: usize, sign: Option<u128>) -> u128 {
    let sign = sign.unwrap_or(0);
    [0, bits, bits & sign, bits & !sign][which]
}

/// All undefined bits of the sources, each lane with the first one's origin.
pub(super) fn any(undefined: &[(usize, Value)]) -> Value {
    let mut all = Value::default();
    for (_, value) in undefined {
        for lane in 0..LANES {
            if all.bits[lane] == 0 {
                all.origins[lane] = value.origins[lane];
            }
            all.bits[lane] |= value.bits[lane];
        }
    }
    all
}

/// The undefined bits of sources, and those of a result that they reach.
pub(super) fn joined(value: &Value, reached: Option<&Value>) -> Value {
    let mut joined = *value;
    if let Some(reached) = reached {
        let all = joined.bits.iter_mut().zip(reached.bits);
        all.for_each(|(bits, more)| *bits |= more);
    }
    joined
}

/// All bits of the lanes of which one is undefined.
pub(super) fn whole(value: &Value, kind: Kind) -> Value {
    let bits = value.bits.map(|bits| match bits {
        0 => 0,
        _ => ones(kind.bits()),
    });
    Value { bits, ..*value }
}

/// All bits of the upper part, of so many bits, where something of the first source is undefined, and of the lower one by the
/// second.
pub(super) fn packed(undefined: &[(usize, Value)], of: u32) -> Value {
    let mut packed = any(undefined);
    packed.bits = std::array::from_fn(|lane| {
        let each = undefined.iter().filter(|it| it.1.bits[lane] != 0);
        each.fold(0, |all, (source, _)| match source {
            0 => all | ones(of) << of,
            _ => all | ones(of),
        })
    });
    packed
}

/// All bits of the parts of a result, of so many bits, of which something is undefined in a source's part.
pub(super) fn parts(value: &Value, widths: Widths) -> Value {
    let (from, to) = (widths.from(), widths.to());
    let spread = |bits: u128| {
        let undefined =
            (0..128 / from.max(to)).filter(|part| bits >> (part * from) & ones(from) != 0);
        undefined.fold(0, |all, part| all | ones(to) << (part * to))
    };
    Value {
        bits: value.bits.map(spread),
        ..*value
    }
}

/// The bits from the lowest undefined one on.
pub(super) fn carried(value: &Value, kind: Kind) -> Value {
    let bits = value.bits.map(|bits| match bits {
        0 => 0,
        bits => !((bits & bits.wrapping_neg()) - 1) & ones(kind.bits()),
    });
    Value { bits, ..*value }
}

/// All bits of all lanes, where one of the running lanes has an undefined one.
pub(super) fn across(value: &Value, kind: Kind, mask: u32) -> Option<Value> {
    let lane = lanes_of(value.lanes() & mask).next()?;
    Some(Value {
        bits: [ones(kind.bits()); LANES],
        origins: [value.origins[lane]; LANES],
    })
}

pub(super) fn ones(bits: u32) -> u128 {
    match bits {
        0 => 0,
        bits => u128::MAX >> (128 - bits.min(128)),
    }
}
