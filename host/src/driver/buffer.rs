//! Device memory.

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use cuda_std::launch::{Slice, SliceMut};
use cust::memory::{CopyDestination, DeviceBuffer};
use simt::Uninitialised;

use super::error::during;
use super::{Device, DriverError};

/// A type whose values can lie in device memory: plain data, any bit pattern of which is a value.
pub trait DeviceValue: Pod {}
impl<T: Pod> DeviceValue for T {}

/// Elements in the memory of a device.
pub struct Buffer<T: DeviceValue> {
    storage: Storage,
    len: usize,
    elements: PhantomData<T>,
}

/// Bytes, aligned to 256 as the driver's allocations are.
enum Storage {
    Gpu(DeviceBuffer<u8>),
    Host {
        memory: Vec<Unit>,
        /// Of a buffer that began without contents.
        contents: Option<Uninitialised>,
    },
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(256))]
struct Unit([u8; 256]);

impl Device {
    /// A buffer of `len` elements, each `value`.
    ///
    /// # Errors
    /// There is too little memory.
    pub fn buffer_filled<T: DeviceValue>(
        &self,
        len: usize,
        value: T,
    ) -> Result<Buffer<T>, DriverError> {
        const CHUNK: usize = 1 << 20;
        let chunk = vec![value; len.min(CHUNK)];
        let mut buffer = self.allocate(len)?;
        for first in (0..len).step_by(CHUNK) {
            buffer.write(first, &chunk[..CHUNK.min(len - first)])?;
        }
        Ok(buffer)
    }

    /// A buffer with these elements.
    ///
    /// # Errors
    /// There is too little memory.
    pub fn buffer_from<T: DeviceValue>(&self, values: &[T]) -> Result<Buffer<T>, DriverError> {
        let mut buffer = self.allocate(values.len())?;
        buffer.write(0, values)?;
        Ok(buffer)
    }

    /// A buffer whose elements are whatever the memory holds: on the emulator all bits are set. A
    /// kernel that reads an element which nobody has written is reported where memory is checked.
    ///
    /// # Errors
    /// There is too little memory.
    pub fn buffer_uninitialized<T: DeviceValue>(
        &self,
        len: usize,
    ) -> Result<Buffer<T>, DriverError> {
        let mut buffer = self.allocate(len)?;
        buffer.poison()?;
        if let Storage::Host { memory, contents } = &mut buffer.storage {
            *contents = Some(Uninitialised::new(bytes_of(memory)));
        }
        Ok(buffer)
    }

    /// A buffer whose elements are whatever the memory holds, or zero.
    fn allocate<T: DeviceValue>(&self, len: usize) -> Result<Buffer<T>, DriverError> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let free = self.free_memory()?;
        let out_of_memory = || DriverError::OutOfMemory {
            bytes,
            free,
            device: self.facts.name.clone(),
        };
        if bytes > free {
            return Err(out_of_memory());
        }
        let storage = match &self.gpu {
            // SAFETY: any bit pattern is a `T`. An empty allocation is an error to the driver.
            Some(_) => Storage::Gpu(
                unsafe { DeviceBuffer::uninitialized(bytes.max(1) as usize) }
                    .map_err(|_| out_of_memory())?,
            ),
            None => Storage::Host {
                memory: vec![Unit::zeroed(); bytes.div_ceil(256) as usize],
                contents: None,
            },
        };
        Ok(Buffer {
            storage,
            len,
            elements: PhantomData,
        })
    }
}

impl<T: DeviceValue> Buffer<T> {
    /// Elements in the buffer.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element in the buffer.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The whole buffer, for a kernel to read.
    pub fn slice(&self) -> Slice<'_, T> {
        self.first(self.len)
    }

    /// The first `len` elements, for a kernel to read.
    ///
    /// # Panics
    /// The buffer has fewer.
    pub fn first(&self, len: usize) -> Slice<'_, T> {
        assert!(
            len <= self.len,
            "{len} elements of a buffer of {}",
            self.len
        );
        // SAFETY: the buffer lives as long as the view, and has that many elements.
        unsafe { Slice::from_raw(self.address() as *const T, len) }
    }

    /// The whole buffer, for a kernel to write.
    pub fn slice_mut(&mut self) -> SliceMut<'_, T> {
        self.first_mut(self.len)
    }

    /// The first `len` elements, for a kernel to write.
    ///
    /// # Panics
    /// The buffer has fewer.
    pub fn first_mut(&mut self, len: usize) -> SliceMut<'_, T> {
        assert!(
            len <= self.len,
            "{len} elements of a buffer of {}",
            self.len
        );
        let pointer = match &mut self.storage {
            Storage::Gpu(memory) => memory.as_device_ptr().as_raw() as *mut T,
            Storage::Host { memory, .. } => memory.as_mut_ptr().cast(),
        };
        // SAFETY: the buffer lives as long as the view, which alone may write it.
        unsafe { SliceMut::from_raw(pointer, len) }
    }

    /// Copies `values` to the elements from `first` on.
    ///
    /// # Errors
    /// The driver's.
    ///
    /// # Panics
    /// The buffer has fewer elements.
    pub fn write(&mut self, first: usize, values: &[T]) -> Result<(), DriverError> {
        let range = self.range(first, values.len());
        if values.is_empty() {
            return Ok(());
        }
        match &mut self.storage {
            Storage::Gpu(memory) => memory
                .index(range)
                .copy_from(bytemuck::cast_slice(values))
                .map_err(during("copy to the device")),
            Storage::Host { memory, contents } => {
                let memory = &mut bytemuck::cast_slice_mut::<_, u8>(memory)[range];
                memory.copy_from_slice(bytemuck::cast_slice(values));
                if let Some(contents) = contents {
                    contents.written(bytes_of(memory));
                }
                Ok(())
            }
        }
    }

    /// Copies the elements from `first` on into `values`.
    ///
    /// # Errors
    /// The driver's: also those of the kernels that ran before.
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
                .index(range)
                .copy_to(bytemuck::cast_slice_mut(values))
                .map_err(during("copy from the device")),
            Storage::Host { memory, .. } => {
                bytemuck::cast_slice_mut::<_, u8>(values)
                    .copy_from_slice(&bytemuck::cast_slice(memory)[range]);
                Ok(())
            }
        }
    }

    /// Copies every element to the host.
    ///
    /// # Errors
    /// As [`Buffer::read`].
    pub fn to_vec(&self) -> Result<Vec<T>, DriverError> {
        let mut values = vec![T::zeroed(); self.len];
        self.read(0, &mut values)?;
        Ok(values)
    }

    /// Sets every bit. A float becomes NaN, so an element that no kernel writes shows.
    ///
    /// # Errors
    /// The driver's.
    pub fn poison(&mut self) -> Result<(), DriverError> {
        match &mut self.storage {
            Storage::Gpu(memory) => memory.set_8(0xFF).map_err(during("fill device memory")),
            Storage::Host { memory, .. } => {
                memory.fill(Unit([0xFF; 256]));
                Ok(())
            }
        }
    }

    fn address(&self) -> usize {
        match &self.storage {
            Storage::Gpu(memory) => memory.as_device_ptr().as_raw() as usize,
            Storage::Host { memory, .. } => memory.as_ptr() as usize,
        }
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

/// Where the values lie.
fn bytes_of<V>(values: &[V]) -> Range<usize> {
    let start = values.as_ptr().addr();
    start..start + size_of_val(values)
}
