//! GPUs, through `cust`, and the CPU emulator, behind one set of safe types.
//!
//! ```
//! use cuda_std::prelude::*;
//! use ridgepoint_driver::{Device, DeviceChoice, DriverError, LaunchConfig, Stream};
//!
//! #[kernel]
//! pub fn scale(x: &[f32], mut y: Output<f32>, a: f32) {
//!     for (x, y) in y.own_with(x) {
//!         *y = a * x;
//!     }
//! }
//!
//! fn main() -> Result<(), DriverError> {
//!     let device = Device::open(&DeviceChoice::Cpu, &[])?;
//!     let x = device.buffer_filled(1000, 1.5f32)?;
//!     let mut y = device.buffer_filled(1000, f32::NAN)?;
//!
//!     let prepared = device.prepare(scale::entry(), LaunchConfig::linear(1000, 256))?;
//!     let stream = Stream::new(&device)?;
//!     prepared.run(&stream, (x.slice(..), y.slice_mut(..), 2.0))?;
//!     assert_eq!(y.to_vec()?, [3.0; 1000]);
//!     Ok(())
//! }
//! ```
//!
//! [`Prepared::run`] launches a safe kernel and waits. [`Prepared::launch`] takes any kernel and does not
//! wait, and is `unsafe` for that.
//!
//! A launch takes the arguments of the kernel's own signature; others do not compile:
//!
//! ```compile_fail,E0308
//! # use kernels_gpu::polynomial::{Element, Form};
//! # use ridgepoint_driver::{Device, DeviceChoice, LaunchConfig, Stream};
//! # let device = Device::open(&DeviceChoice::Cpu, &[])?;
//! # let x = device.buffer_filled(1000, 0.5f32)?;
//! # let mut y = device.buffer_filled(1000, f32::NAN)?;
//! # let horner = f32::kernel(Form::Horner, 4, 1).expect("there is one for 4 elements per thread");
//! # let prepared = device.prepare(horner, LaunchConfig::linear(1000 / 4, 256))?;
//! # let stream = Stream::new(&device)?;
//! // The last argument is a count of steps, a u32.
//! unsafe { prepared.launch(&stream, &(x.slice(..), y.slice_mut(..), 2.0)) }?;
//! # Ok::<(), ridgepoint_driver::DriverError>(())
//! ```
//!
//! [`Device::load`] takes kernels from a file: those that nvcc or Triton compiled, typed too.
//!
//! Several devices are open at once, and any thread uses any of them. Two GPUs, `cuda:0` and `cuda:1`,
//! each with a thread of its own:
//!
//! ```
//! use std::thread;
//!
//! use kernels_gpu::elementwise::{BLOCK, scale_f32};
//! use kernels_gpu::functions::Scale;
//! use ridgepoint_driver::{Device, DriverError, LaunchConfig, Stream};
//!
//! fn scaled(device: &Device, factor: f32) -> Result<Vec<f32>, DriverError> {
//!     let x = device.buffer_filled(100, 1.5f32)?;
//!     let mut y = device.buffer_filled(100, f32::NAN)?;
//!     let prepared = device.prepare(scale_f32::entry(), LaunchConfig::linear(25, BLOCK))?;
//!     let stream = Stream::new(device)?;
//!     // SAFETY: the buffers have 100 elements, and live until the stream is synchronised.
//!     unsafe { prepared.launch(&stream, &(Scale { factor }, x.slice(..), y.slice_mut(..), 100)) }?;
//!     stream.synchronize()?;
//!     y.to_vec()
//! }
//!
//! # let (cuda_0, cuda_1) = ("cpu", "cpu:1");
//! # fn open(name: &str) -> Result<Device, DriverError> {
//! #     Device::open(&name.parse().expect("a device's name"), &[])
//! # }
//! let (first, second) = (open(cuda_0)?, open(cuda_1)?);
//! let (doubled, tripled) = thread::scope(|scope| {
//!     let doubled = scope.spawn(|| scaled(&first, 2.0));
//!     let tripled = scaled(&second, 3.0);
//!     (doubled.join().expect("no panic"), tripled)
//! });
//! assert_eq!((doubled?[0], tripled?[0]), (3.0, 4.5));
//! # Ok::<(), ridgepoint_driver::DriverError>(())
//! ```
//!
//! Memory, kernels and graphs can be used only on the device they were made on; anything else fails
//! with [`DriverError::OtherDevice`]. All `Device`s of one GPU count as one device, and so do all
//! of one emulated device. Kernels take memory of another device where [`Device::enable_peer_access`] has
//! allowed it, and [`Stream::copy_peer`] copies between any two. A stream may wait for another GPU's event, and page-locked memory can be used with every
//! device. Each operation leaves the calling thread in the context of its GPU: other code that calls the
//! driver directly must set its own context before each call.

mod buffer;
mod calls;
mod capture;
mod checking;
mod choice;
mod clusters;
mod compiled;
mod context;
mod copy;
mod counters;
mod device;
mod device_value;
mod emulated_memory;
mod emulation;
mod emulator;
mod error;
pub mod errors;
mod event;
pub mod finding;
mod foreign;
mod foreign_text;
mod gpu;
mod graph;
mod home;
mod host_work;
mod image;
mod launch;
mod launch_attributes;
mod launch_config;
mod origin;
mod panics;
mod parameters;
mod peers;
mod pinned;
mod prepare;
mod properties;
mod ptx;
mod reachable;
pub mod record;
mod refused;
mod registers;
mod replay;
mod resident_blocks;
mod stream;
mod tensor_map;
pub mod trace;
mod variable;
mod whole_file;

pub use buffer::DeviceBuffer;
pub use calls::Calls;
pub use checking::apart;
pub use choice::DeviceChoice;
pub use compiled::Compiled;
pub use copy::Pending;
pub use counters::Counters;
pub use device::Device;
pub use device_value::DeviceValue;
pub use emulation::{Emulation, Schedule};
/// Descriptions of textures and surfaces, for the library beside this one.
#[doc(hidden)]
pub use engine::image as texture;
/// The harness predicts by the code that a device runs, and has no other door to the engine.
#[doc(hidden)]
pub use engine::parse;
pub use engine::{cores, count, coverage, demangled, mutation};
pub use error::DriverError;
pub use event::Event;
pub use foreign_text::{printable, printable_lines};
pub use graph::Graph;
pub use host_work::HostWork;
pub use launch::Prepared;
pub use launch_config::LaunchConfig;
pub use occupancy::ComputeCapability;
pub use pinned::Pinned;
pub use properties::{DeviceProperties, GpuProperties, Limits};
pub use ptx::{Embedded, best_embedded, target_of};
pub use refused::Refused;
pub use simt::{LaunchError, Thread};
pub use stream::Stream;
pub use tensor_map::{Outside, Swizzle, TensorElement, TensorLayout};
pub use whole_file::{Limited, MAX_IMAGE_BYTES, open_regular, read_own, read_whole};

/// So many values in memory of the host.
///
/// ```
/// use ridgepoint_driver::{free_host_memory, host_memory};
///
/// assert_eq!(host_memory(3, 7u64), Ok(vec![7; 3]));
/// assert_eq!(host_memory(usize::MAX, 0u64), Err(u64::MAX));
/// assert!(free_host_memory() > 24);
/// ```
///
/// # Errors
/// The system does not allocate so many bytes: how many, and [`u64::MAX`] where they are more.
pub fn host_memory<T: DeviceValue>(len: usize, value: T) -> Result<Vec<T>, u64> {
    let mut memory = Vec::new();
    if size_of::<T>() == 0 {
        // SAFETY: the capacity of a vector without bytes is all that a number says, and its values are all alike.
        unsafe { memory.set_len(len) };
        return Ok(memory);
    }
    match memory.try_reserve_exact(len) {
        Ok(()) => fill(&mut memory, len, value),
        Err(_) => return Err((len as u64).saturating_mul(size_of::<T>() as u64)),
    }
    Ok(memory)
}

/// By copies of what is there already: a loop over values is slow in a build without optimisation, of which this is a part
/// wherever it is called.
fn fill<T: Copy>(memory: &mut Vec<T>, len: usize, value: T) {
    if len > 0 {
        memory.push(value);
    }
    while memory.len() < len {
        let more = memory.len().min(len - memory.len());
        memory.extend_from_within(..more);
    }
}

/// Bytes of this host's memory that can be allocated without swapping, and within the limit of this
/// process's addresses.
pub fn free_host_memory() -> u64 {
    engine::memory::free_bytes()
}

/// Returns the properties of every GPU of this machine, in order.
///
/// ```
/// use ridgepoint_driver::{DriverError, GpuProperties, gpus};
///
/// match gpus() {
///     Ok(all) => {
///         for (number, device) in all.iter().enumerate() {
///             let gpu: &GpuProperties = device.gpu.as_ref().expect("no emulator is among them");
///             assert_eq!(gpu.ordinal as usize, number);
///             println!("{}: {} MiB of L2", device.name, gpu.l2_bytes >> 20);
///         }
///     }
///     Err(error) => assert!(matches!(error, DriverError::NoDriver(_) | DriverError::NoGpu), "{error}"),
/// }
/// ```
///
/// # Errors
/// [`DriverError::NoDriver`], [`DriverError::NoGpu`], or the driver refuses ([`DriverError::Call`],
/// [`DriverError::Cuda`]).
pub fn gpus() -> Result<Vec<DeviceProperties>, DriverError> {
    gpu::all()
}
