//! Host memory that the device reads and writes by itself.

use std::ops::{Deref, DerefMut};
use std::{ptr, slice};

use cust::sys;

use super::context::{Context, Owned};
use super::error::checked;
use super::{Device, DeviceValue, DriverError, Refused};

/// Elements in page-locked host memory, which copies reach without the processor and at the full
/// rate of the bus. It is of the host, so every GPU copies from and to it. On the emulator it is
/// ordinary memory.
///
/// It is a slice. While a copy is under way, the copy owns it:
///
/// ```compile_fail,E0382
/// # use ridgepoint_driver::{Device, DeviceChoice, Stream};
/// # let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// # let stream = Stream::new(&device)?;
/// # let mut buffer = device.buffer_filled(4, 0u32)?;
/// let mut host = device.pinned(4, 7u32)?;
/// let copy = stream.upload(host, &mut buffer, 0)?;
/// host[0] = 8; // The copy has it.
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
///
/// and gives it back once it is done:
///
/// ```
/// use ridgepoint_driver::{Device, DeviceChoice, Pinned, Stream};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let stream = Stream::new(&device)?;
/// let mut buffer = device.buffer_filled(4, 0u32)?;
/// let host: Pinned<u32> = device.pinned(4, 7)?;
/// let copy = stream.upload(host, &mut buffer, 0)?;
/// let mut host = copy.wait()?;
/// host[0] = 8;
/// assert_eq!(buffer.to_vec()?, [7; 4]);
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
pub struct Pinned<T: DeviceValue> {
    memory: Memory<T>,
}

enum Memory<T> {
    Allocated(Owned<Allocated<T>>),
    Registered(Owned<Registered<T>>),
    /// The emulator's.
    Ordinary(Vec<T>),
}

/// The driver's.
struct Allocated<T> {
    first: ptr::NonNull<T>,
    len: usize,
}

/// The program's, registered with the driver for as long as there are elements.
struct Registered<T>(Vec<T>);

// SAFETY: it owns its elements, which are plain data; the driver frees such memory on any thread.
unsafe impl<T: DeviceValue + Send> Send for Allocated<T> {}
// SAFETY: as above; shared, it is a slice.
unsafe impl<T: DeviceValue + Sync> Sync for Allocated<T> {}

impl Device {
    /// Page-locked memory of `len` elements, each `value`.
    ///
    /// # Errors
    /// On a GPU the driver does not allocate so much ([`DriverError::Call`]); on the emulator
    /// [`DriverError::OutOfMemory`].
    pub fn pinned<T: DeviceValue>(&self, len: usize, value: T) -> Result<Pinned<T>, DriverError> {
        let Some(gpu) = &self.gpu else {
            return Ok(Pinned {
                memory: Memory::Ordinary(self.emulated(len, value)?),
            });
        };
        let mut pinned = Pinned {
            memory: Memory::Allocated(gpu.context.own(|| Allocated::new(len))?),
        };
        if size_of::<T>() > 0 {
            pinned.fill(value);
        }
        Ok(pinned)
    }

    /// Locks the pages of memory that is there already. [`Pinned::into_vec`] gives it back.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, Stream};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let stream = Stream::new(&device)?;
    /// let mut buffer = device.buffer_zeroed(3)?;
    /// let values = vec![1.0f64, 2.0, 4.0];
    /// let copy = stream.upload(device.pin(values)?, &mut buffer, 0)?;
    /// let values: Vec<f64> = copy.wait()?.into_vec();
    /// assert_eq!(buffer.to_vec()?, values);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::Call`]: the system does not lock so much. The values come back in [`Refused::host`].
    pub fn pin<T: DeviceValue>(&self, mut values: Vec<T>) -> Result<Pinned<T>, Refused<Vec<T>>> {
        let memory = match &self.gpu {
            Some(gpu) if size_of_val(&values[..]) > 0 => {
                if let Err(error) = register(&gpu.context, &mut values) {
                    return Err(Refused::with(error, values));
                }
                Memory::Registered(gpu.context.owner_of(Registered(values)))
            }
            _ => Memory::Ordinary(values),
        };
        Ok(Pinned { memory })
    }
}

/// Locks the pages of the values, which are to be [`Registered`] then.
fn register<T>(context: &Context, values: &mut [T]) -> Result<(), DriverError> {
    context.enter()?;
    let (address, bytes) = (values.as_mut_ptr().cast(), size_of_val(values));
    // SAFETY: the vector's elements, which stay where they are until `drop` or `into_vec`.
    checked("lock the pages of host memory", unsafe {
        sys::cuMemHostRegister_v2(address, bytes, FOR_ALL_GPUS)
    })
}

/// CU_MEMHOSTREGISTER_PORTABLE. Memory that the driver allocates is so anyway.
const FOR_ALL_GPUS: u32 = 1;

impl<T: DeviceValue> Allocated<T> {
    fn new(len: usize) -> Result<Self, DriverError> {
        let mut address = ptr::null_mut();
        // An empty allocation is an error to the driver.
        let bytes = len.saturating_mul(size_of::<T>()).max(1);
        // SAFETY: `address` is a place to write to.
        checked("allocate page-locked memory", unsafe {
            sys::cuMemAllocHost_v2(&mut address, bytes)
        })?;
        let Some(first) = ptr::NonNull::new(address.cast::<T>()) else {
            unreachable!("the driver says that it has allocated");
        };
        Ok(Allocated { first, len })
    }
}

impl<T: DeviceValue> Pinned<T> {
    /// The elements as a vector: the one that was pinned, or a copy of memory that the driver
    /// allocated.
    pub fn into_vec(mut self) -> Vec<T> {
        match &mut self.memory {
            Memory::Allocated(_) => self.to_vec(),
            Memory::Ordinary(values) => std::mem::take(values),
            Memory::Registered(registered) => match registered.enter_mut() {
                Ok(registered) => registered.end(),
                // Registered for ever, so it cannot be anybody's vector.
                Err(_) => self.to_vec(),
            },
        }
    }

    /// Keeps the memory for ever, because a device may still use it.
    pub(super) fn forget(self) {
        match self.memory {
            Memory::Allocated(memory) => memory.forget(),
            Memory::Registered(memory) => memory.forget(),
            Memory::Ordinary(values) => std::mem::forget(values),
        }
    }
}

impl<T: DeviceValue> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.memory {
            Memory::Allocated(memory) => {
                let Allocated { first, len } = *memory.outside();
                // SAFETY: the driver's memory, filled when it was allocated.
                unsafe { slice::from_raw_parts(first.as_ptr(), len) }
            }
            Memory::Registered(memory) => &memory.outside().0,
            Memory::Ordinary(values) => values,
        }
    }
}

impl<T: DeviceValue> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.memory {
            Memory::Allocated(memory) => {
                let Allocated { first, len } = *memory.outside();
                // SAFETY: as above. `pinned` fills it through here, where any bits are a value.
                unsafe { slice::from_raw_parts_mut(first.as_ptr(), len) }
            }
            Memory::Registered(memory) => &mut memory.outside_mut().0,
            Memory::Ordinary(values) => values,
        }
    }
}

impl<T> Drop for Allocated<T> {
    fn drop(&mut self) {
        // SAFETY: allocated by the driver, and no copy has it: a copy owns what it uses.
        unsafe { sys::cuMemFreeHost(self.first.as_ptr().cast()) };
    }
}

impl<T> Registered<T> {
    /// Gives the elements back, no longer registered.
    fn end(&mut self) -> Vec<T> {
        if !self.0.is_empty() {
            // SAFETY: registered from its first element on, and no copy has it.
            unsafe { sys::cuMemHostUnregister(self.0.as_mut_ptr().cast()) };
        }
        std::mem::take(&mut self.0)
    }
}

impl<T> Drop for Registered<T> {
    fn drop(&mut self) {
        self.end();
    }
}
