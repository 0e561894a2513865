//! Launches: checked once, then run.

use cuda_std::launch::{Entry, Signature};
use cust::function::{Function, FunctionAttribute};

use super::error::during;
use super::{Device, DriverError, Stream};

/// A one-dimensional launch: how many blocks of how many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in the grid.
    pub grid: u64,
    /// Threads a block.
    pub block: u32,
}

impl Shape {
    /// A thread for each of `threads`, in blocks of `block`; at least one block.
    pub fn linear(threads: u64, block: u32) -> Shape {
        Shape {
            grid: threads.div_ceil(u64::from(block.max(1))).max(1),
            block,
        }
    }
}

/// A kernel with a shape that its device allows, ready to be launched.
pub struct Prepared<'d, S: Signature> {
    entry: Entry<S>,
    grid: u32,
    block: u32,
    /// `None` runs on the emulator.
    function: Option<Function<'d>>,
}

impl Device {
    /// Checks a launch of the kernel against the device's limits, once for any number of launches.
    ///
    /// # Errors
    /// The block or the grid is empty or over a limit of the device or of the kernel.
    pub fn prepare<S: Signature>(
        &self,
        entry: Entry<S>,
        shape: Shape,
    ) -> Result<Prepared<'_, S>, DriverError> {
        let limits = &self.facts.limits;
        let function = match &self.gpu {
            Some(gpu) => Some(gpu.function(entry.name)?),
            None => None,
        };
        let (limit, limited_by) = match &function {
            // Fewer than the device allows if the kernel uses many registers.
            Some(function) => {
                let limit = function
                    .get_attribute(FunctionAttribute::MaxThreadsPerBlock)
                    .map_err(during("read the kernel's limits"))?;
                (limit as u32, format!("this kernel on {}", self.facts.name))
            }
            None => (limits.threads_per_block, self.facts.name.clone()),
        };
        if !(1..=limit).contains(&shape.block) {
            return Err(DriverError::Block {
                kernel: entry.name,
                actual: shape.block,
                limit,
                limited_by,
            });
        }
        let grid = u32::try_from(shape.grid)
            .ok()
            .filter(|grid| (1..=limits.grid_x).contains(grid))
            .ok_or_else(|| DriverError::Grid {
                kernel: entry.name,
                actual: shape.grid,
                limit: limits.grid_x,
                device: self.facts.name.clone(),
            })?;
        Ok(Prepared {
            entry,
            grid,
            block: shape.block,
            function,
        })
    }
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
                let mut addresses = Vec::with_capacity(2 * self.entry.parameters.len());
                (self.entry.marshal)(arguments, &mut |address| {
                    addresses.push(address.cast_mut());
                });
                // SAFETY: the addresses are those of the parameters that `#[kernel]` gave the entry
                // of this name, in order; the caller vouches for what they point to.
                unsafe { stream.launch(function, self.grid, self.block, 0, &addresses) }
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
        let shape = simt::Shape {
            grid: [self.grid, 1, 1],
            block: [self.block, 1, 1],
        };
        let shared = Shared(&raw const *arguments);
        simt::launch(shape, &|| {
            // SAFETY: `launch`'s caller keeps the kernel's contract; `arguments` outlives the call.
            unsafe { (self.entry.call)(&*shared.address()) }
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
