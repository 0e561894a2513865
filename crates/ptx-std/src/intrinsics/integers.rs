//! Arithmetic of integers.

use crate::intrinsics::intrinsics;

intrinsics! {
    /// The magnitude; of the least number that number.
    abs(x: i32) -> i32 = x.wrapping_abs();
    /// The magnitude; of the least number that number.
    llabs(x: i64) -> i64 = x.wrapping_abs();

    /// The greater number.
    max(x: i32, y: i32) -> i32 = x.max(y);
    /// The lesser number.
    min(x: i32, y: i32) -> i32 = x.min(y);
    /// The greater number.
    llmax(x: i64, y: i64) -> i64 = x.max(y);
    /// The lesser number.
    llmin(x: i64, y: i64) -> i64 = x.min(y);
    /// The greater number, of unsigned ones.
    umax(x: i32, y: i32) -> i32 = x.cast_unsigned().max(y.cast_unsigned()).cast_signed();
    /// The lesser number, of unsigned ones.
    umin(x: i32, y: i32) -> i32 = x.cast_unsigned().min(y.cast_unsigned()).cast_signed();
    /// The greater number, of unsigned ones.
    ullmax(x: i64, y: i64) -> i64 = x.cast_unsigned().max(y.cast_unsigned()).cast_signed();
    /// The lesser number, of unsigned ones.
    ullmin(x: i64, y: i64) -> i64 = x.cast_unsigned().min(y.cast_unsigned()).cast_signed();

    /// The upper 32 bits of the product.
    mulhi(x: i32, y: i32) -> i32 = ((i64::from(x) * i64::from(y)) >> 32) as i32;
    /// The upper 32 bits of the product of unsigned numbers.
    umulhi(x: i32, y: i32) -> i32 =
        ((u64::from(x.cast_unsigned()) * u64::from(y.cast_unsigned())) >> 32) as i32;
    /// The upper 64 bits of the product.
    mul64hi(x: i64, y: i64) -> i64 = ((i128::from(x) * i128::from(y)) >> 64) as i64;
    /// The upper 64 bits of the product of unsigned numbers.
    umul64hi(x: i64, y: i64) -> i64 =
        ((u128::from(x.cast_unsigned()) * u128::from(y.cast_unsigned())) >> 64) as i64;
    /// The lower 32 bits of the product of the lower 24 bits, which have a sign.
    mul24(x: i32, y: i32) -> i32 = (x << 8 >> 8).wrapping_mul(y << 8 >> 8);
    /// The lower 32 bits of the product of the lower 24 bits.
    umul24(x: i32, y: i32) -> i32 = (x & 0xff_ffff).wrapping_mul(y & 0xff_ffff);

    /// `|x - y| + z`, of which `z` is unsigned.
    sad(x: i32, y: i32, z: i32) -> i32 = x.abs_diff(y).cast_signed().wrapping_add(z);
    /// `|x - y| + z` of unsigned numbers.
    usad(x: i32, y: i32, z: i32) -> i32 =
        x.cast_unsigned().abs_diff(y.cast_unsigned()).cast_signed().wrapping_add(z);
    /// The mean, rounded down.
    hadd(x: i32, y: i32) -> i32 = ((i64::from(x) + i64::from(y)) >> 1) as i32;
    /// The mean, rounded up.
    rhadd(x: i32, y: i32) -> i32 = ((i64::from(x) + i64::from(y) + 1) >> 1) as i32;
    /// The mean of unsigned numbers, rounded down.
    uhadd(x: i32, y: i32) -> i32 =
        ((u64::from(x.cast_unsigned()) + u64::from(y.cast_unsigned())) >> 1) as i32;
    /// The mean of unsigned numbers, rounded up.
    urhadd(x: i32, y: i32) -> i32 =
        ((u64::from(x.cast_unsigned()) + u64::from(y.cast_unsigned()) + 1) >> 1) as i32;
}
