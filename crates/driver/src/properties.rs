//! The properties of a device.

use occupancy::{ComputeCapability, Multiprocessor, OccupancyError, WARP_THREADS};
use serde::Serialize;

/// A device, described.
///
/// ```
/// use ridgepoint_driver::{Device, DeviceChoice, DeviceProperties};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let properties: &DeviceProperties = device.properties();
/// assert!(properties.is_emulated());
/// assert!(properties.name.starts_with(DeviceProperties::EMULATOR));
/// assert_eq!(properties.capability().to_string(), "9.0");
/// assert_eq!(properties.limits.threads_per_block, 1024);
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceProperties {
    /// The GPU's name, or the emulator's.
    pub name: String,
    /// Major and minor compute capability; of the emulator that of the GPU whose limits it keeps.
    pub compute_capability: (u32, u32),
    /// Streaming multiprocessors, or cores of the host.
    pub multiprocessors: u32,
    /// Bytes of memory in all.
    pub memory_bytes: u64,
    /// The limits of a launch.
    pub limits: Limits,
    /// The properties that only a GPU has. `None` is the emulator.
    pub gpu: Option<GpuProperties>,
}

impl DeviceProperties {
    /// The beginning of the names of emulated devices, and of no GPU's.
    pub const EMULATOR: &str = "CPU emulator";

    /// The compute capability, of which [`ComputeCapability`] knows more.
    pub fn capability(&self) -> ComputeCapability {
        let (major, minor) = self.compute_capability;
        ComputeCapability::new(major, minor)
    }

    /// Whether the device is the CPU emulator.
    pub fn is_emulated(&self) -> bool {
        self.gpu.is_none()
    }
}

/// The properties of a GPU beyond those of every device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GpuProperties {
    /// Its number on this machine.
    pub ordinal: u32,
    /// The CUDA version that the driver supports, major and minor.
    pub cuda_version: (u32, u32),
    /// The highest clock of the multiprocessors.
    pub clock_hz: f64,
    /// The highest clock of the memory.
    pub memory_clock_hz: f64,
    /// Width of the memory bus.
    pub memory_bus_bits: u32,
    /// Bytes of level 2 cache.
    pub l2_bytes: u64,
    /// Where it is on the PCI bus: `00000000:1B:00.0`, domain, bus, device.
    pub pci_bus_id: String,
}

/// The limits of a launch, and of a multiprocessor.
///
/// ```
/// use ridgepoint_driver::{ComputeCapability, Limits};
///
/// let hopper = Limits::of(ComputeCapability::new(9, 0))?;
/// assert_eq!(hopper.shared_per_block, 227 * 1024);
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Threads per block.
    pub threads_per_block: u32,
    /// Threads per block in each dimension: x, y, z.
    pub block: [u32; 3],
    /// Blocks in a grid in each dimension: x, y, z.
    pub grid: [u32; 3],
    /// Bytes of shared memory per block, where a kernel opts in.
    pub shared_per_block: u32,
    /// Threads per multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Blocks per multiprocessor.
    pub blocks_per_multiprocessor: u32,
    /// 32-bit registers per multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Bytes of shared memory per multiprocessor.
    pub shared_per_multiprocessor: u32,
}

impl Limits {
    /// The limits of a compute capability.
    ///
    /// # Errors
    /// [`OccupancyError::UnknownCapability`]: the capability is none of [`ComputeCapability::ALL`].
    pub fn of(capability: ComputeCapability) -> Result<Limits, OccupancyError> {
        let of = Multiprocessor::of(capability)?;
        Ok(Limits {
            threads_per_block: of.max_threads_per_block,
            block: [1024, 1024, 64],
            grid: [i32::MAX as u32, 65_535, 65_535],
            shared_per_block: of.max_shared_bytes_per_block,
            threads_per_multiprocessor: of.max_warps * WARP_THREADS,
            blocks_per_multiprocessor: of.max_blocks,
            registers_per_multiprocessor: of.registers,
            shared_per_multiprocessor: of.shared_bytes,
        })
    }
}
