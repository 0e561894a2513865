//! The host's answers: what the emulator has set for the thread that runs.

use crate::emulation::with_current;

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

#[inline]
pub(crate) fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

#[inline]
pub(crate) fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}
