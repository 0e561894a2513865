//! `y = x / ‖x‖` in one cooperative launch.
//!
//! Each thread keeps its first vectors in registers: what fits there, 8.6 MB on an H200, is read once.
//! The rest is read a second time in the opposite order, so that what was read last is still in the
//! cache.

use cuda_std::cooperative::sync_grid;
use cuda_std::prelude::*;

use crate::functions::{Divide, Unary};
use crate::norm::{Squares, over_elements};
use crate::reduction::{block_sum, sum_of_blocks};

/// Threads per block.
pub const BLOCK: u32 = 512;
/// Blocks that a multiprocessor holds at once.
pub const BLOCKS_EACH: u32 = 2;
/// Vectors of 16 bytes that a thread has in flight, and as many that it keeps.
const IN_FLIGHT: usize = 4;
/// Neighbouring vectors that a block has in flight.
pub const TILE: usize = IN_FLIGHT * THREADS;
const THREADS: usize = BLOCK as usize;

/// `x / ‖x‖` to `y`, by [`Divide`], and the norm to `norm`. The norm is that of
/// [`nrm2`](crate::norm::nrm2), but for the order of its additions. A norm of 0 gives NaN.
///
/// # Safety
/// `x` has `len` elements and `y` has room for them; `y` is `x` itself or apart from it, and both are
/// aligned to 16 bytes. `norm` has one element, `partials` one element per block, and `arrivals` one,
/// which is 0 before the first launch. The launch is cooperative, or of one block, and of one
/// dimension. Launches that may run at once have partials and arrivals of their own.
#[kernel(block = [512, 1, 1], min_blocks = 2,
         instances(normalize_f32<f32, 4, 1>, normalize_f64<f64, 2, 3>))]
pub unsafe fn normalize<T: Squares<K>, const N: usize, const K: usize>(
    x: *const T,
    y: *mut T,
    len: usize,
    norm: *mut T,
    partials: *mut [f64; K],
    arrivals: *mut u32,
) {
    let vectors = len / N;
    // A tile for each block, then another for each.
    let step = thread::grid_dim_x() as usize * TILE;
    let own = thread::block_idx_x() as usize * TILE + thread::thread_idx_x() as usize;
    let nothing = [T::default(); N];
    // The thread's vectors from `first` on, and zeros for those that are not there.
    let group = |first: usize| {
        let mut items = [nothing; IN_FLIGHT];
        for u in 0..IN_FLIGHT {
            if first + u * THREADS < vectors {
                // SAFETY: the vector lies within `x`.
                items[u] = unsafe { vector::load::<T, N>(x.add((first + u * THREADS) * N)) };
            }
        }
        items
    };
    let mut sums = [[0.0; K]; N];
    // Zeros add nothing.
    let mut add = |items: [[T; N]; IN_FLIGHT]| T::add_squares(items, &mut sums);
    let kept = group(own);
    add(kept);
    let mut next = own + step;
    while next < vectors {
        add(group(next));
        next += step;
    }
    // What is left is less than a vector, an element for each of the grid's first threads.
    let last = vectors * N + thread::global_index();
    let mut rest = T::default();
    if last < len {
        // SAFETY: last < len.
        rest = unsafe { *x.add(last) };
    }
    rest.add_square(&mut sums[0]);

    // SAFETY: the kernel's contract.
    let length = unsafe { grid_root::<T, N, K>(sums, partials, arrivals) };
    if thread::global_index() == 0 {
        // SAFETY: one thread of the grid.
        unsafe { *norm = length };
    }
    let divide = Divide::by(length);
    let store = |first: usize, mut items: [[T; N]; IN_FLIGHT]| {
        for u in 0..IN_FLIGHT {
            if first + u * THREADS < vectors {
                for n in 0..N {
                    items[u][n] = divide.of(items[u][n]);
                }
                // SAFETY: the vector lies within `y`, and this thread has read it.
                unsafe { vector::store(y.add((first + u * THREADS) * N), items[u]) };
            }
        }
    };
    while next > own + step {
        next -= step;
        store(next, group(next));
    }
    store(own, kept);
    if last < len {
        // SAFETY: last < len.
        unsafe { *y.add(last) = divide.of(rest) };
    }
}

/// The root of the sums over all threads of the grid, in all of them.
///
/// # Safety
/// That of [`normalize`].
#[inline(always)]
unsafe fn grid_root<T: Squares<K>, const N: usize, const K: usize>(
    sums: [[f64; K]; N],
    partials: *mut [f64; K],
    arrivals: *mut u32,
) -> T {
    let of_block = block_sum(over_elements(sums));
    if thread::grid_dim_x() == 1 {
        return T::root(of_block);
    }
    // SAFETY: one element per block, which the barrier shows to the others.
    unsafe {
        if thread::thread_idx_x() == 0 {
            *partials.add(thread::block_idx_x() as usize) = of_block;
        }
        sync_grid(arrivals);
        T::root(sum_of_blocks(partials))
    }
}
