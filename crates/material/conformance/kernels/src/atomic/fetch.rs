//! Every `atomic_fetch_*` and `atomic_compare_and_swap_*` of `cuda_std::atomic::mid`. The orderings
//! take turns.

use cuda_std::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;
use pastey::paste;

use super::{add_by_swapping, operations};

macro_rules! integers {
    ($($name:ident in $memory:ident: $ty:ident $scope:ident;)*) => {paste! {$(
        operations! { $name in $memory: $ty, |cell, operand| [
            [<atomic_fetch_add_ $ty _ $scope>](cell, AcqRel, operand),
            [<atomic_fetch_sub_ $ty _ $scope>](cell, Relaxed, operand),
            [<atomic_fetch_min_ $ty _ $scope>](cell, Acquire, operand),
            [<atomic_fetch_max_ $ty _ $scope>](cell, Release, operand),
            [<atomic_fetch_and_ $ty _ $scope>](cell, SeqCst, operand),
            [<atomic_fetch_or_ $ty _ $scope>](cell, AcqRel, operand),
            [<atomic_fetch_xor_ $ty _ $scope>](cell, Relaxed, operand),
            [<atomic_fetch_exch_ $ty _ $scope>](cell, SeqCst, operand),
            add_by_swapping(0, operand, |a, b| a == b, |current, new| {
                [<atomic_compare_and_swap_ $ty _ $scope>](cell, current, new, AcqRel)
            }),
        ]}
    )*}};
}

macro_rules! floats {
    ($($name:ident in $memory:ident: $ty:ident $scope:ident;)*) => {paste! {$(
        operations! { $name in $memory: $ty, |cell, operand| [
            [<atomic_fetch_add_ $ty _ $scope>](cell, AcqRel, operand),
            [<atomic_fetch_sub_ $ty _ $scope>](cell, Relaxed, operand),
            [<atomic_fetch_and_ $ty _ $scope>](cell, SeqCst, operand),
            [<atomic_fetch_or_ $ty _ $scope>](cell, Acquire, operand),
            [<atomic_fetch_xor_ $ty _ $scope>](cell, Release, operand),
            [<atomic_fetch_exch_ $ty _ $scope>](cell, Relaxed, operand),
            add_by_swapping(0.0, operand, |a, b| a.to_bits() == b.to_bits(), |current, new| {
                [<atomic_compare_and_swap_ $ty _ $scope>](cell, current, new, SeqCst)
            }),
        ]}
    )*}};
}

integers! {
    u32_block in global: u32 block;
    u32_device in global: u32 device;
    u32_system in global: u32 system;
    u32_shared in shared: u32 block;
    i32_block in global: i32 block;
    i32_device in global: i32 device;
    i32_system in global: i32 system;
    i32_shared in shared: i32 block;
    u64_block in global: u64 block;
    u64_device in global: u64 device;
    u64_system in global: u64 system;
    u64_shared in shared: u64 block;
    i64_block in global: i64 block;
    i64_device in global: i64 device;
    i64_system in global: i64 system;
    i64_shared in shared: i64 block;
}

floats! {
    f32_block in global: f32 block;
    f32_device in global: f32 device;
    f32_system in global: f32 system;
    f32_shared in shared: f32 block;
    f64_block in global: f64 block;
    f64_device in global: f64 device;
    f64_system in global: f64 system;
    f64_shared in shared: f64 block;
}

macro_rules! increments {
    ($($name:ident in $memory:ident: $scope:ident $ordering:ident;)*) => {paste! {$(
        operations! { $name in $memory: u32, |cell, limit| [
            [<atomic_fetch_inc_u32_ $scope>](cell, $ordering, limit),
            [<atomic_fetch_dec_u32_ $scope>](cell, $ordering, limit),
        ]}
    )*}};
}

increments! {
    inc_block in global: block AcqRel;
    inc_device in global: device Relaxed;
    inc_system in global: system SeqCst;
    inc_shared in shared: block Acquire;
}

/// Adds a number to `cells[0]`, which lies in global memory, and in shared memory to a copy of
/// `cells[1]`.
///
/// # Safety
/// `cells` has 2 elements, and the launch one thread.
#[kernel]
pub unsafe fn add_once(cells: *mut f32, addend: f32) {
    let shared = shared_array![f32; 1];
    unsafe {
        atomic_fetch_add_f32_device(cells, Relaxed, addend);
        *shared = *cells.add(1);
        atomic_fetch_add_f32_block(shared, Relaxed, addend);
        *cells.add(1) = *shared;
    }
}
