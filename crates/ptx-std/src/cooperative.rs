//! A barrier for all threads of a grid, for kernels that are launched cooperatively: only then are
//! all blocks sure to run at once.

use core::sync::atomic::Ordering;

use crate::atomic::mid::{atomic_fetch_add_u32_device, atomic_load_32_device};
use crate::thread::{self, block_idx, nanosleep, sync_threads, thread_idx};

/// The bit of the count that turns over when the last block has come.
const TURN: u32 = 1 << 31;

/// Waits until every thread of the grid has come here, and makes what they wrote to memory before it
/// visible to all of them after it.
///
/// `arrivals` counts the blocks and is ready for the next barrier, and the next launch, without being
/// reset.
///
/// ```
/// use cuda_std::cooperative::sync_grid;
/// use cuda_std::prelude::*;
///
/// /// Each element is the sum of two neighbours of `x`, which the kernel has squared before.
/// ///
/// /// # Safety
/// /// The launch is cooperative and has a thread per element of `x` and `y`; `arrivals` is 0.
/// #[kernel]
/// pub unsafe fn squares(x: *mut f32, y: *mut f32, arrivals: *mut u32) {
///     let (own, last) = (thread::global_index(), thread::grid_threads() - 1);
///     // SAFETY: each thread writes its own elements, and reads another's behind the barrier.
///     unsafe {
///         *x.add(own) *= *x.add(own);
///         sync_grid(arrivals);
///         *y.add(own) = *x.add(own) + *x.add((own + 1).min(last));
///     }
/// }
/// # use cuda_std::launch::{Kernel, SliceMut};
/// # let (mut x, mut y, mut arrivals) = ([1.0, 2.0, 3.0, 4.0], [0.0; 4], [0]);
/// # // SAFETY: the arrays outlive the launch, and its blocks run side by side.
/// # let arguments = unsafe {
/// #     let view = |values: &mut [f32; 4]| SliceMut::from_raw(values.as_mut_ptr(), 4);
/// #     (view(&mut x), view(&mut y), SliceMut::from_raw(arrivals.as_mut_ptr(), 1))
/// # };
/// # let shape = simt::Shape { grid: [2, 1, 1], block: [2, 1, 1], dynamic_shared: 0 };
/// # // SAFETY: as above.
/// # simt::Launch::new(shape).run(&|| unsafe { squares::call(&arguments) })?;
/// # assert_eq!(y, [5.0, 13.0, 25.0, 32.0]);
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// # Safety
/// The launch is cooperative, or of one block, and all its threads reach the same call. `arrivals`
/// points to a `u32` in global memory, 0 before its first use, that nothing else touches meanwhile.
#[inline(always)]
pub unsafe fn sync_grid(arrivals: *mut u32) {
    sync_threads();
    if thread_idx() == crate::glam::UVec3::ZERO {
        let blocks = (thread::grid_threads() / thread::block_threads() as usize) as u32;
        // All blocks together add TURN, so that its bit changes when the last one has come, and the
        // bits below are as before.
        let share = if block_idx() == crate::glam::UVec3::ZERO {
            TURN.wrapping_sub(blocks - 1)
        } else {
            1
        };
        // SAFETY: the caller's contract. Release and acquire, with the barriers of the block before
        // and after, order what any thread wrote before what any other reads.
        unsafe {
            let before = atomic_fetch_add_u32_device(arrivals, Ordering::AcqRel, share);
            while (before ^ atomic_load_32_device(arrivals, Ordering::Acquire)) & TURN == 0 {
                nanosleep(20);
            }
        }
    }
    sync_threads();
}
