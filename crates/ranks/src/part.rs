//! Parts of buffers that collectives read and write.

use std::ops::{Range, RangeBounds};

use ridgepoint_driver::{DeviceBuffer, DeviceValue};

/// Elements of a buffer that a collective reads. A whole buffer is one, too.
///
/// ```
/// use ranks::Part;
/// use ridgepoint_driver::{Device, DeviceChoice};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let buffer = device.buffer_zeroed::<f32>(10)?;
/// assert_eq!(Part::of(&buffer, 2..).len(), 8);
/// assert!(Part::of(&buffer, 3..3).is_empty());
/// assert_eq!(Part::from(&buffer).len(), 10);
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
pub struct Part<'a, T: DeviceValue> {
    pub(crate) buffer: &'a DeviceBuffer<T>,
    pub(crate) range: Range<usize>,
}

impl<'a, T: DeviceValue> Part<'a, T> {
    /// These elements of a buffer.
    ///
    /// # Panics
    /// The range ends beyond the buffer.
    pub fn of(buffer: &'a DeviceBuffer<T>, range: impl RangeBounds<usize>) -> Part<'a, T> {
        let range = within(buffer, range);
        Part { buffer, range }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

impl<'a, T: DeviceValue> From<&'a DeviceBuffer<T>> for Part<'a, T> {
    fn from(buffer: &'a DeviceBuffer<T>) -> Part<'a, T> {
        Part::of(buffer, ..)
    }
}

/// Elements of a buffer that a collective writes. A whole buffer is one, too.
///
/// ```
/// use ranks::PartMut;
/// use ridgepoint_driver::{Device, DeviceChoice};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let mut buffer = device.buffer_zeroed::<f32>(10)?;
/// assert_eq!(PartMut::of(&mut buffer, 2..4).len(), 2);
/// assert!(!PartMut::from(&mut buffer).is_empty());
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
pub struct PartMut<'a, T: DeviceValue> {
    pub(crate) buffer: &'a mut DeviceBuffer<T>,
    pub(crate) range: Range<usize>,
}

impl<'a, T: DeviceValue> PartMut<'a, T> {
    /// These elements of a buffer.
    ///
    /// # Panics
    /// The range ends beyond the buffer.
    pub fn of(buffer: &'a mut DeviceBuffer<T>, range: impl RangeBounds<usize>) -> PartMut<'a, T> {
        let range = within(buffer, range);
        PartMut { buffer, range }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

impl<'a, T: DeviceValue> From<&'a mut DeviceBuffer<T>> for PartMut<'a, T> {
    fn from(buffer: &'a mut DeviceBuffer<T>) -> PartMut<'a, T> {
        PartMut::of(buffer, ..)
    }
}

/// A range with both of its ends, which the buffer checks.
fn within<T: DeviceValue>(
    buffer: &DeviceBuffer<T>,
    range: impl RangeBounds<usize>,
) -> Range<usize> {
    let part = buffer.slice(range);
    let bytes = part.as_ptr().addr() - buffer.slice(..).as_ptr().addr();
    let start = bytes / size_of::<T>().max(1);
    start..start + part.len()
}
