//! Vectors times a number that the host knows, or over one that the device knows.

use cuda_std::launch::{Slice, SliceMut};
use kernels_gpu::elementwise::BLOCK;
use kernels_gpu::functions;
use kernels_gpu::vector::{Map, Scalar, map_threads};

use super::Real;
use crate::driver::{Device, DriverError, LaunchConfig, Prepared, Stream};

/// `factor * x`, where the host has the factor.
pub struct Scaled<'d, T: Real> {
    prepared: Prepared<'d, Map<T, functions::Scale<T>>>,
}

impl<'d, T: Real> Scaled<'d, T> {
    /// For vectors of about `n` elements.
    ///
    /// # Errors
    /// [`DriverError::Limit`]: the vector takes more blocks than a grid of the device has;
    /// [`DriverError::NoKernel`]: a GPU was opened with PTX that lacks the kernel; or as
    /// [`Device::prepare`].
    pub fn new(device: &'d Device, n: usize) -> Result<Self, DriverError> {
        let shape = LaunchConfig::linear(map_threads::<T>(n as u64), BLOCK);
        Ok(Scaled {
            prepared: device.prepare(T::scale(), shape)?,
        })
    }

    /// Puts `factor * x` into `y`.
    ///
    /// # Safety
    /// Views that are not of a [`DeviceBuffer`](crate::driver::DeviceBuffer) are of the stream's device, and until
    /// the stream has been synchronised the buffers live and nothing else writes them.
    /// They begin at multiples of 16 bytes; `y` may be `x` itself.
    ///
    /// # Errors
    /// As [`Prepared::launch`]: [`DriverError::OtherDevice`] where a view or the stream is of another
    /// device; on a GPU where the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]); on the
    /// emulator where a thread failed or a check found something ([`DriverError::Engine`]).
    ///
    /// # Panics
    /// `y` has another number of elements.
    pub unsafe fn launch(
        &self,
        stream: &Stream<'_>,
        factor: T,
        x: Slice<'_, T>,
        y: SliceMut<'_, T>,
    ) -> Result<(), DriverError> {
        assert_eq!(x.len(), y.len(), "elements of x and of y");
        let len = x.len();
        // SAFETY: the caller vouches for it.
        unsafe {
            self.prepared
                .launch(stream, &(functions::Scale { factor }, x, y, len))
        }
    }
}

/// `x / divisor`, where the device has the divisor.
pub struct Divide<'d, T: Real> {
    prepared: Prepared<'d, Map<T, Scalar<T>>>,
}

impl<'d, T: Real> Divide<'d, T> {
    /// For vectors of about `n` elements.
    ///
    /// # Errors
    /// [`DriverError::Limit`]: the vector takes more blocks than a grid of the device has;
    /// [`DriverError::NoKernel`]: a GPU was opened with PTX that lacks the kernel; or as
    /// [`Device::prepare`].
    pub fn new(device: &'d Device, n: usize) -> Result<Self, DriverError> {
        let shape = LaunchConfig::linear(map_threads::<T>(n as u64), BLOCK);
        Ok(Divide {
            prepared: device.prepare(T::divide_by(), shape)?,
        })
    }

    /// Puts `x / divisor` into `y`; `divisor` has one element, which is not negative.
    ///
    /// # Safety
    /// As for [`Scaled::launch`].
    ///
    /// # Errors
    /// As [`Prepared::launch`]: [`DriverError::OtherDevice`] where a view or the stream is of another
    /// device; on a GPU where the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]); on the
    /// emulator where a thread failed or a check found something ([`DriverError::Engine`]).
    ///
    /// # Panics
    /// `y` has another number of elements.
    pub unsafe fn launch(
        &self,
        stream: &Stream<'_>,
        divisor: Slice<'_, T>,
        x: Slice<'_, T>,
        y: SliceMut<'_, T>,
    ) -> Result<(), DriverError> {
        assert_eq!(x.len(), y.len(), "elements of x and of y");
        let len = x.len();
        // SAFETY: the caller vouches for it.
        unsafe { self.prepared.launch(stream, &(divisor, x, y, len)) }
    }
}
