//! The operators of `atom` and `red` on the value in memory and an operand, and of `redux` on the lanes' values.
//!
//! `add`, `min`, `max`, `and`, `or` and `xor` are the arithmetic instructions of the type
//! ([`integer`](super::integer), [`half`](super::half)); `.exch` is its operand. The `.add` of floats rounds to the
//! nearest; in global memory that of `f32` flushes subnormal operands and results, in shared memory it does
//! not; those of `f64`, `f16` and `bf16` never do.

use super::float::{self, Rounding};
use super::integer::Word;

/// `.inc`: one more, or 0 from the operand on.
#[inline(always)]
pub fn inc(old: u32, operand: u32) -> u32 {
    if old >= operand { 0 } else { old + 1 }
}

/// `.dec`: one less, or the operand below 0 and from beyond the operand.
#[inline(always)]
pub fn dec(old: u32, operand: u32) -> u32 {
    if old == 0 || old > operand {
        operand
    } else {
        old - 1
    }
}

/// `.cas`: the new value, if the old one is as expected.
#[inline(always)]
pub fn cas<T: Word>(old: T, expected: T, new: T) -> T {
    if old == expected { new } else { old }
}

/// `atom.global.add.f32`.
#[inline(always)]
pub fn add_f32_global(old: f32, operand: f32) -> f32 {
    let [old, operand] = [old, operand].map(float::flush);
    float::flush(float::add(old, operand, Rounding::Nearest))
}

/// `atom.shared.add.f32`.
#[inline(always)]
pub fn add_f32_shared(old: f32, operand: f32) -> f32 {
    float::add(old, operand, Rounding::Nearest)
}

/// `atom.add.f64`, which keeps NaN as it is, the operand's if both are.
#[inline(always)]
pub fn add_f64(old: f64, operand: f64) -> f64 {
    let old_or_sum = if old.is_nan() {
        old
    } else {
        float::add(old, operand, Rounding::Nearest)
    };
    if operand.is_nan() {
        operand
    } else {
        old_or_sum
    }
}

/// `redux` of integers: the values of the lanes that take part, by `add`, `min`, `max`, `and`, `or` or `xor`.
#[inline]
pub fn redux<T>(values: impl Iterator<Item = T>, function: impl Fn(T, T) -> T) -> Option<T> {
    values.reduce(function)
}

/// `redux` of `f32`, by one of [`float::min`], [`float::max`], [`float::min_nan`] and [`float::max_nan`]; the values are
/// magnitudes for `.abs`.
#[inline]
pub fn redux_f32(
    values: impl Iterator<Item = f32>,
    function: impl Fn(f32, f32) -> f32,
) -> Option<f32> {
    redux(values, function).map(float::canonical)
}
