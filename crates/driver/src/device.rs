//! A device, and how it is opened.

use std::sync::Arc;

use cuda_std::launch::Home;
use engine::count;
use occupancy::ComputeCapability;

use crate::emulator::{self, Kernels};
use crate::finding::Benign;
use crate::gpu::Gpu;
use crate::{
    DeviceChoice, DeviceProperties, DeviceValue, DriverError, Embedded, Emulation, home,
    host_memory, trace,
};

/// A GPU, or the emulator.
#[derive(Debug)]
pub struct Device {
    // Dropped first: it waits for what the GPU does.
    pub(crate) trace: Option<trace::Recorder>,
    pub(crate) properties: DeviceProperties,
    /// The owner of the memory and kernels of this device.
    pub(crate) home: &'static Home,
    /// The GPU's or the emulated device's.
    pub(crate) number: u32,
    /// `None` is the emulator.
    pub(crate) gpu: Option<Gpu>,
    /// The kernels of the emulator's PTX; without them it runs the kernels' Rust functions.
    pub(crate) kernels: Option<Arc<Kernels>>,
    /// How the emulator runs launches.
    pub(crate) emulation: Emulation,
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
        self.gpu.is_none().then(|| self.emulated_alike(emulation))
    }

    /// The same emulator, with the same kernels.
    fn emulated_alike(&self, emulation: Emulation) -> Device {
        Device {
            trace: trace::Recorder::begin(self.home, None),
            properties: self.properties.clone(),
            home: self.home,
            number: self.number,
            gpu: None,
            kernels: self.kernels.clone(),
            emulation,
        }
    }

    /// Takes the counts of the kernels that have been launched and counted since this was last called, by the
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

    /// Takes the [benign](crate::finding::Severity::Benign) findings of checked launches since this was last called, by the
    /// device's own PTX: each kind at a pair of lines once. Devices that [`Device::with_emulation`] makes share them. With
    /// [`Emulation::is_strict`] they are errors of their launches instead.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    /// use ridgepoint_driver::finding::{Benign, Kind, Severity};
    /// use ridgepoint_driver::{Device, DriverError, Emulation, LaunchConfig, Stream, demangled};
    ///
    /// # const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    /// #     .visible .entry raise(.param .u64 flag)\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\n\
    /// #     ld.param.u64 %rd1, [flag];\nmov.u32 %r1, 1;\ncvta.to.global.u64 %rd2, %rd1;\n\
    /// #     st.global.u32 [%rd2], %r1;\nret;\n}\n";
    /// /// Every thread stores the same.
    /// ///
    /// /// # Safety
    /// /// `flag` is not empty.
    /// #[kernel]
    /// pub unsafe fn raise(flag: *mut u32) {
    ///     unsafe { *flag = 1 };
    /// }
    ///
    /// # fn main() -> Result<(), DriverError> {
    /// let checked = Emulation { is_checked: true, ..Emulation::default() };
    /// # /*
    /// let device = Device::emulator_with(checked.clone(), PTX)?;
    /// # */
    /// # let device = Device::emulator_with(checked.clone(), &[(70, PTX, None)])?;
    /// let launch = |device: &Device| {
    ///     # // SAFETY: it is what the kernel does.
    ///     # let entry = unsafe { raise::entry().of_any_ptx() };
    ///     # /*
    ///     let entry = raise::entry();
    ///     # */
    ///     let mut flag = device.buffer_zeroed(1)?;
    ///     let prepared = device.prepare(entry, LaunchConfig::blocks(1, 64))?;
    ///     // SAFETY: `flag` has an element.
    ///     unsafe { prepared.launch(&Stream::new(device)?, &(flag.slice_mut(..),)) }
    /// };
    /// launch(&device)?;
    /// let benign: Vec<Benign> = device.take_benign();
    /// assert_eq!(benign.len(), 1);
    /// // Kernels of C++ and generic ones have longer names in PTX than in their source.
    /// assert_eq!(demangled(&benign[0].kernel), "raise");
    /// assert_eq!(benign[0].finding.kind, Kind::EqualStores);
    ///
    /// let strict = device.with_emulation(Emulation { is_strict: true, ..checked }).expect("emulated");
    /// let error = launch(&strict).expect_err("an error of the launch");
    /// let kind = error.finding().expect("a finding").kind;
    /// assert_eq!(kind.severity(), Severity::Benign);
    /// # Ok(())
    /// # }
    /// ```
    pub fn take_benign(&self) -> Vec<Benign> {
        let kernels = self.kernels.as_ref();
        kernels.map(|it| it.take_benign()).unwrap_or_default()
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
            None => Ok(self.emulated_alike(self.emulation.clone())),
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

    /// Returns the properties of the device.
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
            None => Ok(engine::memory::free_bytes()),
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

    /// Bytes that buffers of so many bytes need, with what the emulator's checks keep of them where launches are checked.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, Emulation};
    ///
    /// let device = |is_checked| Device::emulator(Emulation { is_checked, ..Emulation::default() });
    /// assert_eq!(device(false).bytes_with_checks(1 << 20), 1 << 20);
    /// assert!(device(true).bytes_with_checks(1 << 20) > 5 << 20);
    /// ```
    pub fn bytes_with_checks(&self, bytes: u64) -> u64 {
        match self.gpu.is_none() && self.emulation.is_checked {
            true => bytes.saturating_add(engine::check::bytes_kept_of(bytes)),
            false => bytes,
        }
    }

    /// Finds the words that are addresses in allocations of the emulator, or just behind one: the index of each, and the
    /// bytes from the start of its allocation, equal for the same place in two launches, each with memory of its own. There
    /// are none on a GPU.
    ///
    /// ```
    /// use ridgepoint_driver::{Device, DeviceChoice};
    ///
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let buffer = device.buffer_zeroed::<u32>(4)?;
    /// let third = buffer.slice(2..).as_ptr() as u64;
    /// assert_eq!(device.addresses([7, third, 0]), [(1, 8)]);
    /// # Ok::<(), ridgepoint_driver::DriverError>(())
    /// ```
    pub fn addresses(&self, words: impl IntoIterator<Item = u64>) -> Vec<(usize, u64)> {
        match &self.gpu {
            Some(_) => Vec::new(),
            None => emulator::addresses(words),
        }
    }

    pub(crate) fn out_of_memory(&self, bytes: u64, free: u64) -> DriverError {
        DriverError::OutOfMemory {
            bytes,
            free,
            device: self.properties.name.clone(),
        }
    }

    /// Memory of the host in place of the device's: the emulator's.
    pub(crate) fn emulated<T: DeviceValue>(
        &self,
        len: usize,
        value: T,
    ) -> Result<Vec<T>, DriverError> {
        host_memory(len, value)
            .map_err(|bytes| self.out_of_memory(bytes, engine::memory::free_bytes()))
    }
}
