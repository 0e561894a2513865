//! Special registers: where the thread stands, and how much shared memory it has.

use core::arch::{asm, nvptx};

macro_rules! indices {
    ($($name:ident = $intrinsic:ident;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name() -> u32 {
            // SAFETY: reading a special register has no precondition.
            unsafe { nvptx::$intrinsic() }
        }
    )*};
}

indices! {
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

macro_rules! registers {
    ($($name:ident = $register:literal;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name() -> u32 {
            let value: u32;
            // SAFETY: reads a special register, which does not change while the thread runs.
            unsafe {
                asm!(
                    concat!("mov.u32 {value}, %", $register, ";"),
                    value = out(reg32) value,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            value
        }
    )*};
}

registers! {
    lane_id = "laneid";
    multiprocessor = "smid";
    dynamic_smem_size = "dynamic_smem_size";
    total_smem_size = "total_smem_size";
    cluster_rank = "cluster_ctarank";
    cluster_size = "cluster_nctarank";
    cluster_index_x = "clusterid.x";
    cluster_count_x = "nclusterid.x";
}

/// The hardware itself stops at an address that is not aligned.
#[inline(always)]
pub(crate) fn expect_aligned<T>(_pointer: *const T, _alignment: usize) {}

/// The value, of which the compiler no longer knows where it comes from.
#[inline(always)]
pub(crate) fn opaque(mut value: u32) -> u32 {
    // SAFETY: no instruction.
    unsafe { asm!("/* {} */", inout(reg32) value, options(pure, nomem, nostack, preserves_flags)) }
    value
}

/// The value as it is known here: nothing that depends on the result is computed before, in front of a loop or a branch,
/// and kept in registers.
#[inline(always)]
pub(crate) fn not_before(mut value: u32) -> u32 {
    // SAFETY: no instruction.
    unsafe { asm!("/* {} */", inout(reg32) value, options(nomem, nostack, preserves_flags)) }
    value
}

/// `a b + c`, without a carry. LLVM does not look inside, so it neither widens `a` and `b` where paths meet
/// nor turns a loop's index into a running address for each array.
#[inline(always)]
pub(crate) fn multiply_add_wide(a: u32, b: u32, c: usize) -> usize {
    let sum;
    // SAFETY: arithmetic.
    unsafe {
        asm!(
            "mad.wide.u32 {sum}, {a}, {b}, {c};",
            sum = out(reg64) sum,
            a = in(reg32) a,
            b = in(reg32) b,
            c = in(reg64) c,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sum
}
