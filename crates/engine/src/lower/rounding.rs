//! Conversions of which a float is the source or the destination.

use ptx::{Cvt, Rounding as Named, Saturation, Type};

use super::convert::{Step, Steps, extended, step};
use super::handler::{handler, rare, with_type};
use super::modifiers::{Modifiers, rounding};
use super::slots::kind;
use crate::arith::convert;
use crate::arith::float::{self, Rounding};
use crate::arith::half::{self, Bf16, F16};
use crate::exec::op::unary;
use crate::exec::registers::Kind;
use crate::exec::signature::Handler;

/// The rounding that an instruction names, or the nearest.
fn named(it: &Cvt) -> Result<Rounding, &'static str> {
    it.rounding
        .map_or(Some(Rounding::Nearest), rounding)
        .ok_or("the rounding")
}

/// Whether it rounds to integers.
fn is_integral(it: &Cvt) -> bool {
    matches!(
        it.rounding,
        Some(Named::Rni | Named::Rzi | Named::Rmi | Named::Rpi)
    )
}

/// Returns the step that is left to do with a float of the type.
fn bounded(it: &Cvt) -> Option<Step> {
    let how = Modifiers::NONE
        .with(Modifiers::FTZ, it.ftz && it.to == Type::F32)
        .with(Modifiers::SAT, it.saturation == Some(Saturation::Sat))
        .with(
            Modifiers::SATFINITE,
            it.saturation == Some(Saturation::Satfinite),
        )
        .with(Modifiers::RELU, it.relu);
    if how == Modifiers::NONE {
        return None;
    }
    let (run, kind) = match it.to {
        Type::F16 => (
            rare!(|c, op| unary(c, op, |a| Modifiers::of(op.aux).half_bounded::<F16>(a))),
            Kind::Word,
        ),
        Type::Bf16 => (
            rare!(|c, op| unary(c, op, |a| Modifiers::of(op.aux).half_bounded::<Bf16>(a))),
            Kind::Word,
        ),
        Type::F32 => (
            handler!(|c, op| unary(c, op, |a| Modifiers::of(op.aux).result(a))),
            Kind::Word,
        ),
        _ => (
            rare!(|c, op| unary(c, op, |a: f64| Modifiers::of(op.aux).bounded(a))),
            Kind::Double,
        ),
    };
    Some(Step {
        run,
        kind,
        aux: how.aux(),
    })
}

pub(super) fn from_integer(it: &Cvt) -> Steps {
    let how = named(it)?;
    if is_integral(it) {
        return Err("the rounding");
    }
    let aux = Modifiers::rounded(how).aux();
    // Those of less than 32 bits are numbers of the wider type as well.
    let narrow = it.from.bits() < 32;
    let from = match it.from.is_signed() {
        true if narrow => Type::S32,
        false if narrow => Type::U32,
        _ => it.from,
    };
    let mut steps: Vec<_> = if narrow {
        extended(it.from, 32).into_iter().collect()
    } else {
        Vec::new()
    };
    macro_rules! to_float {
        ($F:ty) => {
            match how {
                Rounding::Nearest => with_type!(from, T of long_integers, handler!(|c, op| {
                    unary(c, op, |a: T| convert::from_integer::<T, $F>(a, Rounding::Nearest))
                })),
                _ => with_type!(from, T of long_integers, rare!(|c, op| {
                    unary(c, op, |a: T| convert::from_integer::<T, $F>(a, Modifiers::of(op.aux).rounding()))
                })),
            }
        };
    }
    macro_rules! to_half {
        ($H:ty) => {
            with_type!(from, T of long_integers, rare!(|c, op| {
                unary(c, op, |a: T| convert::half_from_integer::<T, $H>(a, Modifiers::of(op.aux).rounding()))
            }))
        };
    }
    let run: Option<Handler> = match it.to {
        Type::F32 => to_float!(f32),
        Type::F64 => to_float!(f64),
        Type::F16 => to_half!(F16),
        _ => to_half!(Bf16),
    };
    steps.push(Step {
        run: run.ok_or("the type")?,
        kind: kind(it.to),
        aux,
    });
    steps.extend(bounded(it));
    Ok(steps)
}

/// From a half to `f32`, from other floats nothing; `.ftz` of `f32`, which does not keep a NaN.
///
/// To `f16` subnormal operands count, though the PTX ISA says that `.ftz` flushes them: ptxas makes `F2F.F16.F32.RP` for
/// `sm_90`, without the `.FTZ` that `F2F.FTZ.BF16.F32.RP` has, and an H100 gives the least number above 0.
fn opened(it: &Cvt) -> Option<Step> {
    let run = match it.from {
        Type::F16 => handler!(|c, op| unary(c, op, convert::f32_from_half::<F16>)),
        Type::Bf16 => handler!(|c, op| unary(c, op, convert::f32_from_half::<Bf16>)),
        Type::F32 if it.ftz && it.to != Type::F16 => {
            handler!(|c, op| unary(c, op, |a| float::canonical(float::flush(a))))
        }
        _ => return None,
    };
    Some(step(run, Kind::Word))
}

pub(super) fn to_integer(it: &Cvt, bits: u32) -> Steps {
    let how = named(it)?;
    if it.relu || it.saturation == Some(Saturation::Satfinite) || it.rounding == Some(Named::Rna) {
        return Err("a modifier");
    }
    macro_rules! integers {
        ($F:ty) => {
            match (how, it.to) {
                (Rounding::Zero, Type::U32) => integers!(fast $F, u32),
                (Rounding::Zero, Type::S32) => integers!(fast $F, i32),
                (Rounding::Zero, Type::U64) => integers!(fast $F, u64),
                (Rounding::Zero, Type::S64) => integers!(fast $F, i64),
                (_, Type::U8) => integers!(slow $F, u8),
                (_, Type::S8) => integers!(slow $F, i8),
                (_, Type::U16) => integers!(slow $F, u16),
                (_, Type::S16) => integers!(slow $F, i16),
                (_, Type::U32) => integers!(slow $F, u32),
                (_, Type::S32) => integers!(slow $F, i32),
                (_, Type::U64) => integers!(slow $F, u64),
                _ => integers!(slow $F, i64),
            }
        };
        (fast $F:ty, $I:ty) => {
            handler!(|c, op| unary(c, op, |a| convert::to_integer::<$F, $I>(a, Rounding::Zero)))
        };
        (slow $F:ty, $I:ty) => {
            handler!(|c, op| unary(c, op, |a| {
                convert::to_integer::<$F, $I>(a, Modifiers::of(op.aux).rounding())
            }))
        };
    }
    let run = match it.from {
        Type::F64 => integers!(f64),
        _ => integers!(f32),
    };
    let mut steps: Vec<_> = opened(it).into_iter().collect();
    steps.push(Step {
        run,
        kind: kind(it.to),
        aux: Modifiers::rounded(how).aux(),
    });
    if bits > it.to.bits() {
        steps.extend(extended(it.to, bits));
    }
    Ok(steps)
}

pub(super) fn between_floats(it: &Cvt) -> Steps {
    let how = named(it)?;
    let aux = Modifiers::rounded(how).aux();
    if let (Some(run), Type::F64) = (to_f64(it.from), it.to) {
        // A NaN keeps its digits. Of `bf16` a rounding is named, which has nothing to do.
        let is_named = matches!(
            it.rounding,
            Some(Named::Rn | Named::Rz | Named::Rm | Named::Rp)
        );
        return match it.rounding.is_none() || is_named && it.from == Type::Bf16 {
            true => Ok([step(run, Kind::Double)]
                .into_iter()
                .chain(bounded(it))
                .collect()),
            false => Err("the rounding"),
        };
    }
    let mut steps: Vec<_> = opened(it).into_iter().collect();
    let from = if it.from == Type::F64 {
        Type::F64
    } else {
        Type::F32
    };
    if is_integral(it) {
        if it.from != it.to {
            return Err("the rounding");
        }
        let run = match from {
            Type::F64 => handler!(|c, op| unary(c, op, |a: f64| {
                convert::round_to_integral(a, Modifiers::of(op.aux).rounding())
            })),
            _ => handler!(|c, op| unary(c, op, |a: f32| {
                convert::round_to_integral(a, Modifiers::of(op.aux).rounding())
            })),
        };
        steps.push(Step {
            run,
            kind: kind(from),
            aux,
        });
    } else if it.from == it.to && it.rounding.is_some() {
        return Err("the rounding");
    }
    let how = if is_integral(it) {
        Rounding::Nearest
    } else {
        how
    };
    steps.extend(rounded(from, it.to, how));
    steps.extend(bounded(it));
    Ok(steps)
}

/// From a half to `f64`.
fn to_f64(from: Type) -> Option<Handler> {
    Some(match from {
        Type::F16 => handler!(|c, op| unary(c, op, convert::f64_from_half::<F16>)),
        Type::Bf16 => handler!(|c, op| unary(c, op, convert::f64_from_half::<Bf16>)),
        _ => return None,
    })
}

/// From `f32` or `f64` to a float; none for what it is.
fn rounded(from: Type, to: Type, how: Rounding) -> Option<Step> {
    macro_rules! nearest_or {
        ($nearest:expr, $others:expr) => {
            if how == Rounding::Nearest {
                $nearest
            } else {
                $others
            }
        };
    }
    let run = match (from, to) {
        (Type::F32, Type::F64) => handler!(|c, op| unary(c, op, convert::f64_from_f32)),
        (Type::F64, Type::F32) => nearest_or!(
            handler!(|c, op| unary(c, op, |a| convert::f32_from_f64(a, Rounding::Nearest))),
            rare!(|c, op| unary(c, op, |a| convert::f32_from_f64(
                a,
                Modifiers::of(op.aux).rounding()
            )))
        ),
        (Type::F32, Type::F16) => nearest_or!(
            handler!(|c, op| unary(c, op, |a| half::from_f32::<F16>(a, Rounding::Nearest))),
            rare!(|c, op| unary(c, op, |a| half::from_f32::<F16>(
                a,
                Modifiers::of(op.aux).rounding()
            )))
        ),
        (Type::F32, Type::Bf16) => nearest_or!(
            handler!(|c, op| unary(c, op, |a| half::from_f32::<Bf16>(a, Rounding::Nearest))),
            rare!(|c, op| unary(c, op, |a| half::from_f32::<Bf16>(
                a,
                Modifiers::of(op.aux).rounding()
            )))
        ),
        (Type::F64, Type::F16) => {
            rare!(|c, op| unary(c, op, |a| half::from_f64::<F16>(
                a,
                Modifiers::of(op.aux).rounding()
            )))
        }
        (Type::F64, Type::Bf16) => {
            rare!(|c, op| unary(c, op, |a| half::from_f64::<Bf16>(
                a,
                Modifiers::of(op.aux).rounding()
            )))
        }
        _ => return None,
    };
    Some(Step {
        run,
        kind: kind(to),
        aux: Modifiers::rounded(how).aux(),
    })
}
