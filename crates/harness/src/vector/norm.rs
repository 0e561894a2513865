//! Euclidean norms.

use cuda_std::launch::{Slice, SliceMut};
use kernels_gpu::norm;
use kernels_gpu::normalize;
use kernels_gpu::vector::{self, normalize_blocks, reduction_blocks};

use super::Real;
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig, Prepared, Stream};

/// The norm of vectors of up to a number of elements, as a number on the device.
pub struct Norm<'d, T: Real> {
    prepared: Prepared<'d, vector::Nrm2<T>>,
    partials: DeviceBuffer<T::Sums>,
    ticket: DeviceBuffer<u32>,
}

impl<'d, T: Real> Norm<'d, T> {
    /// For vectors of about `n` elements: of others the norm is right, too, but slower.
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`]: there is no memory for the partial sums of the blocks;
    /// [`DriverError::NoKernel`]: a GPU was opened with PTX that lacks the kernel; or as
    /// [`Device::prepare`].
    pub fn new(device: &'d Device, n: usize) -> Result<Self, DriverError> {
        let blocks = reduction_blocks::<T>(n as u64, device.properties().multiprocessors);
        Ok(Norm {
            prepared: device.prepare(T::nrm2(), LaunchConfig::blocks(blocks, norm::BLOCK))?,
            partials: device.buffer_zeroed(blocks as usize)?,
            ticket: device.buffer_zeroed(1)?,
        })
    }

    /// Puts the norm of `x` into `result`, of one element.
    ///
    /// # Safety
    /// Views that are not of a [`DeviceBuffer`] are of the stream's device, and until the stream has been
    /// synchronised the buffers live and nothing else writes them. Until then this norm is asked for
    /// again in the same stream only. `x` begins at a multiple of 16 bytes.
    ///
    /// # Errors
    /// As [`Prepared::launch`]: [`DriverError::OtherDevice`] where a view or the stream is of another
    /// device; on a GPU where the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]); on the
    /// emulator where a thread failed or a check found something ([`DriverError::Engine`]).
    pub unsafe fn launch(
        &mut self,
        stream: &Stream<'_>,
        x: Slice<'_, T>,
        result: SliceMut<'_, T>,
    ) -> Result<(), DriverError> {
        let (partials, ticket) = (self.partials.slice_mut(..), self.ticket.slice_mut(..));
        // SAFETY: one element per block of `prepared`, and a ticket that began at 0; the caller vouches
        // for the rest.
        unsafe { self.prepared.launch(stream, &(x, result, partials, ticket)) }
    }
}

/// `x / ‖x‖` for vectors of up to a number of elements, in one launch.
pub struct Normalize<'d, T: Real> {
    prepared: Prepared<'d, vector::Normalize<T>>,
    partials: DeviceBuffer<T::Sums>,
    arrivals: DeviceBuffer<u32>,
}

impl<'d, T: Real> Normalize<'d, T> {
    /// For vectors of about `n` elements, as [`Norm::new`].
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`]: there is no memory for the partial sums of the blocks;
    /// [`DriverError::NoKernel`]: a GPU was opened with PTX that lacks the kernel; or as
    /// [`Device::prepare`].
    pub fn new(device: &'d Device, n: usize) -> Result<Self, DriverError> {
        let one = device.prepare(T::normalize(), LaunchConfig::blocks(1, normalize::BLOCK))?;
        let blocks = normalize_blocks::<T>(n as u64, device.properties().multiprocessors)
            .min(device.blocks_at_once(&one)?);
        Ok(Normalize {
            // One block waits for no other, and an ordinary launch is cheaper.
            prepared: if blocks == 1 {
                one
            } else {
                let shape = LaunchConfig::blocks(blocks, normalize::BLOCK);
                device.prepare_cooperative(T::normalize(), shape)?
            },
            partials: device.buffer_zeroed(blocks as usize)?,
            arrivals: device.buffer_zeroed(1)?,
        })
    }

    /// Puts `x / ‖x‖` into `y`, and the norm into `norm`, of one element.
    ///
    /// # Safety
    /// As for [`Norm::launch`]; `y` may be `x` itself.
    ///
    /// # Errors
    /// As [`Prepared::launch`]: [`DriverError::OtherDevice`] where a view or the stream is of another
    /// device; on a GPU where the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]); on the
    /// emulator where a thread failed or a check found something ([`DriverError::Engine`]).
    ///
    /// # Panics
    /// `y` has another number of elements.
    pub unsafe fn launch(
        &mut self,
        stream: &Stream<'_>,
        x: Slice<'_, T>,
        y: SliceMut<'_, T>,
        norm: SliceMut<'_, T>,
    ) -> Result<(), DriverError> {
        assert_eq!(x.len(), y.len(), "elements of x and of y");
        let len = x.len();
        let (partials, arrivals) = (self.partials.slice_mut(..), self.arrivals.slice_mut(..));
        // SAFETY: one element per block of `prepared`, and a count of arrivals that began at 0; the
        // caller vouches for the rest.
        unsafe {
            self.prepared
                .launch(stream, &(x, y, len, norm, partials, arrivals))
        }
    }
}
