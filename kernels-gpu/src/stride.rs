//! Walks over vectors of 16 bytes, with several in flight.

use cuda_std::prelude::*;
use cuda_std::warp::WARP_SIZE;

/// Calls `each` with the index and the value of every item of `0..count` that belongs to this thread
/// of a one-dimensional grid in blocks of `block` threads. Each item belongs to one thread.
///
/// A block takes tiles of `U * block` neighbouring items, of which a thread loads `U` before it uses the
/// first: one that waits for one load at a time leaves the memory idle. `nothing` is any value.
#[inline(always)]
pub fn strided<V: Copy, const U: usize>(
    block: usize,
    count: usize,
    nothing: V,
    load: impl Fn(usize) -> V,
    mut each: impl FnMut(usize, V),
) {
    let step = thread::grid_dim_x() as usize * U * block;
    let mut first = thread::block_idx_x() as usize * U * block;
    let own = thread::thread_idx_x() as usize;
    while first + U * block <= count {
        let mut items = [nothing; U];
        for u in 0..U {
            items[u] = load(first + own + u * block);
        }
        for u in 0..U {
            each(first + own + u * block, items[u]);
        }
        first += step;
    }
    let mut items = [nothing; U];
    for u in 0..U {
        if first + own + u * block < count {
            items[u] = load(first + own + u * block);
        }
    }
    for u in 0..U {
        if first + own + u * block < count {
            each(first + own + u * block, items[u]);
        }
    }
}

/// Calls `each` with all items of `0..count` that belong to this thread of a one-dimensional grid in
/// blocks of `block` threads, `U` at a time, and with `nothing` in the place of those that are not
/// there. The items of a block are neighbours. If there is more than one for each thread, every block
/// has as many, to a warp of them: for a sum over large arrays that is faster than tiles a grid apart,
/// of which some blocks have one more.
///
/// `count` is below 2^37.
#[inline(always)]
pub fn shared_out<V: Copy, const U: usize>(
    block: usize,
    count: usize,
    nothing: V,
    load: impl Fn(usize) -> V,
    mut each: impl FnMut([V; U]),
) {
    let share = if count <= thread::grid_dim_x() as usize * block {
        block
    } else {
        // Divided as u32, which takes a GPU a fraction of the time.
        let warps = count.div_ceil(WARP_SIZE as usize) as u32;
        warps.div_ceil(thread::grid_dim_x()) as usize * WARP_SIZE as usize
    };
    let start = thread::block_idx_x() as usize * share;
    let end = count.min(start + share);
    let mut first = start + thread::thread_idx_x() as usize;
    while first + (U - 1) * block < end {
        let mut items = [nothing; U];
        for u in 0..U {
            items[u] = load(first + u * block);
        }
        each(items);
        first += U * block;
    }
    let mut items = [nothing; U];
    if first + block < end {
        for u in 0..U - 1 {
            if first + u * block < end {
                items[u] = load(first + u * block);
            }
        }
        each(items);
    } else if first < end {
        // All there is in small arrays: there the others' additions of nothing would count.
        items[0] = load(first);
        each(items);
    }
}

/// [`shared_out`] of the vectors of `N` elements of `x`; what is left of it comes in vectors of
/// which the first element counts.
///
/// # Safety
/// `x` is aligned to the vector's bytes, 16 at most, as every device allocation is. The grid is
/// one-dimensional, in blocks of `block` threads.
#[inline(always)]
pub unsafe fn vectors<T: Copy + Default, const N: usize, const U: usize>(
    block: usize,
    x: &[T],
    mut each: impl FnMut([[T; N]; U]),
) {
    let whole = x.len() / N;
    let nothing = [T::default(); N];
    // SAFETY: vector i lies within `x`; the caller vouches for the alignment.
    let load = |i: usize| unsafe { vector::load::<T, N>(x.as_ptr().add(i * N)) };
    shared_out(block, whole, nothing, load, &mut each);
    for i in thread::grid_stride(x.len() % N) {
        let mut items = [nothing; U];
        // SAFETY: whole * N + i < x.len().
        items[0][0] = unsafe { *x.get_unchecked(whole * N + i) };
        each(items);
    }
}
