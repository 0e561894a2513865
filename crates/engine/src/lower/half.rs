//! Handlers of arithmetic on `f16` and `bf16`, single and packed.

use ptx::Type;

use super::modifiers::Modifiers;
use crate::arith::half::{self, F16};
use crate::exec::signature::Handler;

/// A handler of a function of halves, which is given the modifiers and the format.
macro_rules! halves {
    ($ty:expr, $shape:ident($($x:ident),*), |$how:ident, $H:ident| $value:expr) => {
        match $ty {
            ptx::Type::F16 => Some(halves!(@one F16, $shape($($x),*), |$how, $H| $value)),
            ptx::Type::Bf16 => Some(halves!(@one Bf16, $shape($($x),*), |$how, $H| $value)),
            ptx::Type::F16x2 => Some(halves!(@two F16, $shape($($x),*), |$how, $H| $value)),
            ptx::Type::Bf16x2 => Some(halves!(@two Bf16, $shape($($x),*), |$how, $H| $value)),
            _ => None,
        }
    };
    (@one $format:ident, $shape:ident($($x:ident),*), |$how:ident, $H:ident| $value:expr) => {
        $crate::lower::handler::handler!(|c, op| {
            type $H = $crate::arith::half::$format;
            let $how = $crate::lower::modifiers::Modifiers::of(op.aux);
            let _ = $how;
            $crate::exec::op::$shape(c, op, |$($x: u16),*| $value)
        })
    };
    (@two $format:ident, $shape:ident($($x:ident),*), |$how:ident, $H:ident| $value:expr) => {
        $crate::lower::handler::handler!(|c, op| {
            type $H = $crate::arith::half::$format;
            let $how = $crate::lower::modifiers::Modifiers::of(op.aux);
            let _ = $how;
            $crate::exec::op::$shape(c, op, |$($x: u32),*| $crate::arith::half::packed([$($x),*], |[$($x),*]| $value))
        })
    };
}
pub(super) use halves;

/// Whether a format has `.ftz` and `.sat`.
fn is_f16(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2)
}

/// Handlers of a function that is rounded, and its form with `.ftz`, for `f16`.
macro_rules! operators {
    ($($name:ident: $shape:ident($($x:ident),*), $ftz:expr;)*) => {$(
        pub(super) fn $name(ty: Type, how: Modifiers) -> Option<Handler> {
            use Modifiers as M;
            match how {
                M::NONE => halves!(ty, $shape($($x),*), |how, H| half::$name::<H>($($x),*)),
                _ if is_f16(ty) && how.only(&[M::FTZ, M::SAT]) => halves!(ty, $shape($($x),*), |how, H| {
                    how.half_bounded::<H>(match how.has(M::FTZ) {
                        true => $ftz($($x),*),
                        false => half::$name::<H>($($x),*),
                    })
                }),
                _ => None,
            }
        }
    )*};
}

operators! {
    add: binary(a, b), |a, b| flush(half::add::<F16>(flush(a), flush(b)));
    sub: binary(a, b), |a, b| flush(half::sub::<F16>(flush(a), flush(b)));
    mul: binary(a, b), half::mul_ftz;
}

#[inline(always)]
fn flush(x: u16) -> u16 {
    half::flush::<F16>(x)
}

pub(super) fn fma(ty: Type, how: Modifiers) -> Option<Handler> {
    use Modifiers as M;
    let is_offered = match is_f16(ty) {
        true => how.only(&[M::FTZ, M::SAT, M::RELU]) || how.only(&[M::OOB, M::RELU]),
        false => how.only(&[M::OOB, M::RELU]),
    };
    match how {
        M::NONE => halves!(ty, ternary(a, b, d), |how, H| half::fma::<H>(a, b, d)),
        _ if is_offered => halves!(ty, ternary(a, b, d), |how, H| {
            let result = how.half_bounded::<H>(match how.has(M::FTZ) {
                true => half::fma_ftz(a, b, d),
                false => half::fma::<H>(a, b, d),
            });
            if how.has(M::OOB) {
                half::or_out_of_bounds(a, b, result)
            } else {
                result
            }
        }),
        _ => None,
    }
}

/// Handlers of the smaller or the larger.
macro_rules! extremes {
    ($($name:ident $or_nan:ident;)*) => {$(
        pub(super) fn $name(ty: Type, how: Modifiers) -> Option<Handler> {
            use Modifiers as M;
            if how == M::NONE {
                return halves!(ty, binary(a, b), |how, H| half::$name::<H>(a, b));
            }
            if how == M::NAN {
                return halves!(ty, binary(a, b), |how, H| half::$or_nan::<H>(a, b));
            }
            if !how.only(&[M::NAN, M::FTZ, M::XORSIGN]) || how.has(M::FTZ) && !is_f16(ty) {
                return None;
            }
            halves!(ty, binary(a, b), |how, H| {
                let function = |a, b| match how.has(M::NAN) {
                    true => half::$or_nan::<H>(a, b),
                    false => half::$name::<H>(a, b),
                };
                let (a, b) = (how.half_operand::<H>(a), how.half_operand::<H>(b));
                how.half_result::<H>(match how.has(M::XORSIGN) {
                    true => half::xorsign_abs::<H>(a, b, function),
                    false => function(a, b),
                })
            })
        }
    )*};
}

extremes! {
    min min_nan;
    max max_nan;
}

pub(super) fn abs(ty: Type, how: Modifiers) -> Option<Handler> {
    if how.has(Modifiers::FTZ) && !is_f16(ty) {
        return None;
    }
    halves!(ty, unary(a), |how, H| how
        .half_result::<H>(half::abs::<H>(a)))
}

pub(super) fn neg(ty: Type, how: Modifiers) -> Option<Handler> {
    if how.has(Modifiers::FTZ) && !is_f16(ty) {
        return None;
    }
    halves!(ty, unary(a), |how, H| how
        .half_result::<H>(half::neg::<H>(a)))
}
