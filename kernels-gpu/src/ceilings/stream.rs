//! Memory read, written, copied, scaled and combined, 16 bytes at a time.
//!
//! A block takes a tile of `UNROLL` vectors a thread, and the next one a grid further on. A thread
//! loads all its vectors of a tile before it stores the first, so `UNROLL` loads are in flight. What
//! writes with an `UNROLL` of 1 has no loop: its grid has a thread for each vector.
//!
//! The kernels are those of J. McCalpin's STREAM, "Memory bandwidth and machine balance in current
//! high performance computers", 1995, with one that only reads and one that only writes.

use cuda_std::prelude::*;

use super::{put_warp_sum, word_sum};

/// Four elements: what a thread moves at once.
pub type Vector = [f32; 4];

const WIDTH: usize = 4;

/// Returns what [`write()`] puts into element `i`: numbers from 1 to 2 without regularity, because data that
/// repeat take less power than others, and a GPU may then run at a higher clock.
#[inline(always)]
pub fn pattern(i: usize) -> f32 {
    const ODD: u32 = 0x9E37_79B1;
    f32::from_bits(0x3F80_0000 | (i as u32).wrapping_mul(ODD) >> 9)
}

/// The vector of [`pattern`] at `i`.
#[inline(always)]
pub fn pattern_vector(i: usize) -> Vector {
    let first = i * WIDTH;
    [first, first + 1, first + 2, first + 3].map(pattern)
}

macro_rules! unrolled {
    ($($(#[$doc:meta])* $name:ident($($parameter:ident: $ty:ty),*) as $u1:ident $u2:ident $u4:ident $u8:ident
        = $body:expr;)*) => {$(
        $(#[$doc])*
        #[kernel(instances($u1<1>, $u2<2>, $u4<4>, $u8<8>))]
        pub unsafe fn $name<const UNROLL: usize>($($parameter: $ty),*) {
            // SAFETY: the same contract.
            unsafe { $body }
        }
    )*};
}

unrolled! {
    /// Reads all of `x`, and writes for each warp the wrapping sum of the words that it read.
    ///
    /// # Safety
    /// `x` is aligned to 16 bytes. The grid is one-dimensional, of whole warps, and `sums` has a
    /// place for each.
    read(x: &[Vector], sums: *mut u32) as read_u1 read_u2 read_u4 read_u8
        = sum_tiles::<UNROLL>(x, sums);

    /// y = [`pattern`].
    ///
    /// # Safety
    /// `y` has room for `n` vectors and is aligned to 16 bytes. The grid is one-dimensional.
    write(y: *mut Vector, n: u64) as write_u1 write_u2 write_u4 write_u8
        = map_tiles::<UNROLL>(n as usize, y, pattern_vector);

    /// y = x.
    ///
    /// # Safety
    /// `y` has room for `x.len()` vectors and does not overlap `x`. Both are aligned to 16 bytes. The
    /// grid is one-dimensional.
    copy(x: &[Vector], y: *mut Vector) as copy_u1 copy_u2 copy_u4 copy_u8
        = copy_tiles::<UNROLL>(x, y);

    /// y = a x.
    ///
    /// # Safety
    /// As for [`copy()`].
    scale(x: &[Vector], y: *mut Vector, a: f32) as scale_u1 scale_u2 scale_u4 scale_u8
        = map_tiles::<UNROLL>(x.len(), y, |i| load(x, i).map(|x| a * x));

    /// y = x + a z.
    ///
    /// # Safety
    /// As for [`copy()`], and `z` is as long as `x` and as aligned.
    triad(x: &[Vector], z: &[Vector], y: *mut Vector, a: f32)
        as triad_u1 triad_u2 triad_u4 triad_u8
        = map_tiles::<UNROLL>(x.len(), y, |i| {
            let (x, z) = (load(x, i), load(z, i));
            core::array::from_fn(|lane| a.mul_add(z[lane], x[lane]))
        });
}

/// Vector `i` of `x`.
///
/// # Safety
/// `i < x.len()`, and `x` is aligned to 16 bytes.
#[inline(always)]
unsafe fn load(x: &[Vector], i: usize) -> Vector {
    // SAFETY: the caller's contract.
    unsafe { vector::load(x.as_ptr().add(i).cast()) }
}

/// The tiles of this thread's block.
struct Tiles<const UNROLL: usize> {
    /// The thread's first vector of the next tile.
    next: usize,
    vectors: usize,
}

/// A thread's vectors of a tile: the first, and how far apart they are.
#[derive(Clone, Copy)]
struct Tile {
    first: usize,
    stride: usize,
}

impl<const UNROLL: usize> Tiles<UNROLL> {
    #[inline(always)]
    fn of(vectors: usize) -> Self {
        let tile = UNROLL * thread::block_dim_x() as usize;
        Tiles {
            next: thread::block_idx_x() as usize * tile + thread::thread_idx_x() as usize,
            vectors,
        }
    }

    /// The next tile that holds all of this thread's vectors.
    #[inline(always)]
    fn next_whole(&mut self) -> Option<Tile> {
        let stride = thread::block_dim_x() as usize;
        let first = self.next;
        if first + (UNROLL - 1) * stride >= self.vectors {
            return None;
        }
        self.next = first + UNROLL * stride * thread::grid_dim_x() as usize;
        Some(Tile { first, stride })
    }

    /// The vectors of the tile at which there is no whole one.
    #[inline(always)]
    fn rest(&self) -> impl Iterator<Item = usize> {
        let (first, vectors) = (self.next, self.vectors);
        let stride = thread::block_dim_x() as usize;
        (0..UNROLL)
            .map(move |j| first + j * stride)
            .take_while(move |&i| i < vectors)
    }
}

/// y[i] = f(i) for each of `n` vectors.
#[inline(always)]
unsafe fn map_tiles<const UNROLL: usize>(n: usize, y: *mut Vector, f: impl Fn(usize) -> Vector) {
    // SAFETY: i is below n and comes to one thread; the caller vouches for y's room and alignment.
    let put = |i: usize, value: Vector| unsafe { vector::store(y.add(i).cast(), value) };
    if UNROLL == 1 {
        let i = thread::global_index();
        if i < n {
            put(i, f(i));
        }
        return;
    }
    let mut tiles = Tiles::<UNROLL>::of(n);
    while let Some(Tile { first, stride }) = tiles.next_whole() {
        let mut values = [[0.0; WIDTH]; UNROLL];
        for (j, value) in values.iter_mut().enumerate() {
            *value = f(first + j * stride);
        }
        for (j, value) in values.iter().enumerate() {
            put(first + j * stride, *value);
        }
    }
    for i in tiles.rest() {
        put(i, f(i));
    }
}

#[inline(always)]
unsafe fn copy_tiles<const UNROLL: usize>(x: &[Vector], y: *mut Vector) {
    // SAFETY: i is below x.len() wherever this is called, and comes to one thread; the caller vouches
    // for y's room and for the alignment.
    let put = |i: usize| unsafe { vector::copy::<Vector, 1>(x.as_ptr().add(i), y.add(i)) };
    if UNROLL == 1 {
        let i = thread::global_index();
        if i < x.len() {
            put(i);
        }
        return;
    }
    let mut tiles = Tiles::<UNROLL>::of(x.len());
    while let Some(Tile { first, stride }) = tiles.next_whole() {
        // SAFETY: the tile's vectors are below x.len() and come to one thread; the caller vouches
        // for y's room and for the alignment.
        unsafe {
            let (source, target) = (x.as_ptr().add(first), y.add(first));
            vector::copy_strided::<Vector, 1, UNROLL>(source, target, stride);
        }
    }
    tiles.rest().for_each(put);
}

#[inline(always)]
unsafe fn sum_tiles<const UNROLL: usize>(x: &[Vector], sums: *mut u32) {
    // SAFETY: i < x.len(); the caller vouches for the alignment.
    let words = |i: usize| word_sum(unsafe { load(x, i) }.map(f32::to_bits));
    let mut sum = [0u32; UNROLL];
    let mut tiles = Tiles::<UNROLL>::of(x.len());
    while let Some(Tile { first, stride }) = tiles.next_whole() {
        for (j, sum) in sum.iter_mut().enumerate() {
            *sum = sum.wrapping_add(words(first + j * stride));
        }
    }
    let rest = tiles
        .rest()
        .fold(0, |sum: u32, i| sum.wrapping_add(words(i)));
    let sum = sum.into_iter().fold(rest, u32::wrapping_add);
    // SAFETY: every thread comes here; the caller vouches for the rest.
    unsafe { put_warp_sum(sums, sum) };
}
