//! Device memory.

use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};
use std::sync::atomic::{AtomicBool, Ordering};

use cuda_std::launch::{Home, Slice, SliceMut};
use cust::context::CurrentContext;
use cust::error::CudaError;
use cust::memory::{CopyDestination, DeviceBuffer as CudaBuffer};
use cust::sys;
use engine::memory::{Contents, Direction};

use super::checking::Order;
use super::context::Owned;
use super::emulator::Emulated;
use super::error::{checked, during};
use super::{Device, DeviceValue, DriverError};

/// Elements in the memory of a device.
///
/// ```
/// use ridgepoint_driver::{Device, DeviceBuffer, DeviceChoice};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let mut buffer: DeviceBuffer<i32> = device.buffer_zeroed(5)?;
/// assert!(buffer.len() == 5 && !buffer.is_empty());
/// buffer.write(1, &[7, 8])?;
/// assert_eq!(buffer.to_vec()?, [0, 7, 8, 0, 0]);
/// let mut last = [1; 3];
/// buffer.read(2, &mut last)?;
/// assert_eq!(last, [8, 0, 0]);
/// // What a launch takes: views of all elements or of some.
/// let (all, some) = (buffer.slice(..), buffer.slice(1..3));
/// assert_eq!((all.len(), some.len()), (5, 2));
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
pub struct DeviceBuffer<T: DeviceValue> {
    storage: Storage,
    pub(super) home: &'static Home,
    len: usize,
    /// Whether a copy may be under way.
    in_flight: AtomicBool,
    elements: PhantomData<T>,
}

/// Bytes, aligned to 256 as the driver's allocations are.
enum Storage {
    Gpu(Owned<CudaBuffer<u8>>),
    Host(Emulated),
}

impl Device {
    /// A buffer of `len` elements, each `value`. Of elements without bytes there may be any number, at no cost.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// assert_eq!(device.buffer_filled(3, 7u8)?.to_vec()?, [7; 3]);
    /// assert_eq!(device.buffer_filled(usize::MAX, ())?.len(), usize::MAX);
    /// assert_eq!(device.pinned(usize::MAX, ())?.len(), usize::MAX);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`]; or the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn buffer_filled<T: DeviceValue>(
        &self,
        len: usize,
        value: T,
    ) -> Result<DeviceBuffer<T>, DriverError> {
        const CHUNK_BYTES: usize = 1 << 22;
        let mut buffer = self.allocate(len)?;
        if size_of::<T>() == 0 {
            return Ok(buffer);
        }
        let step = (CHUNK_BYTES / size_of::<T>()).max(1);
        let chunk = vec![value; len.min(step)];
        for first in (0..len).step_by(step) {
            buffer.write(first, &chunk[..step.min(len - first)])?;
        }
        Ok(buffer)
    }

    /// A buffer with these elements.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`]; or the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn buffer_from<T: DeviceValue>(
        &self,
        values: &[T],
    ) -> Result<DeviceBuffer<T>, DriverError> {
        let mut buffer = self.allocate(values.len())?;
        buffer.write(0, values)?;
        Ok(buffer)
    }

    /// A buffer of `len` elements, each of whose bits is 0.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`]; or the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn buffer_zeroed<T: DeviceValue>(
        &self,
        len: usize,
    ) -> Result<DeviceBuffer<T>, DriverError> {
        let mut buffer = self.allocate(len)?;
        buffer.set_bytes(0)?;
        Ok(buffer)
    }

    /// A buffer whose elements are whatever the memory holds: on the emulator all bits are set. A
    /// kernel that reads an element which nobody has written is reported where memory is checked.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let mut sums = device.buffer_uninitialized::<f32>(2)?;
    /// sums.write(0, &[0.0, 0.0])?;
    /// assert_eq!(sums.to_vec()?, [0.0, 0.0]);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`]; or the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn buffer_uninitialized<T: DeviceValue>(
        &self,
        len: usize,
    ) -> Result<DeviceBuffer<T>, DriverError> {
        let mut buffer = self.allocate_with(len, Contents::Undefined)?;
        match &mut buffer.storage {
            // Nobody has written it, as far as checks go.
            Storage::Host(memory) => memory.fill(0xFF),
            Storage::Gpu(_) => buffer.poison()?,
        }
        Ok(buffer)
    }

    /// A buffer whose elements are whatever the memory holds, or zero.
    fn allocate<T: DeviceValue>(&self, len: usize) -> Result<DeviceBuffer<T>, DriverError> {
        self.allocate_with(len, Contents::Defined)
    }

    fn allocate_with<T: DeviceValue>(
        &self,
        len: usize,
        contents: Contents,
    ) -> Result<DeviceBuffer<T>, DriverError> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        self.check_memory(bytes)?;
        let storage = match &self.gpu {
            Some(gpu) => Storage::Gpu(gpu.context.own(|| {
                // SAFETY: any bit pattern is a `T`. An empty allocation is an error to the driver.
                let memory = unsafe { CudaBuffer::uninitialized(bytes.max(1) as usize) };
                memory.map_err(|error| match error {
                    CudaError::OutOfMemory => match gpu.free_memory() {
                        Ok(free) => self.out_of_memory(bytes, free),
                        Err(error) => error,
                    },
                    other => during("allocate device memory")(other),
                })
            })?),
            None => {
                let memory = Emulated::new(self.number, bytes, contents);
                Storage::Host(
                    memory.map_err(|_| self.out_of_memory(bytes, engine::memory::free_bytes()))?,
                )
            }
        };
        Ok(DeviceBuffer {
            storage,
            home: self.home,
            len,
            in_flight: AtomicBool::new(false),
            elements: PhantomData,
        })
    }
}

impl<T: DeviceValue> DeviceBuffer<T> {
    /// Elements in the buffer.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element in the buffer.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements of a range, for a kernel to read: `slice(..)` has all of them.
    ///
    /// # Panics
    /// The range ends beyond the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Slice<'_, T> {
        let (first, len) = self.elements(range);
        let offset = self.range(first, len).start;
        // SAFETY: the buffer lives as long as the view, has those elements, and is of its device.
        unsafe { Slice::from_raw((self.address() + offset) as *const T, len).of(self.home) }
    }

    /// The elements of a range, for a kernel to write: `slice_mut(..)` has all of them.
    ///
    /// # Panics
    /// The range ends beyond the buffer.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> SliceMut<'_, T> {
        let (first, len) = self.elements(range);
        let offset = self.range(first, len).start;
        // SAFETY: as above, and the view alone may write those elements.
        unsafe { SliceMut::from_raw(self.address_mut().add(offset).cast(), len).of(self.home) }
    }

    /// Copies `values` to the elements from `first` on.
    ///
    /// # Errors
    /// On a GPU the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]), or a kernel that ran
    /// before panicked ([`DriverError::Panicked`]); on the emulator a kernel that nobody has waited for may
    /// use the elements ([`DriverError::HostAccess`]).
    ///
    /// # Panics
    /// The buffer has fewer elements.
    pub fn write(&mut self, first: usize, values: &[T]) -> Result<(), DriverError> {
        let range = self.range(first, values.len());
        if values.is_empty() {
            return Ok(());
        }
        match &mut self.storage {
            Storage::Gpu(memory) => {
                memory
                    .enter_mut()?
                    .index(range)
                    .copy_from(bytemuck::cast_slice(values))
                    .map_err(during("copy to the device"))?;
                finish()
            }
            Storage::Host(memory) => {
                memory.used_by_host(range.clone(), Direction::Write)?;
                cuda_loader::pass("cuMemcpyHtoD_v2", || {
                    memory[range].copy_from_slice(bytemuck::cast_slice(values));
                });
                Ok(())
            }
        }
    }

    /// Copies the elements from `first` on into `values`.
    ///
    /// # Errors
    /// On a GPU the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]), or a kernel that ran
    /// before has failed, where it panicked with [`DriverError::Panicked`]; on the emulator a kernel that
    /// nobody has waited for may use the elements ([`DriverError::HostAccess`]).
    ///
    /// # Panics
    /// The buffer has fewer elements.
    pub fn read(&self, first: usize, values: &mut [T]) -> Result<(), DriverError> {
        let range = self.range(first, values.len());
        if values.is_empty() {
            return Ok(());
        }
        match &self.storage {
            Storage::Gpu(memory) => memory
                .enter()?
                .index(range)
                .copy_to(bytemuck::cast_slice_mut(values))
                .map_err(during("copy from the device")),
            Storage::Host(memory) => {
                memory.used_by_host(range.clone(), Direction::Read)?;
                cuda_loader::pass("cuMemcpyDtoH_v2", || {
                    bytemuck::cast_slice_mut::<_, u8>(values).copy_from_slice(&memory[range]);
                });
                Ok(())
            }
        }
    }

    /// Copies every element to the host.
    ///
    /// # Errors
    /// As [`DeviceBuffer::read`].
    pub fn to_vec(&self) -> Result<Vec<T>, DriverError> {
        let mut values = vec![T::zeroed(); self.len];
        self.read(0, &mut values)?;
        Ok(values)
    }

    /// Sets every bit. A float becomes NaN, so an element that no kernel writes shows.
    ///
    /// ```
    /// # use ridgepoint_driver::{Device, DeviceChoice};
    /// # let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let mut y = device.buffer_from(&[1.0f32, 2.0])?;
    /// y.poison()?;
    /// // A launch that writes the first element alone.
    /// # y.write(0, &[3.0])?;
    /// let y = y.to_vec()?;
    /// assert!(y[0] == 3.0 && y[1].is_nan());
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// As [`DeviceBuffer::write`].
    pub fn poison(&mut self) -> Result<(), DriverError> {
        self.set_bytes(0xFF)
    }

    fn set_bytes(&mut self, byte: u8) -> Result<(), DriverError> {
        match &mut self.storage {
            Storage::Gpu(memory) => {
                let memory = memory.enter_mut()?;
                memory.set_8(byte).map_err(during("fill device memory"))?;
                finish()
            }
            Storage::Host(memory) => {
                memory.used_by_host(0..memory.len(), Direction::Write)?;
                memory.fill(byte);
                Ok(())
            }
        }
    }

    /// Where a copy of `count` elements from `first` on reads.
    pub(super) fn copy_source(&self, first: usize, count: usize) -> *const u8 {
        let offset = self.range(first, count).start;
        self.in_flight.store(true, Ordering::Relaxed);
        (self.address() + offset) as *const u8
    }

    /// Where a copy of `count` elements from `first` on writes.
    pub(super) fn copy_target(&mut self, first: usize, count: usize) -> *mut u8 {
        let range = self.range(first, count);
        self.in_flight.store(true, Ordering::Relaxed);
        // SAFETY: inside the allocation.
        unsafe { self.address_mut().add(range.start) }
    }

    /// Tells the emulator's checks that a copy in a stream reaches `count` elements from `first` on.
    pub(super) fn used_by_copy(
        &self,
        order: &Order,
        first: usize,
        count: usize,
        direction: Direction,
    ) -> Result<(), DriverError> {
        match &self.storage {
            Storage::Host(memory) => memory.used(Some(order), self.range(first, count), direction),
            Storage::Gpu(_) => Ok(()),
        }
    }

    fn address(&self) -> usize {
        match &self.storage {
            Storage::Gpu(memory) => memory.outside().as_device_ptr().as_raw() as usize,
            Storage::Host(memory) => memory.as_ptr() as usize,
        }
    }

    fn address_mut(&mut self) -> *mut u8 {
        match &mut self.storage {
            Storage::Gpu(memory) => memory.outside().as_device_ptr().as_raw() as *mut u8,
            Storage::Host(memory) => memory.as_mut_ptr(),
        }
    }

    /// The first element of a range, and how many it has.
    fn elements(&self, range: impl RangeBounds<usize>) -> (usize, usize) {
        let first = match range.start_bound() {
            Bound::Included(&first) => first,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        assert!(
            first <= end && end <= self.len,
            "elements {first} to {end} of a buffer of {}",
            self.len
        );
        (first, end - first)
    }

    /// The bytes of `count` elements from `first` on.
    fn range(&self, first: usize, count: usize) -> Range<usize> {
        assert!(
            first.checked_add(count).is_some_and(|end| end <= self.len),
            "{count} elements from {first} on of a buffer of {}",
            self.len
        );
        first * size_of::<T>()..(first + count) * size_of::<T>()
    }
}

/// Waits for what was just asked for: such calls may return before the device is done, and streams do
/// not wait for them.
fn finish() -> Result<(), DriverError> {
    // SAFETY: null is the stream of calls that name none.
    checked("wait for a copy", unsafe {
        sys::cuStreamSynchronize(std::ptr::null_mut())
    })
}

impl<T: DeviceValue> Drop for DeviceBuffer<T> {
    /// Waits for copies that are under way.
    fn drop(&mut self) {
        if let Storage::Gpu(memory) = &self.storage
            && self.in_flight.load(Ordering::Relaxed)
            && memory.enter().is_ok()
        {
            // An error is the context's, in which then nothing runs any more.
            let _ = CurrentContext::synchronize();
        }
    }
}
