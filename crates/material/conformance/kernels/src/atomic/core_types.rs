//! `core::sync::atomic`, relaxed: its operations have a meaning on the GPU too.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};

use cuda_std::prelude::*;

use super::{add_by_swapping, operations};

macro_rules! core_types {
    ($($name:ident in $memory:ident: $ty:ident $atomic:ident;)*) => {$(
        operations! { $name in $memory: $ty, |cell, operand| [
            $atomic::from_ptr(cell).fetch_add(operand, Relaxed),
            $atomic::from_ptr(cell).fetch_sub(operand, Relaxed),
            $atomic::from_ptr(cell).fetch_min(operand, Relaxed),
            $atomic::from_ptr(cell).fetch_max(operand, Relaxed),
            $atomic::from_ptr(cell).fetch_and(operand, Relaxed),
            $atomic::from_ptr(cell).fetch_or(operand, Relaxed),
            $atomic::from_ptr(cell).fetch_xor(operand, Relaxed),
            $atomic::from_ptr(cell).swap(operand, Relaxed),
            add_by_swapping(
                $atomic::from_ptr(cell).load(Relaxed),
                operand,
                |a, b| a == b,
                |current, new| {
                    $atomic::from_ptr(cell)
                        .compare_exchange(current, new, Relaxed, Relaxed)
                        .unwrap_or_else(|found| found)
                },
            ),
        ]}
    )*};
}

core_types! {
    core_u32 in global: u32 AtomicU32;
    core_u32_shared in shared: u32 AtomicU32;
    core_i32 in global: i32 AtomicI32;
    core_i32_shared in shared: i32 AtomicI32;
    core_u64 in global: u64 AtomicU64;
    core_u64_shared in shared: u64 AtomicU64;
}
