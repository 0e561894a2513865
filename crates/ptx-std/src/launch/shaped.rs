//! Device memory that a kernel writes, with extents.

use core::ffi::c_void;
use core::fmt;

use super::{Home, Memory, SliceMut};

/// Device memory of `D` dimensions that a kernel writes: the argument of an `Output2`, `Output3`, `WarpOutput` or
/// `BlockOutput` parameter. [`SliceMut::shaped`] makes it.
///
/// ```
/// use cuda_std::launch::{ShapedMut, SliceMut};
///
/// let mut rows = [0.0_f32; 6];
/// let pointer = rows.as_mut_ptr();
/// // SAFETY: the array outlives the view, which is of host memory.
/// let view: ShapedMut<f32, 2> = unsafe { SliceMut::from_raw(pointer, 6) }.shaped([2, 3]);
/// assert_eq!((view.as_ptr(), view.extents(), view.home()), (pointer, [2, 3], None));
/// assert_eq!(view.memory("y").len, 6);
///
/// // What a driver copies into the kernel's parameters:
/// // SAFETY: the addresses are those of the view's own pointer and extents.
/// let (parameter, columns) = unsafe {
///     (*view.pointer_parameter().cast::<*mut f32>(), *view.extent_parameter(1).cast::<usize>())
/// };
/// assert_eq!((parameter, columns), (pointer, 3));
/// ```
pub struct ShapedMut<'a, T, const D: usize> {
    elements: SliceMut<'a, T>,
    extents: [usize; D],
}

/// Extents that are not those of the elements.
///
/// ```
/// use cuda_std::launch::{ShapeError, SliceMut};
///
/// let mut values = [0_u32; 6];
/// // SAFETY: the array outlives the view.
/// let view = unsafe { SliceMut::from_raw(values.as_mut_ptr(), 6) };
/// let error: ShapeError<2> = view.try_shaped([2, 4]).err().expect("six elements are no 2 x 4");
/// assert_eq!(error.to_string(), "an output of 2 x 4 has 8 elements, and the slice has 6");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeError<const D: usize> {
    /// The extents that were asked for.
    pub extents: [usize; D],
    /// How many elements there are.
    pub elements: usize,
}

impl<const D: usize> ShapeError<D> {
    fn asked(&self) -> Option<usize> {
        let mut extents = self.extents.iter();
        extents.try_fold(1_usize, |product, extent| product.checked_mul(*extent))
    }
}

impl<const D: usize> fmt::Display for ShapeError<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an output of ")?;
        for (axis, extent) in self.extents.iter().enumerate() {
            write!(formatter, "{}{extent}", if axis == 0 { "" } else { " x " })?;
        }
        match self.asked() {
            Some(asked) if asked != self.elements => write!(formatter, " has {asked} elements")?,
            Some(_) => write!(formatter, ": an extent is at most {MOST}")?,
            None => formatter.write_str(" is more than any memory holds")?,
        }
        write!(formatter, ", and the slice has {}", self.elements)
    }
}

impl<const D: usize> core::error::Error for ShapeError<D> {}

/// The greatest extent: rows and columns, and those of the next element, are counted in 32 bits.
const MOST: usize = i32::MAX as usize;

impl<'a, T> SliceMut<'a, T> {
    /// The same elements as an array of `D` dimensions, the last of which lies close together.
    ///
    /// # Panics
    /// As [`SliceMut::try_shaped`] fails.
    #[track_caller]
    pub fn shaped<const D: usize>(self, extents: [usize; D]) -> ShapedMut<'a, T, D> {
        match self.try_shaped(extents) {
            Ok(shaped) => shaped,
            Err(error) => panic!("{error}"),
        }
    }

    /// The same elements as an array of `D` dimensions, the last of which lies close together.
    ///
    /// # Errors
    /// [`ShapeError`] where the extents' product is not the number of elements, or an extent is above 2^31 - 1.
    pub fn try_shaped<const D: usize>(
        self,
        extents: [usize; D],
    ) -> Result<ShapedMut<'a, T, D>, ShapeError<D>> {
        let error = ShapeError {
            extents,
            elements: self.len(),
        };
        let fits = extents.iter().all(|extent| *extent <= MOST);
        match error.asked() {
            Some(asked) if asked == self.len() && fits => Ok(ShapedMut {
                elements: self,
                extents,
            }),
            _ => Err(error),
        }
    }
}

impl<T, const D: usize> ShapedMut<'_, T, D> {
    /// Elements along each axis; those of the last lie close together.
    pub fn extents(&self) -> [usize; D] {
        self.extents
    }

    /// The device whose memory it is, where that is known.
    pub fn home(&self) -> Option<&'static Home> {
        self.elements.home()
    }

    /// The first element's address in the memory of the machine that the kernel runs on.
    pub fn as_ptr(&self) -> *mut T {
        self.elements.as_ptr()
    }

    /// The memory in view, under the parameter's name.
    pub fn memory(&self, parameter: &'static str) -> Memory {
        self.elements.memory(parameter)
    }

    /// The address of the pointer, for a driver that copies parameters from there.
    pub fn pointer_parameter(&self) -> *const c_void {
        self.elements.pointer_parameter()
    }

    /// The address of the extent along an axis, for a driver that copies parameters from there.
    ///
    /// # Panics
    /// There are not so many axes.
    pub fn extent_parameter(&self, axis: usize) -> *const c_void {
        (&raw const self.extents[axis]).cast()
    }
}
