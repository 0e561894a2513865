//! Host memory that the device reads and writes by itself.

use std::ops::{Deref, DerefMut};
use std::{ptr, slice};

use cust::sys;

use super::error::checked;
use super::{Device, DeviceValue, DriverError};

/// Elements in page-locked host memory, which copies reach without the processor and at the full
/// rate of the bus. On the emulator it is ordinary memory.
///
/// It is a slice. While a copy is under way, the copy owns it:
///
/// ```compile_fail,E0382
/// # use ridgepoint::driver::{Device, DeviceChoice, Stream};
/// # let device = Device::open(&DeviceChoice::Cpu)?;
/// # let stream = Stream::new(&device)?;
/// # let mut buffer = device.buffer_filled(4, 0u32)?;
/// let mut host = device.pinned(4, 7u32)?;
/// let copy = stream.upload(host, &mut buffer, 0)?;
/// host[0] = 8; // The copy has it.
/// # Ok::<(), ridgepoint::driver::DriverError>(())
/// ```
///
/// and gives it back once it is done:
///
/// ```
/// # use ridgepoint::driver::{Device, DeviceChoice, Stream};
/// # let device = Device::open(&DeviceChoice::Cpu)?;
/// # let stream = Stream::new(&device)?;
/// # let mut buffer = device.buffer_filled(4, 0u32)?;
/// let host = device.pinned(4, 7u32)?;
/// let copy = stream.upload(host, &mut buffer, 0)?;
/// let mut host = copy.wait()?;
/// host[0] = 8;
/// assert_eq!(buffer.to_vec()?, [7; 4]);
/// # Ok::<(), ridgepoint::driver::DriverError>(())
/// ```
pub struct Pinned<T: DeviceValue> {
    memory: Memory<T>,
}

enum Memory<T> {
    /// The driver's.
    Allocated { first: ptr::NonNull<T>, len: usize },
    /// The program's, registered with the driver.
    Registered(Vec<T>),
    /// The emulator's.
    Ordinary(Vec<T>),
}

// SAFETY: it owns its elements, which are plain data; the driver frees such memory on any thread.
unsafe impl<T: DeviceValue + Send> Send for Pinned<T> {}

impl Device {
    /// Page-locked memory of `len` elements, each `value`.
    ///
    /// # Errors
    /// There is too little memory.
    pub fn pinned<T: DeviceValue>(&self, len: usize, value: T) -> Result<Pinned<T>, DriverError> {
        if self.gpu.is_none() {
            return Ok(Pinned {
                memory: Memory::Ordinary(self.emulated(len, value)?),
            });
        }
        let mut address = ptr::null_mut();
        // An empty allocation is an error to the driver.
        let bytes = (len * size_of::<T>()).max(1);
        // SAFETY: `address` is a place to write to.
        checked("allocate page-locked memory", unsafe {
            sys::cuMemAllocHost_v2(&mut address, bytes)
        })?;
        let Some(first) = ptr::NonNull::new(address.cast::<T>()) else {
            unreachable!("the driver says that it has allocated");
        };
        let mut pinned = Pinned {
            memory: Memory::Allocated { first, len },
        };
        pinned.fill(value);
        Ok(pinned)
    }

    /// Locks the pages of memory that is there already. [`Pinned::into_vec`] gives it back.
    ///
    /// # Errors
    /// The system refuses.
    pub fn pin<T: DeviceValue>(&self, mut values: Vec<T>) -> Result<Pinned<T>, DriverError> {
        let bytes = size_of_val(&values[..]);
        if self.gpu.is_none() || bytes == 0 {
            return Ok(Pinned {
                memory: Memory::Ordinary(values),
            });
        }
        // SAFETY: the vector's elements, which stay where they are until `drop` or `into_vec`.
        checked("lock the pages of host memory", unsafe {
            sys::cuMemHostRegister_v2(values.as_mut_ptr().cast(), bytes, 0)
        })?;
        Ok(Pinned {
            memory: Memory::Registered(values),
        })
    }
}

impl<T: DeviceValue> Pinned<T> {
    /// The elements as a vector: the one that was pinned, or a copy of memory that the driver
    /// allocated.
    pub fn into_vec(mut self) -> Vec<T> {
        match &mut self.memory {
            Memory::Allocated { .. } => self.to_vec(),
            Memory::Ordinary(values) => std::mem::take(values),
            Memory::Registered(values) => {
                unregister(values);
                let values = std::mem::take(values);
                self.memory = Memory::Ordinary(Vec::new());
                values
            }
        }
    }
}

impl<T: DeviceValue> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.memory {
            // SAFETY: the driver's memory, filled when it was allocated.
            Memory::Allocated { first, len } => unsafe {
                slice::from_raw_parts(first.as_ptr(), *len)
            },
            Memory::Registered(values) | Memory::Ordinary(values) => values,
        }
    }
}

impl<T: DeviceValue> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.memory {
            // SAFETY: as above. `pinned` fills it through here, where any bits are a value.
            Memory::Allocated { first, len } => unsafe {
                slice::from_raw_parts_mut(first.as_ptr(), *len)
            },
            Memory::Registered(values) | Memory::Ordinary(values) => values,
        }
    }
}

impl<T: DeviceValue> Drop for Pinned<T> {
    fn drop(&mut self) {
        match &mut self.memory {
            // SAFETY: allocated by the driver, and no copy has it: a copy owns what it uses.
            Memory::Allocated { first, .. } => unsafe {
                sys::cuMemFreeHost(first.as_ptr().cast());
            },
            Memory::Registered(values) => unregister(values),
            Memory::Ordinary(_) => {}
        }
    }
}

fn unregister<T>(values: &mut [T]) {
    // SAFETY: registered from its first element on, and no copy has it.
    unsafe { sys::cuMemHostUnregister(values.as_mut_ptr().cast()) };
}
