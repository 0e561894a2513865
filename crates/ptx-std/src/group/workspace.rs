//! The words of global memory through which the blocks of a grid exchange values.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::element::{better, map_words};
use super::{Block, Element, Number};
use crate::atomic::Ordering;
use crate::atomic::mid::{
    atomic_fetch_inc_u32_device, atomic_load_32_device, atomic_store_32_device,
};
use crate::thread::{
    block_idx_x, block_idx_y, block_idx_z, grid_dim_x, grid_dim_y, grid_dim_z, nanosleep,
};

/// A kernel's parameter through which the blocks of its grid exchange values: the launch lends a buffer of
/// [`workspace_words`] that are 0, and finds them 0 afterwards, so that the next launch may use it.
///
/// A workspace serves one sum, or one scan: these take it. Of words that were not 0, or that two launches use at once,
/// the result is any number, or the grid waits for ever.
///
/// ```
/// use cuda_std::group::{self, Workspace, workspace_words};
/// use cuda_std::prelude::*;
///
/// /// The sum of all elements, and the place of the largest.
/// #[kernel]
/// pub fn summary(x: &[f32], sums: Workspace, places: Workspace, mut out: BlockOutput<f32>) {
///     let (mut sum, mut largest) = (0.0, (f32::NEG_INFINITY, 0));
///     for i in thread::grid_stride(x.len()) {
///         sum += x[i];
///         if x[i] > largest.0 {
///             largest = (x[i], i as u32);
///         }
///     }
///     let sum = sums.sum(sum);
///     let largest = places.arg_max(largest.0, largest.1);
///     // The block that came last knows the results. It writes the row of its own.
///     for mut row in out.own_rows() {
///         for (column, out) in row.own() {
///             *out = match column {
///                 0 => sum.unwrap_or(f32::NAN),
///                 _ => largest.map_or(f32::NAN, |(_, place)| place as f32),
///             };
///         }
///     }
/// }
/// # use cuda_std::launch::{Kernel, Slice, SliceMut};
/// # let x: Vec<f32> = (0..100).map(|i| if i == 77 { 5.0 } else { 0.5 }).collect();
/// # let (mut words, mut places) = (vec![0; workspace_words::<f32>(3)], vec![0; workspace_words::<(f32, u32)>(3)]);
/// # let mut out = [0.0_f32; 6];
/// # let shape = simt::Shape { grid: [3, 1, 1], block: [16, 1, 1], dynamic_shared: 0 };
/// # // SAFETY: the arrays outlive the launch, and the kernel is safe.
/// # let arguments = unsafe { (
/// #     Slice::from_raw(x.as_ptr(), 100),
/// #     SliceMut::from_raw(words.as_mut_ptr(), words.len()),
/// #     SliceMut::from_raw(places.as_mut_ptr(), places.len()),
/// #     SliceMut::from_raw(out.as_mut_ptr(), 6).shaped([3, 2]),
/// # ) };
/// # simt::Launch::new(shape).run(&|| unsafe { summary::call(&arguments) })?;
/// # let known = |column: usize| out.iter().skip(column).step_by(2).find(|it| !it.is_nan()).copied();
/// # assert_eq!((known(0), known(1)), (Some(54.5), Some(77.0)));
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub struct Workspace<'a> {
    words: *mut u32,
    len: usize,
    lent: PhantomData<&'a [AtomicU32]>,
}

/// Words of a [`Workspace`] for a grid of so many blocks that combines values of type `T`.
///
/// ```
/// use cuda_std::group::workspace_words;
///
/// assert_eq!(workspace_words::<f32>(100), 201);
/// assert_eq!(workspace_words::<(f64, u32)>(1), 5);
/// ```
pub const fn workspace_words<T: Element>(blocks: usize) -> usize {
    1 + blocks * (1 + T::WORDS)
}

impl Workspace<'_> {
    /// Makes the workspace of the launch's argument, for `#[kernel]`.
    ///
    /// # Safety
    /// `len` words at `words`, which is not null, are initialised, stay alive, and are reached by this launch's threads
    /// only through such a workspace.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_raw(words: *mut u32, len: usize) -> Self {
        Workspace {
            words,
            len,
            lent: PhantomData,
        }
    }

    /// The sum of the values of all threads of the grid, in the threads of the block that comes last.
    #[inline(always)]
    #[track_caller]
    pub fn sum<T: Number>(self, value: T) -> Option<T> {
        self.reduce(value, T::plus)
    }

    /// The least value of all threads of the grid, in the threads of the block that comes last.
    #[inline(always)]
    #[track_caller]
    pub fn min<T: Number>(self, value: T) -> Option<T> {
        self.reduce(value, T::least)
    }

    /// The greatest value of all threads of the grid, in the threads of the block that comes last.
    #[inline(always)]
    #[track_caller]
    pub fn max<T: Number>(self, value: T) -> Option<T> {
        self.reduce(value, T::greatest)
    }

    /// The least value of all threads of the grid with its place, as [`Block::arg_min`] has it, in the threads of the
    /// block that comes last.
    #[inline(always)]
    #[track_caller]
    pub fn arg_min<T: Number, I: Element + Ord>(self, value: T, place: I) -> Option<(T, I)> {
        self.reduce((value, place), |a, b| better(a, b, |a, b| a < b))
    }

    /// The greatest value of all threads of the grid with its place, as [`Block::arg_max`] has it, in the threads of
    /// the block that comes last.
    #[inline(always)]
    #[track_caller]
    pub fn arg_max<T: Number, I: Element + Ord>(self, value: T, place: I) -> Option<(T, I)> {
        self.reduce((value, place), |a, b| better(a, b, |a, b| a > b))
    }

    /// The values of all threads of the grid, combined, in the threads of the block that comes last; in those of the
    /// others none.
    ///
    /// ```
    /// use cuda_std::group::{Workspace, workspace_words};
    /// use cuda_std::prelude::*;
    ///
    /// #[kernel]
    /// pub fn extremes(x: &[i64], low: Workspace, high: Workspace, place: Workspace, last: Workspace, mut out: Output<i64>) {
    ///     let own = thread::linear_index();
    ///     let told = [
    ///         low.min(x[own]),
    ///         high.max(x[own]),
    ///         place.arg_min(x[own], own as u32).map(|(_, place)| place.into()),
    ///         last.reduce(x[own], |_, later| later),
    ///     ];
    ///     // The block that comes last is any of them: each of its threads writes an element of its own.
    ///     let told = told[thread::thread_idx_x() as usize];
    ///     out.own().for_each(|(_, out)| *out = told.unwrap_or(-1));
    /// }
    /// # use cuda_std::launch::{Kernel, Slice, SliceMut};
    /// # let x: Vec<i64> = vec![5, 9, 2, 7, 30, 4, 2, 8];
    /// # let mut words = vec![vec![0; workspace_words::<(i64, u32)>(2)]; 4];
    /// # let mut lend = || { let words = words.pop().expect("four").leak(); unsafe { SliceMut::from_raw(words.as_mut_ptr(), words.len()) } };
    /// # let mut out = [0_i64; 8];
    /// # let pointer = out.as_mut_ptr();
    /// # // SAFETY: the arrays outlive the launch, and the kernel is safe.
    /// # let arguments = unsafe {
    /// #     (Slice::from_raw(x.as_ptr(), 8), lend(), lend(), lend(), lend(), SliceMut::from_raw(pointer, 8))
    /// # };
    /// # let shape = simt::Shape { grid: [2, 1, 1], block: [4, 1, 1], dynamic_shared: 0 };
    /// # simt::Launch::new(shape).run(&|| unsafe { extremes::call(&arguments) })?;
    /// # for (place, known) in [2, 30, 2, 8].into_iter().enumerate() {
    /// #     assert!([out[place], out[4 + place]].contains(&known), "{out:?}");
    /// # }
    /// # Ok::<(), simt::LaunchError>(())
    /// ```
    ///
    /// # Panics
    /// The workspace has fewer words than [`workspace_words`].
    #[inline(always)]
    #[track_caller]
    pub fn reduce<T: Element>(self, value: T, op: impl Fn(T, T) -> T) -> Option<T> {
        let block = Block::current();
        let (own, blocks) = self.place::<T>();
        let of_block = block.reduce(value, &op);
        let is_last = block.rank() == 0 && {
            self.put(own, of_block);
            // SAFETY: a word of the workspace. The order publishes the block's value, and shows those of the others,
            // with the barrier to all threads of the block that comes last.
            let before =
                unsafe { atomic_fetch_inc_u32_device(self.words, Ordering::AcqRel, blocks - 1) };
            before == blocks - 1
        };
        if !block.any(is_last) {
            return None;
        }
        let mut combined = value;
        let mut next = block.rank();
        if next < blocks {
            combined = self.take(next, value);
        }
        while next.saturating_add(block.len()) < blocks {
            next += block.len();
            combined = op(combined, self.take(next, value));
        }
        Some(block.reduce_first(combined, block.len().min(blocks), op))
    }

    /// The sum of the values of the grid's threads up to this one, its own included. See [`Workspace::scan`].
    ///
    /// ```
    /// use cuda_std::group::{Workspace, workspace_words};
    /// use cuda_std::prelude::*;
    ///
    /// #[kernel]
    /// pub fn sums(x: &[u32], inclusive: Workspace, exclusive: Workspace, mut y: Output<[u32; 2]>) {
    ///     let value = x.get(thread::linear_index()).copied().unwrap_or(0);
    ///     let sums = [inclusive.inclusive_sum(value), exclusive.exclusive_sum(value)];
    ///     y.own_element().into_iter().for_each(|(_, y)| *y = sums);
    /// }
    /// # use cuda_std::launch::{Kernel, Slice, SliceMut};
    /// # let x: Vec<u32> = (0..70).collect();
    /// # let mut words = vec![vec![0; workspace_words::<u32>(5)]; 2];
    /// # let mut y = [[0; 2]; 70];
    /// # let [first, second] = [0, 1].map(|of| words[of].as_mut_ptr());
    /// # let shape = simt::Shape { grid: [5, 1, 1], block: [16, 1, 1], dynamic_shared: 0 };
    /// # // SAFETY: the arrays outlive the launch, and the kernel is safe.
    /// # let arguments = unsafe { (
    /// #     Slice::from_raw(x.as_ptr(), 70), SliceMut::from_raw(first, 11), SliceMut::from_raw(second, 11),
    /// #     SliceMut::from_raw(y.as_mut_ptr(), 70),
    /// # ) };
    /// # simt::Launch::new(shape).run(&|| unsafe { sums::call(&arguments) })?;
    /// # assert_eq!(y[10], [55, 45]);
    /// # assert_eq!(y[69], [69 * 35, 69 * 34]);
    /// # Ok::<(), simt::LaunchError>(())
    /// ```
    #[inline(always)]
    #[track_caller]
    pub fn inclusive_sum<T: Number>(self, value: T) -> T {
        self.scan(value, T::plus).0
    }

    /// The sum of the values of the grid's threads before this one. See [`Workspace::scan`].
    #[inline(always)]
    #[track_caller]
    pub fn exclusive_sum<T: Number>(self, value: T) -> T {
        self.scan(value, T::plus).1.unwrap_or(T::ZERO)
    }

    /// The values of the grid's threads up to this one, combined, and of those before it; none in the first.
    ///
    /// A block waits for the one before it, so the grid is one that the device holds at once: of a cooperative launch
    /// the driver makes sure of it.
    ///
    /// ```
    /// use cuda_std::group::{Workspace, workspace_words};
    /// use cuda_std::prelude::*;
    ///
    /// /// The greatest element up to each, and before it.
    /// #[kernel]
    /// pub fn greatest(x: &[u32], workspace: Workspace, mut y: Output<[u32; 2]>) {
    ///     let (through, before) = workspace.scan(x[thread::linear_index()], u32::max);
    ///     y.own().for_each(|(_, y)| *y = [through, before.unwrap_or(0)]);
    /// }
    /// # use cuda_std::launch::{Kernel, Slice, SliceMut};
    /// # let (x, mut words, mut y) = ([3, 1, 4, 1, 5, 9], vec![0; workspace_words::<u32>(3)], [[0; 2]; 6]);
    /// # // SAFETY: the arrays outlive the launch, and the kernel is safe.
    /// # let arguments = unsafe { (
    /// #     Slice::from_raw(x.as_ptr(), 6), SliceMut::from_raw(words.as_mut_ptr(), words.len()),
    /// #     SliceMut::from_raw(y.as_mut_ptr(), 6),
    /// # ) };
    /// # let shape = simt::Shape { grid: [3, 1, 1], block: [2, 1, 1], dynamic_shared: 0 };
    /// # simt::Launch::new(shape).run(&|| unsafe { greatest::call(&arguments) })?;
    /// assert_eq!(y, [[3, 0], [3, 3], [4, 3], [4, 4], [5, 4], [9, 5]]);
    /// # Ok::<(), simt::LaunchError>(())
    /// ```
    ///
    /// # Panics
    /// As [`Workspace::reduce`].
    #[inline(always)]
    #[track_caller]
    pub fn scan<T: Element>(self, value: T, op: impl Fn(T, T) -> T) -> (T, Option<T>) {
        let of_block = Block::current().scan(value, &op);
        let Some(blocks_before) = self.scan_blocks(of_block.total, &op) else {
            return (of_block.through, of_block.before);
        };
        let behind_them = |value| op(blocks_before, value);
        let before = of_block.before.map_or(blocks_before, behind_them);
        (behind_them(of_block.through), Some(before))
    }

    /// Combines what the blocks before this one brought: none in the first. `total` is the block's, alike in all its
    /// threads. A block waits for the one before it, as in [`Workspace::scan`].
    ///
    /// ```
    /// use cuda_std::group::{self, Workspace, workspace_words};
    /// use cuda_std::prelude::*;
    ///
    /// /// Where each block's part of a list begins that has as many entries for a block as `lengths` says.
    /// #[kernel]
    /// pub fn starts(lengths: &[u32], workspace: Workspace, mut out: BlockOutput<u32>) {
    ///     let own = lengths[thread::block_idx_x() as usize];
    ///     let start = workspace.scan_blocks(own, |a, b| a + b).unwrap_or(0);
    ///     out.own_rows().for_each(|mut row| row.own().for_each(|(_, out)| *out = start));
    /// }
    /// # use cuda_std::launch::{Kernel, Slice, SliceMut};
    /// # let (mut words, mut out) = (vec![0; workspace_words::<u32>(4)], [0_u32; 4]);
    /// # let shape = simt::Shape { grid: [4, 1, 1], block: [8, 1, 1], dynamic_shared: 0 };
    /// # // SAFETY: the arrays outlive the launch, and the kernel is safe.
    /// # let arguments = unsafe { (
    /// #     Slice::from_raw([3, 0, 5, 7].as_ptr(), 4), SliceMut::from_raw(words.as_mut_ptr(), words.len()),
    /// #     SliceMut::from_raw(out.as_mut_ptr(), 4).shaped([4, 1]),
    /// # ) };
    /// # simt::Launch::new(shape).run(&|| unsafe { starts::call(&arguments) })?;
    /// assert_eq!(out, [0, 3, 3, 8]);
    /// assert!(words.iter().all(|word| *word == 0), "ready for the next launch");
    /// # Ok::<(), simt::LaunchError>(())
    /// ```
    ///
    /// # Panics
    /// As [`Workspace::reduce`].
    #[inline(always)]
    #[track_caller]
    pub fn scan_blocks<T: Element>(self, total: T, op: impl Fn(T, T) -> T) -> Option<T> {
        let block = Block::current();
        let (own, blocks) = self.place::<T>();
        let mut before = total;
        if block.rank() == 0 {
            let mut through = total;
            if own > 0 {
                before = self.wait::<T>(own - 1, total);
                through = op(before, total);
            }
            if own + 1 < blocks {
                self.put(own, through);
                // SAFETY: a word of the workspace; the order publishes what was put.
                unsafe { atomic_store_32_device(self.flag::<T>(own), Ordering::Release, 1) };
            }
        }
        (own > 0).then_some(block.of_first(before))
    }

    /// Waits for what a block puts, and makes its flag 0 again, which nobody else waits for.
    #[inline(always)]
    fn wait<T: Element>(&self, block: u32, like: T) -> T {
        let flag = self.flag::<T>(block);
        // SAFETY: a word of the workspace; the order shows what was put.
        while unsafe { atomic_load_32_device(flag, Ordering::Acquire) } == 0 {
            nanosleep(20);
        }
        // SAFETY: as above.
        unsafe { atomic_store_32_device(flag, Ordering::Relaxed, 0) };
        self.take(block, like)
    }

    /// The index of the running block, and how many there are. After it all words of both are the workspace's.
    #[inline(always)]
    #[track_caller]
    fn place<T: Element>(&self) -> (u32, u32) {
        let planes = u64::from(grid_dim_y()) * u64::from(grid_dim_z());
        let blocks = planes.saturating_mul(grid_dim_x().into());
        assert!(
            blocks < u32::MAX.into() && workspace_words::<T>(blocks as usize) <= self.len,
            "the launch lends fewer words than `workspace_words` says"
        );
        let line = block_idx_z() * grid_dim_y() + block_idx_y();
        (line * grid_dim_x() + block_idx_x(), blocks as u32)
    }

    #[inline(always)]
    fn flag<T: Element>(&self, block: u32) -> *mut u32 {
        self.words.wrapping_add(1 + block as usize * (1 + T::WORDS))
    }

    #[inline(always)]
    fn put<T: Element>(&self, block: u32, value: T) {
        map_words(value, |number, word| {
            self.word::<T>(block, number).store(word, Relaxed);
            word
        });
    }

    /// The value that a block has put there, which nobody else asks for; it leaves zeros.
    #[inline(always)]
    fn take<T: Element>(&self, block: u32, like: T) -> T {
        map_words(like, |number, _| {
            let word = self.word::<T>(block, number);
            let value = word.load(Relaxed);
            word.store(0, Relaxed);
            value
        })
    }

    #[inline(always)]
    fn word<T: Element>(&self, block: u32, number: usize) -> &AtomicU32 {
        // SAFETY: below `len`, as `place` has compared: a block of the grid, and a number below WORDS. All accesses are
        // atomic.
        unsafe { AtomicU32::from_ptr(self.flag::<T>(block).wrapping_add(1 + number)) }
    }
}
