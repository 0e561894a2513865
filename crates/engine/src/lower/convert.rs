//! Conversions between types, and permutations of bytes.

use ptx::{Cvt, CvtPack, Operation, Prmt, PrmtMode, Reg, Rounding as Named, Saturation, Type};

use super::handler::{handler, rare, with_type};
use super::modifiers::{Modifiers, rounding};
use super::slots::kind;
use super::{Lowered, Lowering};
use crate::arith::bits::{self, Permutation};
use crate::arith::convert;
use crate::arith::float::{self, Rounding};
use crate::arith::half::{self, Bf16, F16};
use crate::exec::op::{Handler, ternary, unary};
use crate::exec::registers::Kind;

/// One operation of a conversion. The first takes the instruction's sources, each other one the result
/// of that before it.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) run: Handler,
    /// What it makes.
    pub(super) kind: Kind,
    pub(super) aux: u64,
}

/// A step without an `aux`.
pub(super) fn step(run: Handler, kind: Kind) -> Step {
    Step { run, kind, aux: 0 }
}

impl Lowering<'_> {
    /// Lowers conversions; none for other instructions.
    pub(super) fn convert(&mut self, operation: &Operation) -> Option<Lowered<()>> {
        Some(match operation {
            Operation::Cvt(it) => self.cvt(it),
            Operation::CvtPack(it) => self.cvt_pack(it),
            Operation::Prmt(it) => self.prmt(it),
            _ => return None,
        })
    }

    fn prmt(&mut self, it: &Prmt) -> Lowered<()> {
        use Permutation as P;
        let run = match it.mode {
            None => handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::Named))),
            Some(PrmtMode::F4e) => handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::Forward4))),
            Some(PrmtMode::B4e) => handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::Backward4))),
            Some(PrmtMode::Rc8) => handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::Replicate8))),
            Some(PrmtMode::Ecl) => handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::ClampLeft))),
            Some(PrmtMode::Ecr) => handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::ClampRight))),
            Some(PrmtMode::Rc16) => handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::Replicate16))),
        };
        self.same(Some(run), Type::B32, it.d, &[it.a, it.b, it.c])
    }

    fn cvt_pack(&mut self, it: &CvtPack) -> Lowered<()> {
        if it.from != Type::S32 || it.c.is_none() != (it.to.bits() == 16) {
            return Err("the types".to_owned());
        }
        let run = match it.to {
            Type::U16 | Type::U8 | Type::U4 | Type::U2 => {
                rare!(|c, op| ternary(c, op, |a, b, d| convert::pack::<u32>(a, b, d, op.aux as u32)))
            }
            Type::S16 | Type::S8 | Type::S4 | Type::S2 => {
                rare!(|c, op| ternary(c, op, |a, b, d| convert::pack::<i32>(a, b, d, op.aux as u32)))
            }
            _ => return Err("the type".to_owned()),
        };
        let above = it.c.unwrap_or(ptx::Operand::Immediate(0));
        let sources = [(it.a, Type::S32), (it.b, Type::S32), (above, Type::B32)];
        self.apply(Some(run), (it.d, Type::B32), &sources, it.to.bits().into())
    }

    fn cvt(&mut self, it: &Cvt) -> Lowered<()> {
        let bits = self.register_bits(it.d);
        let steps = match (sort(it.from), sort(it.to)) {
            _ if it.b.is_some() || it.random.is_some() => self.narrowed(it),
            (Sort::Integer, Sort::Integer) => between_integers(it, bits),
            (Sort::Integer, Sort::Float) => from_integer(it),
            (Sort::Float, Sort::Integer) => to_integer(it, bits),
            (Sort::Float, Sort::Float) => between_floats(it),
            _ => self.narrowed(it),
        };
        let steps = steps.map_err(str::to_owned)?;
        let mut sources = [0; 3];
        let operands = [(Some(it.a), it.from), (it.b, it.from), (it.random, Type::B32)];
        let given = operands.iter().filter_map(|&(operand, ty)| Some((operand?, ty)));
        for (slot, (operand, ty)) in sources.iter_mut().zip(given) {
            *slot = self.read(&operand, kind(ty))?;
        }
        self.steps(it.d, sources, kind(it.from), &steps)
    }

    /// Emits steps, the last of which writes the register.
    fn steps(&mut self, d: Reg, mut sources: [u32; 3], kind: Kind, steps: &[Step]) -> Lowered<()> {
        let Some((last, before)) = steps.split_last() else {
            let run = match kind {
                Kind::Double => handler!(|c, op| unary(c, op, |a: u64| a)),
                _ => handler!(|c, op| unary(c, op, |a: u32| a)),
            };
            return self.finish_in(run, (d, kind), sources, 0);
        };
        for step in before {
            sources = [self.value(step.run, step.kind, sources, step.aux), 0, 0];
        }
        self.finish_in(last.run, (d, last.kind), sources, last.aux)
    }
}

/// What a type is for a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// 8 to 64 bits.
    Integer,
    /// 16 to 64 bits, one of them.
    Float,
    /// Packed ones, and those of few bits.
    Other,
}

fn sort(ty: Type) -> Sort {
    use Type::{Bf16, F16, F32, F64, S8, S16, S32, S64, U8, U16, U32, U64};
    match ty {
        U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 => Sort::Integer,
        F16 | Bf16 | F32 | F64 => Sort::Float,
        _ => Sort::Other,
    }
}

type Steps = Result<Vec<Step>, &'static str>;

/// The lower bits of a slot of the type's kind, extended by its sign to so many bits. None: they are.
fn extended(ty: Type, bits: u32) -> Option<Step> {
    let word = |run| Some(step(run, Kind::Word));
    let double = |run| Some(step(run, Kind::Double));
    match (ty, bits) {
        (Type::U8, 64) => double(handler!(|c, op| unary(c, op, |a: u8| u64::from(a)))),
        (Type::S8, 64) => double(handler!(|c, op| unary(c, op, |a: i8| i64::from(a)))),
        (Type::U16, 64) => double(handler!(|c, op| unary(c, op, |a: u16| u64::from(a)))),
        (Type::S16, 64) => double(handler!(|c, op| unary(c, op, |a: i16| i64::from(a)))),
        (Type::U32, 64) => double(handler!(|c, op| unary(c, op, |a: u32| u64::from(a)))),
        (Type::S32, 64) => double(handler!(|c, op| unary(c, op, |a: i32| i64::from(a)))),
        (Type::S8, 32) => word(handler!(|c, op| unary(c, op, |a: i8| i32::from(a)))),
        (Type::S8, 16) => word(handler!(|c, op| unary(c, op, |a: i8| i16::from(a)))),
        (Type::S16, 32) => word(handler!(|c, op| unary(c, op, |a: i16| i32::from(a)))),
        (Type::U8 | Type::S8, _) => word(handler!(|c, op| unary(c, op, |a: u8| a))),
        (Type::U16 | Type::S16, _) => word(handler!(|c, op| unary(c, op, |a: u16| a))),
        _ => None,
    }
}

/// The lower 32 bits of 64.
fn cut() -> Step {
    step(handler!(|c, op| unary(c, op, |a: u64| a as u32)), Kind::Word)
}

/// The lower bits of a value of `from`, as a register of so many bits holds a `to`.
fn fitted(from: Type, to: Type, bits: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut extend = |ty: Type, bits: u32| steps.extend(extended(ty, bits));
    if to.bits() > from.bits() {
        extend(from, to.bits());
        if bits > to.bits() {
            extend(to, bits);
        }
    } else {
        extend(to, bits.max(to.bits()));
        if from.bits() == 64 && to.bits() < 64 {
            steps.insert(0, cut());
        }
    }
    steps
}

fn between_integers(it: &Cvt, bits: u32) -> Steps {
    if it.rounding.is_some() || it.ftz || it.relu {
        return Err("a modifier of floats");
    }
    match it.saturation {
        None => Ok(fitted(it.from, it.to, bits)),
        Some(Saturation::Sat) => {
            let mut steps: Vec<_> = extended(it.from, 64).into_iter().collect();
            steps.push(step(clamped(it.from.is_signed(), it.to), Kind::Double));
            steps.extend(fitted(Type::U64, it.to, bits));
            Ok(steps)
        }
        Some(Saturation::Satfinite) => Err("`.satfinite`"),
    }
}

/// The nearest 64-bit number that the type has.
fn clamped(is_signed: bool, to: Type) -> Handler {
    macro_rules! into {
        ($($ty:ident $to:ident),*) => {
            match (to, is_signed) {
                $((Type::$ty, true) => rare!(|c, op| unary(c, op, |a: i64| {
                    convert::integer_sat::<i64, $to>(a) as u64
                })),
                (Type::$ty, false) => rare!(|c, op| unary(c, op, |a: u64| {
                    convert::integer_sat::<u64, $to>(a) as u64
                })),)*
                _ => rare!(|c, op| unary(c, op, |a: u64| a)),
            }
        };
    }
    into!(U8 u8, S8 i8, U16 u16, S16 i16, U32 u32, S32 i32, U64 u64, S64 i64)
}

/// The rounding that an instruction names, or the nearest.
fn named(it: &Cvt) -> Result<Rounding, &'static str> {
    it.rounding.map_or(Some(Rounding::Nearest), rounding).ok_or("the rounding")
}

/// Whether it rounds to integers.
fn is_integral(it: &Cvt) -> bool {
    matches!(it.rounding, Some(Named::Rni | Named::Rzi | Named::Rmi | Named::Rpi))
}

/// What is left to do with a float of the type.
fn bounded(it: &Cvt) -> Option<Step> {
    let how = Modifiers::NONE
        .with(Modifiers::FTZ, it.ftz && it.to == Type::F32)
        .with(Modifiers::SAT, it.saturation == Some(Saturation::Sat))
        .with(Modifiers::SATFINITE, it.saturation == Some(Saturation::Satfinite))
        .with(Modifiers::RELU, it.relu);
    if how == Modifiers::NONE {
        return None;
    }
    let (run, kind) = match it.to {
        Type::F16 => (rare!(|c, op| unary(c, op, |a| Modifiers::of(op.aux).half_bounded::<F16>(a))), Kind::Word),
        Type::Bf16 => (rare!(|c, op| unary(c, op, |a| Modifiers::of(op.aux).half_bounded::<Bf16>(a))), Kind::Word),
        Type::F32 => (handler!(|c, op| unary(c, op, |a| Modifiers::of(op.aux).result(a))), Kind::Word),
        _ => (rare!(|c, op| unary(c, op, |a: f64| Modifiers::of(op.aux).bounded(a))), Kind::Double),
    };
    Some(Step { run, kind, aux: how.aux() })
}

fn from_integer(it: &Cvt) -> Steps {
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
    let mut steps: Vec<_> = if narrow { extended(it.from, 32).into_iter().collect() } else { Vec::new() };
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
    steps.push(Step { run: run.ok_or("the type")?, kind: kind(it.to), aux });
    steps.extend(bounded(it));
    Ok(steps)
}

/// From a half to `f32`, from other floats nothing; `.ftz` of `f32`, which does not keep a NaN.
fn opened(it: &Cvt) -> Option<Step> {
    let run = match it.from {
        Type::F16 => handler!(|c, op| unary(c, op, convert::f32_from_half::<F16>)),
        Type::Bf16 => handler!(|c, op| unary(c, op, convert::f32_from_half::<Bf16>)),
        Type::F32 if it.ftz => handler!(|c, op| unary(c, op, |a| float::canonical(float::flush(a)))),
        _ => return None,
    };
    Some(step(run, Kind::Word))
}

fn to_integer(it: &Cvt, bits: u32) -> Steps {
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
    steps.push(Step { run, kind: kind(it.to), aux: Modifiers::rounded(how).aux() });
    if bits > it.to.bits() {
        steps.extend(extended(it.to, bits));
    }
    Ok(steps)
}

fn between_floats(it: &Cvt) -> Steps {
    let how = named(it)?;
    let aux = Modifiers::rounded(how).aux();
    if let (Some(run), Type::F64) = (to_f64(it.from), it.to) {
        // A NaN keeps its digits.
        return match it.rounding {
            None => Ok([step(run, Kind::Double)].into_iter().chain(bounded(it)).collect()),
            Some(_) => Err("the rounding"),
        };
    }
    let mut steps: Vec<_> = opened(it).into_iter().collect();
    let from = if it.from == Type::F64 { Type::F64 } else { Type::F32 };
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
        steps.push(Step { run, kind: kind(from), aux });
    } else if it.from == it.to && it.rounding.is_some() {
        return Err("the rounding");
    }
    let how = if is_integral(it) { Rounding::Nearest } else { how };
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
            if how == Rounding::Nearest { $nearest } else { $others }
        };
    }
    let run = match (from, to) {
        (Type::F32, Type::F64) => handler!(|c, op| unary(c, op, convert::f64_from_f32)),
        (Type::F64, Type::F32) => nearest_or!(
            handler!(|c, op| unary(c, op, |a| convert::f32_from_f64(a, Rounding::Nearest))),
            rare!(|c, op| unary(c, op, |a| convert::f32_from_f64(a, Modifiers::of(op.aux).rounding())))
        ),
        (Type::F32, Type::F16) => nearest_or!(
            handler!(|c, op| unary(c, op, |a| half::from_f32::<F16>(a, Rounding::Nearest))),
            rare!(|c, op| unary(c, op, |a| half::from_f32::<F16>(a, Modifiers::of(op.aux).rounding())))
        ),
        (Type::F32, Type::Bf16) => nearest_or!(
            handler!(|c, op| unary(c, op, |a| half::from_f32::<Bf16>(a, Rounding::Nearest))),
            rare!(|c, op| unary(c, op, |a| half::from_f32::<Bf16>(a, Modifiers::of(op.aux).rounding())))
        ),
        (Type::F64, Type::F16) => {
            rare!(|c, op| unary(c, op, |a| half::from_f64::<F16>(a, Modifiers::of(op.aux).rounding())))
        }
        (Type::F64, Type::Bf16) => {
            rare!(|c, op| unary(c, op, |a| half::from_f64::<Bf16>(a, Modifiers::of(op.aux).rounding())))
        }
        _ => return None,
    };
    Some(Step { run, kind: kind(to), aux: Modifiers::rounded(how).aux() })
}
