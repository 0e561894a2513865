//! Output by rows, each of which a warp or a block writes.

use core::marker::PhantomData;

use crate::group::places::{LanePlaces, Places};
use crate::group::{self, Block, Warp};
use crate::own;

/// A kernel's parameter for rows that it writes, a warp each: an array of rows x columns, one row behind the other,
/// as the launch [shapes](crate::launch::SliceMut::shaped) it.
///
/// The rows of a warp are its index in the grid, counted over all blocks, and from there in steps of all the grid's
/// warps. Its lanes share each row: a lane's columns are its index, and from there in steps of the warp. So no two
/// threads share an element, whatever the launch; and all lanes of a warp go through the same rows, so what they do
/// together, such as [`Warp::sum`], they may do for each.
///
/// ```
/// use cuda_std::group;
/// use cuda_std::prelude::*;
///
/// /// Divides each row by its largest element.
/// #[kernel]
/// pub fn scale_rows(x: &[f32], mut y: WarpOutput<f32>) {
///     let (warp, columns) = (group::warp(), y.columns());
///     for mut row in y.own_rows() {
///         let x = &x[row.row() * columns..][..columns];
///         let largest = warp.max(warp.own(x).fold(f32::MIN_POSITIVE, |largest, (_, x)| largest.max(*x)));
///         for (x, y) in row.own_with(x) {
///             *y = x / largest;
///         }
///     }
/// }
/// # use cuda_std::launch::{Kernel, Slice, SliceMut};
/// # let x: Vec<f32> = (0..350).map(|i| (i % 50) as f32).collect();
/// # let mut y = vec![0.0_f32; 350];
/// # let shape = simt::Shape { grid: [2, 1, 1], block: [64, 1, 1], dynamic_shared: 0 };
/// # // SAFETY: the arrays outlive the launch, and the kernel is safe.
/// # let arguments = unsafe {
/// #     (Slice::from_raw(x.as_ptr(), 350), SliceMut::from_raw(y.as_mut_ptr(), 350).shaped([7, 50]))
/// # };
/// # simt::Launch::new(shape).run(&|| unsafe { scale_rows::call(&arguments) })?;
/// # assert!(y.iter().zip(&x).all(|(y, x)| *y == x / 49.0));
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub type WarpOutput<'a, T> = RowOutput<'a, T, Warp>;

/// A kernel's parameter for rows that it writes, a block each: as [`WarpOutput`], with the threads of a block in place
/// of the lanes of a warp.
///
/// ```
/// use cuda_std::group;
/// use cuda_std::prelude::*;
///
/// /// The sum of each row: the output has a row for each, of one column.
/// #[kernel]
/// pub fn row_sums(x: &[f32], width: usize, mut sums: BlockOutput<f32>) {
///     let block = group::block();
///     for mut sum in sums.own_rows() {
///         let row = &x[sum.row() * width..][..width];
///         let total = block.sum(block.own(row).map(|(_, x)| x).sum::<f32>());
///         if let Some((_, sum)) = sum.own_element() {
///             *sum = total;
///         }
///     }
/// }
/// # use cuda_std::launch::{Kernel, Slice, SliceMut};
/// # let (x, mut sums) = ([0.5_f32; 300], [0.0_f32; 3]);
/// # let shape = simt::Shape { grid: [2, 1, 1], block: [64, 1, 1], dynamic_shared: 0 };
/// # // SAFETY: the arrays outlive the launch, and the kernel is safe.
/// # let arguments = unsafe {
/// #     (Slice::from_raw(x.as_ptr(), 300), 100, SliceMut::from_raw(sums.as_mut_ptr(), 3).shaped([3, 1]))
/// # };
/// # simt::Launch::new(shape).run(&|| unsafe { row_sums::call(&arguments) })?;
/// # assert_eq!(sums, [50.0; 3]);
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub type BlockOutput<'a, T> = RowOutput<'a, T, Block>;

/// The output of rows, of which a group of threads has some, and its threads the elements of each.
///
/// ```
/// use cuda_std::group::{Block, Warp};
/// use cuda_std::{BlockOutput, RowOutput, WarpOutput};
///
/// fn of_warps(y: WarpOutput<f32>) -> RowOutput<f32, Warp> {
///     y
/// }
///
/// fn of_blocks(y: BlockOutput<f32>) -> RowOutput<f32, Block> {
///     y
/// }
/// ```
pub struct RowOutput<'a, T, G> {
    pointer: *mut T,
    rows: usize,
    columns: usize,
    elements: PhantomData<(&'a mut [T], G)>,
}

/// A group of threads that shares rows.
///
/// # Safety
/// `place` differs between the groups of a grid, but for those of which it is the greatest number there is; `count` is
/// alike in all threads of the grid, and above all other places or the greatest number. `places` of a count are below it, in
/// ascending order, and differ between the threads of a group.
unsafe trait Sharing: Copy {
    type Places: Iterator<Item = usize>;
    fn current() -> Self;
    fn place(self) -> usize;
    fn count(self) -> usize;
    /// The thread's index in the group.
    fn rank(self) -> usize;
    fn places(self, count: usize) -> Self::Places;
}

// SAFETY: a block has an index, and a grid fewer than 2^63 blocks.
unsafe impl Sharing for Block {
    type Places = Places;
    #[inline(always)]
    fn current() -> Block {
        group::block()
    }
    #[inline(always)]
    fn place(self) -> usize {
        own::block_index()
    }
    #[inline(always)]
    fn count(self) -> usize {
        own::blocks()
    }
    #[inline(always)]
    fn rank(self) -> usize {
        self.rank() as usize
    }
    #[inline(always)]
    fn places(self, count: usize) -> Places {
        self.places(count)
    }
}

// SAFETY: the warps of a block are counted, behind those of the blocks before.
unsafe impl Sharing for Warp {
    type Places = LanePlaces;
    #[inline(always)]
    fn current() -> Warp {
        group::warp()
    }
    #[inline(always)]
    fn place(self) -> usize {
        let block = group::block();
        let before = own::block_index().saturating_mul(warps(block));
        before.saturating_add((block.rank() / crate::warp::WARP_SIZE) as usize)
    }
    #[inline(always)]
    fn count(self) -> usize {
        own::blocks().saturating_mul(warps(group::block()))
    }
    #[inline(always)]
    fn rank(self) -> usize {
        self.rank() as usize
    }
    #[inline(always)]
    fn places(self, count: usize) -> LanePlaces {
        self.places(count)
    }
}

#[inline(always)]
fn warps(block: Block) -> usize {
    block.len().div_ceil(crate::warp::WARP_SIZE) as usize
}

impl<T, G> RowOutput<'_, T, G> {
    /// Makes the output of the launch's argument, for `#[kernel]`.
    ///
    /// # Safety
    /// As for [`Output`](crate::Output), of as many elements as rows of so many columns have together.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_raw(pointer: *mut T, [rows, columns]: [usize; 2]) -> Self {
        // SAFETY: by this function's own terms.
        unsafe { core::hint::assert_unchecked(!pointer.is_null()) };
        RowOutput {
            pointer,
            rows,
            columns,
            elements: PhantomData,
        }
    }

    /// How many rows all groups have together.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Elements of a row.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns
    }
}

#[allow(private_bounds, reason = "warps and blocks are all there are")]
impl<T, G: Sharing> RowOutput<'_, T, G> {
    /// The rows of this thread's group, the same for all its threads.
    #[inline(always)]
    pub fn own_rows(&mut self) -> impl Iterator<Item = Row<'_, T, G>> {
        let (pointer, rows, columns) = (self.pointer, self.rows, self.columns);
        let group = G::current();
        let (mut next, step) = (group.place(), group.count());
        core::iter::from_fn(move || {
            let row = next;
            if row >= rows {
                return None;
            }
            next = row.saturating_add(step);
            // SAFETY: inside the output, because row < rows.
            let start = unsafe { pointer.add(row * columns) };
            Some(Row {
                row,
                start,
                columns,
                group,
                elements: PhantomData,
            })
        })
    }
}

/// A row of a [`RowOutput`], of which each thread of the group reaches its own elements.
///
/// ```
/// use cuda_std::prelude::*;
/// use cuda_std::{Row, group::Warp};
///
/// /// Each lane writes the row's number into its own columns.
/// fn number(mut row: Row<'_, u32, Warp>) {
///     let number = row.row() as u32;
///     for (_, y) in row.own() {
///         *y = number;
///     }
/// }
///
/// #[kernel]
/// pub fn numbers(mut y: WarpOutput<u32>) {
///     assert_eq!((y.rows(), y.columns()), (3, 40));
///     y.own_rows().for_each(number);
/// }
/// # use cuda_std::launch::{Kernel, SliceMut};
/// # let mut y = [0_u32; 120];
/// # let shape = simt::Shape { grid: [1, 1, 1], block: [64, 1, 1], dynamic_shared: 0 };
/// # // SAFETY: the array outlives the launch, and the kernel is safe.
/// # let arguments = unsafe { (SliceMut::from_raw(y.as_mut_ptr(), 120).shaped([3, 40]),) };
/// # simt::Launch::new(shape).run(&|| unsafe { numbers::call(&arguments) })?;
/// # assert!(y.iter().enumerate().all(|(i, y)| *y as usize == i / 40));
/// # Ok::<(), simt::LaunchError>(())
/// ```
///
/// A thread has the rows of an output once at a time, so no element is in two hands:
///
/// ```compile_fail,E0499
/// # use cuda_std::prelude::*;
/// #[kernel]
/// pub fn twice(mut y: WarpOutput<f32>) {
///     let (mut one, mut other) = (y.own_rows(), y.own_rows());
///     let _rows = (one.next(), other.next());
/// }
/// # fn main() {}
/// ```
pub struct Row<'a, T, G> {
    row: usize,
    start: *mut T,
    columns: usize,
    group: G,
    elements: PhantomData<&'a mut [T]>,
}

#[allow(private_bounds, reason = "warps and blocks are all there are")]
impl<T, G: Sharing> Row<'_, T, G> {
    /// The index of the row.
    #[inline(always)]
    pub fn row(&self) -> usize {
        self.row
    }

    /// The first element of this thread, if it has one, with its column.
    #[inline(always)]
    pub fn own_element(&mut self) -> Option<(usize, &mut T)> {
        let column = self.group.rank();
        if column >= self.columns {
            return None;
        }
        // SAFETY: as in `own`, of whose columns it is the first.
        Some((column, unsafe { &mut *self.start.add(column) }))
    }

    /// This thread's elements, each with its column.
    #[inline(always)]
    pub fn own(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        let start = self.start;
        self.own_columns(usize::MAX).map(move |column| {
            // SAFETY: in the row, which is this group's alone, as the column is this thread's; it comes once, and the
            // iterator borrows the row.
            (column, unsafe { &mut *start.add(column) })
        })
    }

    /// This thread's elements, each with the element of `input` of the same column, as far as both reach.
    #[inline(always)]
    pub fn own_with<'s, U>(
        &'s mut self,
        input: &'s [U],
    ) -> impl Iterator<Item = (&'s U, &'s mut T)> {
        let (start, input_start) = (self.start, input.as_ptr());
        self.own_columns(input.len()).map(move |column| {
            // SAFETY: as in `own`; and column < input.len().
            unsafe { (&*input_start.add(column), &mut *start.add(column)) }
        })
    }

    #[inline(always)]
    fn own_columns(&self, other: usize) -> G::Places {
        self.group.places(self.columns.min(other))
    }
}
