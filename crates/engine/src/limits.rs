//! The limits of a launch, and what exceeds them: checked here alone, for emulated devices and for GPUs.

/// The limit of threads per block, on all GPUs.
pub const MAX_THREADS: u32 = 1024;

/// The limits of blocks per grid in x, y and z, on all GPUs.
pub const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// The limits of threads per block in x, y and z, on all GPUs.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];

/// The limit of blocks per cluster.
pub(crate) const MAX_CLUSTER: u32 = 16;

/// The limit of bytes of local memory per thread, on all GPUs.
pub(crate) const MAX_LOCAL_BYTES: u32 = 512 << 10;

/// The limit of bytes of a kernel's parameters, by the version of the PTX and the compute capability.
pub(crate) fn max_parameter_bytes(version: (u32, u32), arch: u32) -> u64 {
    match version >= (8, 1) && arch >= 70 {
        true => 32_764,
        false => 4352,
    }
}

const AXES: [char; 3] = ['x', 'y', 'z'];

/// A launch that asks for more, or for something else, than the device or the kernel allows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// A block holds no thread, or more than the device or the kernel allows.
    #[error("{kernel}: block of {actual} threads; {limited_by} allows 1 to {limit}")]
    Block {
        /// The kernel.
        kernel: String,
        /// Threads of the block asked for.
        actual: u64,
        /// The most that is allowed.
        limit: u32,
        /// The device or the declaration that allows no more.
        limited_by: String,
    },
    /// A block is empty, or longer than the device allows, in one dimension.
    #[error("{kernel}: block of {actual} threads in {axis}; {device} allows 1 to {limit}")]
    BlockExtent {
        /// The kernel.
        kernel: String,
        /// The dimension.
        axis: char,
        /// Threads asked for.
        actual: u32,
        /// The most that is allowed.
        limit: u32,
        /// The device's name.
        device: String,
    },
    /// A kernel that is made for one block was given another.
    #[error("{kernel}: block of {actual:?} threads; the kernel requires {required:?}")]
    RequiredBlock {
        /// The kernel.
        kernel: String,
        /// The block asked for, x, y, z.
        actual: [u32; 3],
        /// The block of `#[kernel(block = ..)]` or of the PTX's `.reqntid`.
        required: [u32; 3],
    },
    /// The grid is empty or too large in one dimension.
    #[error("{kernel}: grid of {actual} blocks in {axis}; {device} allows 1 to {limit}")]
    Grid {
        /// The kernel.
        kernel: String,
        /// The dimension.
        axis: char,
        /// Blocks asked for.
        actual: u64,
        /// The most that the device allows.
        limit: u32,
        /// The device's name.
        device: String,
    },
    /// A block would have more shared memory than there is.
    #[error(
        "{kernel}: {actual} bytes of dynamic shared memory; {device} allows {limit} beside the \
         kernel's own {own}"
    )]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// Bytes asked for.
        actual: u32,
        /// The most that is allowed.
        limit: u32,
        /// Bytes that the kernel declares itself.
        own: u32,
        /// The device's name.
        device: String,
    },
    /// A thread of the kernel would have more local memory than there is.
    #[error("{kernel}: {actual} bytes of local memory per thread; {device} allows {limit}")]
    LocalMemory {
        /// The kernel.
        kernel: String,
        /// Bytes that the kernel needs.
        actual: u32,
        /// The most that is allowed.
        limit: u32,
        /// The device's name.
        device: String,
    },
}

/// The limits of a device and of a kernel on it.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The kernel's name.
    pub kernel: &'a str,
    /// The device's name.
    pub device: &'a str,
    /// Limits of threads per block, each with the device or the declaration that it is from. The smallest counts; of
    /// equal ones the first.
    pub threads: &'a [(u32, &'a str)],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// The block that the kernel is made for, if it is made for one.
    pub required_block: Option<[u32; 3]>,
    /// Blocks per grid in x, y and z.
    pub grid: [u32; 3],
    /// Bytes of shared memory per block.
    pub shared: u32,
    /// Bytes of it that the kernel declares itself.
    pub own_shared: u32,
    /// Bytes of local memory per thread that the kernel needs; 0 if that is not known.
    pub local: u32,
}

impl Limits<'_> {
    /// Returns the grid, if the launch stays within all limits.
    ///
    /// # Errors
    /// [`LimitError`]: the first limit that it does not stay within.
    pub fn check(
        &self,
        grid: [u64; 3],
        block: [u32; 3],
        dynamic_shared: u32,
    ) -> Result<[u32; 3], LimitError> {
        self.check_block(block)?;
        let grid = self.check_grid(grid)?;
        self.check_memory(dynamic_shared)?;
        Ok(grid)
    }

    fn check_block(&self, block: [u32; 3]) -> Result<(), LimitError> {
        let kernel = || self.kernel.to_owned();
        if let Some(required) = self.required_block.filter(|required| *required != block) {
            return Err(LimitError::RequiredBlock {
                kernel: kernel(),
                actual: block,
                required,
            });
        }
        let threads = block.map(u64::from);
        let actual = threads.into_iter().fold(1, u64::saturating_mul);
        let smallest = self.threads.iter().min_by_key(|(limit, _)| *limit);
        if let Some(&(limit, limited_by)) = smallest
            && !(1..=u64::from(limit)).contains(&actual)
        {
            return Err(LimitError::Block {
                kernel: kernel(),
                actual,
                limit,
                limited_by: limited_by.to_owned(),
            });
        }
        match (0..3).find(|&axis| block[axis] > self.block[axis]) {
            Some(axis) => Err(LimitError::BlockExtent {
                kernel: kernel(),
                axis: AXES[axis],
                actual: block[axis],
                limit: self.block[axis],
                device: self.device.to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn check_grid(&self, grid: [u64; 3]) -> Result<[u32; 3], LimitError> {
        let is_allowed = |axis: usize| (1..=u64::from(self.grid[axis])).contains(&grid[axis]);
        match (0..3).find(|&axis| !is_allowed(axis)) {
            Some(axis) => Err(LimitError::Grid {
                kernel: self.kernel.to_owned(),
                axis: AXES[axis],
                actual: grid[axis],
                limit: self.grid[axis],
                device: self.device.to_owned(),
            }),
            // Each is at most a number of 32 bits.
            None => Ok(grid.map(|extent| extent as u32)),
        }
    }

    fn check_memory(&self, dynamic_shared: u32) -> Result<(), LimitError> {
        let all = u64::from(dynamic_shared) + u64::from(self.own_shared);
        if all > u64::from(self.shared) {
            return Err(LimitError::SharedMemory {
                kernel: self.kernel.to_owned(),
                actual: dynamic_shared,
                limit: self.shared.saturating_sub(self.own_shared),
                own: self.own_shared,
                device: self.device.to_owned(),
            });
        }
        match self.local > MAX_LOCAL_BYTES {
            true => Err(LimitError::LocalMemory {
                kernel: self.kernel.to_owned(),
                actual: self.local,
                limit: MAX_LOCAL_BYTES,
                device: self.device.to_owned(),
            }),
            false => Ok(()),
        }
    }
}
