//! Bits: shifts, fields, counts, permutations and three-input logic.

use super::integer::{Integer, Word};

/// The treatment of an amount that is beyond the width (`.clamp`, `.wrap`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// It counts as the width.
    Clamp,
    /// It counts as its remainder.
    Wrap,
}

impl Excess {
    #[inline(always)]
    fn of_32(self, amount: u32) -> u32 {
        match self {
            Excess::Clamp => amount.min(32),
            Excess::Wrap => amount & 31,
        }
    }
}

/// `n` ones at the bottom; all, from the width on.
#[inline(always)]
fn ones<T: Word>(n: u32) -> T {
    !shl(!T::MIN, n)
}

/// `cnot`: 1 of 0, and 0 of anything else.
#[inline(always)]
pub fn cnot<T: Word>(a: T) -> T {
    T::from(a == T::MIN)
}

/// `shl`; 0 from the width on.
#[inline(always)]
pub fn shl<T: Word>(a: T, amount: u32) -> T {
    if amount < T::BITS {
        a << (amount & (T::BITS - 1))
    } else {
        T::MIN
    }
}

/// `shr`; from the width on 0, or of signed types copies of the sign.
#[inline(always)]
pub fn shr<T: Integer>(a: T, amount: u32) -> T {
    let is_signed = T::MIN < T::from(false);
    if amount < T::BITS {
        a.shift_right(amount)
    } else if is_signed {
        a.shift_right(T::BITS - 1)
    } else {
        T::MIN
    }
}

/// `shf.l`: the upper 32 of the 64 bits `b:a`, shifted left.
#[inline(always)]
pub fn shf_l(a: u32, b: u32, amount: u32, excess: Excess) -> u32 {
    (pair(a, b) << excess.of_32(amount) >> 32) as u32
}

/// `shf.r`: the lower 32 of the 64 bits `b:a`, shifted right.
#[inline(always)]
pub fn shf_r(a: u32, b: u32, amount: u32, excess: Excess) -> u32 {
    (pair(a, b) >> excess.of_32(amount)) as u32
}

#[inline(always)]
fn pair(lower: u32, upper: u32) -> u64 {
    u64::from(upper) << 32 | u64::from(lower)
}

/// `popc`.
#[inline(always)]
pub fn popc<T: Word>(a: T) -> u32 {
    a.count_ones()
}

/// `clz`.
#[inline(always)]
pub fn clz<T: Word>(a: T) -> u32 {
    a.leading_zeros()
}

/// `brev`.
#[inline(always)]
pub fn brev<T: Word>(a: T) -> T {
    a.reverse_bits()
}

/// `bfind`: the place of the highest bit that is not the sign's, or all ones. Unsigned types have the sign 0.
#[inline(always)]
pub fn bfind<T: Integer>(a: T) -> u32 {
    // Without those equal to the sign: zeros if it is 0, ones if it is 1.
    let sign = if a < T::from(false) {
        !T::Unsigned::MIN
    } else {
        T::Unsigned::MIN
    };
    (T::BITS - 1).wrapping_sub((a.to_unsigned() ^ sign).leading_zeros())
}

/// `bfind.shiftamt`: how far to shift left to have that bit on top, or all ones.
#[inline(always)]
pub fn bfind_shiftamt<T: Integer>(a: T) -> u32 {
    match bfind(a) {
        u32::MAX => u32::MAX,
        place => T::BITS - 1 - place,
    }
}

/// `fns`: the place of the `offset`th set bit from `base` on, upwards, or downwards for a negative one;
/// for 0 `base` itself, if set. All ones if there is none, or `base` is above 31.
#[inline]
pub fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    let up = shl(u32::MAX, base);
    let candidates = match offset {
        _ if base > 31 => 0,
        0 => mask & 1 << base,
        1.. => mask & up,
        ..0 => mask & !(up << 1),
    };
    let mut rest = candidates;
    for _ in 1..offset.unsigned_abs().clamp(1, 33) {
        let bit = if offset > 0 {
            rest & rest.wrapping_neg()
        } else {
            shl(1, bfind(rest))
        };
        rest &= !bit;
    }
    if offset < 0 {
        bfind(rest)
    } else {
        bfind(rest & rest.wrapping_neg())
    }
}

/// `bfe`: `length` bits of `a` from `position` on, both taken modulo 256; of signed types extended by the
/// field's highest bit, or the sign where the field goes beyond it.
///
/// `sm_90` does so by registers. ptxas (CUDA 13.0) makes -1 of `bfe.s32` by a number from 32 on as the position, whatever
/// the sign is: a defect that is not repeated here.
#[inline(always)]
pub fn bfe<T: Integer>(a: T, position: u32, length: u32) -> T {
    let [position, length] = [position, length].map(|x| x & 0xff);
    let shifted = shr(a, position).to_unsigned();
    let field = shifted & ones(length);
    let is_negative = shr(
        T::from_unsigned(shl(shifted, T::BITS - length.clamp(1, T::BITS))),
        T::BITS - 1,
    );
    let sign = if T::MIN < T::from(false) && length > 0 {
        is_negative.to_unsigned()
    } else {
        T::Unsigned::MIN
    };
    T::from_unsigned(field | (sign & !ones::<T::Unsigned>(length)))
}

/// `bfi`: `b` with the lowest `length` bits of `a` at `position`, both taken modulo 256.
///
/// `sm_90` does so by registers. Of `bfi.b32` by numbers, the position from 1 to 31, ptxas (CUDA 13.0) takes the length modulo
/// 32: a defect that is not repeated here.
#[inline(always)]
pub fn bfi<T: Word>(a: T, b: T, position: u32, length: u32) -> T {
    let [position, length] = [position, length].map(|x| x & 0xff);
    let field = shl(ones::<T>(length), position);
    (b & !field) | (shl(a, position) & field)
}

/// `szext`: the lowest `n` bits, extended by their highest if the type is `i32` and by 0 if it is `u32`.
#[inline(always)]
pub fn szext<T: Integer<Unsigned = u32>>(a: T, n: u32, excess: Excess) -> T {
    bfe(a, 0, excess.of_32(n))
}

/// `bmsk`: `width` ones from `position` on.
#[inline(always)]
pub fn bmsk(position: u32, width: u32, excess: Excess) -> u32 {
    shl(ones(excess.of_32(width)), excess.of_32(position))
}

/// Which bytes `prmt` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permutation {
    /// Those that the four digits of the selector name; a digit from 8 on stands for copies of the sign.
    Named,
    /// `.f4e`: four from the selector on, upwards.
    Forward4,
    /// `.b4e`: four from the selector on, downwards.
    Backward4,
    /// `.rc8`: one, four times.
    Replicate8,
    /// `.ecl`: not below the selector.
    ClampLeft,
    /// `.ecr`: not above the selector.
    ClampRight,
    /// `.rc16`: two, twice.
    Replicate16,
}

/// `prmt`: four of the eight bytes of `b:a`.
#[inline(always)]
pub fn prmt(a: u32, b: u32, selector: u32, permutation: Permutation) -> u32 {
    let n = selector & 3;
    let byte = |i: u32| {
        let place = match permutation {
            Permutation::Named => selector >> (4 * i) & 15,
            Permutation::Forward4 => n + i,
            Permutation::Backward4 => n.wrapping_sub(i) & 7,
            Permutation::Replicate8 => n,
            Permutation::ClampLeft => n.max(i),
            Permutation::ClampRight => n.min(i),
            Permutation::Replicate16 => (n & 1) << 1 | i & 1,
        };
        let byte = (pair(a, b) >> (8 * (place & 7))) as u8;
        let sign = (byte.cast_signed() >> 7).cast_unsigned();
        u32::from(if place < 8 { byte } else { sign }) << (8 * i)
    };
    byte(0) | byte(1) | byte(2) | byte(3)
}

/// `lop3`: for each bit the bit of `table` at `4a + 2b + c`.
#[inline(always)]
pub fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    let entry = |i: u32| (u32::from(table) >> i & 1).wrapping_neg();
    let choose = |zero: u32, one: u32, by: u32| zero ^ ((zero ^ one) & by);
    let by_c = |i| choose(entry(i), entry(i + 1), c);
    let by_b = |i| choose(by_c(i), by_c(i + 2), b);
    choose(by_b(0), by_b(4), a)
}
