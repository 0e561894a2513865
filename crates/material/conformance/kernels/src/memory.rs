//! `cuda_std::shared`, `constant`, `mem`, `vector`.

use core::mem::MaybeUninit;

use alloc::boxed::Box;
use cuda_std::mem;
use cuda_std::prelude::*;

use crate::put;

/// Threads per block of these kernels.
pub const BLOCK: usize = 64;

macro_rules! round_trips {
    ($($name:ident: $ty:ty;)*) => {$(
        /// Turns a block's values around through shared memory.
        ///
        /// # Safety
        /// `values` has one element per thread.
        #[kernel(block = [BLOCK])]
        pub unsafe fn $name(values: *mut $ty) {
            unsafe { turn(values) };
        }
    )*};
}

round_trips! {
    turn_1: u8;
    turn_2: u16;
    turn_4: u32;
    turn_8: u64;
    turn_12: [u32; 3];
    turn_16: [u64; 2];
}

unsafe fn turn<T: Copy>(values: *mut T) {
    let turned = shared_array![T; BLOCK];
    let own = thread::thread_idx_x() as usize;
    let element = thread::index_1d() as usize;
    unsafe {
        *turned.add(BLOCK - 1 - own) = *values.add(element);
        thread::sync_threads();
        *values.add(element) = *turned.add(own);
    }
}

/// Two arrays of one generic function, of types of the same size, alive at the same time.
///
/// # Safety
/// `out` has room for 2 words per thread.
#[kernel(block = [BLOCK])]
pub unsafe fn generic_arrays(out: *mut u64) {
    let own = thread::thread_idx_x() as usize;
    let numbers = scratch::<u32>();
    let floats = scratch::<f32>();
    unsafe {
        *numbers.add(own) = own as u32;
        *floats.add(own) = -(own as f32);
        thread::sync_threads();
        let other = BLOCK - 1 - own;
        put(
            out,
            [
                (*numbers.add(other)).into(),
                (*floats.add(other)).to_bits().into(),
            ],
        );
    }
}

#[inline(always)]
fn scratch<T>() -> *mut T {
    shared_array![T; BLOCK]
}

/// A loop with a constant count, which is unrolled: its array stays one.
///
/// # Safety
/// `out` has room for one word per thread.
#[kernel(block = [BLOCK])]
pub unsafe fn unrolled(out: *mut u64) {
    let own = thread::thread_idx_x() as usize;
    let mut sum = 0;
    for round in 0..4 {
        let seen = shared_array![u32; BLOCK];
        if round == 0 {
            unsafe { *seen.add(own) = own as u32 };
        }
        thread::sync_threads();
        sum += unsafe { *seen.add((own + round) % BLOCK) };
    }
    unsafe { put(out, [sum.into()]) };
}

#[address_space(shared)]
static mut REVERSED: [MaybeUninit<u32>; BLOCK] = [const { MaybeUninit::uninit() }; BLOCK];

#[address_space(constant)]
static TABLE: [u32; 8] = [3, 1, 4, 1, 5, 9, 2, 6];

#[address_space(global)]
static PRIMES: [u32; 8] = [2, 3, 5, 7, 11, 13, 17, 19];

/// Statics in all address spaces.
///
/// # Safety
/// `out` has room for 3 words per thread.
#[kernel(block = [BLOCK])]
pub unsafe fn statics(out: *mut u64) {
    let own = thread::thread_idx_x() as usize;
    unsafe {
        REVERSED[BLOCK - 1 - own].write(own as u32 * 3);
        thread::sync_threads();
        put(
            out,
            [
                REVERSED[own].assume_init().into(),
                TABLE[own % 8].into(),
                PRIMES[own % 8].into(),
            ],
        );
    }
}

/// Dynamic shared memory, and how much of it there is.
///
/// # Safety
/// `out` has room for 3 words per thread, and the launch gives 4 bytes per thread.
#[kernel]
pub unsafe fn dynamic(out: *mut u64) {
    let seen = shared::dynamic_shared_mem::<u32>();
    let (own, size) = (
        thread::thread_idx_x() as usize,
        thread::block_dim_x() as usize,
    );
    unsafe {
        *seen.add(own) = own as u32 + 7;
        thread::sync_threads();
        let enough = mem::total_smem_size() >= mem::dynamic_smem_size();
        put(
            out,
            [
                (*seen.add(size - 1 - own)).into(),
                mem::dynamic_smem_size().into(),
                enough.into(),
            ],
        );
    }
}

/// Parts of dynamic shared memory.
///
/// # Safety
/// `out` has room for 3 words a thread, and the launch gives 9 bytes a thread and 7 more.
#[kernel]
pub unsafe fn parts(out: *mut u64) {
    let (own, size) = (
        thread::thread_idx_x() as usize,
        thread::block_dim_x() as usize,
    );
    let mut shared = shared::DynamicShared::new();
    let (bytes, words): (*mut u8, *mut u64) = (shared.take(size), shared.take(size));
    unsafe {
        *bytes.add(own) = own as u8;
        *words.add(own) = own as u64 * 3;
        thread::sync_threads();
        let other = size - 1 - own;
        let distance = words.addr() - bytes.addr();
        put(
            out,
            [
                (*bytes.add(other)).into(),
                *words.add(other),
                distance as u64,
            ],
        );
    }
}

/// Turns each `N` elements around: one load, one store.
///
/// # Safety
/// Both have `N` elements per thread and the alignment that `vector` asks for.
#[kernel(instances(
    vectors_3<u16, 3>,
    vectors_8<f32, 2>,
    vectors_16<f32, 4>,
    vectors_32<f64, 4>,
))]
pub unsafe fn vectors<T: Copy + Sync + 'static, const N: usize>(from: *const T, to: *mut T) {
    let first = thread::global_index() * N;
    unsafe {
        let mut values: [T; N] = vector::load(from.add(first));
        values.reverse();
        vector::store(to.add(first), values);
    }
}

/// Copies 16 bytes per thread.
///
/// # Safety
/// Both have 8 elements per thread and are aligned to 16 bytes.
#[kernel]
pub unsafe fn vector_copy(from: *const u16, to: *mut u16) {
    let first = thread::global_index() * 8;
    unsafe { vector::copy::<u16, 8>(from.add(first), to.add(first)) };
}

/// Copies 3 times 16 bytes per thread, a block's bytes apart.
///
/// # Safety
/// Both have 24 elements per thread and are aligned to 16 bytes.
#[kernel]
pub unsafe fn vector_copy_strided(from: *const u16, to: *mut u16) {
    let block = thread::block_idx_x() as usize * 3 * thread::block_dim_x() as usize;
    let first = (block + thread::thread_idx_x() as usize) * 8;
    let stride = thread::block_dim_x() as usize * 8;
    unsafe { vector::copy_strided::<u16, 8, 3>(from.add(first), to.add(first), stride) };
}

/// The heap. A vector that grows lies on the stack.
///
/// # Safety
/// `out` has room for one word per thread.
#[kernel(allow(local_memory, panic_in_loop))]
pub unsafe fn heap(out: *mut u64) {
    let mut numbers = Vec::new();
    for i in 0..10 + thread::thread_idx_x() as u64 {
        numbers.push(i);
    }
    let boxed = Box::new(numbers.iter().sum::<u64>());
    unsafe { put(out, [*boxed]) };
}
