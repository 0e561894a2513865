//! Launches: checked once, then run.

use cuda_std::launch::{Entry, Signature};
use cust::function::{Function, FunctionAttribute};

use super::error::during;
use super::gpu::Gpu;
use super::{Device, DriverError, Stream};

/// How many blocks of how many threads, with how much dynamic shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in the grid: x, y, z.
    pub grid: [u64; 3],
    /// Threads a block: x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
}

impl Shape {
    /// One dimension: so many blocks.
    pub fn blocks(grid: u64, block: u32) -> Shape {
        Shape {
            grid: [grid, 1, 1],
            block: [block, 1, 1],
            dynamic_shared: 0,
        }
    }

    /// One dimension: a thread for each of `threads`, in blocks of `block`; at least one block.
    pub fn linear(threads: u64, block: u32) -> Shape {
        Shape::blocks(threads.div_ceil(u64::from(block.max(1))).max(1), block)
    }

    /// Two dimensions: a thread for each of `threads`, x and y, in blocks of `block`; at least one
    /// block.
    pub fn tiles(threads: [u64; 2], block: [u32; 2]) -> Shape {
        let blocks = |axis: usize| threads[axis].div_ceil(u64::from(block[axis].max(1))).max(1);
        Shape {
            grid: [blocks(0), blocks(1), 1],
            block: [block[0], block[1], 1],
            dynamic_shared: 0,
        }
    }

    /// The same with so many bytes of dynamic shared memory a block.
    #[must_use]
    pub fn with_dynamic_shared(self, bytes: u32) -> Shape {
        Shape {
            dynamic_shared: bytes,
            ..self
        }
    }

    /// Threads a block, over all dimensions.
    pub fn block_threads(&self) -> u64 {
        self.block.iter().map(|&extent| u64::from(extent)).product()
    }
}

/// A kernel with a shape that its device allows, ready to be launched.
pub struct Prepared<'d, S: Signature> {
    entry: Entry<S>,
    shape: simt::Shape,
    /// `None` runs on the emulator.
    function: Option<Function<'d>>,
    /// How it runs there.
    emulation: simt::Options,
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
            function,
            emulation: simt::Options {
                shared_per_block: self.facts.limits.shared_per_block,
                ..self.emulation
            },
        })
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

    /// Puts a launch into the stream. A kernel's own error shows when the stream is synchronised,
    /// on the emulator at once.
    ///
    /// # Safety
    /// The arguments keep the kernel's contract, the buffers are of the stream's device, and until
    /// the stream has been synchronised they stay alive and nothing else writes them.
    ///
    /// # Errors
    /// The driver's, or what a thread did on the emulator.
    pub unsafe fn launch(
        &self,
        stream: &Stream<'_>,
        arguments: &S::Arguments<'_>,
    ) -> Result<(), DriverError> {
        match (&self.function, &stream.cuda) {
            (Some(function), Some(stream)) => {
                let [grid_x, grid_y, grid_z] = self.shape.grid;
                let [block_x, block_y, block_z] = self.shape.block;
                let mut addresses = Vec::with_capacity(2 * self.entry.parameters.len());
                (self.entry.marshal)(arguments, &mut |address| {
                    addresses.push(address.cast_mut());
                });
                // SAFETY: the addresses are those of the parameters that `#[kernel]` gave the entry
                // of this name, in order; the caller vouches for what they point to.
                unsafe {
                    stream.launch(
                        function,
                        (grid_x, grid_y, grid_z),
                        (block_x, block_y, block_z),
                        self.shape.dynamic_shared,
                        &addresses,
                    )
                }
                .map_err(during("launch a kernel"))
            }
            (None, None) => self.emulate(arguments),
            _ => panic!(
                "{}: prepared for one device, launched on another",
                self.name()
            ),
        }
    }

    fn emulate(&self, arguments: &S::Arguments<'_>) -> Result<(), DriverError> {
        let shared = Shared(&raw const *arguments);
        let call = self.entry.call;
        simt::Launch::new(self.shape)
            .options(self.emulation)
            .memory(&(self.entry.memory)(arguments), arguments)
            .run(&move || {
                // SAFETY: `launch`'s caller keeps the kernel's contract; `arguments` outlives the
                // call.
                unsafe { call(&*shared.address()) }
            })
            .map_err(|error| DriverError::Emulated {
                kernel: self.name(),
                error,
            })
    }
}

/// Arguments that several cores read at once.
struct Shared<A>(*const A);

// SAFETY: `#[kernel]` lets only `Sync` values through, and a view gives shared threads nothing but
// raw pointers.
unsafe impl<A> Sync for Shared<A> {}

impl<A> Shared<A> {
    fn address(&self) -> *const A {
        self.0
    }
}
