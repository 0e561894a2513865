//! A CPU emulator for GPU kernels written with `ptx-std`.
//!
//! A launch runs the kernel's function once for every thread of the grid. Blocks are spread over
//! the host's cores; the threads of a block run on one core, in order of their index, each until
//! it ends or waits for the others.
//!
//! What comes out is functional: the same results, for the same source, as on a GPU. How long it
//! takes says nothing about a GPU.
//!
//! ```
//! use cuda_std::thread;
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! let sum = AtomicU32::new(0);
//! let shape = simt::Shape { grid: [4, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
//! simt::launch(shape, &|| {
//!     sum.fetch_add(thread::index_1d(), Ordering::Relaxed);
//! })?;
//! assert_eq!(sum.into_inner(), 127 * 128 / 2);
//! # Ok::<(), simt::LaunchError>(())
//! ```

mod block;
mod cooperative;
mod memory;
mod place;
mod wait;

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use block::BlockRunner;
pub use cooperative::{launch_cooperative, most_cooperative_blocks};

/// The shape of a launch, in the order x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks in the grid.
    pub grid: [u32; 3],
    /// Threads a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
}

impl Shape {
    fn blocks(&self) -> u64 {
        self.grid.iter().map(|&blocks| u64::from(blocks)).product()
    }
}

/// Why a launch did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A thread panicked.
    #[error("block {block:?}, thread {thread:?} panicked at {place}: {message}")]
    Panicked {
        /// Index of its block, x, y, z.
        block: [u32; 3],
        /// Its index in the block, x, y, z.
        thread: [u32; 3],
        /// What it said.
        message: String,
        /// Where: file, line and column.
        place: String,
    },
    /// Threads of a block wait for others that will never come.
    #[error("block {block:?} cannot go on: {waiting}")]
    Stuck {
        /// The block's index, x, y, z.
        block: [u32; 3],
        /// Who waits for what.
        waiting: String,
    },
    /// The operating system gave no memory for the threads' stacks.
    #[error("no memory for the stack of an emulated thread: {0}")]
    Stack(String),
}

/// A launch under way.
struct Launch<'a> {
    shape: Shape,
    kernel: &'a (dyn Fn() + Sync),
    print: &'a (dyn Fn(&str) + Sync),
    /// Set when a thread has failed.
    stop: AtomicBool,
}

/// Runs `kernel` once for every thread of the grid and returns when all have ended. What it prints
/// goes to standard output.
///
/// A grid with no blocks or a block with no threads runs nothing.
///
/// # Errors
/// The first failure of any thread. Blocks that have not begun by then are not run.
pub fn launch(shape: Shape, kernel: &(dyn Fn() + Sync)) -> Result<(), LaunchError> {
    launch_printing(shape, &|text| print!("{text}"), kernel)
}

/// [`launch`], with `print` given what the kernel prints, piece by piece.
///
/// # Errors
/// Those of [`launch`].
pub fn launch_printing(
    shape: Shape,
    print: &(dyn Fn(&str) + Sync),
    kernel: &(dyn Fn() + Sync),
) -> Result<(), LaunchError> {
    let workers = (cores() as u64).min(most_workers(shape));
    run(shape, print, kernel, workers)
}

/// Runs the grid with so many blocks at once.
fn run(
    shape: Shape,
    print: &(dyn Fn(&str) + Sync),
    kernel: &(dyn Fn() + Sync),
    workers: u64,
) -> Result<(), LaunchError> {
    place::watch();
    let launch = Launch {
        shape,
        kernel,
        print,
        stop: AtomicBool::new(false),
    };
    let blocks = shape.blocks();
    let next = AtomicU64::new(0);
    let failure = Mutex::new(None);
    let work = || {
        let mut runner = BlockRunner::new(&launch);
        while !launch.stop.load(Ordering::Relaxed) {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks {
                break;
            }
            if let Err(error) = runner.run(coordinates(block, shape.grid)) {
                launch.stop.store(true, Ordering::Relaxed);
                failure
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..workers.min(blocks) {
            scope.spawn(work);
        }
        work();
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Linux lets a process have 65,530 mappings, and each stack with its guard page takes two.
fn most_workers(shape: Shape) -> u64 {
    const STACKS: u64 = 28_000;
    let threads: u64 = shape
        .block
        .iter()
        .map(|&extent| u64::from(extent))
        .product();
    (STACKS / threads.max(1)).max(1)
}

/// How many blocks run at once: the host's cores.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The x, y, z of a linear index, x running fastest.
fn coordinates(linear: u64, extent: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extent.map(u64::from);
    // Each is less than its extent, a u32.
    [linear % x, linear / x % y, linear / x / y].map(|index| index as u32)
}
