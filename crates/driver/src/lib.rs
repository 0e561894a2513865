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
mod checking;
mod choice;
mod compiled;
mod context;
mod copy;
mod counters;
mod emulation;
mod emulator;
mod error;
mod event;
mod foreign;
mod gpu;
mod graph;
mod home;
mod host_work;
mod image;
mod launch;
mod launch_attributes;
mod launch_config;
mod panics;
mod peers;
mod pinned;
mod prepare;
mod properties;
mod ptx;
pub mod record;
mod refused;
mod registers;
mod replay;
mod room;
mod stream;
mod tensor_map;
pub mod trace;

pub use buffer::{DeviceBuffer, DeviceValue};
pub use calls::Calls;
pub use choice::DeviceChoice;
pub use compiled::Compiled;
pub use copy::Pending;
pub use counters::Counters;
pub use emulation::{Emulation, Schedule};
pub use engine::{cores, count};
pub use error::DriverError;
pub use event::Event;
pub use graph::Graph;
pub use host_work::HostWork;
pub use launch::Prepared;
pub use launch_config::LaunchConfig;
pub use occupancy::ComputeCapability;
pub use pinned::Pinned;
pub use properties::{DeviceProperties, GpuProperties, Limits};
pub use ptx::{Embedded, target_of};
pub use refused::Refused;
pub use simt::LaunchError;
pub use stream::Stream;
pub use tensor_map::{Outside, Swizzle, TensorElement, TensorLayout};

use std::sync::Arc;

use cuda_std::launch::Home;
use emulator::Kernels;
use gpu::Gpu;

/// A GPU, or the emulator.
#[derive(Debug)]
pub struct Device {
    // Dropped first: it waits for what the GPU does.
    trace: Option<trace::Recorder>,
    properties: DeviceProperties,
    /// What memory and kernels of this device belong to.
    home: &'static Home,
    /// The GPU's or the emulated device's.
    number: u32,
    /// `None` is the emulator.
    gpu: Option<Gpu>,
    /// The kernels of the emulator's PTX; without them it runs the kernels' Rust functions.
    kernels: Option<Arc<Kernels>>,
    /// How the emulator runs launches.
    emulation: Emulation,
}

impl Device {
    /// Opens the chosen device: a GPU with the best of `ptx` for it. The emulator needs none.
    ///
    /// # Errors
    /// There is no driver or no such GPU ([`DriverError::NoDriver`], [`DriverError::NoGpu`],
    /// [`DriverError::NoSuchGpu`]), the GPU is older than every PTX ([`DriverError::NoPtx`]), the driver
    /// refuses the PTX ([`DriverError::RefusedPtx`]), or the emulator knows no such compute capability
    /// ([`DriverError::UnknownCapability`]). Any other call of the driver may fail, too
    /// ([`DriverError::Call`], [`DriverError::Cuda`]). [`DeviceChoice::Auto`] takes the emulator where there is no driver or no GPU, and
    /// fails for the other reasons.
    pub fn open(choice: &DeviceChoice, ptx: &[Embedded<'_>]) -> Result<Device, DriverError> {
        match choice {
            DeviceChoice::Cpu => Device::emulator_with(Emulation::default(), ptx),
            DeviceChoice::CpuNumber(number) => {
                Device::emulator_number(*number, Emulation::default(), ptx)
            }
            DeviceChoice::CpuAs(of) => Device::emulator_of(*of, Emulation::default(), ptx),
            DeviceChoice::Cuda(ordinal) => Device::with_ptx(*ordinal, ptx),
            DeviceChoice::Auto => match Device::with_ptx(0, ptx) {
                Err(DriverError::NoDriver(_) | DriverError::NoGpu) => {
                    Device::emulator_with(Emulation::default(), ptx)
                }
                opened => opened,
            },
        }
    }

    /// The emulator without PTX, with the limits of [`DeviceChoice::EMULATED`]: it runs the kernels' Rust
    /// functions, in order, and can check nothing.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, Emulation, cores};
    ///
    /// let device = Device::emulator(Emulation::default());
    /// assert!(device.properties().is_emulated());
    /// println!("{} on {} cores of the host", device.properties().name, cores());
    /// ```
    pub fn emulator(emulation: Emulation) -> Device {
        Device::emulator_with(emulation, &[]).expect("its limits are known")
    }

    /// The emulator with the limits of [`DeviceChoice::EMULATED`], which executes PTX. Of kernels that the
    /// PTX lacks it runs the Rust functions.
    ///
    /// ```
    /// use cuda_std::launch::{Entry, Foreign, In, Out};
    /// use ridgepoint_driver::{Device, Embedded, Emulation, LaunchConfig, Schedule, Stream};
    ///
    /// // extern "C" __global__ void saxpy(int n, float a, const float* x, float* y)
    /// type Saxpy = Foreign<(i32, f32, In<f32>, Out<f32>)>;
    ///
    /// # const SAXPY: &str = include_str!("../ptx/saxpy.ptx");
    /// let ptx: Embedded = (70, SAXPY, None);
    /// let schedule = Schedule::Seeded(1);
    /// let device = Device::emulator_with(Emulation { schedule, ..Emulation::default() }, &[ptx])?;
    /// let x = device.buffer_from(&[1.0f32, 2.0])?;
    /// let mut y = device.buffer_from(&[10.0f32, 20.0])?;
    ///
    /// let saxpy = Entry::<Saxpy>::foreign("saxpy");
    /// let prepared = device.prepare(saxpy, LaunchConfig::linear(2, 32))?;
    /// let stream = Stream::new(&device)?;
    /// // SAFETY: saxpy has these parameters; the buffers have 2 elements, and live until the stream has been
    /// // synchronised.
    /// unsafe { prepared.launch(&stream, &(2, 3.0, x.slice(..), y.slice_mut(..))) }?;
    /// stream.synchronize()?;
    /// assert_eq!(y.to_vec()?, [13.0, 26.0]);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::UnreadablePtx`]: the PTX that is best for the emulated GPU cannot be read.
    /// [`DriverError::UnreadableReport`]: the report on its kernels' registers cannot be read.
    pub fn emulator_with(
        emulation: Emulation,
        ptx: &[Embedded<'_>],
    ) -> Result<Device, DriverError> {
        Device::emulator_of(DeviceChoice::EMULATED, emulation, ptx)
    }

    /// The emulator with the limits of a compute capability.
    ///
    /// ```
    /// use ridgepoint_driver::{ComputeCapability, Device, DriverError, Emulation};
    ///
    /// let turing = Device::emulator_of(ComputeCapability::new(7, 5), Emulation::default(), &[])?;
    /// assert_eq!(turing.properties().limits.shared_per_block, 64 * 1024);
    ///
    /// let error = Device::emulator_of(ComputeCapability::new(6, 1), Emulation::default(), &[]);
    /// assert!(matches!(error, Err(DriverError::UnknownCapability(_))));
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::UnknownCapability`]: the limits of the capability are not known. Also as
    /// [`Device::emulator_with`].
    pub fn emulator_of(
        capability: ComputeCapability,
        emulation: Emulation,
        ptx: &[Embedded<'_>],
    ) -> Result<Device, DriverError> {
        Device::emulated_as(0, capability, emulation, ptx)
    }

    /// The emulated device of a number, with the limits of [`DeviceChoice::EMULATED`]. Those of other numbers have
    /// memory of their own, as other GPUs do.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DriverError, Emulation};
    ///
    /// let devices: Vec<Device> = (0..4)
    ///     .map(|number| Device::emulator_number(number, Emulation::default(), &[]))
    ///     .collect::<Result<_, _>>()?;
    /// devices[0].enable_peer_access(&devices[3])?;
    ///
    /// let error = Device::emulator_number(64, Emulation::default(), &[]).err().expect("none has it");
    /// assert_eq!(error.to_string(), "no emulated device 64: there are 64, numbered from 0");
    /// # Ok::<(), DriverError>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::NoSuchEmulator`]: the number is not less than [`DeviceChoice::EMULATORS`]. Also as
    /// [`Device::emulator_with`].
    pub fn emulator_number(
        number: u32,
        emulation: Emulation,
        ptx: &[Embedded<'_>],
    ) -> Result<Device, DriverError> {
        Device::emulated_as(number, DeviceChoice::EMULATED, emulation, ptx)
    }

    fn emulated_as(
        number: u32,
        capability: ComputeCapability,
        emulation: Emulation,
        ptx: &[Embedded<'_>],
    ) -> Result<Device, DriverError> {
        let count = DeviceChoice::EMULATORS;
        if number >= count {
            return Err(DriverError::NoSuchEmulator { number, count });
        }
        let home = home::emulator(number);
        Ok(Device {
            trace: trace::Recorder::begin(home, None),
            properties: emulator::properties(number, capability)?,
            home,
            number,
            gpu: None,
            kernels: Kernels::of(ptx, capability, number)?,
            emulation,
        })
    }

    /// An emulator in this device's place, with kernels of this PTX: it has the limits of its compute capability
    /// and as many multiprocessors, so that a launch whose shape depends on the device has the same there.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, Emulation};
    ///
    /// let device = Device::open(&DeviceChoice::Auto, &[])?;
    /// let counting = Emulation { is_counted: true, ..Emulation::default() };
    /// let in_its_place = device.stand_in(counting, &[])?;
    /// assert!(in_its_place.properties().is_emulated());
    /// assert_eq!(in_its_place.properties().capability(), device.properties().capability());
    /// assert_eq!(in_its_place.properties().multiprocessors, device.properties().multiprocessors);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::emulator_of`].
    pub fn stand_in(
        &self,
        emulation: Emulation,
        ptx: &[Embedded<'_>],
    ) -> Result<Device, DriverError> {
        let mut device = Device::emulator_of(self.properties.capability(), emulation, ptx)?;
        device.properties.multiprocessors = self.properties.multiprocessors;
        Ok(device)
    }

    /// The same emulator, with its kernels and their variables, which runs launches as `emulation` says: that
    /// reads no PTX again. `None` of a GPU. [`Device::take_counts`] has an example.
    pub fn with_emulation(&self, emulation: Emulation) -> Option<Device> {
        if self.gpu.is_some() {
            return None;
        }
        Some(Device {
            trace: trace::Recorder::begin(self.home, None),
            properties: self.properties.clone(),
            home: self.home,
            number: self.number,
            gpu: None,
            kernels: self.kernels.clone(),
            emulation,
        })
    }

    /// What the kernels did that have been launched and counted since this was last asked, by the
    /// device's own PTX: the launches of each kernel added up, in the order in which kernels were first
    /// launched. [`Emulation::is_counted`] asks for it; devices that [`Device::with_emulation`] makes share
    /// it. A GPU counts nothing.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, Emulation, LaunchConfig, Stream, count};
    ///
    /// # use cuda_std::launch::{Entry, Foreign, In, Out};
    /// # type Saxpy = Foreign<(i32, f32, In<f32>, Out<f32>)>;
    /// # const SAXPY: &str = include_str!("../ptx/saxpy.ptx");
    /// let device = Device::emulator_with(Emulation::default(), &[(70, SAXPY, None)])?;
    /// let counting = Emulation { is_counted: true, ..Emulation::default() };
    /// let counted = device.with_emulation(counting).expect("an emulator");
    /// # let x = counted.buffer_zeroed::<f32>(100)?;
    /// # let mut y = counted.buffer_zeroed::<f32>(100)?;
    /// # let stream = Stream::new(&counted)?;
    /// let saxpy = counted.prepare(Entry::<Saxpy>::foreign("saxpy"), LaunchConfig::linear(100, 32))?;
    /// // SAFETY: as its parameters say, of 100 elements each.
    /// unsafe { saxpy.launch(&stream, &(100, 2.0, x.slice(..), y.slice_mut(..))) }?;
    ///
    /// let counts: Vec<count::Counts> = counted.take_counts();
    /// assert_eq!((&counts[0].kernel[..], counts[0].warps), ("saxpy", 4));
    /// // Of each element, x and y are read and y is written.
    /// assert_eq!(counts[0].bytes(count::Space::Global), 100 * 3 * 4);
    /// assert_eq!(counts[0].flop(), 100 * 2);
    /// // They are the device's own, and taken.
    /// assert!(device.take_counts().is_empty());
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    pub fn take_counts(&self) -> Vec<count::Counts> {
        let kernels = self.kernels.as_ref();
        kernels.map(|it| it.take_counts()).unwrap_or_default()
    }

    /// Opens a GPU with PTX of the caller's; without any it has the kernels of files alone ([`Device::load`]).
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DriverError};
    ///
    /// match Device::with_ptx(0, &[]) {
    ///     Ok(gpu) => assert!(!gpu.properties().is_emulated()),
    ///     Err(error) => assert!(matches!(error, DriverError::NoDriver(_) | DriverError::NoGpu), "{error}"),
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn with_ptx(ordinal: u32, ptx: &[Embedded<'_>]) -> Result<Device, DriverError> {
        Device::compile(ordinal, ptx, None)
    }

    /// The same device with kernels that take at most `registers` registers per thread: on a GPU its
    /// compiler makes them of `ptx` and puts into local memory what does not fit. Kernels with launch
    /// bounds of their own keep to these. The emulator compiles nothing: it counts the registers of the
    /// resource report, whatever `registers` is.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice};
    ///
    /// # const SAXPY: &str = include_str!("../ptx/saxpy.ptx");
    /// let ptx = [(70, SAXPY, None)];
    /// let device = Device::open(&DeviceChoice::Auto, &ptx)?;
    /// let tight = device.with_max_registers(32, &ptx)?;
    /// if let Some(saxpy) = tight.compiled("saxpy")? {
    ///     assert!(saxpy.registers <= 32);
    /// }
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::open`].
    pub fn with_max_registers(
        &self,
        registers: u32,
        ptx: &[Embedded<'_>],
    ) -> Result<Device, DriverError> {
        match &self.properties.gpu {
            Some(gpu) => Device::compile(gpu.ordinal, ptx, Some(registers)),
            None => Ok(Device {
                trace: trace::Recorder::begin(self.home, None),
                properties: self.properties.clone(),
                home: self.home,
                number: self.number,
                gpu: None,
                kernels: self.kernels.clone(),
                emulation: self.emulation.clone(),
            }),
        }
    }

    fn compile(
        ordinal: u32,
        ptx: &[Embedded<'_>],
        max_registers: Option<u32>,
    ) -> Result<Device, DriverError> {
        let (gpu, properties) = Gpu::open(ordinal, ptx, max_registers)?;
        Ok(Device {
            trace: trace::Recorder::begin(gpu.context.home, Some(&gpu.context)),
            home: gpu.context.home,
            number: ordinal,
            properties,
            gpu: Some(gpu),
            kernels: None,
            emulation: Emulation::default(),
        })
    }

    /// What is known of the device.
    pub fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    /// Bytes that can be allocated now.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// assert!(device.free_memory()? > 0);
    /// let error = device.buffer_zeroed::<u8>(1 << 60).err().expect("too much");
    /// assert!(error.to_string().contains("cannot allocate 1152921504606846976 bytes on CPU emulator"));
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn free_memory(&self) -> Result<u64, DriverError> {
        match &self.gpu {
            Some(gpu) => gpu.free_memory(),
            None => Ok(emulator::free_memory()),
        }
    }

    /// Fails if so many bytes cannot be allocated now.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice, DriverError};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// device.check_memory(1 << 20)?;
    /// let too_much = device.check_memory(1 << 60);
    /// assert!(matches!(too_much, Err(DriverError::OutOfMemory { bytes, .. }) if bytes == 1 << 60));
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    ///
    /// # Errors
    /// [`DriverError::OutOfMemory`]; or as [`Device::free_memory`].
    pub fn check_memory(&self, bytes: u64) -> Result<(), DriverError> {
        let free = self.free_memory()?;
        match bytes <= free {
            true => Ok(()),
            false => Err(self.out_of_memory(bytes, free)),
        }
    }

    /// The bytes from the start of an allocation of the emulator to an address in it, or just behind it: equal for the
    /// same place in two launches, each with memory of its own. `None` for all other numbers, and on a GPU.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let buffer = device.buffer_zeroed::<u32>(4)?;
    /// let third = buffer.slice(2..).as_ptr() as u64;
    /// assert_eq!(device.offset_in_allocation(third), Some(8));
    /// assert_eq!(device.offset_in_allocation(7), None);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    pub fn offset_in_allocation(&self, address: u64) -> Option<u64> {
        match &self.gpu {
            Some(_) => None,
            None => emulator::offset_in_allocation(address),
        }
    }

    fn out_of_memory(&self, bytes: u64, free: u64) -> DriverError {
        DriverError::OutOfMemory {
            bytes,
            free,
            device: self.properties.name.clone(),
        }
    }

    /// Memory of the host in place of the device's: the emulator's.
    fn emulated<T: Clone>(&self, len: usize, value: T) -> Result<Vec<T>, DriverError> {
        host_memory(len, value).map_err(|bytes| self.out_of_memory(bytes, emulator::free_memory()))
    }
}

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
pub fn host_memory<T: Clone>(len: usize, value: T) -> Result<Vec<T>, u64> {
    let mut memory = Vec::new();
    match memory.try_reserve_exact(len) {
        Ok(()) => memory.resize(len, value),
        Err(_) => return Err((len as u64).saturating_mul(size_of::<T>() as u64)),
    }
    Ok(memory)
}

/// Bytes of this host's memory that can be allocated without swapping, and within the limit of this
/// process's addresses.
pub fn free_host_memory() -> u64 {
    emulator::free_memory()
}

/// What is known of every GPU of this machine, in order.
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
