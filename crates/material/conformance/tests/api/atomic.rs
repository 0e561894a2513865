//! `cuda_std::atomic` and `core::sync::atomic`: many threads do the same operations on the same
//! cells, and each says what it saw there.

use std::ops::Range;

use conformance_kernels::atomic::{BLOCK, core_types, fetch, typed};
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::{DeviceValue, LaunchConfig};

use crate::support::{Case, launch, with};

pub(crate) const CASES: &[Case] = &[
    ("atomic::fetch_u32", fetch_u32),
    ("atomic::fetch_i32", fetch_i32),
    ("atomic::fetch_u64", fetch_u64),
    ("atomic::fetch_i64", fetch_i64),
    ("atomic::fetch_f32", fetch_f32),
    ("atomic::fetch_f64", fetch_f64),
    ("atomic::fetch_inc", fetch_inc),
    ("atomic::typed_f32", typed_f32),
    ("atomic::typed_f64", typed_f64),
    ("atomic::core_u32", core_u32),
    ("atomic::core_i32", core_i32),
    ("atomic::core_u64", core_u64),
    ("atomic::subnormals", subnormals),
];

const BLOCKS: usize = 4;

/// An operation on a cell.
struct Operation<T> {
    name: &'static str,
    /// The value of the cell at first.
    start: T,
    /// The operand of the thread of this index.
    operand: fn(u64) -> T,
    /// The value of the cell after it, of the value before and the operand.
    apply: fn(T, T) -> T,
    outcome: Outcome,
}

/// The value that all threads' operations leave.
#[derive(PartialEq)]
enum Outcome {
    /// The same in whatever order they come.
    Same,
    /// That of the last one.
    OfTheLast,
    /// That of the last one; each thread saw not the value before but the one after.
    OfTheLastSeenAfter,
}
use Outcome::{OfTheLast, OfTheLastSeenAfter, Same};

/// A number that looks random, another for each `i`.
fn scattered(i: u64) -> u64 {
    (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// One of the lower bits, never one of the upper 3.
fn bit(i: u64, bits: u32) -> u64 {
    1 << (i % u64::from(bits - 3))
}

trait Value: DeviceValue {
    fn bits(self) -> u64;
}

macro_rules! operation {
    ($name:literal $start:expr, $operand:expr, $apply:expr, $outcome:expr) => {
        Operation {
            name: $name,
            start: $start,
            operand: $operand,
            apply: $apply,
            outcome: $outcome,
        }
    };
}

macro_rules! integers {
    ($($operations:ident: $ty:ident;)*) => {$(
        impl Value for $ty {
            fn bits(self) -> u64 {
                self as u64
            }
        }

        /// In the order of the kernels.
        fn $operations() -> [Operation<$ty>; 9] {
            let small = |i| i as $ty + 1;
            let any = |i| scattered(i) as $ty;
            let one = |i| bit(i, $ty::BITS) as $ty;
            let others = |i| !(bit(i, $ty::BITS) as $ty);
            [
                operation!("add" 5, small, $ty::wrapping_add, Same),
                operation!("sub" 5, small, $ty::wrapping_sub, Same),
                operation!("min" $ty::MAX, any, Ord::min, Same),
                operation!("max" $ty::MIN, any, Ord::max, Same),
                operation!("and" !0, others, |a, b| a & b, Same),
                operation!("or" 0, one, |a, b| a | b, Same),
                operation!("xor" 9, any, |a, b| a ^ b, Same),
                operation!("exch" 9, any, |_, b| b, OfTheLast),
                operation!("compare_and_swap" 5, small, $ty::wrapping_add, Same),
            ]
        }
    )*};
}

integers! {
    operations_u32: u32;
    operations_i32: i32;
    operations_u64: u64;
    operations_i64: i64;
}

fn operations_inc() -> [Operation<u32>; 2] {
    // The limit is the same for all, so that the order does not count.
    let limit = |_| 6;
    let next = |value, limit| if value >= limit { 0 } else { value + 1 };
    let previous = |value, limit| match value {
        1.. if value <= limit => value - 1,
        _ => limit,
    };
    [
        operation!("inc" 1000, limit, next, Same),
        operation!("dec" 1000, limit, previous, Same),
    ]
}

macro_rules! floats {
    ($($operations:ident $typed_operations:ident: $ty:ident $bits:ident;)*) => {$(
        impl Value for $ty {
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
        }

        /// In the order of the kernels. Sums of small whole numbers have no rounding error.
        fn $operations() -> [Operation<$ty>; 7] {
            let [add, sub, and, or, xor, _] = $typed_operations();
            let small = |i| (i + 1) as $ty;
            let any = |i| $ty::from_bits(scattered(i) as $bits);
            let exch = operation!("exch" 9.0, any, |_, b| b, OfTheLast);
            let swap = operation!("compare_and_swap" 5.0, small, |a, b| a + b, Same);
            [add, sub, and, or, xor, exch, swap]
        }

        fn $typed_operations() -> [Operation<$ty>; 6] {
            let small = |i| (i + 1) as $ty;
            let any = |i| $ty::from_bits(scattered(i) as $bits);
            let one = |i| $ty::from_bits(bit(i, $bits::BITS) as $bits);
            let others = |i| $ty::from_bits(!(bit(i, $bits::BITS) as $bits));
            let all = $ty::from_bits(!0);
            [
                operation!("add" 5.0, small, |a, b| a + b, Same),
                operation!("sub" 5.0, small, |a, b| a - b, Same),
                operation!("and" all, others, |a, b| $ty::from_bits(a.to_bits() & b.to_bits()), Same),
                operation!("or" 0.0, one, |a, b| $ty::from_bits(a.to_bits() | b.to_bits()), Same),
                operation!("xor" 9.0, any, |a, b| $ty::from_bits(a.to_bits() ^ b.to_bits()), Same),
                operation!("store and load" 9.0, any, |_, b| b, OfTheLastSeenAfter),
            ]
        }
    )*};
}

floats! {
    operations_f32 typed_operations_f32: f32 u32;
    operations_f64 typed_operations_f64: f64 u64;
}

/// Runs kernels that do the same operations on cells of different scope or memory: those in global
/// memory on one row of cells for all blocks or on 4, one for each.
macro_rules! cases {
    ($($case:ident: $operations:ident, [$($rows:literal $kernel:path),*], [$($shared:path),*];)*) => {$(
        fn $case(device: &Device) -> Result<(), Failed> {
            let operations = $operations();
            let operands: Vec<_> = (0..(BLOCKS * BLOCK) as u64)
                .map(|i| operations.each_ref().map(|operation| (operation.operand)(i)))
                .collect();
            let input = device.buffer_from(&operands)?;
            let start = operations.each_ref().map(|operation| operation.start);
            let shape = LaunchConfig::blocks(BLOCKS as u64, BLOCK as u32);
            $({
                use $kernel as kernel;
                let mut cells = device.buffer_filled($rows, start)?;
                let mut seen = device.buffer_filled(operands.len(), start)?;
                let (cell, saw) = (cells.slice_mut(..), seen.slice_mut(..));
                launch!(device, kernel::entry(), shape, cell, input.slice(..), saw, ($rows / BLOCKS) as u32);
                check(&operations, &operands, &seen.to_vec()?, &cells.to_vec()?)
                    .map_err(|failure| with(failure, stringify!($kernel)))?;
            })*
            $({
                use $shared as kernel;
                let mut cells = device.buffer_filled(BLOCKS, start)?;
                let mut seen = device.buffer_filled(operands.len(), start)?;
                let (cell, saw) = (cells.slice_mut(..), seen.slice_mut(..));
                launch!(device, kernel::entry(), shape, cell, input.slice(..), saw);
                check(&operations, &operands, &seen.to_vec()?, &cells.to_vec()?)
                    .map_err(|failure| with(failure, stringify!($shared)))?;
            })*
            Ok(())
        }
    )*};
}

cases! {
    fetch_u32: operations_u32,
        [4 fetch::u32_block, 1 fetch::u32_device, 1 fetch::u32_system], [fetch::u32_shared];
    fetch_i32: operations_i32,
        [4 fetch::i32_block, 1 fetch::i32_device, 1 fetch::i32_system], [fetch::i32_shared];
    fetch_u64: operations_u64,
        [4 fetch::u64_block, 1 fetch::u64_device, 1 fetch::u64_system], [fetch::u64_shared];
    fetch_i64: operations_i64,
        [4 fetch::i64_block, 1 fetch::i64_device, 1 fetch::i64_system], [fetch::i64_shared];
    fetch_f32: operations_f32,
        [4 fetch::f32_block, 1 fetch::f32_device, 1 fetch::f32_system], [fetch::f32_shared];
    fetch_f64: operations_f64,
        [4 fetch::f64_block, 1 fetch::f64_device, 1 fetch::f64_system], [fetch::f64_shared];
    fetch_inc: operations_inc,
        [4 fetch::inc_block, 1 fetch::inc_device, 1 fetch::inc_system], [fetch::inc_shared];
    typed_f32: typed_operations_f32,
        [4 typed::typed_f32_block, 1 typed::typed_f32, 1 typed::typed_f32_system], [];
    typed_f64: typed_operations_f64,
        [4 typed::typed_f64_block, 1 typed::typed_f64, 1 typed::typed_f64_system], [];
    core_u32: operations_u32, [1 core_types::core_u32], [core_types::core_u32_shared];
    core_i32: operations_i32, [1 core_types::core_i32], [core_types::core_i32_shared];
    core_u64: operations_u64, [1 core_types::core_u64], [core_types::core_u64_shared];
}

/// Checks each cell of each row, which as many threads share as there are for a row.
fn check<T: Value, const N: usize>(
    operations: &[Operation<T>; N],
    operands: &[[T; N]],
    seen: &[[T; N]],
    ends: &[[T; N]],
) -> Result<(), Failed> {
    let threads = operands.len() / ends.len();
    for (row, end) in ends.iter().enumerate() {
        let of_row: Range<usize> = row * threads..(row + 1) * threads;
        for (cell, operation) in operations.iter().enumerate() {
            let column = |values: &[[T; N]]| -> Vec<T> {
                values[of_row.clone()]
                    .iter()
                    .map(|of_thread| of_thread[cell])
                    .collect()
            };
            check_cell(operation, &column(operands), &column(seen), end[cell])
                .map_err(|failure| with(failure, &format!("row {row}, {}", operation.name)))?;
        }
    }
    Ok(())
}

/// No operation is lost and none sees a value twice: what was there at first and what each thread
/// left are what each thread saw and what is there in the end.
fn check_cell<T: Value>(
    operation: &Operation<T>,
    operands: &[T],
    seen: &[T],
    end: T,
) -> Result<(), Failed> {
    if operation.outcome == OfTheLastSeenAfter {
        let stored = |value: &T| {
            operands
                .iter()
                .any(|operand| operand.bits() == value.bits())
        };
        return match seen.iter().chain([&end]).find(|value| !stored(value)) {
            Some(value) => Err(format!("{:#x} was never stored", value.bits()).into()),
            None => Ok(()),
        };
    }
    let start = operation.start;
    let left = operands
        .iter()
        .zip(seen)
        .map(|(&operand, &seen)| (operation.apply)(seen, operand));
    let left = sorted([start].into_iter().chain(left));
    let found = sorted(seen.iter().copied().chain([end]));
    equal(&found, &left)?;
    if operation.outcome == Same {
        let expected = operands.iter().copied().fold(start, operation.apply);
        equal(&[end.bits()], &[expected.bits()])?;
    }
    Ok(())
}

fn sorted<T: Value>(values: impl Iterator<Item = T>) -> Vec<u64> {
    let mut bits: Vec<u64> = values.map(Value::bits).collect();
    bits.sort_unstable();
    bits
}

/// The GPU's addition to `f32` in global memory takes subnormal numbers as zeros.
fn subnormals(device: &Device) -> Result<(), Failed> {
    const TINY: f32 = 1e-40;
    let mut cells = device.buffer_from(&[TINY; 2])?;
    let shape = LaunchConfig::blocks(1, 1);
    launch!(
        device,
        fetch::add_once::entry(),
        shape,
        cells.slice_mut(..),
        TINY
    );
    equal(&cells.to_vec()?, &[0.0, 2.0 * TINY])
}
