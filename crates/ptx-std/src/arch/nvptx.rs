//! The GPU's own instructions, through LLVM's intrinsics.
//!
//! Barriers go through intrinsics and never through `asm!`, which is not `convergent`: the
//! compiler may copy it into both arms of a branch.

use core::arch::nvptx;

#[path = "nvptx/async_copy.rs"]
pub(crate) mod async_copy;
#[path = "nvptx/atomic.rs"]
pub(crate) mod atomic;
#[path = "nvptx/float.rs"]
pub(crate) mod float;
#[path = "nvptx/misc.rs"]
pub(crate) mod misc;
#[path = "nvptx/ptr.rs"]
pub(crate) mod ptr;

macro_rules! special_registers {
    ($($name:ident = $intrinsic:ident;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name() -> u32 {
            // SAFETY: reading a special register has no precondition.
            unsafe { nvptx::$intrinsic() }
        }
    )*};
}

special_registers! {
    thread_idx_x = _thread_idx_x;
    thread_idx_y = _thread_idx_y;
    thread_idx_z = _thread_idx_z;
    block_idx_x = _block_idx_x;
    block_idx_y = _block_idx_y;
    block_idx_z = _block_idx_z;
    block_dim_x = _block_dim_x;
    block_dim_y = _block_dim_y;
    block_dim_z = _block_dim_z;
    grid_dim_x = _grid_dim_x;
    grid_dim_y = _grid_dim_y;
    grid_dim_z = _grid_dim_z;
}

#[inline(always)]
pub(crate) fn sync_threads() {
    // SAFETY: the barrier touches no memory of its own; `thread::sync_threads` states its rule.
    unsafe { nvptx::_syncthreads() }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: trap ends the grid; the host sees an error at its next call.
    unsafe { nvptx::trap() }
}
