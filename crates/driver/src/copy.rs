//! Copies that go on while the host does something else.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_std::launch::Home;
use cust::context::CurrentContext;
use cust::sys;
use engine::memory::Direction;

use super::error::{checked, during};
use super::trace::{FROM_DEVICE, TO_DEVICE};
use super::{
    DeviceBuffer, DeviceValue, DriverError, Event, Pinned, Refused, Stream, home, reachable,
};

/// Copies of all devices that nobody has waited for, so that they may be under way.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// A copy under way, which owns its host memory until it is done.
///
/// Dropped early, it waits. Forgotten, its memory is never freed.
///
/// ```
/// use ridgepoint_driver::{Device, DeviceChoice, Pending, Stream};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let stream = Stream::new(&device)?;
/// let buffer = device.buffer_from(&[1, 2, 3, 4])?;
/// let copy: Pending<i32> = stream.download(&buffer, 1, device.pinned(2, 0)?)?;
/// // The host does something else meanwhile.
/// if !copy.is_done()? {
///     copy.done().synchronize()?;
/// }
/// assert_eq!(copy.wait()?[..], [2, 3]);
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
#[must_use = "dropped, it waits for the copy"]
pub struct Pending<'d, T: DeviceValue> {
    /// `None` once it has been taken out.
    host: Option<Pinned<T>>,
    done: Event<'d>,
}

impl<'d> Stream<'d> {
    /// Begins to copy all of `host` to the elements of `target` from `first` on.
    ///
    /// # Errors
    /// [`DriverError::Capturing`]: the stream captures; [`DriverError::OtherDevice`]: the buffer is of
    /// another device. On a GPU also: the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]). On
    /// the emulator also: a kernel of another stream may use the elements ([`DriverError::HostAccess`]).
    /// The host memory comes back in [`Refused::host`].
    ///
    /// # Panics
    /// The buffer has fewer elements.
    pub fn upload<T: DeviceValue>(
        &self,
        host: Pinned<T>,
        target: &mut DeviceBuffer<T>,
        first: usize,
    ) -> Result<Pending<'d, T>, Refused<Pinned<T>>> {
        if let Err(error) = self.accept(TO_DEVICE, target) {
            return Err(Refused::with(error, host));
        }
        if let Err(error) = target.used_by_copy(&self.order, first, host.len(), Direction::Write) {
            return Err(Refused::with(error, host));
        }
        let to = target.copy_target(first, host.len());
        let bytes = size_of_val(&host[..]);
        let from = host.as_ptr().cast::<c_void>();
        // SAFETY: `bytes` bytes from either address on belong to `host`, which `Pending` owns until
        // the copy is done, and to `target`, which waits for its copies before it is freed.
        let begun = self.traced(TO_DEVICE, bytes, || unsafe {
            match self.enter()? {
                Some(stream) => checked(
                    TO_DEVICE,
                    sys::cuMemcpyHtoDAsync_v2(to as u64, from, bytes, stream),
                ),
                None => {
                    cuda_loader::pass("cuMemcpyHtoDAsync_v2", || {
                        std::ptr::copy_nonoverlapping(from.cast(), to, bytes);
                    });
                    Ok(())
                }
            }
        });
        self.pending(begun, host)
    }

    /// Begins to copy the elements of `source` from `first` on to all of `host`.
    ///
    /// # Errors
    /// [`DriverError::Capturing`]: the stream captures; [`DriverError::OtherDevice`]: the buffer is of
    /// another device. On a GPU also: the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]). On
    /// the emulator also: a kernel of another stream may use the elements ([`DriverError::HostAccess`]).
    /// The host memory comes back in [`Refused::host`].
    ///
    /// # Panics
    /// The buffer has fewer elements.
    pub fn download<T: DeviceValue>(
        &self,
        source: &DeviceBuffer<T>,
        first: usize,
        mut host: Pinned<T>,
    ) -> Result<Pending<'d, T>, Refused<Pinned<T>>> {
        if let Err(error) = self.accept(FROM_DEVICE, source) {
            return Err(Refused::with(error, host));
        }
        if let Err(error) = source.used_by_copy(&self.order, first, host.len(), Direction::Read) {
            return Err(Refused::with(error, host));
        }
        let from = source.copy_source(first, host.len());
        let bytes = size_of_val(&host[..]);
        let to = host.as_mut_ptr().cast::<c_void>();
        // SAFETY: as in `upload`.
        let begun = self.traced(FROM_DEVICE, bytes, || unsafe {
            match self.enter()? {
                Some(stream) => checked(
                    FROM_DEVICE,
                    sys::cuMemcpyDtoHAsync_v2(to, from as u64, bytes, stream),
                ),
                None => {
                    cuda_loader::pass("cuMemcpyDtoHAsync_v2", || {
                        std::ptr::copy_nonoverlapping(from, to.cast(), bytes);
                    });
                    Ok(())
                }
            }
        });
        self.pending(begun, host)
    }

    /// Copies `values` to the elements of `target` from `first` on, after what is in the stream, and
    /// waits for it. The values may be in any memory.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, Stream};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let stream = Stream::new(&device)?;
    /// let mut buffer = device.buffer_zeroed::<u32>(4)?;
    /// stream.write(&[7, 8], &mut buffer, 2)?;
    /// let mut last = [0; 3];
    /// stream.read(&buffer, 1, &mut last)?;
    /// assert_eq!(last, [0, 7, 8]);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::Capturing`]: the stream captures; [`DriverError::OtherDevice`]: the buffer is of
    /// another device. On a GPU also: the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]). On
    /// the emulator also: a kernel of another stream may use the elements ([`DriverError::HostAccess`]).
    ///
    /// # Panics
    /// The buffer has fewer elements.
    pub fn write<T: DeviceValue>(
        &self,
        values: &[T],
        target: &mut DeviceBuffer<T>,
        first: usize,
    ) -> Result<(), DriverError> {
        self.accept(TO_DEVICE, target)?;
        let bytes = size_of_val(values);
        let Some(stream) = self.enter()? else {
            self.order.synchronized();
            return self.traced(TO_DEVICE, bytes, || target.write(first, values));
        };
        let to = target.copy_target(first, values.len());
        let begun = self.traced(TO_DEVICE, bytes, || {
            // SAFETY: the elements of either; both are borrowed until the wait below.
            checked(TO_DEVICE, unsafe {
                sys::cuMemcpyHtoDAsync_v2(to as u64, values.as_ptr().cast(), bytes, stream)
            })
        });
        // Waits in any case: the copy may have begun.
        self.synchronize().and(begun)
    }

    /// Copies the elements of `source` from `first` on to `values`, after what is in the stream, and
    /// waits for it. The values may be in any memory.
    ///
    /// # Errors
    /// [`DriverError::Capturing`]: the stream captures; [`DriverError::OtherDevice`]: the buffer is of
    /// another device. On a GPU also: the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]). On
    /// the emulator also: a kernel of another stream may use the elements ([`DriverError::HostAccess`]).
    ///
    /// # Panics
    /// The buffer has fewer elements.
    pub fn read<T: DeviceValue>(
        &self,
        source: &DeviceBuffer<T>,
        first: usize,
        values: &mut [T],
    ) -> Result<(), DriverError> {
        self.accept(FROM_DEVICE, source)?;
        let bytes = size_of_val(values);
        let Some(stream) = self.enter()? else {
            self.order.synchronized();
            return self.traced(FROM_DEVICE, bytes, || source.read(first, values));
        };
        let from = source.copy_source(first, values.len());
        let begun = self.traced(FROM_DEVICE, bytes, || {
            // SAFETY: as in `write`.
            checked(FROM_DEVICE, unsafe {
                sys::cuMemcpyDtoHAsync_v2(values.as_mut_ptr().cast(), from as u64, bytes, stream)
            })
        });
        self.synchronize().and(begun)
    }

    /// Refuses a copy that cannot be captured, or whose buffer is of another device.
    fn accept<T: DeviceValue>(
        &self,
        operation: &'static str,
        buffer: &DeviceBuffer<T>,
    ) -> Result<(), DriverError> {
        self.refuse_capture(operation)?;
        home::same(operation, self.device.home, "the buffer", buffer.home)
    }

    /// Waits until no copy reaches memory of the stream's device any more. None begins to or from memory
    /// that a caller has borrowed.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, Stream};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let (copies, launches) = (Stream::new(&device)?, Stream::new(&device)?);
    /// let mut buffer = device.buffer_zeroed(1000)?;
    /// let copy = copies.upload(device.pinned(1000, 1u8)?, &mut buffer, 0)?;
    /// launches.finish_copies()?;
    /// assert!(copy.is_done()?);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn finish_copies(&self) -> Result<(), DriverError> {
        if UNDER_WAY.load(Ordering::SeqCst) == 0 || self.enter()?.is_none() {
            return Ok(());
        }
        CurrentContext::synchronize().map_err(during("finish copies"))
    }

    /// Waits until no copy reaches a peer's memory any more.
    pub(super) fn finish_copies_of(peer: &'static Home) -> Result<(), DriverError> {
        match reachable::peer_context(peer).filter(|_| UNDER_WAY.load(Ordering::SeqCst) > 0) {
            Some(context) => {
                context.enter()?;
                CurrentContext::synchronize().map_err(during("finish copies"))
            }
            None => Ok(()),
        }
    }

    fn pending<T: DeviceValue>(
        &self,
        begun: Result<(), DriverError>,
        host: Pinned<T>,
    ) -> Result<Pending<'d, T>, Refused<Pinned<T>>> {
        match begun.and_then(|()| self.mark()) {
            Ok(done) => {
                UNDER_WAY.fetch_add(1, Ordering::SeqCst);
                Ok(Pending {
                    host: Some(host),
                    done,
                })
            }
            Err(error) => {
                // Whether the copy has begun is not known: if nothing says when it ends, its memory
                // is kept for ever.
                if self.synchronize().is_ok() {
                    return Err(Refused::with(error, host));
                }
                host.forget();
                UNDER_WAY.fetch_add(1, Ordering::SeqCst);
                Err(Refused {
                    error: Box::new(error),
                    host: None,
                })
            }
        }
    }
}

impl<T: DeviceValue> Pending<'_, T> {
    /// Waits for the copy, and gives the host memory back.
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]),
    /// or the work before the copy failed: [`DriverError::Panicked`] where a kernel panicked.
    pub fn wait(mut self) -> Result<Pinned<T>, DriverError> {
        self.done.synchronize()?;
        Ok(self.host.take().expect("taken here alone"))
    }

    /// Whether the copy is done.
    ///
    /// # Errors
    /// As [`Pending::wait`].
    pub fn is_done(&self) -> Result<bool, DriverError> {
        self.done.is_done()
    }

    /// Where in its stream the copy is done: other streams may wait for it.
    pub fn done(&self) -> &Event<'_> {
        &self.done
    }
}

impl<T: DeviceValue> Drop for Pending<'_, T> {
    fn drop(&mut self) {
        if let Some(host) = self.host.take()
            && self.done.synchronize().is_err()
        {
            // The device may still write there, and so the copy counts for ever.
            host.forget();
        } else {
            UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
