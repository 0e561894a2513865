//! Warpgroups, of four warps that follow one another, and what threads of a block do in parts: named barriers,
//! registers that move from one warpgroup to another, one thread elected of a warp. They need `sm_90`, and
//! [`increase_registers`] and [`decrease_registers`] `sm_90a`.
//!
//! One warpgroup brings the elements, another one works on them and has most registers:
//!
//! ```
//! use cuda_std::prelude::*;
//! use cuda_std::warpgroup::{self, NamedBarrier};
//!
//! /// Where both warpgroups meet.
//! const FULL: NamedBarrier = NamedBarrier::new(1, 2 * warpgroup::THREADS);
//!
//! /// Reverses 128 elements, and counts the warps that did.
//! ///
//! /// # Safety
//! /// A block of 256 threads; `y` has room for 128 elements, `warps` is 0.
//! #[kernel(max_threads = 256, min_blocks = 1)]
//! pub unsafe fn reverse(x: &[f32], y: *mut f32, warps: *mut u32) {
//!     let tile = shared_array![f32; 128];
//!     let own = (thread::thread_idx_x() % warpgroup::THREADS) as usize;
//!     // SAFETY: whole warpgroups take each branch, and all 256 threads come to the barrier.
//!     unsafe {
//!         if warpgroup::index() == 0 {
//!             warpgroup::decrease_registers::<24>();
//!             *tile.add(own) = x[own];
//!             FULL.arrive();
//!         } else {
//!             warpgroup::increase_registers::<240>();
//!             FULL.sync();
//!             *y.add(own) = *tile.add(127 - own);
//!             if warpgroup::elect() {
//!                 // One thread of each warp.
//!                 cuda_std::atomic::mid::atomic_fetch_add_u32_device(
//!                     warps,
//!                     cuda_std::atomic::Ordering::Relaxed,
//!                     1,
//!                 );
//!             }
//!         }
//!     }
//! }
//! # use cuda_std::launch::Kernel;
//! # assert_eq!(reverse::BOUNDS.max_threads, Some(FULL.threads()));
//! ```

use ptx_std_macros::gpu_only;

use crate::thread;
use crate::warp::FULL_MASK;

/// Threads per warpgroup.
pub const THREADS: u32 = 128;

/// The number of the running thread's warpgroup in a block of one dimension. The compiler knows that all lanes
/// of a warp have the same, so that branches on it are not divergent.
///
/// # Safety
/// All lanes of the warp reach the same call.
#[inline(always)]
pub unsafe fn index() -> u32 {
    // SAFETY: the caller's contract.
    unsafe { crate::warp::warp_shuffle_idx(FULL_MASK, thread::thread_idx_x() / THREADS, 0, 32) }.0
}

/// Gives each thread of the warpgroup `REGISTERS` registers, more than it has, once others have given back as many.
///
/// The count is a multiple of 8 from 24 to 256:
///
/// ```compile_fail
/// unsafe { ptx_std::warpgroup::increase_registers::<250>() };
/// ```
///
/// # Safety
/// All warps of the warpgroup reach the same call, in a kernel with
/// [`max_threads` and `min_blocks = 1`](crate::kernel), of which `ptxas` otherwise ignores it; enough registers are given back.
#[inline(always)]
pub unsafe fn increase_registers<const REGISTERS: u32>() {
    const { check_registers(REGISTERS) };
    // SAFETY: the caller's contract.
    unsafe { set_more::<REGISTERS>() };
}

/// Gives registers back, so that each thread of the warpgroup has `REGISTERS`.
///
/// # Safety
/// As for [`increase_registers`].
#[inline(always)]
pub unsafe fn decrease_registers<const REGISTERS: u32>() {
    const { check_registers(REGISTERS) };
    // SAFETY: the caller's contract.
    unsafe { set_fewer::<REGISTERS>() };
}

const fn check_registers(count: u32) {
    assert!(
        count.is_multiple_of(8) && count >= 24 && count <= 256,
        "the registers of a thread are a multiple of 8 from 24 to 256"
    );
}

#[gpu_only]
#[inline(always)]
unsafe fn set_more<const REGISTERS: u32>() {
    crate::arch::tensor::increase_registers::<REGISTERS>();
}

#[gpu_only]
#[inline(always)]
unsafe fn set_fewer<const REGISTERS: u32>() {
    crate::arch::tensor::decrease_registers::<REGISTERS>();
}

/// Whether the running thread is the one that is elected of its warp: always the same one.
///
/// # Safety
/// All lanes of the warp reach the same call, and it is followed by one branch on it.
#[gpu_only]
#[inline(always)]
pub unsafe fn elect() -> bool {
    crate::arch::tensor::elect()
}

/// One of a block's 16 barriers, for some of its warps. That of
/// [`sync_threads`](crate::thread::sync_threads) is number 0.
///
/// ```
/// use cuda_std::warpgroup::{NamedBarrier, THREADS};
///
/// // One barrier for each of two warpgroups.
/// let own = |warpgroup: u32| NamedBarrier::new(1 + warpgroup, THREADS);
/// assert_eq!((own(1).number(), own(1).threads()), (2, 128));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct NamedBarrier {
    number: u32,
    threads: u32,
}

impl NamedBarrier {
    /// Barrier `number`, 1 to 15, at which `threads` threads meet, a multiple of 32.
    #[inline(always)]
    pub const fn new(number: u32, threads: u32) -> NamedBarrier {
        NamedBarrier { number, threads }
    }

    /// Its number.
    #[inline(always)]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// How many threads meet at it.
    #[inline(always)]
    pub const fn threads(self) -> u32 {
        self.threads
    }

    /// Waits until all threads have come here or to [`NamedBarrier::arrive`], and makes what they wrote to memory
    /// before it visible to those who waited.
    ///
    /// # Safety
    /// As many threads come as the barrier was made for, in whole warps, and no others use the number meanwhile.
    #[gpu_only]
    #[inline(always)]
    pub unsafe fn sync(self) {
        crate::arch::tensor::barrier_sync(self.number, self.threads);
    }

    /// Arrives and does not wait.
    ///
    /// # Safety
    /// As for [`NamedBarrier::sync`].
    #[gpu_only]
    #[inline(always)]
    pub unsafe fn arrive(self) {
        crate::arch::tensor::barrier_arrive(self.number, self.threads);
    }
}
