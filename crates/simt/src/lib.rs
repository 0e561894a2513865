//! A CPU emulator for GPU kernels written with `ptx-std`.
//!
//! A launch runs the kernel's function once for every thread of the grid. Blocks are spread over
//! the host's cores; the threads of a block run on one core, in order of their index or in that of
//! a [`Schedule`], each until it ends or waits for the others.
//!
//! What comes out is functional: the same results, for the same source, as on a GPU. How long it
//! takes says nothing about a GPU.
//!
//! ```
//! use cuda_std::thread;
//! use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
//!
//! let sum = AtomicU32::new(0);
//! let shape = simt::Shape { grid: [4, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
//! simt::launch(shape, &|| {
//!     sum.fetch_add(thread::index_1d(), Ordering::Relaxed);
//! })?;
//! assert_eq!(sum.into_inner(), 127 * 128 / 2);
//! # Ok::<(), simt::LaunchError>(())
//! ```
//!
//! [`Checks`] look for what a GPU hides: races, divergence, memory that nobody has written or that
//! is out of bounds. Those of memory need instrumented code, which `ridgepoint check` makes. They
//! run a launch on one core, so that a report is the same each time.

mod block;
mod buffers;
mod check;
mod error;
mod fiber;
mod memory;
mod options;
mod order;
mod place;
pub mod record;
mod source;
mod stack;
mod thread;
mod wait;
mod warp;
mod worker;

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use cuda_std::emulation::INSTRUMENTED;
pub use cuda_std::launch::Memory;

pub use buffers::Uninitialised;
pub use error::{AccessBy, AccessKind, LaunchError, Location, Thread};
pub use options::{Checks, Options, Schedule};

use worker::{Looks, Worker};

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

    fn threads(&self) -> u32 {
        self.block.iter().product()
    }
}

/// Runs `kernel` once for every thread of the grid, with the default [`Options`], and returns when
/// all have ended. What it prints goes to standard output.
///
/// A grid with no blocks or a block with no threads runs nothing.
///
/// # Errors
/// The first failure of any thread. Blocks that have not begun by then are not run.
pub fn launch(shape: Shape, kernel: &(dyn Fn() + Sync)) -> Result<(), LaunchError> {
    Launch::new(shape).run(kernel)
}

/// A launch that is more than a shape.
pub struct Launch<'a> {
    shape: Shape,
    options: Options,
    print: &'a (dyn Fn(&str) + Sync),
    memory: Option<&'a [Memory]>,
    arguments: Range<usize>,
    cooperative: bool,
    kernel: &'static str,
}

impl<'a> Launch<'a> {
    /// With default options; what the kernel prints goes to standard output.
    pub fn new(shape: Shape) -> Self {
        Launch {
            shape,
            options: Options::default(),
            print: &|text| print!("{text}"),
            memory: None,
            arguments: 0..0,
            cooperative: false,
            kernel: "a closure",
        }
    }

    /// The kernel's name.
    #[must_use]
    pub fn kernel(self, kernel: &'static str) -> Self {
        Launch { kernel, ..self }
    }

    /// All blocks of the grid run at once, so that they may wait for each other. A thread that waits
    /// for another block gives way, as `nanosleep` does.
    #[must_use]
    pub fn cooperative(self) -> Self {
        Launch {
            cooperative: true,
            ..self
        }
    }

    /// Run in this way.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Launch { options, ..self }
    }

    /// `print` is given what the kernel prints, piece by piece.
    #[must_use]
    pub fn print(self, print: &'a (dyn Fn(&str) + Sync)) -> Self {
        Launch { print, ..self }
    }

    /// The memory that the kernel may reach, and the value that holds its arguments. Only where it
    /// is given can other accesses be out of bounds, and only there are races on buffers found.
    #[must_use]
    pub fn memory<A>(self, memory: &'a [Memory], arguments: *const A) -> Self {
        let start = arguments.addr();
        Launch {
            memory: Some(memory),
            arguments: start..start + size_of::<A>(),
            ..self
        }
    }

    /// Runs `kernel` as [`launch`] does.
    ///
    /// # Errors
    /// Those of [`launch`], [`LaunchError::NotInstrumented`] and [`LaunchError::Unseen`].
    ///
    /// # Panics
    /// It is cooperative and has more than [`most_cooperative_blocks`].
    pub fn run(&self, kernel: &(dyn Fn() + Sync)) -> Result<(), LaunchError> {
        if self.shape.blocks() == 0 || self.shape.threads() == 0 {
            return Ok(());
        }
        record::begin(self.kernel, &self.options)?;
        if self.options.checks.watch_memory() && !INSTRUMENTED {
            return Err(LaunchError::NotInstrumented);
        }
        self.run_blocks(kernel)
            .inspect_err(|_| record::failed(self.kernel))
    }

    fn run_blocks(&self, kernel: &(dyn Fn() + Sync)) -> Result<(), LaunchError> {
        place::watch();
        let blocks = self.shape.blocks();
        let most = most_cooperative_blocks(self.shape);
        assert!(
            !self.cooperative || blocks <= most,
            "a cooperative launch of {blocks} blocks; at most {most} run at once"
        );
        let next = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let failure = Mutex::new(None);
        let is_one =
            self.options.checks.watch_memory() || self.options.schedule != Schedule::InOrder;
        let workers = match is_one {
            true => 1,
            false => cores().min(blocks.min(most) as usize).max(1),
        };
        let looks = Looks::new(workers);
        let work = |core| {
            place::runs(self.kernel);
            let worker = Worker::new(self, kernel, &looks, core);
            let next = || {
                let index = next.fetch_add(1, Ordering::Relaxed);
                (index < blocks && !stop.load(Ordering::Relaxed)).then_some(index)
            };
            if let Err(error) = worker.run(next, &stop) {
                stop.store(true, Ordering::Relaxed);
                failure
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .get_or_insert(error);
            }
        };
        std::thread::scope(|scope| {
            for core in 1..workers {
                let work = &work;
                let thread = std::thread::Builder::new();
                // Where there are no more threads, those that there are do its work.
                if thread.spawn_scoped(scope, move || work(core)).is_err() {
                    looks.end(core);
                }
            }
            work(0);
        });
        match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// The most blocks of this shape that a cooperative launch may have: threads of all of them wait.
pub fn most_cooperative_blocks(shape: Shape) -> u64 {
    most_blocks(shape)
}

/// How many blocks may have threads that wait. Linux lets a process have 65,530 mappings, and each
/// stack with its guard page takes two.
fn most_blocks(shape: Shape) -> u64 {
    const STACKS: u64 = 28_000;
    (STACKS / u64::from(shape.threads().max(1))).max(1)
}

/// How many blocks run at once: the host's cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// The x, y, z of a linear index, x running fastest.
fn coordinates(linear: u64, extent: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extent.map(u64::from);
    // Each is less than its extent, a u32.
    [linear % x, linear / x % y, linear / x / y].map(|index| index as u32)
}
