//! Work of the host in a stream of an emulated device, in the place of what a GPU's library does there.

use std::error::Error;
use std::sync::Arc;

use cuda_std::launch::{Slice, SliceMut};
use engine::memory::{Contents, Direction};

use super::checking::{self, Order};
use super::emulated_memory;
use super::{DeviceValue, DriverError};

/// The host's work each time that the stream comes to it.
pub(super) type Work =
    Arc<dyn Fn(&HostWork<'_>) -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync>;

/// The memory of an emulated device, as work of the host reaches it in the order of a stream.
/// [`Stream::host_work`](super::Stream::host_work) lends it.
///
/// ```
/// use ridgepoint_driver::{Device, DeviceChoice, HostWork, Stream};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let mut x = device.buffer_filled(4, 1u32)?;
/// let stream = Stream::new(&device)?;
/// let (address, len) = (x.slice_mut(..).as_ptr() as usize, x.len());
/// let graph = stream.capture(|| {
///     stream.host_work(move |memory: &HostWork<'_>| {
///         let x = std::ptr::with_exposed_provenance_mut::<u32>(address);
///         let mut values = [0; 4];
///         // SAFETY: the buffer has these elements, and lives until the last replay.
///         unsafe {
///             memory.read(&cuda_std::launch::Slice::from_raw(x, len), &mut values)?;
///             memory.write(&values.map(|it| 2 * it), &cuda_std::launch::SliceMut::from_raw(x, len))?;
///         }
///         Ok(())
///     })
/// })?;
/// for _ in 0..3 {
///     // SAFETY: as above.
///     unsafe { graph.launch(&stream) }?;
/// }
/// stream.synchronize()?;
/// assert_eq!(x.to_vec()?, [8; 4]);
/// // It is no launch.
/// assert_eq!(graph.launches(), 0);
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
pub struct HostWork<'s> {
    order: &'s Order,
}

/// Does it, after what is in the stream.
pub(super) fn run(work: &Work, order: &Order) -> Result<(), DriverError> {
    work(&HostWork { order }).map_err(DriverError::HostWork)
}

impl HostWork<'_> {
    /// Copies elements of the device to all of `values`.
    ///
    /// # Safety
    /// The elements are an emulated device's, and alive.
    ///
    /// # Errors
    /// A kernel of another stream may use the elements ([`DriverError::HostAccess`]).
    ///
    /// # Panics
    /// The lengths differ.
    pub unsafe fn read<T: DeviceValue>(
        &self,
        from: &Slice<'_, T>,
        values: &mut [T],
    ) -> Result<(), DriverError> {
        assert_eq!(from.len(), values.len(), "elements read");
        self.reached::<T>(from.as_ptr().addr(), from.len(), Direction::Read)?;
        // SAFETY: the caller's contract; `values` has as many.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), values.as_mut_ptr(), values.len()) };
        Ok(())
    }

    /// Copies all of `values` to elements of the device.
    ///
    /// # Safety
    /// The elements are an emulated device's, and alive, and no one else uses them.
    ///
    /// # Errors
    /// As [`HostWork::read`].
    ///
    /// # Panics
    /// The lengths differ.
    pub unsafe fn write<T: DeviceValue>(
        &self,
        values: &[T],
        to: &SliceMut<'_, T>,
    ) -> Result<(), DriverError> {
        assert_eq!(to.len(), values.len(), "elements written");
        self.reached::<T>(to.as_ptr().addr(), to.len(), Direction::Write)?;
        // SAFETY: the caller's contract.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), to.as_ptr(), values.len()) };
        Ok(())
    }

    /// Tells the checks.
    fn reached<T>(
        &self,
        start: usize,
        len: usize,
        direction: Direction,
    ) -> Result<(), DriverError> {
        let bytes = (len * size_of::<T>()) as u64;
        let found = emulated_memory::memory().find(start as u64);
        let contents = found.map_or(Contents::Defined, |it| it.contents);
        let range = (start as u64, bytes);
        checking::accessed(Some(self.order), range, direction, contents).map_err(DriverError::from)
    }
}
