//! Runs kernels of `ptx-std` that have no PTX, such as those of examples in documentation, as what they
//! are on the host: functions.
//!
//! A launch calls the kernel's function once for every thread of the grid, each on a stack of its own,
//! in order of their index; a thread runs until it ends or waits for others. All on the core that
//! launches.
//!
//! The results are functional. Nothing is checked, and how long it takes says nothing about a GPU.
//!
//! ```
//! use cuda_std::thread;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! let sum = AtomicU32::new(0);
//! let shape = simt::Shape { grid: [4, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
//! simt::Launch::new(shape).run(&|| {
//!     sum.fetch_add(thread::index_1d(), Ordering::Relaxed);
//! })?;
//! assert_eq!(sum.into_inner(), 127 * 128 / 2);
//! # Ok::<(), simt::LaunchError>(())
//! ```

mod block;
mod error;
mod grid;
mod lane;
mod memory;
mod overflow;
mod panics;
mod wait;

pub use error::{LaunchError, Thread};

/// The shape of a launch, in the order x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in the grid.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared: u32,
}

impl Shape {
    fn blocks(&self) -> u64 {
        self.grid.iter().map(|&blocks| u64::from(blocks)).product()
    }

    fn threads(&self) -> u32 {
        self.block.iter().product()
    }
}

/// A launch that is more than a shape.
pub struct Launch<'a> {
    shape: Shape,
    steps: u64,
    shared_per_block: u32,
    kernel: &'static str,
    print: &'a dyn Fn(&str),
}

impl<'a> Launch<'a> {
    /// With 2^28 steps and the 227 KiB of shared memory of compute capability 9.0; what the kernel
    /// prints goes to standard output.
    pub fn new(shape: Shape) -> Self {
        Launch {
            shape,
            steps: 1 << 28,
            shared_per_block: 227 * 1024,
            kernel: "the kernel",
            print: &|text| print!("{text}"),
        }
    }

    /// How many steps threads may wait for others' flags while none ends or meets others: one for each
    /// atomic operation, but 256 where it only reads, and one per nanosecond of sleep.
    #[must_use]
    pub fn steps(self, steps: u64) -> Self {
        Launch { steps, ..self }
    }

    /// Bytes of shared memory that a block may have, static and dynamic.
    #[must_use]
    pub fn shared_per_block(self, shared_per_block: u32) -> Self {
        Launch {
            shared_per_block,
            ..self
        }
    }

    /// The kernel's name, for what is said of a thread that overflows its stack. That ends the process, as it
    /// does of any thread of the host.
    #[must_use]
    pub fn named(self, kernel: &'static str) -> Self {
        Launch { kernel, ..self }
    }

    /// `print` is given what the kernel prints, piece by piece.
    #[must_use]
    pub fn print(self, print: &'a dyn Fn(&str)) -> Self {
        Launch { print, ..self }
    }

    /// Runs `kernel` once for every thread of the grid, and returns when all have ended. A grid with no
    /// blocks or a block with no threads runs nothing.
    ///
    /// Blocks may wait for each other as long as at most [`most_blocks`] have begun.
    ///
    /// # Errors
    /// The first failure of any thread. Blocks that have not begun by then are not run.
    pub fn run(&self, kernel: &dyn Fn()) -> Result<(), LaunchError> {
        if self.shape.blocks() == 0 || self.shape.threads() == 0 {
            return Ok(());
        }
        panics::note_places();
        overflow::tell();
        grid::run(self, kernel)
    }
}

/// How many blocks of this shape may have threads that wait. Linux lets a process have 65,530
/// mappings, and each stack with its guard page takes two.
pub fn most_blocks(shape: Shape) -> u64 {
    const STACKS: u64 = 28_000;
    (STACKS / u64::from(shape.threads().max(1))).max(1)
}

/// The x, y, z of a linear index, x running fastest.
fn coordinates(linear: u64, extent: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extent.map(u64::from);
    // Each is less than its extent, a u32.
    [linear % x, linear / x % y, linear / x / y].map(|index| index as u32)
}
