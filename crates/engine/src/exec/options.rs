//! The shape of a launch, and how it is run.

use std::num::NonZero;
use std::sync::LazyLock;
use std::time::Duration;

use super::surroundings::Held;
use crate::schedule::Schedule;

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

/// How a launch is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Who goes first.
    pub schedule: Schedule,
    /// How many blocks of instructions a warp may go through.
    pub steps: u64,
    /// How long the launch may take; none: until it ends.
    pub time: Option<Duration>,
    /// Whether threads that go separate ways where they must stay together are a [`LaunchError::Found`](crate::LaunchError::Found):
    /// at barriers of the block and where lanes of a warp meet.
    pub divergence: bool,
    /// How many blocks may have begun and not ended, on all cores together: what the GPU holds; `u64::MAX` for
    /// all of a cooperative launch's.
    pub resident_blocks: u64,
    /// Blocks of a cluster, x, y, z, where the kernel does not say it (`.reqnctapercluster`). Those of a cluster
    /// follow each other along x.
    pub cluster: [u32; 3],
    /// The host's cores that run blocks.
    pub cores: usize,
    /// The multiprocessors that `%smid` and `%nsmid` tell of.
    pub multiprocessors: u32,
    /// Bytes of shared memory that a block may have, static and dynamic.
    pub shared_per_block: u32,
    /// The address of the launch's own [`PANIC_RECORD`](crate::PANIC_RECORD), so that of launches that run at the
    /// same time each has its own panics. None: the module's, which all of its launches have in common.
    pub panic_record: Option<u64>,
    /// Whether other launches that run meanwhile do not reach its memory: then none of them will write what it waits for.
    pub is_apart: bool,
}

impl Default for Options {
    /// All cores, 2^28 steps, as many blocks as an H200 can hold.
    fn default() -> Options {
        Options {
            schedule: Schedule::InOrder,
            steps: 1 << 28,
            time: None,
            divergence: false,
            resident_blocks: 132 * 32,
            cluster: [1; 3],
            cores: cores(),
            multiprocessors: 132,
            shared_per_block: 227 << 10,
            panic_record: None,
            is_apart: false,
        }
    }
}

impl Options {
    /// How many blocks of a launch may have begun and not ended. In a checked one that is not cooperative few,
    /// so that who waits for later blocks is found; several where the order is chosen, for else blocks would not
    /// meet.
    pub(crate) fn held(&self, shape: Shape, is_checked: bool) -> Held {
        const TOGETHER: u64 = 16;
        // Of 2048 threads a multiprocessor.
        let threads: u32 = shape.block.iter().product();
        let by_threads = (2048 / u64::from(threads.max(1))).max(1);
        let by_device = match self.resident_blocks {
            u64::MAX => {
                return Held::ByDevice(shape.grid.iter().map(|&it| u64::from(it)).product());
            }
            most => most.min(by_threads * u64::from(self.multiprocessors)),
        };
        match self.schedule {
            _ if !is_checked => Held::ByDevice(by_device),
            Schedule::InOrder => Held::AsPromised(1),
            _ => Held::AsPromised(by_device.min(TOGETHER)),
        }
    }
}

/// The host's cores. The system is asked once: it reads files to say, which takes longer than a small launch.
pub fn cores() -> usize {
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, NonZero::get));
    *CORES
}
