//! Launches in clusters of blocks, and launches that overlap.

use cuda_loader::newer;
use cuda_std::launch::Signature;

use super::error::checked;
use super::launch_attributes::{Order, config, refuse};
use super::{DriverError, Prepared};

impl<S: Signature> Prepared<'_, S> {
    /// The same launch in clusters of `blocks` blocks, x, y, z, which run at the same time and reach each other's shared
    /// memory (`cuda_std::cluster`): up to 8 together.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    /// use ridgepoint_driver::{Device, DeviceChoice, DriverError, LaunchConfig};
    ///
    /// #[kernel]
    /// pub fn nothing() {}
    ///
    /// # fn main() -> Result<(), DriverError> {
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let prepare = || device.prepare(nothing::entry(), LaunchConfig::blocks(10, 128));
    /// assert!(prepare()?.with_cluster([1, 1, 1]).is_ok());
    /// let error = prepare()?.with_cluster([4, 1, 1]).err().expect("10 blocks are no clusters of 4");
    /// assert_eq!(error.to_string(), "nothing: clusters of 4 blocks in x, in a grid of 10");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`DriverError::Attribute`]: the grid is not made of such clusters, they are empty or too large, the device is older than compute
    /// capability 9.0, or it holds no such cluster with what its blocks need. The emulator has clusters along x alone. On a GPU
    /// also: the driver refuses ([`DriverError::Call`]).
    pub fn with_cluster(mut self, blocks: [u32; 3]) -> Result<Self, DriverError> {
        if let Some(reason) = refuse(blocks, self.shape.grid) {
            return Err(self.refused(reason));
        }
        self.require_hopper("clusters")?;
        self.attributes.cluster = Some(blocks);
        if self.function.is_none() && blocks[1..] != [1, 1] {
            return Err(self.refused("the emulator has clusters along x alone".to_owned()));
        }
        if self.clusters_at_once()? == Some(0) {
            let [x, y, z] = blocks;
            let reason = format!("no cluster of {x} x {y} x {z} such blocks fits on the device");
            return Err(self.refused(reason));
        }
        Ok(self)
    }

    /// The same launch, which begins when every block of the launch before it in the stream has ended or called
    /// `cuda_std::grid_dependency::launch_dependents`: what that one writes is there after
    /// `cuda_std::grid_dependency::wait`. On the emulator launches follow one another; a checked one races with the one before
    /// it until it has called `wait`, if that has let it begin.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    /// use ridgepoint_driver::{Device, DeviceChoice, DriverError, LaunchConfig, Stream};
    ///
    /// #[kernel]
    /// pub fn count(mut y: Output<u32>) {
    ///     for (i, y) in y.own() {
    ///         *y = i as u32;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), DriverError> {
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let stream = Stream::new(&device)?;
    /// let (mut a, mut b) = (device.buffer_zeroed(100)?, device.buffer_zeroed(100)?);
    /// let first = device.prepare(count::entry(), LaunchConfig::linear(100, 256))?;
    /// let second = device.prepare(count::entry(), LaunchConfig::linear(100, 256))?;
    /// // SAFETY: it touches nothing of the launch before it.
    /// let second = unsafe { second.overlapping() }?;
    /// // SAFETY: both buffers live until the stream has been synchronised.
    /// unsafe {
    ///     first.launch(&stream, &(a.slice_mut(..),))?;
    ///     second.launch(&stream, &(b.slice_mut(..),))?;
    /// }
    /// stream.synchronize()?;
    /// assert_eq!(a.to_vec()?, b.to_vec()?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// The kernel reads nothing that the launch before it writes, and writes nothing that it reads or writes, before it has
    /// called `wait`.
    ///
    /// # Errors
    /// [`DriverError::Attribute`]: the device is older than compute capability 9.0.
    pub unsafe fn overlapping(mut self) -> Result<Self, DriverError> {
        self.require_hopper("launches that overlap")?;
        self.attributes.order = Order::Overlapping;
        Ok(self)
    }

    /// How many of its clusters the device holds at once, if it is a GPU.
    fn clusters_at_once(&self) -> Result<Option<i32>, DriverError> {
        let Some(function) = &self.function else {
            return Ok(None);
        };
        let attributes = self.attributes.all(self.blocks);
        let config = config(self.shape, std::ptr::null_mut(), &attributes);
        let mut clusters = 0;
        // SAFETY: the function's module is loaded, and what is pointed to outlives the call.
        let result =
            unsafe { newer::max_active_clusters(&mut clusters, function.to_raw(), &config) };
        checked("ask for the occupancy of clusters", result)?;
        Ok(Some(clusters))
    }

    fn require_hopper(&self, what: &str) -> Result<(), DriverError> {
        if self.capability.major() >= 9 {
            return Ok(());
        }
        let (major, minor) = (self.capability.major(), self.capability.minor());
        Err(self.refused(format!(
            "the device has compute capability {major}.{minor}; {what} begin with 9.0"
        )))
    }

    fn refused(&self, reason: String) -> DriverError {
        DriverError::Attribute {
            kernel: self.name(),
            reason,
        }
    }
}
