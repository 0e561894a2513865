//! Walks over vectors of 16 bytes, with several in flight.

use cuda_std::prelude::*;

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

/// Calls `each` with every vector of `N` elements of `x` that belongs to this thread, `U` at a time,
/// and with zeros in the place of those that are not there.
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
    let nothing = [[T::default(); N]; U];
    // SAFETY: vector i lies within `x`; the caller vouches for the alignment.
    let load = |i: usize| unsafe { vector::load::<T, N>(x.as_ptr().add(i * N)) };
    let step = thread::grid_dim_x() as usize * U * block;
    let mut first = thread::block_idx_x() as usize * U * block;
    let own = thread::thread_idx_x() as usize;
    while first + U * block <= whole {
        let mut items = nothing;
        for u in 0..U {
            items[u] = load(first + own + u * block);
        }
        each(items);
        first += step;
    }
    let mut items = nothing;
    for u in 0..U {
        if first + own + u * block < whole {
            items[u] = load(first + own + u * block);
        }
    }
    each(items);
    for i in thread::grid_stride(x.len() % N) {
        let mut items = nothing;
        // SAFETY: whole * N + i < x.len().
        items[0][0] = unsafe { *x.get_unchecked(whole * N + i) };
        each(items);
    }
}
