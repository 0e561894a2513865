//! Handlers of arithmetic on `f16` and `bf16`, single and packed.

use ptx::Type;

use super::modifiers::Modifiers;
use crate::arith::half;
use crate::exec::op::Handler;

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

/// Handlers of a function that is rounded.
macro_rules! operators {
    ($($name:ident: $shape:ident($($x:ident),*);)*) => {$(
        pub(super) fn $name(ty: Type, how: Modifiers) -> Option<Handler> {
            use Modifiers as M;
            if how == M::NONE {
                return halves!(ty, $shape($($x),*), |how, H| half::$name::<H>($($x),*));
            }
            if !how.only(&[M::FTZ, M::SAT, M::RELU]) {
                return None;
            }
            halves!(ty, $shape($($x),*), |how, H| {
                how.half_result::<H>(half::$name::<H>($(how.half_operand::<H>($x)),*))
            })
        }
    )*};
}

operators! {
    add: binary(a, b);
    sub: binary(a, b);
    mul: binary(a, b);
    fma: ternary(a, b, d);
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
            if !how.only(&[M::NAN, M::FTZ, M::XORSIGN]) {
                return None;
            }
            halves!(ty, binary(a, b), |how, H| {
                let function = |a, b| match how.has(M::NAN) {
                    true => half::$or_nan::<H>(a, b),
                    false => half::$name::<H>(a, b),
                };
                let (a, b) = (how.half_operand::<H>(a), how.half_operand::<H>(b));
                match how.has(M::XORSIGN) {
                    true => half::xorsign_abs::<H>(a, b, function),
                    false => function(a, b),
                }
            })
        }
    )*};
}

extremes! {
    min min_nan;
    max max_nan;
}

pub(super) fn abs(ty: Type) -> Option<Handler> {
    halves!(ty, unary(a), |how, H| how.half_result::<H>(half::abs::<H>(a)))
}

pub(super) fn neg(ty: Type) -> Option<Handler> {
    halves!(ty, unary(a), |how, H| how.half_result::<H>(half::neg::<H>(a)))
}
