//! The attributes of a launch beyond its grid: clusters of blocks, and to begin before the launch in front of it has ended.

use cuda_loader::newer::{self, LaunchAttribute};
use cuda_std::launch::Signature;
use cust::sys::CUstream;
use smallvec::SmallVec;

use super::error::checked;
use super::launch::Blocks;
use super::{DriverError, Prepared};

/// The number of blocks in a cluster that every GPU with clusters allows.
const MOST_BLOCKS: u64 = 8;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    cluster: Option<[u32; 3]>,
    order: Order,
}

/// When a launch begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Order {
    /// When what stands before it in the stream has ended.
    #[default]
    Behind,
    /// When the launch before it says so.
    Overlapping,
}

impl Attributes {
    pub(super) fn are_none(self) -> bool {
        self.cluster.is_none() && self.order == Order::Behind
    }

    /// Blocks of a cluster, x, y, z.
    pub(super) fn cluster(self) -> [u32; 3] {
        self.cluster.unwrap_or([1; 3])
    }

    /// As the driver takes them; none where an ordinary launch does.
    pub(super) fn all(self, blocks: Blocks) -> SmallVec<[LaunchAttribute; 3]> {
        let mut all = SmallVec::new();
        if self.are_none() {
            return all;
        }
        all.extend(self.cluster.map(LaunchAttribute::cluster));
        if self.order == Order::Overlapping {
            all.push(LaunchAttribute::PROGRAMMATIC_STREAM_SERIALIZATION);
        }
        if blocks == Blocks::Cooperative {
            all.push(LaunchAttribute::COOPERATIVE);
        }
        all
    }
}

/// A launch of this shape with the attributes, as the driver takes it.
pub(super) fn config(
    shape: simt::Shape,
    stream: CUstream,
    attributes: &[LaunchAttribute],
) -> newer::LaunchConfig {
    newer::LaunchConfig {
        grid: shape.grid,
        block: shape.block,
        shared_bytes: shape.dynamic_shared,
        stream,
        attributes: attributes.as_ptr(),
        attribute_count: attributes.len() as u32,
    }
}

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
    /// `cuda_std::grid_dependency::wait`. On the emulator, where launches follow one another, it changes nothing.
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

/// Why a grid is not made of clusters of `blocks` blocks.
fn refuse(blocks: [u32; 3], grid: [u32; 3]) -> Option<String> {
    let all: u64 = blocks.iter().map(|&extent| u64::from(extent)).product();
    if !(1..=MOST_BLOCKS).contains(&all) {
        return Some(format!(
            "clusters of {all} blocks; 1 to {MOST_BLOCKS} are allowed"
        ));
    }
    let axis = (0..3).find(|&axis| !grid[axis].is_multiple_of(blocks[axis]))?;
    let name = ['x', 'y', 'z'][axis];
    Some(format!(
        "clusters of {} blocks in {name}, in a grid of {}",
        blocks[axis], grid[axis]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_made_of_whole_clusters() {
        assert_eq!(refuse([2, 1, 1], [10, 3, 1]), None);
        assert_eq!(refuse([2, 2, 2], [10, 4, 2]), None);
        let odd = refuse([2, 2, 1], [10, 3, 1]);
        assert_eq!(
            odd.as_deref(),
            Some("clusters of 2 blocks in y, in a grid of 3")
        );
        let large = refuse([4, 4, 1], [16, 16, 1]);
        assert_eq!(
            large.as_deref(),
            Some("clusters of 16 blocks; 1 to 8 are allowed")
        );
        let none = refuse([2, 0, 1], [16, 16, 1]);
        assert_eq!(
            none.as_deref(),
            Some("clusters of 0 blocks; 1 to 8 are allowed")
        );
    }

    #[test]
    fn a_launch_that_asks_for_nothing_has_no_attributes() {
        let count = |attributes: Attributes, blocks| attributes.all(blocks).len();
        let none = Attributes::default();
        assert_eq!(count(none, Blocks::Cooperative), 0);
        let all = Attributes {
            cluster: Some([2, 1, 1]),
            order: Order::Overlapping,
        };
        assert_eq!(count(all, Blocks::Independent), 2);
        assert_eq!(count(all, Blocks::Cooperative), 3);
    }
}
