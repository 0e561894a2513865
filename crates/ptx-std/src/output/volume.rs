//! Output of three dimensions, of which each thread writes its own elements.

use core::marker::PhantomData;

use crate::own;

/// A kernel's parameter for a three-dimensional array that it writes, planes x rows x columns, as the launch
/// [shapes](crate::launch::SliceMut::shaped) it.
///
/// A thread's first element is its index along z, y and x in the grid, and the others are in steps of all the grid's
/// threads, along z first. So no two threads share one, whatever the launch.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// Each element is the number of its plane, row and column in one.
/// #[kernel]
/// pub fn number(mut y: Output3<u32>) {
///     assert_eq!(y.extents(), [5, 6, 7]);
///     for ([plane, row, column], y) in y.own() {
///         *y = (100 * plane + 10 * row + column) as u32;
///     }
///     if let Some(([0, 0, 0], first)) = y.own_element() {
///         *first = 1000;
///     }
/// }
/// # use cuda_std::launch::{Kernel, SliceMut};
/// # let mut y = [0_u32; 210];
/// # let shape = simt::Shape { grid: [2, 1, 2], block: [2, 2, 2], dynamic_shared: 0 };
/// # // SAFETY: the array outlives the launch, and the kernel is safe.
/// # let arguments = unsafe { (SliceMut::from_raw(y.as_mut_ptr(), 210).shaped([5, 6, 7]),) };
/// # simt::Launch::new(shape).run(&|| unsafe { number::call(&arguments) })?;
/// # assert_eq!((y[0], y[1], y[7], y[209]), (1000, 1, 10, 456));
/// # assert!((1..210).all(|i| y[i] as usize == 100 * (i / 42) + 10 * (i / 7 % 6) + i % 7));
/// # Ok::<(), simt::LaunchError>(())
/// ```
pub struct Output3<'a, T> {
    pointer: *mut T,
    extents: [u32; 3],
    elements: PhantomData<&'a mut [T]>,
}

impl<T> Output3<'_, T> {
    /// Makes the output of the launch's argument, for `#[kernel]`.
    ///
    /// # Safety
    /// As for [`Output`](crate::Output), of as many elements as the extents' product. An extent is below 2^31.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_raw(pointer: *mut T, extents: [usize; 3]) -> Self {
        // SAFETY: by this function's own terms.
        unsafe { core::hint::assert_unchecked(!pointer.is_null()) };
        Output3 {
            pointer,
            extents: extents.map(|extent| extent as u32),
            elements: PhantomData,
        }
    }

    /// Planes, rows and columns.
    #[inline(always)]
    pub fn extents(&self) -> [usize; 3] {
        self.extents.map(|extent| extent as usize)
    }

    /// The first element of this thread, if it has one, with plane, row and column.
    #[inline(always)]
    pub fn own_element(&mut self) -> Option<([usize; 3], &mut T)> {
        self.own().next()
    }

    /// This thread's elements, each with plane, row and column.
    #[inline(always)]
    pub fn own(&mut self) -> impl Iterator<Item = ([usize; 3], &mut T)> {
        let (pointer, [planes, rows, columns]) = (self.pointer, self.extents);
        let [x, y, z] = own::place_3d();
        let mut next = [z, y, x];
        core::iter::from_fn(move || {
            let [plane, row, column] = next;
            if plane >= planes || row >= rows || column >= columns {
                return None;
            }
            // An extent is below 2^31, and a grid has at most 2^26 threads along y and z.
            let [across, down, deep] = own::threads_3d();
            next[0] = plane + deep;
            if next[0] >= planes {
                next = [z, row + down, column];
                if next[1] >= rows {
                    next = [z, y, column.saturating_add(across)];
                }
            }
            let [plane, row, column] = [plane, row, column].map(|index| index as usize);
            // SAFETY: inside the array; the element is this thread's alone and comes once, and the iterator borrows the
            // output.
            Some(([plane, row, column], unsafe {
                &mut *pointer.add((plane * rows as usize + row) * columns as usize + column)
            }))
        })
    }
}
