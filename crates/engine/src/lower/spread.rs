//! The rule of each instruction by which its result is undefined.

use ptx::{Comparison, Half, Operation, Type};

use crate::exec::spread::{Spread, Widths};

/// Returns the rule of an instruction's operations.
pub(super) fn of(operation: &Operation) -> Spread {
    use Operation as O;
    match operation {
        O::Mov(_)
        | O::MovVector(_)
        | O::Unpack(_)
        | O::Not(_)
        | O::Brev(_)
        | O::Shl(_)
        | O::Shr(_)
        | O::Bfe(_)
        | O::Szext(_)
        | O::Cvta(_) => Spread::Bits(1),
        O::And(_) | O::Or(_) | O::Xor(_) | O::Bfi(_) | O::Prmt(_) | O::Shf(_) | O::Pack(_) => {
            Spread::Bits(2)
        }
        O::Lop3(it) if it.p.is_none() => Spread::Bits(3),
        O::Selp(_) | O::Ld(_) | O::St(_) => Spread::Bits(3),
        O::Cvt(it) if is_integer(it.from) && is_integer(it.to) && it.saturation.is_none() => {
            Spread::Bits(1)
        }
        O::Cvt(it) if it.b.is_some() && it.random.is_none() => {
            Spread::Packs(it.to.bits() as u8 / 2)
        }
        O::IntegerAdd(it) | O::IntegerSub(it) if it.saturate => Spread::Whole,
        O::IntegerAdd(it) | O::IntegerSub(it) if !it.carry_in && !it.carry_out => Spread::Sum,
        O::IntegerAdd(_) | O::IntegerSub(_) | O::IntegerNeg(_) => Spread::Carries,
        O::IntegerMul(it) if it.half != Half::Hi => Spread::Carries,
        O::IntegerMad(it) if it.half != Half::Hi => Spread::Carries,
        O::IntegerDiv(_) | O::IntegerRem(_) => Spread::Divides,
        O::Setp(it) if is_equality(it.comparison) && is_integer(it.ty) => Spread::Equality,
        O::Setp(it) if is_integer(it.ty) => Spread::Order(it.ty.bits() as u8),
        O::Cvt(it) if it.random.is_none() => parts(it.from, it.to),
        O::FloatAdd(it) | O::FloatSub(it) | O::FloatMul(it) => parts(it.ty, it.ty),
        O::FloatMin(it) | O::FloatMax(it) => parts(it.ty, it.ty),
        O::FloatAbs(it) | O::FloatNeg(it) | O::Ex2(it) | O::Tanh(it) => parts(it.ty, it.ty),
        O::Fma(it) => parts(it.ty, it.ty),
        O::Shfl(_) => Spread::Shuffle,
        O::Vote(_) | O::Match(_) | O::Redux(_) | O::Elect(_) | O::Movmatrix(_) => Spread::Across,
        _ => Spread::Whole,
    }
}

/// The rule of what is computed of one value in a register, or of each of two.
fn parts(from: Type, to: Type) -> Spread {
    let is_two = |ty: Type| ty.name().ends_with("x2");
    match is_two(from) && is_two(to) {
        true => Spread::Parts(Widths::new(from.bits() / 2, to.bits() / 2)),
        false => Spread::Whole,
    }
}

fn is_equality(comparison: Comparison) -> bool {
    matches!(comparison, Comparison::Eq | Comparison::Ne)
}

fn is_integer(ty: Type) -> bool {
    matches!(
        ty,
        Type::B8
            | Type::B16
            | Type::B32
            | Type::B64
            | Type::U8
            | Type::U16
            | Type::U32
            | Type::U64
            | Type::S8
            | Type::S16
            | Type::S32
            | Type::S64
    )
}
