//! Devices that reach each other's memory, and copies between them.

use std::ffi::c_void;
use std::ptr;

use cuda_loader::newer;
use cuda_std::launch::{Home, Slice, SliceMut};
use cust::device::Device as CudaDevice;
use cust::sys::CUresult;
use engine::memory::Direction;

use super::error::{checked, during};
use super::{
    Device, DeviceValue, DriverError, GpuProperties, Stream, checking, emulated_memory, home,
    reachable,
};

const ASK: &str = "ask for peer access";

const ENABLE: &str = "enable peer access";

/// The name of a copy between devices in errors and traces.
const PEER_COPY: &str = "copy between devices";

impl Device {
    /// Whether kernels of this device could use the memory of `peer`, once [`Device::enable_peer_access`] has allowed
    /// it. Emulated devices reach each other; a GPU and an emulated device never do.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice};
    ///
    /// let (first, second) = (Device::open(&DeviceChoice::Cpu, &[])?, Device::open(&DeviceChoice::CpuNumber(1), &[])?);
    /// assert!(first.can_access_peer(&second)? && second.can_access_peer(&first)?);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn can_access_peer(&self, peer: &Device) -> Result<bool, DriverError> {
        match (&self.properties.gpu, &peer.properties.gpu) {
            _ if self.home == peer.home => Ok(true),
            (None, None) => Ok(true),
            (Some(own), Some(other)) => {
                let handle = |gpu: &GpuProperties| {
                    let device = CudaDevice::get_device(gpu.ordinal).map_err(during(ASK))?;
                    Ok::<_, DriverError>(device.as_raw())
                };
                let (own, other, mut can) = (handle(own)?, handle(other)?, 0);
                // SAFETY: `can` is a place to write to, and the handles are the driver's.
                checked(ASK, unsafe { newer::can_access_peer(&mut can, own, other) })?;
                Ok(can != 0)
            }
            _ => Ok(false),
        }
    }

    /// From now on launches on this device take buffers of `peer`, and their kernels may use its memory: for as long as
    /// the process lasts, and in this direction alone. Again it changes nothing. The context of either GPU then
    /// stays until the process ends.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    /// use ridgepoint_driver::{Device, DeviceChoice, DriverError, LaunchConfig, Stream};
    ///
    /// #[kernel]
    /// pub fn copy(x: &[f32], mut y: Output<f32>) {
    ///     for (x, y) in y.own_with(x) {
    ///         *y = *x;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), DriverError> {
    /// let (first, second) = (Device::open(&DeviceChoice::CpuNumber(2), &[])?, Device::open(&DeviceChoice::CpuNumber(3), &[])?);
    /// let x = second.buffer_filled(100, 1.5f32)?;
    /// let mut y = first.buffer_zeroed::<f32>(100)?;
    /// let prepared = first.prepare(copy::entry(), LaunchConfig::linear(100, 128))?;
    /// let stream = Stream::new(&first)?;
    /// let refused = prepared.run(&stream, (x.slice(..), y.slice_mut(..)));
    /// assert!(matches!(refused, Err(DriverError::OtherDevice { .. })));
    ///
    /// first.enable_peer_access(&second)?;
    /// prepared.run(&stream, (x.slice(..), y.slice_mut(..)))?;
    /// assert_eq!(y.to_vec()?, [1.5; 100]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DriverError::NoPeerAccess`]: the devices cannot reach each other, or this one has as many peers as it can have.
    /// Or the driver refuses for another reason ([`DriverError::Call`]).
    pub fn enable_peer_access(&self, peer: &Device) -> Result<(), DriverError> {
        if reachable::reaches(self.home, peer.home) {
            return Ok(());
        }
        let refused = |reason| DriverError::NoPeerAccess {
            on: self.home.name(),
            peer: peer.home.name(),
            reason,
        };
        let (Some(own), Some(other)) = (&self.gpu, &peer.gpu) else {
            if self.gpu.is_some() || peer.gpu.is_some() {
                return Err(refused("one is a GPU and the other emulated"));
            }
            let of_peer = emulated_memory::memory_of(peer.number);
            emulated_memory::memory_of(self.number).enable_peer_access(of_peer);
            reachable::allow(self.home, peer.home, &[]);
            return Ok(());
        };
        own.context.enter()?;
        // SAFETY: this thread is in the GPU's context, and the peer's is retained.
        match unsafe { newer::enable_peer_access(other.context.raw(), 0) } {
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED => {
                Err(refused("no link lets one reach the other's memory"))
            }
            CUresult::CUDA_ERROR_TOO_MANY_PEERS => {
                Err(refused("it has as many peers as its hardware allows"))
            }
            result => checked(ENABLE, result),
        }?;
        reachable::allow(self.home, peer.home, &[&own.context, &other.context]);
        Ok(())
    }

    /// Makes a GPU's context current on the calling thread, for other libraries that call the driver. Each operation of
    /// a device does so by itself, and leaves the thread there. An emulated device has none.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, Stream};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let stream = Stream::new(&device)?;
    /// device.enter()?;
    /// // What a library takes as its `cudaStream_t` or `CUstream`.
    /// assert_eq!(stream.as_raw(), None);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`]).
    pub fn enter(&self) -> Result<(), DriverError> {
        match &self.gpu {
            Some(gpu) => gpu.context.enter(),
            None => Ok(()),
        }
    }
}

impl Stream<'_> {
    /// The driver's `CUstream`, for libraries that put work into it: good as long as the stream is there, in its
    /// device's context ([`Device::enter`]). An emulated device has none.
    pub fn as_raw(&self) -> Option<*mut c_void> {
        let cuda = self.cuda.as_ref()?;
        Some(cuda.outside().as_inner().cast())
    }

    /// Puts a copy of all of `from` to the start of `to` into the stream, one of whose memories is another device's or
    /// both are the stream's own. The host does not wait. Peer access is not needed; with it ([`Device::enable_peer_access`])
    /// GPUs copy over their link, and otherwise by way of the host.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, Stream};
    ///
    /// let (first, second) = (Device::open(&DeviceChoice::Cpu, &[])?, Device::open(&DeviceChoice::CpuNumber(1), &[])?);
    /// let x = first.buffer_from(&[1, 2, 3, 4])?;
    /// let mut y = second.buffer_zeroed(4)?;
    /// let stream = Stream::new(&first)?;
    /// // SAFETY: both buffers live until the stream is synchronised, and nothing else uses them before.
    /// unsafe { stream.copy_peer(x.slice(1..3), y.slice_mut(2..)) }?;
    /// stream.synchronize()?;
    /// assert_eq!(y.to_vec()?, [0, 0, 2, 3]);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Safety
    /// Until the stream has been synchronised both buffers stay alive, nothing else writes what is copied, and nothing
    /// else reads or writes where it is copied to. Views without a device are of the stream's.
    ///
    /// # Errors
    /// [`DriverError::Capturing`]: the stream captures; [`DriverError::OtherDevice`]: neither memory is of the stream's
    /// device, or one is a GPU's and the other emulated. On a GPU also: the driver refuses ([`DriverError::Call`]). On the
    /// emulator also: a kernel of another stream may use the elements ([`DriverError::HostAccess`]).
    ///
    /// # Panics
    /// `to` has fewer elements than `from`.
    pub unsafe fn copy_peer<T: DeviceValue>(
        &self,
        from: Slice<'_, T>,
        to: SliceMut<'_, T>,
    ) -> Result<(), DriverError> {
        assert!(
            from.len() <= to.len(),
            "{PEER_COPY}: {} elements to {}",
            from.len(),
            to.len()
        );
        self.refuse_capture(PEER_COPY)?;
        let own = self.device.home;
        let homes = [from.home(), to.home()].map(|home| home.unwrap_or(own));
        self.accept_peers(homes)?;
        let bytes = from.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        let (from, to) = (from.as_ptr().cast::<u8>(), to.as_ptr().cast::<u8>());
        if self.cuda.is_none() {
            for (address, direction) in [
                (from.addr(), Direction::Read),
                (to.addr(), Direction::Write),
            ] {
                checking::copied(&self.order, (address as u64, bytes as u64), direction)?;
            }
        }
        self.traced(PEER_COPY, bytes, || {
            let Some(stream) = self.enter()? else {
                // SAFETY: so many bytes of either; the caller vouches that both are there.
                cuda_loader::pass("cuMemcpyPeerAsync", || unsafe {
                    ptr::copy(from, to, bytes)
                });
                return Ok(());
            };
            let [of_from, of_to] =
                homes.map(|home| home::context_of(home).unwrap_or(ptr::null_mut()));
            // SAFETY: so many bytes of either; the contexts are alive since the memory is.
            checked(PEER_COPY, unsafe {
                newer::copy_peer(
                    to.addr() as u64,
                    of_to,
                    from.addr() as u64,
                    of_from,
                    bytes,
                    stream,
                )
            })
        })
    }

    /// Refuses a copy of others' memory alone, and one between a GPU and the emulator.
    fn accept_peers(&self, homes: [&'static Home; 2]) -> Result<(), DriverError> {
        let own = self.device.home;
        let is_gpu = |home| home::context_of(home).is_some();
        let what = ["the source", "the target"].into_iter().zip(homes);
        let mut others = what.filter(|(_, home)| *home != own);
        match (others.next(), others.next()) {
            (Some((what, of)), Some(_)) => Err(home::other(PEER_COPY, own, what, of)),
            (Some((what, of)), None) if is_gpu(of) != is_gpu(own) => {
                Err(home::other(PEER_COPY, own, what, of))
            }
            _ => Ok(()),
        }
    }
}
