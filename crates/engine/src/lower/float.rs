//! Arithmetic on `f32` and `f64`.

use ptx::{FloatBinary, FloatMinMax, FloatUnary, Fma, Operand, Type};

use super::handler::{each, handler, rare};
use super::modifiers::{Modifiers, rounding};
use super::slots::kind;
use super::{Lowered, Lowering, half};
use crate::arith::convert;
use crate::arith::float::{self, Rounding};
use crate::arith::half::{Bf16, F16};
use crate::exec::op::{binary, ternary, unary};
use crate::exec::registers::Kind;
use crate::exec::signature::Handler;

/// Handlers of a function of `f32` and `f64` with a rounding, and its form with `.ftz`.
macro_rules! operators {
    ($($name:ident: $shape:ident($($x:ident),*), $ftz:expr;)*) => {$(
        fn $name(ty: Type, how: Modifiers) -> Option<Handler> {
            use Modifiers as M;
            Some(match ty {
                Type::F32 if how == M::NONE =>
                    handler!(|c, op| $shape(c, op, |$($x: f32),*| float::$name($($x),*, Rounding::Nearest))),
                Type::F32 if how == M::FTZ =>
                    handler!(|c, op| $shape(c, op, |$($x: f32),*| $ftz($($x),*, Rounding::Nearest))),
                Type::F64 if how == M::NONE =>
                    handler!(|c, op| $shape(c, op, |$($x: f64),*| float::$name($($x),*, Rounding::Nearest))),
                Type::F32x2 if how == M::NONE => handler!(|c, op| $shape(c, op, |$($x: u64),*| {
                    float::packed([$($x),*], |[$($x),*]| float::$name($($x),*, Rounding::Nearest))
                })),
                Type::F32 if how.only(&[M::ANY_ROUNDING, M::FTZ, M::SAT]) => handler!(|c, op| {
                    let how = M::of(op.aux);
                    $shape(c, op, |$($x: f32),*| how.bounded(match how.has(M::FTZ) {
                        true => $ftz($($x),*, how.rounding()),
                        false => float::$name($($x),*, how.rounding()),
                    }))
                }),
                Type::F64 if how.only(&[M::ANY_ROUNDING]) => handler!(|c, op| {
                    let how = M::of(op.aux);
                    $shape(c, op, |$($x: f64),*| float::$name($($x),*, how.rounding()))
                }),
                Type::F32x2 if how.only(&[M::ANY_ROUNDING, M::FTZ]) => handler!(|c, op| {
                    let how = M::of(op.aux);
                    $shape(c, op, |$($x: u64),*| float::packed([$($x),*], |[$($x),*]| match how.has(M::FTZ) {
                        true => $ftz($($x),*, how.rounding()),
                        false => float::$name($($x),*, how.rounding()),
                    }))
                }),
                _ => return half::$name(ty, how),
            })
        }
    )*};
}

operators! {
    add: binary(a, b), add_ftz;
    sub: binary(a, b), sub_ftz;
    mul: binary(a, b), float::mul_ftz;
    fma: ternary(a, b, d), float::fma_ftz;
}

// A sum below the normal numbers is exact.
#[inline(always)]
fn add_ftz(a: f32, b: f32, rounding: Rounding) -> f32 {
    float::flush(float::add(float::flush(a), float::flush(b), rounding))
}

#[inline(always)]
fn sub_ftz(a: f32, b: f32, rounding: Rounding) -> f32 {
    float::flush(float::sub(float::flush(a), float::flush(b), rounding))
}

impl Lowering<'_> {
    pub(super) fn float_add(&mut self, it: &FloatBinary) -> Lowered<()> {
        self.float_binary(it, add)
    }

    pub(super) fn float_sub(&mut self, it: &FloatBinary) -> Lowered<()> {
        self.float_binary(it, sub)
    }

    pub(super) fn float_mul(&mut self, it: &FloatBinary) -> Lowered<()> {
        self.float_binary(it, mul)
    }

    pub(super) fn float_min(&mut self, it: &FloatMinMax) -> Lowered<()> {
        self.float_min_max(it, min)
    }

    pub(super) fn float_max(&mut self, it: &FloatMinMax) -> Lowered<()> {
        self.float_min_max(it, max)
    }

    fn float_binary(
        &mut self,
        it: &FloatBinary,
        run: fn(Type, Modifiers) -> Option<Handler>,
    ) -> Lowered<()> {
        let how = it
            .rounding
            .map_or(Some(Rounding::Nearest), rounding)
            .ok_or("the rounding")?;
        let how = Modifiers::rounded(how)
            .with(Modifiers::FTZ, it.ftz)
            .with(Modifiers::SAT, it.saturate);
        let run = run(it.ty, how).ok_or("the type or a modifier")?;
        let a = self.widened(&it.a, it.source, it.ty)?;
        let b = self.read(&it.b, kind(it.ty))?;
        self.finish_in(run, (it.d, kind(it.ty)), [a, b, 0], how.aux())
    }

    pub(super) fn fma(&mut self, it: &Fma) -> Lowered<()> {
        let how = rounding(it.rounding).ok_or("the rounding")?;
        let how = Modifiers::rounded(how)
            .with(Modifiers::FTZ, it.ftz)
            .with(Modifiers::SAT, it.saturate)
            .with(Modifiers::RELU, it.relu)
            .with(Modifiers::OOB, it.oob);
        let run = fma(it.ty, how).ok_or("the type or a modifier")?;
        let a = self.widened(&it.a, it.source, it.ty)?;
        let b = self.widened(&it.b, it.source, it.ty)?;
        let c = self.read(&it.c, kind(it.ty))?;
        self.finish_in(run, (it.d, kind(it.ty)), [a, b, c], how.aux())
    }

    /// An operand of an instruction of mixed precision, as the type that is computed in.
    fn widened(&mut self, operand: &Operand, from: Type, to: Type) -> Lowered<u32> {
        let slot = self.read(operand, kind(from))?;
        let run = match (from, to) {
            _ if from == to => return Ok(slot),
            (Type::F16, Type::F32) => handler!(|c, op| unary(c, op, convert::f32_from_half::<F16>)),
            (Type::Bf16, Type::F32) => {
                handler!(|c, op| unary(c, op, convert::f32_from_half::<Bf16>))
            }
            _ => return Err("the type of the sources".to_owned()),
        };
        Ok(self.value(run, Kind::Word, [slot, 0, 0], 0))
    }

    fn float_min_max(
        &mut self,
        it: &FloatMinMax,
        run: fn(Type, Modifiers) -> Option<Handler>,
    ) -> Lowered<()> {
        let how = Modifiers::NONE
            .with(Modifiers::FTZ, it.ftz)
            .with(Modifiers::NAN, it.nan)
            .with(Modifiers::XORSIGN, it.xorsign_abs)
            .with(Modifiers::ABS, it.abs);
        let run = run(it.ty, how).ok_or("the type or a modifier")?;
        let kind = kind(it.ty);
        let (a, b) = (self.read(&it.a, kind)?, self.read(&it.b, kind)?);
        let Some(third) = it.c else {
            return self.finish_in(run, (it.d, kind), [a, b, 0], how.aux());
        };
        if it.ty != Type::F32 || it.xorsign_abs {
            return Err("three sources of this type".to_owned());
        }
        let third = self.read(&third, kind)?;
        let of_two = self.value(run, kind, [a, b, 0], how.aux());
        self.finish_in(run, (it.d, kind), [of_two, third, 0], how.aux())
    }

    pub(super) fn float_abs(&mut self, it: &FloatUnary) -> Lowered<()> {
        let run = match (it.ty, it.ftz) {
            (Type::F32, true) => Some(handler!(|c, op| unary(c, op, |a| float::flush(
                float::abs(a)
            )))),
            (Type::F64, true) => None,
            (Type::F32 | Type::F64, false) => each!(unary it.ty, of floats, float::abs),
            (ty, _) => half::abs(ty, how(it)),
        };
        self.with_ftz(run, it)
    }

    pub(super) fn float_neg(&mut self, it: &FloatUnary) -> Lowered<()> {
        let run = match (it.ty, it.ftz) {
            (Type::F32, true) => Some(handler!(|c, op| unary(c, op, |a| float::flush(
                float::neg(a)
            )))),
            (Type::F64, true) => None,
            (Type::F32 | Type::F64, false) => each!(unary it.ty, of floats, float::neg),
            (ty, _) => half::neg(ty, how(it)),
        };
        self.with_ftz(run, it)
    }

    /// `d = f(a)`, where the handler is told of `.ftz`.
    pub(super) fn with_ftz(&mut self, run: Option<Handler>, it: &FloatUnary) -> Lowered<()> {
        self.apply(run, (it.d, it.ty), &[(it.a, it.ty)], how(it).aux())
    }
}

fn how(it: &FloatUnary) -> Modifiers {
    Modifiers::NONE.with(Modifiers::FTZ, it.ftz)
}

/// Handlers of the smaller or the larger.
macro_rules! extremes {
    ($($name:ident $or_nan:ident;)*) => {$(
        fn $name(ty: Type, how: Modifiers) -> Option<Handler> {
            use Modifiers as M;
            match ty {
                Type::F32 | Type::F64 if how == M::NONE => each!(binary ty, of floats, float::$name),
                Type::F32 if how == M::NAN => Some(handler!(|c, op| binary(c, op, float::$or_nan::<f32>))),
                Type::F32 => Some(rare!(|c, op| {
                    let how = M::of(op.aux);
                    binary(c, op, |a: f32, b: f32| {
                        let function = |a, b| match how.has(M::NAN) {
                            true => float::$or_nan(a, b),
                            false => float::$name(a, b),
                        };
                        let [a, b] = [a, b].map(|x| how.operand(x));
                        let [a, b] = [a, b].map(|x| if how.has(M::ABS) { x.abs() } else { x });
                        match how.has(M::XORSIGN) {
                            true => float::xorsign_abs(a, b, function),
                            false => function(a, b),
                        }
                    })
                })),
                _ => half::$name(ty, how),
            }
        }
    )*};
}

extremes! {
    min min_nan;
    max max_nan;
}
