//! Output that each thread can write without `unsafe`, because it reaches only its own elements.
//!
//! Which elements are a thread's is part of the parameter's type, and the extents are the launch's, so all threads of a
//! grid divide the output alike.

mod length;
mod plane;
mod rows;
mod volume;

pub(crate) use length::Length;
#[cfg(not(target_arch = "nvptx64"))]
pub use length::output_length;
pub use plane::{Output2, Tile};
pub use rows::{BlockOutput, Row, RowOutput, WarpOutput};
pub use volume::Output3;

use core::marker::PhantomData;

use crate::own::Own;

/// A kernel's parameter for elements that it writes: pointer and length, like a slice, of which
/// each thread reaches its own elements and no others.
///
/// A thread's own elements are its index in the grid, counted over all its dimensions, and from
/// there in steps of all the grid's threads. So no two threads share one, whatever the launch. A launch of a kernel with outputs
/// has at most 2^32 - 1 threads, so that a thread's index has 32 bits; of more elements than that each thread visits several.
///
/// ```
/// use cuda_std::prelude::*;
///
/// #[kernel]
/// pub fn scale(x: &[f32], mut y: Output<f32>, a: f32) {
///     for (x, y) in y.own_with(x) {
///         *y = a * x;
///     }
/// }
///
/// /// Each element is its index.
/// #[kernel]
/// pub fn enumerate(mut y: Output<f32>) {
///     if y.is_empty() {
///         return;
///     }
///     if y.len() <= thread::grid_threads() {
///         // A thread per element, or more: each has one at most.
///         if let Some((index, y)) = y.own_element() {
///             *y = index as f32;
///         }
///     } else {
///         for (index, y) in y.own() {
///             *y = index as f32;
///         }
///     }
/// }
/// # use cuda_std::launch::{Kernel, Slice, SliceMut};
/// # let shape = simt::Shape { grid: [2, 2, 1], block: [8, 1, 1], dynamic_shared: 0 };
/// # let launch = |kernel: &dyn Fn()| simt::Launch::new(shape).run(kernel).expect("a launch");
/// # let mut y = [0.0_f32; 100];
/// # let pointer = y.as_mut_ptr();
/// # // SAFETY: the array outlives the launches, and the kernels are safe.
/// # let view = |len| unsafe { SliceMut::from_raw(pointer, len) };
/// # launch(&|| unsafe { enumerate::call(&(view(20),)) });
/// # launch(&|| unsafe { enumerate::call(&(view(100),)) });
/// # let x: [f32; 100] = core::array::from_fn(|i| i as f32);
/// # assert_eq!(y, x);
/// # // SAFETY: as above.
/// # launch(&|| unsafe { scale::call(&(Slice::from_raw(x.as_ptr(), 100), view(100), 2.0)) });
/// # assert_eq!(y, x.map(|x| 2.0 * x));
/// ```
pub struct Output<'a, T> {
    pointer: *mut T,
    len: usize,
    own: Own,
    elements: PhantomData<&'a mut [T]>,
}

impl<T> Output<'_, T> {
    /// Makes the only output of a launch, of its argument, for `#[kernel]`.
    ///
    /// # Safety
    /// The launch has at most 2^32 - 1 threads. `len` is what `output_length` gives for it, or a plain length below 2^62. So many elements at `pointer`,
    /// which is not null, are initialised, stay alive, and are reached by this launch's threads only through such
    /// an output, and by each thread through one.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn from_raw(pointer: *mut T, len: usize) -> Self {
        // SAFETY: by this function's own terms.
        unsafe { Output::one_of(pointer, len, Own::of(len)) }
    }

    /// Makes one of a launch's outputs. All have the same `own`, so that a thread asks once what its grid is.
    ///
    /// # Safety
    /// As of [`Output::from_raw`]; `own` is of a length of this launch.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn one_of(pointer: *mut T, len: usize, own: Own) -> Self {
        // SAFETY: by this function's own terms. LLVM would ask it of each element that comes in an
        // `Option`, where null is `None`.
        unsafe { core::hint::assert_unchecked(!pointer.is_null()) };
        Output {
            pointer,
            len: Length(len).elements(),
            own,
            elements: PhantomData,
        }
    }

    /// How many elements all threads have together; of elements without bytes at most 2^61.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first element of this thread, if it has one: the only one, where the grid has a thread
    /// for each element.
    #[inline(always)]
    pub fn own_element(&mut self) -> Option<(usize, &mut T)> {
        let pointer = self.pointer;
        self.own.first(self.len).map(move |index| {
            // SAFETY: as in `own`.
            (index, unsafe { &mut *pointer.add(index) })
        })
    }

    /// This thread's elements, each with its index.
    #[inline(always)]
    pub fn own(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        let pointer = self.pointer;
        self.own.indices(self.len).map(move |index| {
            // SAFETY: index < len, and comes to this thread alone and once; the iterator borrows
            // the output.
            (index, unsafe { &mut *pointer.add(index) })
        })
    }

    /// This thread's elements, each with the element of `input` of the same index, as far as both
    /// reach.
    #[inline(always)]
    pub fn own_with<'s, U>(
        &'s mut self,
        input: &'s [U],
    ) -> impl Iterator<Item = (&'s U, &'s mut T)> {
        let pointer = self.pointer;
        let input_pointer = input.as_ptr();
        let len = self.len.min(input.len());
        self.own.indices(len).map(move |index| {
            // SAFETY: as in `own`; and index < input.len().
            unsafe { (&*input_pointer.add(index), &mut *pointer.add(index)) }
        })
    }
}
