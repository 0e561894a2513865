//! Quotients, roots and transcendental functions of floats, and what looks at their parts.

use ptx::{Binary, FloatDiv, FloatRoot, FloatTest, FloatUnary, Precision, Testp, Type};

use super::half::halves;
use super::handler::{each, handler, rare};
use super::modifiers::{Modifiers, rounding};
use super::{Lowered, Lowering};
use crate::arith::approx;
use crate::arith::float::{self, Class, Rounding};
use crate::exec::op::{binary, unary};
use crate::exec::signature::Handler;

/// A handler of a function of `f32` that gains nothing by vectors, with `.ftz` or without.
macro_rules! seldom {
    ($f:expr) => {
        Some(rare!(|c, op| {
            let how = Modifiers::of(op.aux);
            unary(c, op, |a: f32| how.result($f(how.operand(a))))
        }))
    };
}

impl Lowering<'_> {
    pub(super) fn sin(&mut self, it: &FloatUnary) -> Lowered<()> {
        self.of_f32(it, seldom!(approx::sin))
    }

    pub(super) fn cos(&mut self, it: &FloatUnary) -> Lowered<()> {
        self.of_f32(it, seldom!(approx::cos))
    }

    pub(super) fn lg2(&mut self, it: &FloatUnary) -> Lowered<()> {
        self.of_f32(it, seldom!(approx::lg2))
    }

    pub(super) fn float_div(&mut self, it: &FloatDiv) -> Lowered<()> {
        let how = modifiers(it.precision, it.ftz)?;
        let run = match (it.ty, it.precision) {
            (Type::F32, Precision::Approximate) if it.ftz => {
                handler!(|c, op| binary(c, op, approx::div_ftz))
            }
            (Type::F32, Precision::Approximate) => handler!(|c, op| binary(c, op, approx::div)),
            (Type::F32, Precision::Full) if it.ftz => {
                handler!(|c, op| binary(c, op, approx::div_full_ftz))
            }
            (Type::F32, _) if how == Modifiers::FTZ => {
                handler!(|c, op| binary(c, op, |a, b| float::div_ftz(a, b, Rounding::Nearest)))
            }
            (Type::F32, Precision::Full) => handler!(|c, op| binary(c, op, approx::div_full)),
            (Type::F32, _) if how == Modifiers::NONE => {
                handler!(|c, op| binary(c, op, |a: f32, b: f32| float::div(
                    a,
                    b,
                    Rounding::Nearest
                )))
            }
            (Type::F64, Precision::Rounded(_)) if how == Modifiers::NONE => {
                handler!(|c, op| binary(c, op, |a: f64, b: f64| float::div(
                    a,
                    b,
                    Rounding::Nearest
                )))
            }
            (Type::F32, _) => rare!(|c, op| {
                let how = Modifiers::of(op.aux);
                binary(c, op, |a, b| match how.has(Modifiers::FTZ) {
                    true => float::div_ftz(a, b, how.rounding()),
                    false => float::div(a, b, how.rounding()),
                })
            }),
            (Type::F64, Precision::Rounded(_)) if !it.ftz => rare!(|c, op| {
                let how = Modifiers::of(op.aux);
                binary(c, op, |a: f64, b: f64| float::div(a, b, how.rounding()))
            }),
            _ => return Err("the type or a modifier".to_owned()),
        };
        self.apply(
            Some(run),
            (it.d, it.ty),
            &[(it.a, it.ty), (it.b, it.ty)],
            how.aux(),
        )
    }

    pub(super) fn rcp(&mut self, it: &FloatRoot) -> Lowered<()> {
        let how = modifiers(it.precision, it.ftz)?;
        let run = match (it.ty, it.precision) {
            (Type::F32, Precision::Approximate) => handler!(|c, op| {
                let how = Modifiers::of(op.aux);
                unary(c, op, |a| how.result(approx::rcp(how.operand(a))))
            }),
            (Type::F64, Precision::Approximate) if it.ftz => {
                rare!(|c, op| unary(c, op, approx::rcp_f64))
            }
            (Type::F32, Precision::Rounded(_)) => handler!(|c, op| {
                let how = Modifiers::of(op.aux);
                unary(c, op, |a| {
                    how.result(float::rcp(how.operand(a), how.rounding()))
                })
            }),
            (Type::F64, Precision::Rounded(_)) if !it.ftz => handler!(|c, op| {
                let how = Modifiers::of(op.aux);
                unary(c, op, |a: f64| float::rcp(a, how.rounding()))
            }),
            _ => return Err("the type or a modifier".to_owned()),
        };
        self.apply(Some(run), (it.d, it.ty), &[(it.a, it.ty)], how.aux())
    }

    pub(super) fn sqrt(&mut self, it: &FloatRoot) -> Lowered<()> {
        let how = modifiers(it.precision, it.ftz)?;
        let run = match (it.ty, it.precision) {
            (Type::F32, Precision::Approximate) => handler!(|c, op| {
                let how = Modifiers::of(op.aux);
                unary(c, op, |a| how.result(approx::sqrt(how.operand(a))))
            }),
            (Type::F32, Precision::Rounded(_)) => handler!(|c, op| {
                let how = Modifiers::of(op.aux);
                unary(c, op, |a| {
                    how.result(float::sqrt(how.operand(a), how.rounding()))
                })
            }),
            (Type::F64, Precision::Rounded(_)) if !it.ftz => handler!(|c, op| {
                let how = Modifiers::of(op.aux);
                unary(c, op, |a: f64| float::sqrt(a, how.rounding()))
            }),
            _ => return Err("the type or a modifier".to_owned()),
        };
        self.apply(Some(run), (it.d, it.ty), &[(it.a, it.ty)], how.aux())
    }

    pub(super) fn rsqrt(&mut self, it: &FloatUnary) -> Lowered<()> {
        let run = match (it.ty, it.ftz) {
            (Type::F64, true) => Some(rare!(|c, op| unary(c, op, approx::rsqrt_ftz_f64))),
            (Type::F64, false) => Some(handler!(|c, op| unary(c, op, approx::rsqrt_f64))),
            (Type::F32, _) => Some(handler!(|c, op| {
                let how = Modifiers::of(op.aux);
                unary(c, op, |a| how.result(approx::rsqrt(how.operand(a))))
            })),
            _ => None,
        };
        self.with_ftz(run, it)
    }

    /// A function that there is for `f32` alone.
    fn of_f32(&mut self, it: &FloatUnary, run: Option<Handler>) -> Lowered<()> {
        self.with_ftz(run.filter(|_| it.ty == Type::F32), it)
    }

    pub(super) fn ex2(&mut self, it: &FloatUnary) -> Lowered<()> {
        let run = match it.ty {
            Type::F32 => seldom!(approx::ex2),
            ty => halves!(ty, unary(a), |how, H| {
                how.half_result::<H>(approx::ex2_half::<H>(how.half_operand::<H>(a)))
            }),
        };
        self.with_ftz(run, it)
    }

    pub(super) fn tanh(&mut self, it: &FloatUnary) -> Lowered<()> {
        let run = match it.ty {
            Type::F32 => seldom!(approx::tanh),
            ty => halves!(ty, unary(a), |how, H| {
                how.half_result::<H>(approx::tanh_half::<H>(how.half_operand::<H>(a)))
            }),
        };
        self.with_ftz(run, it)
    }

    pub(super) fn testp(&mut self, it: &Testp) -> Lowered<()> {
        macro_rules! tested {
            ($class:ident) => {
                each!(compare it.ty, of floats, |a, _| float::testp(a, Class::$class))
            };
        }
        let run = match it.test {
            FloatTest::Finite => tested!(Finite),
            FloatTest::Infinite => tested!(Infinite),
            FloatTest::Number => tested!(Number),
            FloatTest::NotANumber => tested!(NotANumber),
            FloatTest::Normal => tested!(Normal),
            FloatTest::Subnormal => tested!(Subnormal),
        };
        self.apply(run, (it.p, Type::Pred), &[(it.a, it.ty), (it.a, it.ty)], 0)
    }

    pub(super) fn copysign(&mut self, it: &Binary) -> Lowered<()> {
        let run = each!(binary it.ty, of floats, float::copysign);
        self.same(run, it.ty, it.d, &[it.a, it.b])
    }
}

/// The rounding and `.ftz`.
fn modifiers(precision: Precision, ftz: bool) -> Lowered<Modifiers> {
    let rounding = match precision {
        Precision::Approximate | Precision::Full => Rounding::Nearest,
        Precision::Rounded(named) => rounding(named).ok_or("the rounding")?,
    };
    Ok(Modifiers::rounded(rounding).with(Modifiers::FTZ, ftz))
}
