//! Copies from global to shared memory that go on while the thread does something else.
//!
//! A thread starts copies with [`cp_async_ca`] or [`cp_async_cg`], closes a group of them with
//! [`cp_async_commit_group`], and waits for its groups with [`cp_async_wait_group`]. The wait is
//! for the thread's own copies: a barrier after it makes them visible to the block. It needs
//! `sm_80`.
//!
//! `ridgepoint check` finds a missing wait. In a kernel without PTX each copy is done at once.
//!
//! ```
//! use cuda_std::async_copy::{cp_async_ca, cp_async_commit_group, cp_async_wait_group};
//!
//! let global = [1.0_f32, 2.0];
//! let mut shared = [0.0_f32; 2];
//! for (to, from) in shared.iter_mut().zip(&global) {
//!     // SAFETY: both are aligned, alive and apart.
//!     unsafe { cp_async_ca(to, from) };
//!     cp_async_commit_group();
//! }
//! cp_async_wait_group::<1>(); // The first element is there.
//! cp_async_wait_group::<0>(); // Both are.
//! assert_eq!(shared, global);
//! ```

use crate::arch::async_copy as arch;

/// Starts copying a value of 4, 8 or 16 bytes, which stays in the first-level cache too. Another
/// size is an error at compile time:
///
/// ```compile_fail
/// # use cuda_std::async_copy::cp_async_ca;
/// let (from, mut to) = ([0_u8; 12], [0_u8; 12]);
/// unsafe { cp_async_ca(&mut to, &from) };
/// ```
///
/// # Safety
/// `shared` points to shared memory that is valid for writing a `T`, `global` to global memory that
/// is valid for reading one; both are aligned to the size of `T`. Until a wait for the copy,
/// nothing writes `global` or accesses `shared`.
#[inline(always)]
pub unsafe fn cp_async_ca<T: Copy>(shared: *mut T, global: *const T) {
    const {
        assert!(
            matches!(size_of::<T>(), 4 | 8 | 16),
            "cp_async_ca copies 4, 8 or 16 bytes"
        );
    }
    // SAFETY: the caller's contract; the size is one of those that the instruction has.
    unsafe { arch::copy_ca(shared, global) };
}

/// Starts copying a value of 16 bytes past the first-level cache. Another size is an error at
/// compile time.
///
/// ```
/// use cuda_std::async_copy::{cp_async_cg, cp_async_wait_all};
/// use cuda_std::prelude::*;
///
/// let x: [[f32; 4]; 32] = core::array::from_fn(|i| [i as f32; 4]);
/// let kernel = || {
///     let tile = shared_array![[f32; 4]; 32];
///     let own = thread::thread_idx_x() as usize;
///     // SAFETY: each thread copies an element of its own, which is read behind wait and barrier.
///     let next = unsafe {
///         cp_async_cg(tile.add(own), &x[own]);
///         cp_async_wait_all();
///         thread::sync_threads();
///         *tile.add((own + 1) % 32)
///     };
///     assert_eq!(next, x[(own + 1) % 32]);
/// };
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
/// # simt::Launch::new(shape).run(&kernel)?;
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// # Safety
/// As for [`cp_async_ca`].
#[inline(always)]
pub unsafe fn cp_async_cg<T: Copy>(shared: *mut T, global: *const T) {
    const { assert!(size_of::<T>() == 16, "cp_async_cg copies 16 bytes") }
    // SAFETY: the caller's contract; the size is the one that the instruction has.
    unsafe { arch::copy_cg(shared, global) };
}

/// Makes a group of the copies that this thread has started since the group before.
#[inline(always)]
pub fn cp_async_commit_group() {
    arch::commit_group();
}

/// Waits until no more than the latest `PENDING` groups of this thread are under way.
#[inline(always)]
pub fn cp_async_wait_group<const PENDING: usize>() {
    arch::wait_group::<PENDING>();
}

/// Waits until all copies of this thread are done, those in no group included.
#[inline(always)]
pub fn cp_async_wait_all() {
    arch::wait_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_copied_whole() {
        let (mut word, mut pair, mut line) = (0_u32, 0_u64, [0_u32; 4]);
        // SAFETY: all are alive and apart, and the host needs no more alignment than the types'.
        unsafe {
            cp_async_ca(&mut word, &7);
            cp_async_ca(&mut pair, &(1 << 40));
            cp_async_cg(&mut line, &[1, 2, 3, 4]);
        }
        cp_async_wait_all();
        assert_eq!((word, pair, line), (7, 1 << 40, [1, 2, 3, 4]));
    }
}
