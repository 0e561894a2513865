//! The host's answers: what the emulator has set for the thread that runs.

use crate::emulation::with_current;

#[path = "emulated/async_copy.rs"]
pub(crate) mod async_copy;
#[path = "emulated/atomic.rs"]
pub(crate) mod atomic;
#[path = "emulated/float.rs"]
pub(crate) mod float;
#[path = "emulated/misc.rs"]
pub(crate) mod misc;
#[path = "emulated/ptr.rs"]
pub(crate) mod ptr;

macro_rules! special_registers {
    ($($name:ident = $field:ident[$axis:literal];)*) => {$(
        #[inline]
        pub(crate) fn $name() -> u32 {
            with_current(|lane| lane.coordinates.$field[$axis])
        }
    )*};
}

special_registers! {
    thread_idx_x = thread_idx[0];
    thread_idx_y = thread_idx[1];
    thread_idx_z = thread_idx[2];
    block_idx_x = block_idx[0];
    block_idx_y = block_idx[1];
    block_idx_z = block_idx[2];
    block_dim_x = block_dim[0];
    block_dim_y = block_dim[1];
    block_dim_z = block_dim[2];
    grid_dim_x = grid_dim[0];
    grid_dim_y = grid_dim[1];
    grid_dim_z = grid_dim[2];
}

pub(crate) fn sync_threads() {
    with_current(|lane| lane.hooks.sync_threads());
}
