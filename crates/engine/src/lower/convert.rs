//! Conversions between types, and permutations of bytes.

use ptx::{Cvt, CvtPack, Prmt, PrmtMode, Reg, Saturation, Type};

use super::handler::{handler, rare};
use super::rounding::{between_floats, from_integer, to_integer};
use super::slots::kind;
use super::{Lowered, Lowering};
use crate::arith::bits::{self, Permutation};
use crate::arith::convert;
use crate::exec::op::{ternary, unary};
use crate::exec::registers::Kind;
use crate::exec::signature::Handler;

/// One operation of a conversion. The first takes the instruction's sources, each other one the result
/// of that before it.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) run: Handler,
    /// The kind of its result.
    pub(super) kind: Kind,
    pub(super) aux: u64,
}

/// A step without an `aux`.
pub(super) fn step(run: Handler, kind: Kind) -> Step {
    Step { run, kind, aux: 0 }
}

impl Lowering<'_> {
    pub(super) fn prmt(&mut self, it: &Prmt) -> Lowered<()> {
        use Permutation as P;
        let run = match it.mode {
            None => handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::Named))),
            Some(PrmtMode::F4e) => {
                handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::Forward4)))
            }
            Some(PrmtMode::B4e) => {
                handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::Backward4)))
            }
            Some(PrmtMode::Rc8) => {
                handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::Replicate8)))
            }
            Some(PrmtMode::Ecl) => {
                handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::ClampLeft)))
            }
            Some(PrmtMode::Ecr) => {
                handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::ClampRight)))
            }
            Some(PrmtMode::Rc16) => {
                handler!(|c, op| ternary(c, op, |a, b, d| bits::prmt(a, b, d, P::Replicate16)))
            }
        };
        self.same(Some(run), Type::B32, it.d, &[it.a, it.b, it.c])
    }

    pub(super) fn cvt_pack(&mut self, it: &CvtPack) -> Lowered<()> {
        if it.from != Type::S32 || it.c.is_none() != (it.to.bits() == 16) {
            return Err("the types".to_owned());
        }
        let run = match it.to {
            Type::U16 | Type::U8 | Type::U4 | Type::U2 => {
                rare!(|c, op| ternary(c, op, |a, b, d| convert::pack::<u32>(
                    a,
                    b,
                    d,
                    op.aux as u32
                )))
            }
            Type::S16 | Type::S8 | Type::S4 | Type::S2 => {
                rare!(|c, op| ternary(c, op, |a, b, d| convert::pack::<i32>(
                    a,
                    b,
                    d,
                    op.aux as u32
                )))
            }
            _ => return Err("the type".to_owned()),
        };
        let above = it.c.unwrap_or(ptx::Operand::Immediate(0));
        let sources = [(it.a, Type::S32), (it.b, Type::S32), (above, Type::B32)];
        self.apply(Some(run), (it.d, Type::B32), &sources, it.to.bits().into())
    }

    pub(super) fn cvt(&mut self, it: &Cvt) -> Lowered<()> {
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
        let operands = [
            (Some(it.a), it.from),
            (it.b, it.from),
            (it.random, Type::B32),
        ];
        let given = operands
            .iter()
            .filter_map(|&(operand, ty)| Some((operand?, ty)));
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

/// Sort of a type in a conversion.
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

pub(super) type Steps = Result<Vec<Step>, &'static str>;

/// The lower bits of a slot of the type's kind, extended by its sign to so many bits. None: they are.
pub(super) fn extended(ty: Type, bits: u32) -> Option<Step> {
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
    step(
        handler!(|c, op| unary(c, op, |a: u64| a as u32)),
        Kind::Word,
    )
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
