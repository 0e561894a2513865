//! Shared memory that a block fills together and then reads, without `unsafe`.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::arch;
use crate::group::{self, Number};

/// Shared memory for `N` numbers, which all threads of the block fill together and then read: what
/// [`shared_tile!`](crate::shared_tile) makes.
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::shared::SharedTile;
///
/// /// Turns the elements of each block around.
/// #[kernel(block = [64])]
/// pub fn reverse(x: &[f32], mut y: Output<f32>) {
///     let first = thread::block_idx_x() as usize * 64;
///     let mut tile: SharedTile<f32, 64> = shared_tile![f32; 64];
///     tile.fill(|i| x.get(first + i).copied().unwrap_or(0.0));
///     let own = thread::thread_idx_x() as usize;
///     if let Some((_, y)) = y.own_element() {
///         let [a, b] = tile.pair(own / 2);
///         assert_eq!(tile.get(own), if own % 2 == 0 { a } else { b });
///         assert_eq!(tile.get(own), tile.quad(own / 4)[own % 4]);
///         *y = tile.get(63 - own);
///     }
/// }
/// # use cuda_std::launch::{Kernel, Slice, SliceMut};
/// # let x: Vec<f32> = (0..128).map(|i| i as f32).collect();
/// # let mut y = [0.0_f32; 128];
/// # let shape = simt::Shape { grid: [2, 1, 1], block: [64, 1, 1], dynamic_shared: 0 };
/// # // SAFETY: the arrays outlive the launch, and the kernel is safe.
/// # let arguments = unsafe { (Slice::from_raw(x.as_ptr(), 128), SliceMut::from_raw(y.as_mut_ptr(), 128)) };
/// # simt::Launch::new(shape).run(&|| unsafe { reverse::call(&arguments) })?;
/// # assert!((0..128).all(|i| y[i] == (i / 64 * 64 + 63 - i % 64) as f32));
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// All threads of the block reach the same [`SharedTile::fill`]. Where some do not, the block waits for ever, or reads
/// numbers of another time; all accesses are atomic, so that is all that happens.
#[derive(Debug)]
pub struct SharedTile<T, const N: usize> {
    words: *const AtomicU32,
    element: PhantomData<T>,
}

impl<T: Number, const N: usize> SharedTile<T, N> {
    /// `N`, which shared memory bounds: a multiple of a block's threads beyond it is still a `u32`.
    const LEN: u32 = {
        assert!(N < 1 << 30, "a shared tile has fewer than 2^30 elements");
        N as u32
    };

    /// The tile of the declaration `SITE`, for `shared_tile!`, which makes a number for each.
    #[doc(hidden)]
    #[inline(always)]
    pub fn of_site<const SITE: u64>() -> SharedTile<T, N> {
        const { assert!(size_of::<T>() == 4 * T::WORDS) };
        SharedTile {
            words: super::array::<T, N, SITE>()
                .cast::<AtomicU32>()
                .cast_const(),
            element: PhantomData,
        }
    }

    /// Writes the element of each index, which `value` is asked for by one thread, when all have come; and returns when
    /// all elements have been written.
    #[inline(always)]
    #[track_caller]
    pub fn fill(&mut self, mut value: impl FnMut(usize) -> T) {
        let block = group::block();
        block.sync();
        // Not `step_by`, which divides; and in 32 bits, in which divisions by the tile's width are cheaper.
        let (mut i, step) = (block.rank(), block.len());
        // SAFETY: by what a rank is. Where the block's size is known, it tells which of the rounds below all threads take.
        unsafe { core::hint::assert_unchecked(i < step) };
        let mut value = |i: u32| value(i as usize);
        while i + 3 * step < Self::LEN {
            // All four before the first is written: their loads are waited for together.
            let (first, second) = (value(i), value(i + step));
            let (third, fourth) = (value(i + 2 * step), value(i + 3 * step));
            self.write(i, first);
            self.write(i + step, second);
            self.write(i + 2 * step, third);
            self.write(i + 3 * step, fourth);
            i += 4 * step;
        }
        while i < Self::LEN {
            self.write(i, value(i));
            i += step;
        }
        block.sync();
    }

    /// The element of an index.
    ///
    /// # Panics
    /// The tile has not so many.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> T {
        assert!(index < N, "an index beyond a shared tile");
        // SAFETY: in the tile: each element has WORDS words.
        let word = |number| unsafe { &*self.words.add(index * T::WORDS + number) };
        group::map_words(T::ZERO, |number, _| word(number).load(Relaxed))
    }

    /// Two neighbours, those of the indices `2 * index` and `2 * index + 1`: of 32-bit numbers by one instruction.
    ///
    /// # Panics
    /// The tile has not so many.
    #[inline(always)]
    #[track_caller]
    pub fn pair(&self, index: usize) -> [T; 2] {
        assert!(index < N / 2, "an index beyond a shared tile");
        if T::WORDS > 1 {
            return [self.get(2 * index), self.get(2 * index + 1)];
        }
        // SAFETY: in the tile, which is aligned to 16 bytes; two elements have 8.
        let both = unsafe { &*self.words.cast::<AtomicU64>().add(index) }.load(Relaxed);
        [both as u32, (both >> 32) as u32].map(|word| group::map_words(T::ZERO, |_, _| word))
    }

    /// Four neighbours, those of the indices `4 * index` to `4 * index + 3`: of 32-bit numbers by one instruction.
    ///
    /// # Panics
    /// The tile has not so many.
    #[inline(always)]
    #[track_caller]
    pub fn quad(&self, index: usize) -> [T; 4] {
        assert!(index < N / 4, "an index beyond a shared tile");
        if T::WORDS > 1 {
            return core::array::from_fn(|i| self.get(4 * index + i));
        }
        // SAFETY: in the tile, which is aligned to 16 bytes; four elements have as many.
        let words = unsafe { arch::load_four(self.words.add(4 * index)) };
        words.map(|word| group::map_words(T::ZERO, |_, _| word))
    }

    /// `index` is below `N`.
    #[inline(always)]
    fn write(&self, index: u32, value: T) {
        group::map_words(value, |number, word| {
            // SAFETY: as in `get`.
            unsafe { &*self.words.add(index as usize * T::WORDS + number) }.store(word, Relaxed);
            word
        });
    }
}
