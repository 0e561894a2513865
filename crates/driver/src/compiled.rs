//! The resources of a kernel that the driver has compiled: registers, shared memory, blocks per multiprocessor.

use cust::error::CudaError;
use cust::function::{BlockSize, Function, FunctionAttribute};

use super::context::Context;
use super::error::during;
use super::gpu::Gpu;
use super::{Device, DriverError};

/// A kernel as the driver has compiled it for a GPU.
///
/// ```
/// use ridgepoint_driver::{Compiled, Device, DeviceChoice, DriverError};
///
/// fn needs(kernel: &Compiled<'_>) -> Result<String, DriverError> {
///     let blocks = kernel.resident_blocks(256, 0)?;
///     Ok(format!("{} registers, {blocks} blocks of 256 threads at once", kernel.registers))
/// }
///
/// # const SAXPY: &str = include_str!("../ptx/saxpy.ptx");
/// let device = Device::open(&DeviceChoice::Auto, &[(70, SAXPY, None)])?;
/// match device.compiled("saxpy")? {
///     Some(saxpy) => println!("{}", needs(&saxpy)?),
///     None => assert!(device.properties().is_emulated()),
/// }
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
pub struct Compiled<'d> {
    function: Function<'d>,
    context: &'d Context,
    /// 32-bit registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block that the kernel declares.
    pub static_shared: u32,
    /// Bytes of local memory of a thread: what it has no registers for.
    pub local_bytes: u32,
    /// The most threads that a block of it may have.
    pub max_threads: u32,
}

impl Device {
    /// Returns the resources of the kernel `name`, and `None` on the emulator.
    ///
    /// # Errors
    /// [`DriverError::NoKernel`] or [`DriverError::NoKernelInFile`]; or the driver refuses
    /// ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn compiled(&self, name: &'static str) -> Result<Option<Compiled<'_>>, DriverError> {
        let Some(gpu) = &self.gpu else {
            return Ok(None);
        };
        let function = gpu.function(name)?;
        let get = |attribute| {
            let value = function.get_attribute(attribute);
            value
                .map(|value| value as u32)
                .map_err(during("read what a kernel needs"))
        };
        let (registers, static_shared, local_bytes, max_threads) = (
            get(FunctionAttribute::NumRegisters)?,
            get(FunctionAttribute::SharedMemorySizeBytes)?,
            get(FunctionAttribute::LocalSizeBytes)?,
            get(FunctionAttribute::MaxThreadsPerBlock)?,
        );
        let dynamic = self
            .properties
            .limits
            .shared_per_block
            .saturating_sub(static_shared);
        Gpu::allow_dynamic_shared(&function, dynamic)?;
        Ok(Some(Compiled {
            function,
            context: &gpu.context,
            registers,
            static_shared,
            local_bytes,
            max_threads,
        }))
    }
}

impl Compiled<'_> {
    /// The driver's answer to how many blocks of `threads` threads and `dynamic_shared` bytes a
    /// multiprocessor holds at once: 0 where such a block cannot run.
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn resident_blocks(&self, threads: u32, dynamic_shared: u32) -> Result<u32, DriverError> {
        self.context.enter()?;
        let answer = self
            .function
            .max_active_blocks_per_multiprocessor(BlockSize::x(threads), dynamic_shared as usize);
        match answer {
            // Some blocks that cannot run are an error to the driver.
            Err(CudaError::InvalidValue) => Ok(0),
            other => other.map_err(during("ask for the occupancy of a kernel")),
        }
    }
}
