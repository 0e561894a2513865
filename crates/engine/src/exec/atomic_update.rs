//! The update of an element by an atomic.

use ptx::{AtomicOperator, Space, Type};

use crate::arith::directed::Rounding;
use crate::arith::half::{Bf16, F16};
use crate::arith::{atomic, float, half};

/// From what was there, the operand and the comparand to what is there.
pub(crate) type Update = fn(u128, u128, u128) -> u128;

/// The result of an operator on an element of a type.
///
/// # Errors
/// PTX has no such atomic.
pub(crate) fn update(operator: AtomicOperator, ty: Type, space: Space) -> Result<Update, String> {
    use AtomicOperator::{Add, And, CompareAndSwap, Dec, Exchange, Inc, Max, Min, Or, Xor};
    let update: Update = match (operator, ty) {
        (Exchange, _) => |_, a, _| a,
        (CompareAndSwap, _) => |old, a, comparand| if old == comparand { a } else { old },
        (And, _) => |old, a, _| old & a,
        (Or, _) => |old, a, _| old | a,
        (Xor, _) => |old, a, _| old ^ a,
        (Inc, _) => |old, a, _| atomic::inc(old as u32, a as u32).into(),
        (Dec, _) => |old, a, _| atomic::dec(old as u32, a as u32).into(),
        (Add, Type::F32) => match space {
            Space::Shared | Space::SharedCluster => {
                |old, a, _| float32(atomic::add_f32_shared, old, a)
            }
            _ => |old, a, _| float32(atomic::add_f32_global, old, a),
        },
        (Add, Type::F64) => |old, a, _| {
            let sum = float::add(
                f64::from_bits(old as u64),
                f64::from_bits(a as u64),
                Rounding::Nearest,
            );
            sum.to_bits().into()
        },
        (Add, Type::F16) => |old, a, _| half::add::<F16>(old as u16, a as u16).into(),
        (Add, Type::Bf16) => |old, a, _| half::add::<Bf16>(old as u16, a as u16).into(),
        (Add, Type::F16x2) => |old, a, _| packed(half::add::<F16>, old, a),
        (Add, Type::Bf16x2) => |old, a, _| packed(half::add::<Bf16>, old, a),
        (Min, Type::F16) => |old, a, _| half::min::<F16>(old as u16, a as u16).into(),
        (Max, Type::F16) => |old, a, _| half::max::<F16>(old as u16, a as u16).into(),
        (Min, Type::Bf16) => |old, a, _| half::min::<Bf16>(old as u16, a as u16).into(),
        (Max, Type::Bf16) => |old, a, _| half::max::<Bf16>(old as u16, a as u16).into(),
        (Min, Type::F16x2) => |old, a, _| packed(half::min::<F16>, old, a),
        (Max, Type::F16x2) => |old, a, _| packed(half::max::<F16>, old, a),
        (Min, Type::Bf16x2) => |old, a, _| packed(half::min::<Bf16>, old, a),
        (Max, Type::Bf16x2) => |old, a, _| packed(half::max::<Bf16>, old, a),
        (Add, _) if !ty.is_float() => |old, a, _| old.wrapping_add(a),
        (Min, Type::S32) => |old, a, _| (old as i32).min(a as i32) as u32 as u128,
        (Max, Type::S32) => |old, a, _| (old as i32).max(a as i32) as u32 as u128,
        (Min, Type::S64) => |old, a, _| (old as i64).min(a as i64) as u64 as u128,
        (Max, Type::S64) => |old, a, _| (old as i64).max(a as i64) as u64 as u128,
        (Min, Type::U32 | Type::U64) => |old, a, _| old.min(a),
        (Max, Type::U32 | Type::U64) => |old, a, _| old.max(a),
        _ => return Err(format!("{operator:?} of {ty:?}")),
    };
    Ok(update)
}

fn float32(sum: fn(f32, f32) -> f32, old: u128, a: u128) -> u128 {
    sum(f32::from_bits(old as u32), f32::from_bits(a as u32))
        .to_bits()
        .into()
}

fn packed(f: fn(u16, u16) -> u16, old: u128, a: u128) -> u128 {
    half::packed([old as u32, a as u32], |[old, a]| f(old, a)).into()
}
