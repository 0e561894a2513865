//! Output of two dimensions, of which each thread writes its own tiles.

use core::marker::PhantomData;

use crate::own;
use crate::vector::{self, alignment};

/// A kernel's parameter for a two-dimensional array that it writes, rows x columns, one row behind the other, as the
/// launch [shapes](crate::launch::SliceMut::shaped) it. A thread has tiles of `R` rows and `C` columns; of one element
/// if the type does not say.
///
/// A thread's first tile is its index along y and along x in the grid, and the others are in steps of all the grid's
/// threads; planes of threads along z lie behind each other along y. So no two threads share an element, whatever the
/// launch. Tiles at the edges are cut off.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Turns a matrix around its diagonal.
/// #[kernel]
/// pub fn transpose(x: &[f32], mut y: Output2<f32>) {
///     let [rows, columns] = y.extents();
///     for ([row, column], y) in y.own() {
///         *y = x[column * rows + row];
///     }
/// #   assert_eq!([rows, columns], [7, 10]);
/// }
/// # use cuda_std::launch::{Kernel, Slice, SliceMut};
/// # let x: Vec<f32> = (0..70).map(|i| i as f32).collect();
/// # let mut y = [0.0_f32; 70];
/// # let shape = simt::Shape { grid: [1, 2, 1], block: [4, 2, 1], dynamic_shared: 0 };
/// # // SAFETY: the arrays outlive the launch, and the kernel is safe.
/// # let arguments = unsafe {
/// #     (Slice::from_raw(x.as_ptr(), 70), SliceMut::from_raw(y.as_mut_ptr(), 70).shaped([7, 10]))
/// # };
/// # simt::Launch::new(shape).run(&|| unsafe { transpose::call(&arguments) })?;
/// # assert!((0..70).all(|i| y[i] == x[i % 10 * 7 + i / 10]));
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// A launch takes the extents with the elements; elements alone do not compile:
///
/// ```compile_fail,E0308
/// # use cuda_std::launch::{Kernel, SliceMut};
/// # use cuda_std::prelude::*;
/// #[kernel]
/// pub fn clear(mut y: Output2<f32>) {
///     y.own().for_each(|(_, y)| *y = 0.0);
/// }
/// # fn arguments<K: Kernel>(_: K::Arguments<'_>) {}
/// # fn launch(y: SliceMut<'_, f32>) {
/// arguments::<clear>((y,));
/// # }
/// # fn main() {}
/// ```
pub struct Output2<'a, T, const R: usize = 1, const C: usize = 1> {
    pointer: *mut T,
    extents: [usize; 2],
    elements: PhantomData<&'a mut [T]>,
}

impl<T, const R: usize, const C: usize> Output2<'_, T, R, C> {
    /// Makes the output of the launch's argument, for `#[kernel]`.
    ///
    /// # Safety
    /// As for [`Output`](crate::Output), of as many elements as the extents' product. An extent is below 2^31.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_raw(pointer: *mut T, extents: [usize; 2]) -> Self {
        const {
            assert!(
                R >= 1 && R <= 64 && C >= 1 && C <= 64,
                "a thread's tile has 1 to 64 rows and columns"
            )
        };
        // SAFETY: by this function's own terms.
        unsafe { core::hint::assert_unchecked(!pointer.is_null()) };
        Output2 {
            pointer,
            extents,
            elements: PhantomData,
        }
    }

    /// Rows and columns.
    #[inline(always)]
    pub fn extents(&self) -> [usize; 2] {
        self.extents
    }

    /// This thread's tiles.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    ///
    /// /// The outer product of two vectors: 2 x 4 elements per thread.
    /// #[kernel]
    /// pub fn outer(x: &[f32], y: &[f32], mut out: Output2<f32, 2, 4>) {
    ///     for mut tile in out.own_tiles() {
    ///         let [row, column] = tile.first();
    ///         let of = |values: &[f32], i| values.get(i).copied().unwrap_or(0.0);
    ///         tile.set(core::array::from_fn(|i| {
    ///             core::array::from_fn(|j| of(x, row + i) * of(y, column + j))
    ///         }));
    ///         if let Some(corner) = tile.get_mut(0, 0) {
    ///             *corner += 1.0;
    ///         }
    ///     }
    /// }
    /// # use cuda_std::launch::{Kernel, Slice, SliceMut};
    /// # let x: Vec<f32> = (0..9).map(|i| i as f32).collect();
    /// # let mut out = [f32::NAN; 81];
    /// # let shape = simt::Shape { grid: [1, 1, 2], block: [2, 2, 1], dynamic_shared: 0 };
    /// # // SAFETY: the arrays outlive the launch, and the kernel is safe.
    /// # let arguments = unsafe { (
    /// #     Slice::from_raw(x.as_ptr(), 9), Slice::from_raw(x.as_ptr(), 9),
    /// #     SliceMut::from_raw(out.as_mut_ptr(), 81).shaped([9, 9]),
    /// # ) };
    /// # simt::Launch::new(shape).run(&|| unsafe { outer::call(&arguments) })?;
    /// # let corner = |row: usize, column: usize| if row % 2 == 0 && column % 4 == 0 { 1.0 } else { 0.0 };
    /// # assert!((0..81).all(|i| out[i] == x[i / 9] * x[i % 9] + corner(i / 9, i % 9)));
    /// # Ok::<(), simt::LaunchError>(())
    /// ```
    #[inline(always)]
    pub fn own_tiles(&mut self) -> impl Iterator<Item = Tile<'_, T, R, C>> {
        let (pointer, extents) = (self.pointer, self.extents);
        let [x, y] = own::place_2d();
        // No product is above 2^60.
        let (first_column, mut next) = (x * C, [y * R, x * C]);
        core::iter::from_fn(move || {
            let first = next;
            if first[0] >= extents[0] || first[1] >= extents[1] {
                return None;
            }
            let [across, down] = own::threads_2d();
            next = [first[0], first[1] + across * C];
            if next[1] >= extents[1] {
                next = [first[0] + down * R, first_column];
            }
            Some(Tile {
                pointer,
                extents,
                first,
                elements: PhantomData,
            })
        })
    }
}

impl<T> Output2<'_, T> {
    /// The first element of this thread, if it has one, with row and column.
    #[inline(always)]
    pub fn own_element(&mut self) -> Option<([usize; 2], &mut T)> {
        self.own().next()
    }

    /// This thread's elements, each with row and column.
    #[inline(always)]
    pub fn own(&mut self) -> impl Iterator<Item = ([usize; 2], &mut T)> {
        let (pointer, columns) = (self.pointer, self.extents[1]);
        self.own_tiles().map(move |tile| {
            let [row, column] = tile.first;
            // SAFETY: inside the array, because row and column are; the element is this thread's alone and comes once,
            // and the iterator borrows the output.
            (tile.first, unsafe {
                &mut *pointer.add(row * columns + column)
            })
        })
    }
}

/// A tile of an [`Output2`] that one thread has: `R` rows and `C` columns, as far as the array reaches.
///
/// ```
/// use cuda_std::Tile;
/// use cuda_std::prelude::*;
///
/// fn clear(mut tile: Tile<'_, u32, 2, 2>) {
///     tile.set([[0; 2]; 2]);
/// }
///
/// #[kernel]
/// pub fn zeros(mut y: Output2<u32, 2, 2>) {
///     y.own_tiles().for_each(clear);
/// }
/// # use cuda_std::launch::{Kernel, SliceMut};
/// # let mut y = [1_u32; 25];
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [4, 1, 1], dynamic_shared: 0 };
/// # // SAFETY: the array outlives the launch, and the kernel is safe.
/// # let arguments = unsafe { (SliceMut::from_raw(y.as_mut_ptr(), 25).shaped([5, 5]),) };
/// # simt::Launch::new(shape).run(&|| unsafe { zeros::call(&arguments) })?;
/// # assert_eq!(y, [0; 25]);
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub struct Tile<'a, T, const R: usize, const C: usize> {
    pointer: *mut T,
    extents: [usize; 2],
    first: [usize; 2],
    elements: PhantomData<&'a mut [T]>,
}

impl<T, const R: usize, const C: usize> Tile<'_, T, R, C> {
    /// Row and column of the tile's first element, which the array has.
    #[inline(always)]
    pub fn first(&self) -> [usize; 2] {
        self.first
    }

    /// The element of a row and a column of the tile, if both are in the tile and in the array.
    #[inline(always)]
    pub fn get_mut(&mut self, row: usize, column: usize) -> Option<&mut T> {
        let is_there = row < R
            && column < C
            && self.first[0] + row < self.extents[0]
            && self.first[1] + column < self.extents[1];
        // SAFETY: in the array, and in this thread's tile, which is borrowed.
        is_there.then(|| unsafe { &mut *self.row(row).add(column) })
    }

    /// Writes all elements that the array has: rows of a whole tile by wide stores, where they lie so.
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "see below")]
    pub fn set(&mut self, values: [[T; C]; R])
    where
        T: Copy,
    {
        let [last_row, last_column] = [self.first[0] + R, self.first[1] + C];
        let is_whole = last_row <= self.extents[0] && last_column <= self.extents[1];
        let aligned = const { alignment::<T, C>() };
        // Each row of the array begins as the first does, if all are as long as several accesses.
        let is_aligned = self.row(0).addr().is_multiple_of(aligned)
            && (self.extents[1] * size_of::<T>()).is_multiple_of(aligned);
        // Counted by indices, because the compiler would keep arrays that iterators own in memory.
        if is_whole && is_aligned {
            for row in 0..R {
                // SAFETY: as in `get_mut`, of all elements of the row; aligned, as has been looked at.
                unsafe { vector::store(self.row(row), values[row]) };
            }
            return;
        }
        for row in 0..R {
            for column in 0..C {
                if let Some(element) = self.get_mut(row, column) {
                    *element = values[row][column];
                }
            }
        }
    }

    /// Where the tile's part of a row begins.
    #[inline(always)]
    fn row(&self, row: usize) -> *mut T {
        let start = (self.first[0] + row) * self.extents[1] + self.first[1];
        self.pointer.wrapping_add(start)
    }
}
