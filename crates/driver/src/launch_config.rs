//! How a launch is divided into blocks and threads.

/// How many blocks of how many threads, with how much dynamic shared memory.
///
/// ```
/// use ridgepoint_driver::LaunchConfig;
///
/// // As many blocks as the kernel needs, which strides over the grid.
/// let blocks = LaunchConfig::blocks(528, 256);
/// assert_eq!((blocks.grid, blocks.block), ([528, 1, 1], [256, 1, 1]));
/// // A thread for each element of a million.
/// let linear = LaunchConfig::linear(1_000_000, 256);
/// assert_eq!((linear.grid, linear.block), ([3907, 1, 1], [256, 1, 1]));
/// // A thread for each element of a matrix, and 4 KiB of shared memory for each block of them.
/// let tiles = LaunchConfig::tiles([1000, 500], [32, 8]).with_dynamic_shared(4096);
/// assert_eq!((tiles.grid, tiles.block_threads()), ([32, 63, 1], 256));
/// // A thread for each element of a volume of 100 x 60 x 20, x first.
/// let volume = LaunchConfig::volume([100, 60, 20], [32, 4, 2]);
/// assert_eq!((volume.grid, volume.block_threads()), ([4, 15, 10], 256));
/// // CUDA's `<<<dim3(8, 4, 2), dim3(16, 4, 4), 1024>>>`.
/// let given = LaunchConfig::grid([8, 4, 2], [16, 4, 4]).with_dynamic_shared(1024);
/// assert_eq!((given.grid, given.block, given.dynamic_shared), ([8, 4, 2], [16, 4, 4], 1024));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in the grid: x, y, z.
    pub grid: [u64; 3],
    /// Threads per block: x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared: u32,
}

/// Whether the blocks of a grid may wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocks {
    Independent,
    Cooperative,
}

impl LaunchConfig {
    /// Three dimensions, x, y, z: so many blocks of so many threads.
    pub fn grid(blocks: [u64; 3], block: [u32; 3]) -> LaunchConfig {
        LaunchConfig {
            grid: blocks,
            block,
            dynamic_shared: 0,
        }
    }

    /// One dimension: so many blocks.
    pub fn blocks(grid: u64, block: u32) -> LaunchConfig {
        LaunchConfig::grid([grid, 1, 1], [block, 1, 1])
    }

    /// One dimension: a thread for each of `threads`, in blocks of `block`; at least one block.
    pub fn linear(threads: u64, block: u32) -> LaunchConfig {
        LaunchConfig::blocks(threads.div_ceil(u64::from(block.max(1))).max(1), block)
    }

    /// Two dimensions: a thread for each of `threads`, x and y, in blocks of `block`; at least one
    /// block.
    pub fn tiles(threads: [u64; 2], block: [u32; 2]) -> LaunchConfig {
        LaunchConfig::volume([threads[0], threads[1], 1], [block[0], block[1], 1])
    }

    /// Three dimensions: a thread for each of `threads`, x, y and z, in blocks of `block`; at least one block.
    pub fn volume(threads: [u64; 3], block: [u32; 3]) -> LaunchConfig {
        let blocks = |axis: usize| threads[axis].div_ceil(u64::from(block[axis].max(1))).max(1);
        LaunchConfig::grid([0, 1, 2].map(blocks), block)
    }

    /// The same with so many bytes of dynamic shared memory per block.
    #[must_use]
    pub fn with_dynamic_shared(self, bytes: u32) -> LaunchConfig {
        LaunchConfig {
            dynamic_shared: bytes,
            ..self
        }
    }

    /// Threads per block, over all dimensions.
    pub fn block_threads(&self) -> u64 {
        self.block.iter().fold(1, |threads: u64, &extent| {
            threads.saturating_mul(extent.into())
        })
    }
}
