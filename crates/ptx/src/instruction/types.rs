//! The types that operations take, and how a rule says that they do not.

use crate::Type;
use crate::Type::*;

pub(super) const INTEGERS: &[Type] = &[U16, S16, U32, S32, U64, S64];
/// Those of `add`.
pub(super) const ADDED: &[Type] = &[U16, S16, U32, S32, U64, S64, U16x2, S16x2];
/// Integers of `min` and `max`.
pub(super) const COMPARED: &[Type] = ADDED;
pub(super) const SIGNED: &[Type] = &[S16, S32, S64];
pub(super) const WORDS: &[Type] = &[U32, S32];
pub(super) const WIDE_INTEGERS: &[Type] = &[U32, S32, U64, S64];
pub(super) const BITS: &[Type] = &[B16, B32, B64];
pub(super) const WIDE_BITS: &[Type] = &[B32, B64];
pub(super) const LOGICAL: &[Type] = &[Pred, B16, B32, B64];
pub(super) const SHIFTED: &[Type] = &[B16, B32, B64, U16, S16, U32, S32, U64, S64];
pub(super) const FLOATS: &[Type] = &[F16, Bf16, F16x2, Bf16x2, F32, F32x2, F64];
pub(super) const PRECISE: &[Type] = &[F32, F64];
pub(super) const SINGLE: &[Type] = &[F32];
/// Those of `ex2`.
pub(super) const EXPONENTS: &[Type] = &[F16, Bf16, F16x2, Bf16x2, F32];
/// Those of `tanh`.
pub(super) const TANGENTS: &[Type] = EXPONENTS;
/// Sources of `set` and `setp`.
pub(super) const COMPARABLE: &[Type] = &[
    B16, B32, B64, U16, S16, U32, S32, U64, S64, F16, Bf16, F16x2, Bf16x2, F32, F64,
];
/// Those of `selp` and `slct`.
pub(super) const SELECTED: &[Type] = &[B16, B32, B64, U16, S16, U32, S32, U64, S64, F32, F64];
pub(super) const MOVED: &[Type] = &[
    Pred, B16, B32, B64, B128, U16, S16, U32, S32, U64, S64, F32, F64,
];
/// A `mov` of several values into one register, or out of it.
pub(super) const PACKED: &[Type] = &[B16, B32, B64, B128];
/// Elements of memory.
pub(super) const STORED: &[Type] = &[
    B8, B16, B32, B64, B128, U8, S8, U16, S16, U32, S32, U64, S64, F32, F64,
];
pub(super) const POINTERS: &[Type] = &[U32, U64];
/// Those of `cvta`.
pub(super) const ADDRESSES: &[Type] = POINTERS;

/// Whether it is one of these.
pub(super) fn one_of(ty: Type, types: &[Type]) -> Result<(), String> {
    if types.contains(&ty) {
        return Ok(());
    }
    let names: Vec<String> = types.iter().map(|ty| format!("`.{}`", ty.name())).collect();
    Err(format!(
        "it has no `.{}`: expected one of {}",
        ty.name(),
        names.join(", ")
    ))
}

/// Whether a modifier stands where it may.
pub(super) fn fits(allowed: bool, modifier: &str, ty: Type) -> Result<(), String> {
    match allowed {
        true => Ok(()),
        false => Err(format!(
            "`.{modifier}` does not go with `.{}` here",
            ty.name()
        )),
    }
}
