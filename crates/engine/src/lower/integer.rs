//! Arithmetic on integers.

use ptx::{
    Binary, DotProduct, Half, IntegerMad, IntegerMinMax, IntegerMul, IntegerSum, Mad24, Mul24,
    Ternary, Type, Unary,
};

use super::handler::{each, handler};
use super::{Lowered, Lowering};
use crate::arith::integer;
use crate::exec::op::{binary, ternary};
use crate::exec::signature::Handler;

/// A handler of a function on both halves of packed integers.
macro_rules! packed {
    ($T:ty, $f:expr) => {
        Some(handler!(|c, op| binary(c, op, |a: u32, b: u32| {
            integer::packed::<$T>(a, b, $f)
        })))
    };
}

impl Lowering<'_> {
    pub(super) fn sad(&mut self, it: &Ternary) -> Lowered<()> {
        let run = each!(ternary it.ty, of integers, integer::sad);
        self.same(run, it.ty, it.d, &[it.a, it.b, it.c])
    }

    pub(super) fn integer_div(&mut self, it: &Binary) -> Lowered<()> {
        let run = each!(binary it.ty, of integers, integer::div);
        self.same(run, it.ty, it.d, &[it.a, it.b])
    }

    pub(super) fn integer_rem(&mut self, it: &Binary) -> Lowered<()> {
        let run = each!(binary it.ty, of integers, integer::rem);
        self.same(run, it.ty, it.d, &[it.a, it.b])
    }

    pub(super) fn integer_abs(&mut self, it: &Unary) -> Lowered<()> {
        let run = each!(unary it.ty, of signed, integer::abs);
        self.same(run, it.ty, it.d, &[it.a])
    }

    pub(super) fn integer_neg(&mut self, it: &Unary) -> Lowered<()> {
        let run = each!(unary it.ty, of words, integer::neg);
        self.same(run, it.ty, it.d, &[it.a])
    }

    pub(super) fn dp4a(&mut self, it: &DotProduct) -> Lowered<()> {
        self.same(dp4a(it), Type::B32, it.d, &[it.a, it.b, it.c])
    }

    pub(super) fn dp2a(&mut self, it: &DotProduct) -> Lowered<()> {
        self.same(dp2a(it), Type::B32, it.d, &[it.a, it.b, it.c])
    }

    pub(super) fn integer_add(&mut self, it: &IntegerSum) -> Lowered<()> {
        if it.carry_in || it.carry_out {
            return self.add_with_carry(it);
        }
        let run = match (it.ty, it.saturate) {
            (Type::S32, true) => Some(handler!(|c, op| binary(c, op, integer::add_sat::<i32>))),
            (_, true) => None,
            (Type::U16x2 | Type::S16x2, false) => packed!(u16, integer::add),
            (ty, false) => each!(binary ty, of words, integer::add),
        };
        self.same(run, it.ty, it.d, &[it.a, it.b])
    }

    pub(super) fn integer_sub(&mut self, it: &IntegerSum) -> Lowered<()> {
        if it.carry_in || it.carry_out {
            return self.sub_with_carry(it);
        }
        let run = match (it.ty, it.saturate) {
            (Type::S32, true) => Some(handler!(|c, op| binary(c, op, integer::sub_sat::<i32>))),
            (_, true) => None,
            (Type::U16x2 | Type::S16x2, false) => packed!(u16, integer::sub),
            (ty, false) => each!(binary ty, of words, integer::sub),
        };
        self.same(run, it.ty, it.d, &[it.a, it.b])
    }

    pub(super) fn integer_mul(&mut self, it: &IntegerMul) -> Lowered<()> {
        let run = match (it.half, it.ty) {
            (Half::Lo, ty) => each!(binary ty, of words, integer::mul_lo),
            (Half::Hi, ty) => each!(binary ty, of integers, integer::mul_hi),
            (Half::Wide, Type::U16) => {
                Some(handler!(|c, op| binary(c, op, integer::mul_wide::<u16>)))
            }
            (Half::Wide, Type::S16) => {
                Some(handler!(|c, op| binary(c, op, integer::mul_wide::<i16>)))
            }
            (Half::Wide, Type::U32) => {
                Some(handler!(|c, op| binary(c, op, integer::mul_wide::<u32>)))
            }
            (Half::Wide, Type::S32) => {
                Some(handler!(|c, op| binary(c, op, integer::mul_wide::<i32>)))
            }
            (Half::Wide, _) => None,
        };
        let d = product(it.ty, it.half);
        self.apply(run, (it.d, d), &[(it.a, it.ty), (it.b, it.ty)], 0)
    }

    pub(super) fn integer_mad(&mut self, it: &IntegerMad) -> Lowered<()> {
        if it.carry_in || it.carry_out {
            return self.mad_with_carry(it);
        }
        let run = match (it.half, it.ty, it.saturate) {
            (Half::Hi, Type::S32, true) => {
                Some(handler!(|c, op| ternary(c, op, integer::mad_hi_sat::<i32>)))
            }
            (_, _, true) => None,
            (Half::Lo, ty, _) => each!(ternary ty, of words, integer::mad_lo),
            (Half::Hi, ty, _) => each!(ternary ty, of integers, integer::mad_hi),
            (Half::Wide, Type::U16, _) => {
                Some(handler!(|c, op| ternary(c, op, integer::mad_wide::<u16>)))
            }
            (Half::Wide, Type::S16, _) => {
                Some(handler!(|c, op| ternary(c, op, integer::mad_wide::<i16>)))
            }
            (Half::Wide, Type::U32, _) => {
                Some(handler!(|c, op| ternary(c, op, integer::mad_wide::<u32>)))
            }
            (Half::Wide, Type::S32, _) => {
                Some(handler!(|c, op| ternary(c, op, integer::mad_wide::<i32>)))
            }
            (Half::Wide, ..) => None,
        };
        let d = product(it.ty, it.half);
        self.apply(
            run,
            (it.d, d),
            &[(it.a, it.ty), (it.b, it.ty), (it.c, d)],
            0,
        )
    }

    pub(super) fn mul24(&mut self, it: &Mul24) -> Lowered<()> {
        let run = match (it.half, it.ty) {
            (Half::Lo, Type::U32) => handler!(|c, op| binary(c, op, integer::mul24_lo::<u32>)),
            (Half::Lo, Type::S32) => handler!(|c, op| binary(c, op, integer::mul24_lo::<i32>)),
            (Half::Hi, Type::U32) => handler!(|c, op| binary(c, op, integer::mul24_hi::<u32>)),
            (Half::Hi, Type::S32) => handler!(|c, op| binary(c, op, integer::mul24_hi::<i32>)),
            _ => return Err("the type".to_owned()),
        };
        self.same(Some(run), it.ty, it.d, &[it.a, it.b])
    }

    pub(super) fn mad24(&mut self, it: &Mad24) -> Lowered<()> {
        let run = match (it.half, it.ty, it.saturate) {
            (Half::Lo, Type::U32, false) => {
                handler!(|c, op| ternary(c, op, integer::mad24_lo::<u32>))
            }
            (Half::Lo, Type::S32, false) => {
                handler!(|c, op| ternary(c, op, integer::mad24_lo::<i32>))
            }
            (Half::Hi, Type::U32, false) => {
                handler!(|c, op| ternary(c, op, integer::mad24_hi::<u32>))
            }
            (Half::Hi, Type::S32, false) => {
                handler!(|c, op| ternary(c, op, integer::mad24_hi::<i32>))
            }
            (Half::Hi, Type::S32, true) => {
                handler!(|c, op| ternary(c, op, integer::mad24_hi_sat::<i32>))
            }
            _ => return Err("the type or `.sat`".to_owned()),
        };
        self.same(Some(run), it.ty, it.d, &[it.a, it.b, it.c])
    }

    pub(super) fn integer_min(&mut self, it: &IntegerMinMax) -> Lowered<()> {
        let run = match (it.ty, it.relu) {
            (Type::U16x2, false) => packed!(u16, integer::min),
            (Type::S16x2, false) => packed!(i16, integer::min),
            (Type::S16x2, true) => packed!(i16, |a, b| integer::relu(integer::min(a, b))),
            (Type::S32, true) => Some(handler!(|c, op| binary(c, op, |a: i32, b: i32| {
                integer::relu(integer::min(a, b))
            }))),
            (_, true) => None,
            (ty, false) => each!(binary ty, of integers, integer::min),
        };
        self.same(run, it.ty, it.d, &[it.a, it.b])
    }

    pub(super) fn integer_max(&mut self, it: &IntegerMinMax) -> Lowered<()> {
        let run = match (it.ty, it.relu) {
            (Type::U16x2, false) => packed!(u16, integer::max),
            (Type::S16x2, false) => packed!(i16, integer::max),
            (Type::S16x2, true) => packed!(i16, |a, b| integer::relu(integer::max(a, b))),
            (Type::S32, true) => Some(handler!(|c, op| binary(c, op, |a: i32, b: i32| {
                integer::relu(integer::max(a, b))
            }))),
            (_, true) => None,
            (ty, false) => each!(binary ty, of integers, integer::max),
        };
        self.same(run, it.ty, it.d, &[it.a, it.b])
    }
}

/// The type of a product.
fn product(ty: Type, half: Half) -> Type {
    match (half, ty) {
        (Half::Wide, Type::U16 | Type::S16) => Type::B32,
        (Half::Wide, _) => Type::B64,
        _ => ty,
    }
}

fn dp4a(it: &DotProduct) -> Option<Handler> {
    use integer::dp4a;
    Some(match (it.a_type, it.b_type) {
        (Type::U32, Type::U32) => handler!(|c, op| ternary(c, op, dp4a::<u8, u8>)),
        (Type::U32, Type::S32) => handler!(|c, op| ternary(c, op, dp4a::<u8, i8>)),
        (Type::S32, Type::U32) => handler!(|c, op| ternary(c, op, dp4a::<i8, u8>)),
        (Type::S32, Type::S32) => handler!(|c, op| ternary(c, op, dp4a::<i8, i8>)),
        _ => return None,
    })
}

fn dp2a(it: &DotProduct) -> Option<Handler> {
    use integer::{dp2a_hi, dp2a_lo};
    Some(match (it.half, it.a_type, it.b_type) {
        (Half::Lo, Type::U32, Type::U32) => handler!(|c, op| ternary(c, op, dp2a_lo::<u16, u8>)),
        (Half::Lo, Type::U32, Type::S32) => handler!(|c, op| ternary(c, op, dp2a_lo::<u16, i8>)),
        (Half::Lo, Type::S32, Type::U32) => handler!(|c, op| ternary(c, op, dp2a_lo::<i16, u8>)),
        (Half::Lo, Type::S32, Type::S32) => handler!(|c, op| ternary(c, op, dp2a_lo::<i16, i8>)),
        (Half::Hi, Type::U32, Type::U32) => handler!(|c, op| ternary(c, op, dp2a_hi::<u16, u8>)),
        (Half::Hi, Type::U32, Type::S32) => handler!(|c, op| ternary(c, op, dp2a_hi::<u16, i8>)),
        (Half::Hi, Type::S32, Type::U32) => handler!(|c, op| ternary(c, op, dp2a_hi::<i16, u8>)),
        (Half::Hi, Type::S32, Type::S32) => handler!(|c, op| ternary(c, op, dp2a_hi::<i16, i8>)),
        _ => return None,
    })
}
