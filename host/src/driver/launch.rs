//! Launches: checked once, then run.

use std::ffi::c_void;
use std::ptr;

use cuda_std::launch::{Entry, Home, Signature};
use cust::function::{Function, FunctionAttribute};
use cust::sys::{self, CUDA_KERNEL_NODE_PARAMS, CUstream};
use smallvec::SmallVec;

use super::error::{checked, during};
use super::gpu::Gpu;
use super::replay::{Emulated, Replay};
use super::{Device, DriverError, Shape, Stream, home};

/// A kernel with a shape that its device allows, ready to be launched.
pub struct Prepared<'d, S: Signature> {
    entry: Entry<S>,
    shape: simt::Shape,
    blocks: Blocks,
    home: &'static Home,
    /// `None` runs on the emulator.
    function: Option<Function<'d>>,
    /// How it runs there.
    emulation: simt::Options,
}

/// Whether the blocks of a grid may wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    Independent,
    Cooperative,
}

impl Device {
    /// Checks a launch of the kernel against its own bounds and the device's limits, once for any
    /// number of launches.
    ///
    /// # Errors
    /// The block or the grid is empty, not what the kernel requires, or over a limit of the device
    /// or of the kernel; or there is too little shared memory.
    pub fn prepare<S: Signature>(
        &self,
        entry: Entry<S>,
        shape: Shape,
    ) -> Result<Prepared<'_, S>, DriverError> {
        let function = match &self.gpu {
            Some(gpu) => Some(gpu.function(entry.name)?),
            None => None,
        };
        self.check_block(&entry, shape, function.as_ref())?;
        let grid = self.check_grid(entry.name, shape)?;
        self.check_shared(entry.name, shape, function.as_ref())?;
        Ok(Prepared {
            entry,
            shape: simt::Shape {
                grid,
                block: shape.block,
                dynamic_shared: shape.dynamic_shared,
            },
            blocks: Blocks::Independent,
            home: self.home,
            function,
            emulation: simt::Options {
                shared_per_block: self.facts.limits.shared_per_block,
                ..self.emulation
            },
        })
    }

    /// [`Device::prepare`] for a kernel whose blocks wait for each other, with
    /// [`sync_grid`](cuda_std::cooperative::sync_grid): all of them run at once.
    ///
    /// # Errors
    /// As [`Device::prepare`]; also, the device does not hold so many blocks at once.
    pub fn prepare_cooperative<S: Signature>(
        &self,
        entry: Entry<S>,
        shape: Shape,
    ) -> Result<Prepared<'_, S>, DriverError> {
        let prepared = self.prepare(entry, shape)?;
        let actual = prepared
            .shape
            .grid
            .iter()
            .map(|&blocks| u64::from(blocks))
            .product();
        let limit = self.blocks_at_once(&prepared)?;
        if actual > limit {
            return Err(DriverError::Cooperative {
                kernel: entry.name,
                actual,
                limit,
                device: self.facts.name.clone(),
            });
        }
        Ok(Prepared {
            blocks: Blocks::Cooperative,
            ..prepared
        })
    }

    /// How many blocks of the launch the device holds at once.
    ///
    /// # Errors
    /// The driver's, or `prepared` is of another device.
    pub fn blocks_at_once<S: Signature>(
        &self,
        prepared: &Prepared<'_, S>,
    ) -> Result<u64, DriverError> {
        const OPERATION: &str = "ask for the occupancy";
        home::same(OPERATION, self.home, "the kernel", prepared.home)?;
        let (Some(gpu), Some(function)) = (&self.gpu, &prepared.function) else {
            return Ok(simt::most_cooperative_blocks(prepared.shape));
        };
        gpu.context.enter()?;
        let [x, y, z] = prepared.shape.block;
        let each = function
            .max_active_blocks_per_multiprocessor(
                (x, y, z).into(),
                prepared.shape.dynamic_shared as usize,
            )
            .map_err(during(OPERATION))?;
        Ok(u64::from(each) * u64::from(self.facts.multiprocessors))
    }

    fn check_block<S: Signature>(
        &self,
        entry: &Entry<S>,
        shape: Shape,
        function: Option<&Function<'_>>,
    ) -> Result<(), DriverError> {
        if let Some(required) = entry.bounds.block
            && shape.block != required
        {
            return Err(DriverError::RequiredBlock {
                kernel: entry.name,
                actual: shape.block,
                required,
            });
        }
        let device = &self.facts.limits;
        let mut limit = device.threads_per_block;
        let mut limited_by = self.facts.name.clone();
        // Fewer than the device allows if the kernel uses many registers.
        if let Some(function) = function {
            limit = attribute(function, FunctionAttribute::MaxThreadsPerBlock)?;
            limited_by = format!("this kernel on {}", self.facts.name);
        }
        if let Some(bound) = entry.bounds.max_threads.filter(|&bound| bound <= limit) {
            limit = bound;
            limited_by = "#[kernel(max_threads)]".to_owned();
        }
        let threads = shape.block_threads();
        if !(1..=u64::from(limit)).contains(&threads) {
            return Err(DriverError::Block {
                kernel: entry.name,
                actual: threads,
                limit,
                limited_by,
            });
        }
        match (0..3).find(|&axis| shape.block[axis] > device.block[axis]) {
            Some(axis) => Err(DriverError::BlockExtent {
                kernel: entry.name,
                axis: AXES[axis],
                actual: shape.block[axis],
                limit: device.block[axis],
                device: self.facts.name.clone(),
            }),
            None => Ok(()),
        }
    }

    fn check_grid(&self, kernel: &'static str, shape: Shape) -> Result<[u32; 3], DriverError> {
        let mut grid = [0; 3];
        for axis in 0..3 {
            let limit = self.facts.limits.grid[axis];
            grid[axis] = u32::try_from(shape.grid[axis])
                .ok()
                .filter(|extent| (1..=limit).contains(extent))
                .ok_or_else(|| DriverError::Grid {
                    kernel,
                    axis: AXES[axis],
                    actual: shape.grid[axis],
                    limit,
                    device: self.facts.name.clone(),
                })?;
        }
        Ok(grid)
    }

    fn check_shared(
        &self,
        kernel: &'static str,
        shape: Shape,
        function: Option<&Function<'_>>,
    ) -> Result<(), DriverError> {
        let own = match function {
            Some(function) => attribute(function, FunctionAttribute::SharedMemorySizeBytes)?,
            // The emulator sees a kernel's own arrays when it runs.
            None => 0,
        };
        let limit = self.facts.limits.shared_per_block.saturating_sub(own);
        if shape.dynamic_shared > limit {
            return Err(DriverError::SharedMemory {
                kernel,
                actual: shape.dynamic_shared,
                limit,
                own,
                device: self.facts.name.clone(),
            });
        }
        match function {
            // The most, and not what this launch asks for: the function is one for all that have
            // prepared it.
            Some(function) if shape.dynamic_shared > 0 => {
                Gpu::allow_dynamic_shared(function, limit)
            }
            _ => Ok(()),
        }
    }
}

const AXES: [char; 3] = ['x', 'y', 'z'];

fn attribute(function: &Function<'_>, attribute: FunctionAttribute) -> Result<u32, DriverError> {
    function
        .get_attribute(attribute)
        .map(|value| value as u32)
        .map_err(during("read the kernel's limits"))
}

impl<S: Signature> Prepared<'_, S> {
    /// The kernel's name.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The device that it is prepared for.
    pub(super) fn home(&self) -> &'static Home {
        self.home
    }

    /// Puts a launch into the stream. A kernel's own error shows when the stream is synchronised,
    /// on the emulator at once.
    ///
    /// # Safety
    /// The arguments keep the kernel's contract, views that are not of a [`Buffer`](super::Buffer)
    /// are of the stream's device, and until the stream has been synchronised the buffers stay alive
    /// and nothing else writes them.
    ///
    /// # Errors
    /// The driver's, or what a thread did on the emulator; or the kernel was prepared for another
    /// device than the stream's, or a buffer is of another. Then nothing is in the stream.
    ///
    /// # Panics
    /// The argument of a `&T` parameter is an empty slice.
    pub unsafe fn launch(
        &self,
        stream: &Stream<'_>,
        arguments: &S::Arguments<'_>,
    ) -> Result<(), DriverError> {
        home::same(self.name(), stream.device.home, "the kernel", self.home)?;
        // SAFETY: the caller's contract.
        stream.traced(self.name(), 0, || unsafe { self.put(stream, arguments) })
    }

    /// # Safety
    /// As for [`Prepared::launch`].
    unsafe fn put(
        &self,
        stream: &Stream<'_>,
        arguments: &S::Arguments<'_>,
    ) -> Result<(), DriverError> {
        // Of one device, both are a GPU's or neither is.
        let (Some(function), Some(raw)) = (&self.function, stream.enter()?) else {
            // SAFETY: the caller's contract.
            return unsafe { self.emulate(stream, arguments) };
        };
        let mut addresses = self.addresses(arguments)?;
        // SAFETY: the addresses are those of the parameters that `#[kernel]` gave the entry of this
        // name, in order; the caller vouches for what they point to.
        unsafe { self.enqueue(function, raw, addresses.as_mut_ptr()) }?;
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
            captured.add(unsafe { self.replay(arguments) }?);
            return Ok(());
        }
        self.refuse_others(arguments)?;
        // SAFETY: the caller's contract.
        cuda_loader::pass(self.blocks.driver_call(), || unsafe {
            self.emulated().run(arguments)
        })
    }

    /// The address of each parameter's value, good for as long as `arguments` is borrowed.
    fn addresses(
        &self,
        arguments: &S::Arguments<'_>,
    ) -> Result<SmallVec<[*mut c_void; PARAMETERS]>, DriverError> {
        let mut addresses = SmallVec::new();
        let mut are_own = true;
        (self.entry.marshal)(arguments, &mut |address, home| {
            are_own &= home.is_none_or(|home| home == self.home);
            addresses.push(address.cast_mut());
        });
        if !are_own {
            self.refuse_others(arguments)?;
        }
        Ok(addresses)
    }

    /// Refuses arguments that are views of another device's memory.
    fn refuse_others(&self, arguments: &S::Arguments<'_>) -> Result<(), DriverError> {
        let other = (self.entry.memory)(arguments)
            .into_iter()
            .find_map(|memory| {
                Some((memory.parameter, memory.home?)).filter(|it| it.1 != self.home)
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
        let mut addresses = self.addresses(arguments)?;
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
            kernelParams: addresses.as_mut_ptr(),
            extra: ptr::null_mut(),
        })
    }

    /// The launch, to be run on the emulator later and more than once.
    ///
    /// # Safety
    /// It is prepared for the emulator, and the arguments' buffers live until the last run.
    ///
    /// # Errors
    /// An argument is of another device.
    pub(super) unsafe fn replay(
        &self,
        arguments: &S::Arguments<'_>,
    ) -> Result<Replay, DriverError> {
        self.refuse_others(arguments)?;
        // SAFETY: the caller's contract.
        Ok(unsafe { self.emulated().keep(arguments) })
    }

    fn emulated(&self) -> Emulated<S> {
        Emulated {
            entry: self.entry,
            shape: self.shape,
            blocks: self.blocks,
            options: self.emulation,
        }
    }
}

/// Parameters of most kernels: more of them take an allocation a launch.
const PARAMETERS: usize = 16;

impl Blocks {
    fn driver_call(self) -> &'static str {
        match self {
            Blocks::Independent => "cuLaunchKernel",
            Blocks::Cooperative => "cuLaunchCooperativeKernel",
        }
    }
}
