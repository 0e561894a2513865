//! Launches of what is prepared.

use std::ffi::c_void;
use std::ptr;

use cuda_loader::newer;
use cuda_std::launch::{Entry, Home, SafeKernel, Signature};
use cust::function::Function;
use cust::sys::{self, CUDA_KERNEL_NODE_PARAMS, CUstream};
use occupancy::ComputeCapability;

use super::capture::Piece;
use super::error::checked;
use super::launch_attributes::Attributes;
use super::launch_config::Blocks;
use super::parameters::Parameters;
use super::replay::{Emulated, EmulatedPtx, Replay};
use super::{DriverError, Emulation, Stream, home, launch_attributes, reachable};

/// A kernel with a launch configuration that its device allows, ready to be launched.
///
/// ```
/// use cuda_std::prelude::*;
/// use ridgepoint_driver::{Device, DeviceBuffer, DeviceChoice, DriverError, LaunchConfig, Prepared, Stream};
///
/// #[kernel]
/// pub fn double(mut y: Output<f32>) {
///     for (_, y) in y.own() {
///         *y *= 2.0;
///     }
/// }
///
/// struct Doubling<'d> {
///     kernel: Prepared<'d, double>,
///     stream: Stream<'d>,
/// }
///
/// impl Doubling<'_> {
///     fn times(&self, y: &mut DeviceBuffer<f32>, times: u32) -> Result<(), DriverError> {
///         (0..times).try_for_each(|_| self.kernel.run(&self.stream, (y.slice_mut(..),)))
///     }
/// }
///
/// # fn main() -> Result<(), DriverError> {
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// let mut y = device.buffer_filled(100, 1.0f32)?;
/// let kernel = device.prepare(double::entry(), LaunchConfig::linear(100, 256))?;
/// assert_eq!(kernel.name(), "double");
/// let doubling = Doubling { kernel, stream: Stream::new(&device)? };
/// doubling.times(&mut y, 10)?;
/// assert_eq!(y.to_vec()?, [1024.0; 100]);
/// # Ok(())
/// # }
/// ```
pub struct Prepared<'d, S: Signature> {
    pub(super) entry: Entry<S>,
    pub(super) shape: simt::Shape,
    pub(super) blocks: Blocks,
    /// The device that it is prepared for.
    pub(super) home: &'static Home,
    /// `None` runs on the emulator.
    pub(super) function: Option<Function<'d>>,
    /// How it runs there.
    pub(super) emulation: Emulation,
    pub(super) shared_per_block: u32,
    pub(super) capability: ComputeCapability,
    /// Its PTX, if the emulator executes that.
    pub(super) ptx: Option<EmulatedPtx>,
    /// The attributes beyond grid and block.
    pub(super) attributes: Attributes,
}

impl<S: Signature> Prepared<'_, S> {
    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        self.entry.name()
    }

    /// Puts a launch into the stream. A kernel's own error shows when the stream is synchronised,
    /// on the emulator at once.
    ///
    /// # Safety
    /// The arguments keep the kernel's contract; views that do not come from a
    /// [`DeviceBuffer`](super::DeviceBuffer) are of the stream's device. A
    /// [foreign](cuda_std::launch::Foreign) kernel has the parameters that its signature says, in number,
    /// order and size. Until the stream has been synchronised (for a captured launch, until the last replay
    /// has been) the buffers and the device that the kernel was prepared on stay alive, nothing else writes
    /// what the kernel reads, and nothing else reads or writes what it writes.
    ///
    /// # Errors
    /// The driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]);
    /// [`DriverError::Emulated`], [`DriverError::Engine`]: a thread failed on the emulator, or something was
    /// found; [`DriverError::WithoutPtx`]: checks or a schedule of a kernel without PTX.
    /// [`DriverError::OtherDevice`]: the kernel was prepared for another device than the stream's, or a buffer is of a device
    /// whose memory this one does not reach ([`Device::enable_peer_access`](super::Device::enable_peer_access)); then
    /// nothing is in the stream.
    ///
    /// # Panics
    /// The argument of a `&T` parameter is an empty slice.
    pub unsafe fn launch(
        &self,
        stream: &Stream<'_>,
        arguments: &S::Arguments<'_>,
    ) -> Result<(), DriverError> {
        home::same(self.name(), stream.device.home, "the kernel", self.home)?;
        let mut parameters = self.parameters(arguments)?;
        // SAFETY: the caller's contract; the parameters are those of the arguments.
        stream.traced(self.name(), 0, || unsafe {
            self.put(stream, arguments, &mut parameters)
        })
    }

    /// Launches a safe kernel and waits for all work in the stream. The arguments stay borrowed until
    /// the device is done, so the caller has nothing to vouch for. Where copies may be under way, it
    /// waits for the whole device before it launches.
    ///
    /// The PTX that the device was opened with, or the file that was [loaded](super::Device::load), is what
    /// `CudaBuilder` made of this kernel's source: [`Device::prepare`](super::Device::prepare) has compared their
    /// digests. For any other PTX somebody has [vouched](cuda_std::launch::Entry::of_any_ptx).
    ///
    /// The [crate's](crate) first example shows it. A kernel that is an `unsafe fn` has a contract, and so
    /// only [`Prepared::launch`]:
    ///
    /// ```compile_fail,E0277
    /// # use cuda_std::prelude::*;
    /// # use ridgepoint_driver::{Device, DeviceChoice, DriverError, LaunchConfig, Stream};
    /// /// # Safety
    /// /// There is an element for each thread.
    /// #[kernel]
    /// pub unsafe fn count(counts: *mut u32) {
    ///     unsafe { *counts.add(thread::thread_idx_x() as usize) += 1 };
    /// }
    /// # fn main() -> Result<(), DriverError> {
    /// # let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// # let stream = Stream::new(&device)?;
    /// # let mut counts = device.buffer_filled(100, 0)?;
    /// let prepared = device.prepare(count::entry(), LaunchConfig::linear(100, 256))?;
    /// prepared.run(&stream, (counts.slice_mut(..),))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Two launches do not share arguments, of which one at a time may write:
    ///
    /// ```compile_fail,E0382
    /// # use cuda_std::prelude::*;
    /// # use ridgepoint_driver::{Device, DeviceChoice, DriverError, LaunchConfig, Stream};
    /// # #[kernel]
    /// # pub fn fill(mut y: Output<u32>) {
    /// #     for (i, y) in y.own() {
    /// #         *y = i as u32;
    /// #     }
    /// # }
    /// # fn main() -> Result<(), DriverError> {
    /// # let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// # let stream = Stream::new(&device)?;
    /// # let mut y = device.buffer_filled(100, 0)?;
    /// let prepared = device.prepare(fill::entry(), LaunchConfig::linear(100, 256))?;
    /// let arguments = (y.slice_mut(..),);
    /// prepared.run(&stream, arguments)?;
    /// prepared.run(&stream, arguments)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Prepared::launch`] and [`Stream::synchronize`]; [`DriverError::Capturing`]: this thread
    /// captures a stream.
    ///
    /// # Panics
    /// As for [`Prepared::launch`]; or the entry that was prepared is another kernel's under this one's
    /// signature.
    pub fn run(&self, stream: &Stream<'_>, arguments: S::Arguments<'_>) -> Result<(), DriverError>
    where
        S: SafeKernel,
    {
        // Nothing waits for a capture, nor for other streams during one.
        stream.refuse_capture_by_thread("wait for a kernel")?;
        assert!(
            self.entry.is_own(),
            "{} was prepared under another kernel's signature",
            self.name()
        );
        stream.finish_copies()?;
        for memory in (self.entry.memory())(&arguments) {
            if let Some(peer) = memory.home.filter(|&of| of != self.home) {
                Stream::finish_copies_of(peer)?;
            }
        }
        // SAFETY: a safe kernel has no contract, and `prepare` has made sure that the PTX is its own, or somebody
        // vouched for it. The views are borrowed, from buffers that no copy reaches any more, until the stream
        // has been synchronised, and no other launch has them.
        let launched = unsafe { self.launch(stream, &arguments) };
        // In any case: the kernel may run.
        let done = stream.synchronize();
        launched.and(done)
    }

    /// # Safety
    /// As for [`Prepared::launch`]; `parameters` are [`Prepared::parameters`] of the arguments.
    unsafe fn put(
        &self,
        stream: &Stream<'_>,
        arguments: &S::Arguments<'_>,
        parameters: &mut Parameters,
    ) -> Result<(), DriverError> {
        // Of one device, both are a GPU's or neither is.
        let (Some(function), Some(raw)) = (&self.function, stream.enter()?) else {
            // SAFETY: the caller's contract.
            return unsafe { self.emulate(stream, arguments) };
        };
        // SAFETY: the addresses are those of the parameters that `#[kernel]` gave the entry of this
        // name, in order, or the caller vouches that a foreign one has; and for what they point to.
        unsafe { self.enqueue(function, raw, parameters.addresses().as_mut_ptr()) }?;
        match &mut *stream.captured.borrow_mut() {
            Some(captured) => captured.add_last_of(raw),
            None => Ok(()),
        }
    }

    /// # Safety
    /// As for [`Prepared::launch`].
    unsafe fn emulate(
        &self,
        stream: &Stream<'_>,
        arguments: &S::Arguments<'_>,
    ) -> Result<(), DriverError> {
        if let Some(captured) = &mut *stream.captured.borrow_mut() {
            // SAFETY: the caller's contract holds until the last replay.
            captured.add(Piece::Launch(unsafe { self.emulated().keep(arguments) }));
            return Ok(());
        }
        // SAFETY: the caller's contract.
        cuda_loader::pass(self.driver_call(), || unsafe {
            self.emulated().run(&stream.order, arguments)
        })
    }

    /// The parameters of a launch with these arguments.
    ///
    /// # Errors
    /// [`DriverError::OtherDevice`]: an argument is of another device.
    fn parameters(&self, arguments: &S::Arguments<'_>) -> Result<Parameters, DriverError> {
        let mut are_own = true;
        let seen = |home: &'static Home| are_own &= home == self.home;
        let parameters = Parameters::of(&self.entry, self.shape, arguments, seen);
        if !are_own {
            self.refuse_others(arguments)?;
        }
        Ok(parameters)
    }

    /// Refuses arguments that are views of another device's memory, unless this device reaches it.
    #[cold]
    fn refuse_others(&self, arguments: &S::Arguments<'_>) -> Result<(), DriverError> {
        let other = (self.entry.memory())(arguments)
            .into_iter()
            .find_map(|memory| {
                let named = Some((memory.parameter, memory.home?));
                named.filter(|(_, of)| !reachable::reaches(self.home, of))
            });
        match other {
            Some((parameter, of)) => {
                let what = format!("argument `{parameter}`");
                Err(home::other(self.name(), self.home, what, of))
            }
            None => Ok(()),
        }
    }

    /// # Safety
    /// As for [`Prepared::launch`], with the addresses of the kernel's parameters.
    unsafe fn enqueue(
        &self,
        function: &Function<'_>,
        stream: CUstream,
        parameters: *mut *mut c_void,
    ) -> Result<(), DriverError> {
        let attributes = self.attributes.all(self.blocks);
        if !attributes.is_empty() {
            let config = launch_attributes::config(self.shape, stream, &attributes);
            // SAFETY: as below; the attributes outlive the call.
            let result = unsafe {
                newer::launch_kernel_ex(&config, function.to_raw(), parameters, ptr::null_mut())
            };
            return checked("launch a kernel", result);
        }
        let [grid_x, grid_y, grid_z] = self.shape.grid;
        let [block_x, block_y, block_z] = self.shape.block;
        let (function, shared) = (function.to_raw(), self.shape.dynamic_shared);
        // SAFETY: the caller's contract; the function's module and the stream are alive.
        let result = unsafe {
            match self.blocks {
                Blocks::Independent => sys::cuLaunchKernel(
                    function,
                    grid_x,
                    grid_y,
                    grid_z,
                    block_x,
                    block_y,
                    block_z,
                    shared,
                    stream,
                    parameters,
                    ptr::null_mut(),
                ),
                Blocks::Cooperative => sys::cuLaunchCooperativeKernel(
                    function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream,
                    parameters,
                ),
            }
        };
        checked("launch a kernel", result)
    }

    /// Hands `use_node` the launch as the node of a GPU's graph.
    ///
    /// # Panics
    /// It is prepared for the emulator.
    pub(super) fn with_node(
        &self,
        arguments: &S::Arguments<'_>,
        use_node: impl FnOnce(&CUDA_KERNEL_NODE_PARAMS) -> Result<(), DriverError>,
    ) -> Result<(), DriverError> {
        let function = self.function.as_ref().expect("prepared for a GPU");
        let mut parameters = self.parameters(arguments)?;
        let [grid_x, grid_y, grid_z] = self.shape.grid;
        let [block_x, block_y, block_z] = self.shape.block;
        use_node(&CUDA_KERNEL_NODE_PARAMS {
            func: function.to_raw(),
            gridDimX: grid_x,
            gridDimY: grid_y,
            gridDimZ: grid_z,
            blockDimX: block_x,
            blockDimY: block_y,
            blockDimZ: block_z,
            sharedMemBytes: self.shape.dynamic_shared,
            kernelParams: parameters.addresses().as_mut_ptr(),
            extra: ptr::null_mut(),
        })
    }

    /// The launch, to be run on the emulator later and more than once.
    ///
    /// # Safety
    /// It is prepared for the emulator, and the arguments' buffers live until the last run.
    ///
    /// # Errors
    /// [`DriverError::OtherDevice`]: an argument is of another device.
    pub(super) unsafe fn replay(
        &self,
        arguments: &S::Arguments<'_>,
    ) -> Result<Replay, DriverError> {
        self.parameters(arguments)?;
        // SAFETY: the caller's contract.
        Ok(unsafe { self.emulated().keep(arguments) })
    }

    fn driver_call(&self) -> &'static str {
        match (self.attributes.are_none(), self.blocks) {
            (true, Blocks::Independent) => "cuLaunchKernel",
            (true, Blocks::Cooperative) => "cuLaunchCooperativeKernel",
            (false, _) => "cuLaunchKernelEx",
        }
    }

    fn emulated(&self) -> Emulated<S> {
        Emulated {
            entry: self.entry,
            shape: self.shape,
            blocks: self.blocks,
            cluster: self.attributes.cluster(),
            begins: self.attributes.order,
            emulation: self.emulation.clone(),
            shared_per_block: self.shared_per_block,
            capability: self.capability,
            ptx: self.ptx.clone(),
        }
    }
}
