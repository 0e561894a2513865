//! Device memory as the argument of a launch.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

use super::{Home, Memory};
use crate::atomic::{AtomicF32, AtomicF64};

macro_rules! views {
    ($($(#[$doc:meta])* $name:ident: $pointer:ty, $borrow:ty;)*) => {$(
        $(#[$doc])*
        pub struct $name<'a, T> {
            pointer: $pointer,
            len: usize,
            home: Option<&'static Home>,
            buffer: PhantomData<$borrow>,
        }

        impl<'a, T> $name<'a, T> {
            /// A view of `len` elements at `pointer`.
            ///
            /// # Safety
            /// Kernels may use the elements for as long as `'a` lasts: they lie in memory of the
            /// machine that the kernel runs on, which stays allocated that long.
            pub unsafe fn from_raw(pointer: $pointer, len: usize) -> Self {
                Self { pointer, len, home: None, buffer: PhantomData }
            }

            /// The same view, known to be of memory of this device: a launch on another refuses it.
            ///
            /// # Safety
            /// It is this device's memory.
            #[must_use]
            pub unsafe fn of(self, home: &'static Home) -> Self {
                Self { home: Some(home), ..self }
            }

            /// The device whose memory it is, where [`of`](Self::of) has said so.
            pub fn home(&self) -> Option<&'static Home> {
                self.home
            }

            /// Elements in view.
            pub fn len(&self) -> usize {
                self.len
            }

            /// Whether there is no element in view.
            pub fn is_empty(&self) -> bool {
                self.len == 0
            }

            /// The first element's address in the memory of the machine that the kernel runs on.
            pub fn as_ptr(&self) -> $pointer {
                self.pointer
            }

            /// The memory in view, under the parameter's name.
            pub fn memory(&self, parameter: &'static str) -> Memory {
                Memory {
                    parameter,
                    address: self.pointer.addr(),
                    len: self.len,
                    element_bytes: size_of::<T>(),
                    home: self.home,
                    is_fixed: false,
                }
            }

            /// The address of the pointer, for a driver that copies parameters from there.
            pub fn pointer_parameter(&self) -> *const c_void {
                (&raw const self.pointer).cast()
            }

            /// The address of the length, for a driver that copies parameters from there.
            pub fn length_parameter(&self) -> *const c_void {
                (&raw const self.len).cast()
            }
        }
    )*};
}

views! {
    /// Device memory that a kernel reads: the argument of a `&[T]`, `*const T` or `&T` parameter.
    ///
    /// ```
    /// use cuda_std::launch::Slice;
    ///
    /// let rows = [[1.0_f32, 2.0], [3.0, 4.0]];
    /// // SAFETY: the array outlives the view, which is of host memory.
    /// let (view, row, elements) = unsafe {
    ///     let view = Slice::from_raw(rows.as_ptr(), rows.len());
    ///     (view.as_slice(), view.as_reference(), view.as_flattened().as_slice())
    /// };
    /// assert_eq!((view, row, elements), (&rows[..], &rows[0], &[1.0, 2.0, 3.0, 4.0][..]));
    ///
    /// // What a driver copies into the kernel's parameters:
    /// // SAFETY: as above.
    /// let view = unsafe { Slice::from_raw(rows.as_ptr(), rows.len()) };
    /// assert!(view.len() == 2 && !view.is_empty() && view.home().is_none());
    /// // SAFETY: the addresses are those of the view's own pointer and length.
    /// let (pointer, len) = unsafe {
    ///     (*view.pointer_parameter().cast::<*const [f32; 2]>(), *view.length_parameter().cast::<usize>())
    /// };
    /// assert_eq!((pointer, len), (view.as_ptr(), view.len()));
    /// // A `&T` takes the pointer alone, of an element that there is.
    /// assert_eq!(view.reference_parameter(), view.pointer_parameter());
    /// ```
    Slice: *const T, &'a [T];
    /// Device memory that a kernel writes: the argument of a `*mut T` or `Output<T>` parameter.
    ///
    /// ```
    /// use cuda_std::launch::{Home, SliceMut};
    ///
    /// let home: &'static Home = Box::leak(Box::new(Home::new("the host".to_owned())));
    /// let mut rows = [[1.0_f32, 2.0], [3.0, 4.0]];
    /// let pointer = rows.as_mut_ptr();
    /// // SAFETY: the array outlives the view, and is in the memory that `home` stands for.
    /// let view = unsafe { SliceMut::from_raw(pointer, 2).of(home) };
    /// assert!(view.len() == 2 && !view.is_empty());
    /// assert_eq!((view.as_ptr(), view.home()), (pointer, Some(home)));
    /// assert_eq!(view.memory("y").element_bytes, 8);
    ///
    /// // What a driver copies into the kernel's parameters:
    /// // SAFETY: the addresses are those of the view's own pointer and length.
    /// let (parameter, len) = unsafe {
    ///     (*view.pointer_parameter().cast::<*mut [f32; 2]>(), *view.length_parameter().cast::<usize>())
    /// };
    /// assert_eq!((parameter, len), (pointer, 2));
    ///
    /// let elements = view.into_flattened();
    /// assert_eq!(elements.len(), 4);
    /// assert_eq!(elements.home(), Some(home));
    /// ```
    SliceMut: *mut T, &'a mut [T];
}

impl<'a, T> Slice<'a, T> {
    /// A view of nothing, for a parameter that a kernel is not going to read.
    ///
    /// ```
    /// use cuda_std::launch::Slice;
    ///
    /// assert!(Slice::<f32>::empty().is_empty());
    /// ```
    pub fn empty() -> Self {
        // SAFETY: there are no elements.
        unsafe { Slice::from_raw(core::ptr::dangling(), 0) }
    }

    /// The address of the pointer for a `&T` parameter.
    ///
    /// # Panics
    /// There is no element to refer to.
    pub fn reference_parameter(&self) -> *const c_void {
        self.assert_one();
        self.pointer_parameter()
    }

    /// The element for a `&T` parameter, where it is in host memory.
    ///
    /// # Safety
    /// As for [`Slice::as_slice`].
    ///
    /// # Panics
    /// There is no element to refer to.
    pub unsafe fn as_reference(&self) -> &'a T {
        self.assert_one();
        // SAFETY: `from_raw`'s caller vouched for the element, ours for where it is.
        unsafe { &*self.pointer }
    }

    fn assert_one(&self) {
        assert!(
            !self.is_empty(),
            "a `&T` parameter refers to the first element of a slice, and this one is empty"
        );
    }

    /// The elements, where they are in host memory.
    ///
    /// # Safety
    /// The view is of host memory, as it is in an emulated launch.
    pub unsafe fn as_slice(&self) -> &'a [T] {
        // SAFETY: `from_raw`'s caller vouched for the elements, ours for where they are.
        unsafe { core::slice::from_raw_parts(self.pointer, self.len) }
    }
}

impl<'a, T, const N: usize> Slice<'a, [T; N]> {
    /// The elements of the arrays in view.
    pub fn as_flattened(&self) -> Slice<'a, T> {
        // SAFETY: the same memory, of which `from_raw`'s caller vouched.
        let flat = unsafe { Slice::from_raw(self.pointer.cast(), self.len * N) };
        Slice {
            home: self.home,
            ..flat
        }
    }
}

impl<'a, T, const N: usize> SliceMut<'a, [T; N]> {
    /// The elements of the arrays in view.
    pub fn into_flattened(self) -> SliceMut<'a, T> {
        // SAFETY: the same memory, of which `from_raw`'s caller vouched.
        let flat = unsafe { SliceMut::from_raw(self.pointer.cast(), self.len * N) };
        SliceMut {
            home: self.home,
            ..flat
        }
    }
}

/// A number that has an atomic type, which lies in memory as it does.
///
/// ```
/// use cuda_std::launch::{HasAtomic, Slice, SliceMut};
///
/// fn lent<T: HasAtomic>(numbers: SliceMut<'_, T>) -> Slice<'_, T::Atomic> {
///     numbers.into_atomics()
/// }
/// let mut number = 5.0_f32;
/// // SAFETY: the number outlives the view, which is of host memory.
/// let atomics = unsafe { lent(SliceMut::from_raw(&raw mut number, 1)).as_slice() };
/// assert_eq!(atomics[0].load(core::sync::atomic::Ordering::Relaxed), 5.0);
/// ```
///
/// # Safety
/// Size, alignment and bits of the two are the same, and all accesses through a reference to the atomic are atomic.
pub unsafe trait HasAtomic: Copy {
    /// The atomic type.
    type Atomic: Sync;
}

macro_rules! atomics {
    ($($number:ty => $atomic:ty;)*) => {$(
        const _: () = assert!(
            size_of::<$number>() == size_of::<$atomic>() && align_of::<$number>() == align_of::<$atomic>()
        );

        // SAFETY: compared above; the atomic is a cell of the number.
        unsafe impl HasAtomic for $number {
            type Atomic = $atomic;
        }
    )*};
}

atomics! {
    i32 => AtomicI32;
    i64 => AtomicI64;
    u32 => AtomicU32;
    u64 => AtomicU64;
    f32 => AtomicF32;
    f64 => AtomicF64;
}

impl<'a, T: HasAtomic> SliceMut<'a, T> {
    /// The same elements for a parameter of atomics: `&[AtomicU32]` for `u32`, and
    /// [`&[AtomicF32]`](crate::atomic::AtomicF32) for `f32`. All threads may change all of them, without `unsafe`.
    ///
    /// ```
    /// use core::sync::atomic::{AtomicU32, Ordering};
    /// use cuda_std::prelude::*;
    ///
    /// #[kernel]
    /// pub fn histogram(bytes: &[u8], counts: &[AtomicU32]) {
    ///     for i in thread::grid_stride(bytes.len()) {
    ///         if let Some(count) = counts.get(usize::from(bytes[i])) {
    ///             count.fetch_add(1, Ordering::Relaxed);
    ///         }
    ///     }
    /// }
    /// # use cuda_std::launch::{Kernel, Slice, SliceMut};
    /// # let shape = simt::Shape { grid: [2, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
    /// let (bytes, mut counts) = ([3, 1, 3, 200, 3], [0_u32; 4]);
    /// // SAFETY: the arrays outlive the launch.
    /// let arguments = unsafe { (
    ///     Slice::from_raw(bytes.as_ptr(), 5),
    ///     SliceMut::from_raw(counts.as_mut_ptr(), 4).into_atomics(),
    /// ) };
    /// # simt::Launch::new(shape).run(&|| unsafe { histogram::call(&arguments) })?;
    /// assert_eq!(counts, [0, 1, 0, 3]);
    /// # Ok::<(), simt::LaunchError>(())
    /// ```
    pub fn into_atomics(self) -> Slice<'a, T::Atomic> {
        // SAFETY: the same memory, which is this view's alone, as atomics of the same layout.
        let atomics = unsafe { Slice::from_raw(self.pointer.cast_const().cast(), self.len) };
        Slice {
            home: self.home,
            ..atomics
        }
    }
}

// SAFETY: a view is used like the reference it stands for, which these bounds fit.
unsafe impl<T: Sync> Send for Slice<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Slice<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for SliceMut<'_, T> {}
// SAFETY: as above; a shared `SliceMut` gives out nothing but a raw pointer, and a launch without
// `unsafe` takes it by value.
unsafe impl<T: Sync> Sync for SliceMut<'_, T> {}
