//! A matrix times vectors.

use cuda_std::launch::{Slice, SliceMut};
use kernels_gpu::gemv::BLOCK;
use kernels_gpu::vector::Gemv;

use super::Real;
use crate::driver::{Device, DriverError, LaunchConfig, Prepared, Stream};

/// `y = A x` for a dense matrix in row-major order.
pub struct Product<'d, T: Real> {
    prepared: Prepared<'d, Gemv<T>>,
    rows: u32,
}

impl<'d, T: Real> Product<'d, T> {
    /// For matrices of so many rows.
    ///
    /// # Errors
    /// [`DriverError::Limit`]: there is no row, or there are more than a grid of the device has blocks;
    /// [`DriverError::NoKernel`]: a GPU was opened with PTX that lacks the kernel; or as
    /// [`Device::prepare`].
    pub fn new(device: &'d Device, rows: u32) -> Result<Self, DriverError> {
        Ok(Product {
            prepared: device.prepare(T::gemv(), LaunchConfig::blocks(rows.into(), BLOCK))?,
            rows,
        })
    }

    /// Puts `A x` into `y`.
    ///
    /// # Safety
    /// Views that are not of a [`DeviceBuffer`](crate::driver::DeviceBuffer) are of the stream's device, and until
    /// the stream has been synchronised the buffers live and nothing else writes them.
    /// `a` and `x` begin at multiples of 16 bytes.
    ///
    /// # Errors
    /// As [`Prepared::launch`]: [`DriverError::OtherDevice`] where a view or the stream is of another
    /// device; on a GPU where the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]); on the
    /// emulator where a thread failed or a check found something ([`DriverError::Engine`]).
    ///
    /// # Panics
    /// The numbers of elements do not fit.
    pub unsafe fn launch(
        &self,
        stream: &Stream<'_>,
        a: Slice<'_, T>,
        x: Slice<'_, T>,
        y: SliceMut<'_, T>,
    ) -> Result<(), DriverError> {
        assert_eq!(a.len(), self.rows as usize * x.len(), "elements of A");
        assert_eq!(y.len(), self.rows as usize, "elements of y");
        // SAFETY: the lengths are right; the caller vouches for the rest.
        unsafe { self.prepared.launch(stream, &(a, x, y)) }
    }
}
