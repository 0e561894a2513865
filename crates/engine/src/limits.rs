//! What a launch may ask for.

use crate::launch::{Options, Shape};
use crate::launch_error::LaunchError;
use crate::module::Kernel;

/// Threads of a block, on all GPUs.
const MOST_THREADS: u64 = 1024;

/// Blocks of a grid and threads of a block in x, y and z, on all GPUs.
const MOST_BLOCKS_ALONG: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
const MOST_THREADS_ALONG: [u32; 3] = [1024, 1024, 64];

/// Blocks of a cluster.
const MOST_TOGETHER: u32 = 16;

/// Bytes of local memory of a thread, on all GPUs.
pub(crate) const MOST_LOCAL_BYTES: u32 = 512 << 10;

/// Bytes of a kernel's parameters, by the version of the PTX and the compute capability.
pub(crate) fn most_parameter_bytes(version: (u32, u32), arch: u32) -> u64 {
    match version >= (8, 1) && arch >= 70 {
        true => 32_764,
        false => 4352,
    }
}

impl Kernel {
    /// The most threads of a block that it is compiled for, if it says so (`.maxntid`).
    pub fn max_threads(&self) -> Option<u32> {
        let most = self.code.function().directives.maxntid?;
        Some(
            most.iter()
                .fold(1, |all, &extent| all.saturating_mul(extent)),
        )
    }

    /// The block that it is compiled for, if it says so (`.reqntid`).
    pub fn required_block(&self) -> Option<[u32; 3]> {
        self.code.function().directives.reqntid
    }

    /// Refuses what no GPU launches.
    pub(crate) fn check_limits(
        &self,
        shape: Shape,
        options: &Options,
        local_bytes: u32,
    ) -> Result<(), LaunchError> {
        let kernel = self.name().to_owned();
        self.check_block(shape)?;
        self.check_extents("blocks", shape.grid, MOST_BLOCKS_ALONG)?;
        self.check_extents("threads", shape.block, MOST_THREADS_ALONG)?;
        let own = self.static_shared();
        let limit = options.shared_per_block;
        if u64::from(own) + u64::from(shape.dynamic_shared) > u64::from(limit) {
            let dynamic = shape.dynamic_shared;
            return Err(LaunchError::SharedMemory {
                kernel,
                dynamic,
                own,
                limit,
            });
        }
        match local_bytes > MOST_LOCAL_BYTES {
            true => Err(LaunchError::Bytes {
                kernel,
                what: "local memory a thread",
                actual: local_bytes,
                limit: MOST_LOCAL_BYTES,
            }),
            false => Ok(()),
        }
    }

    /// How many blocks begin together as a cluster; 0 where the kernel knows of none.
    pub(crate) fn cluster(&self, shape: Shape, options: &Options) -> Result<u64, LaunchError> {
        let directives = &self.code.function().directives;
        let [x, y, z] = directives.reqnctapercluster.unwrap_or(options.cluster);
        let blocks = u64::from(x) * u64::from(y) * u64::from(z);
        let refused = |text: String| LaunchError::Cluster {
            kernel: self.name().to_owned(),
            text,
        };
        if (y, z) != (1, 1) || !(1..=MOST_TOGETHER).contains(&x) {
            return Err(refused(format!(
                "clusters of {x} x {y} x {z} blocks; the emulator has 1 to {MOST_TOGETHER} along x"
            )));
        }
        if !shape.grid[0].is_multiple_of(x) {
            let grid = shape.grid[0];
            return Err(refused(format!(
                "clusters of {x} blocks, in a grid of {grid} along x"
            )));
        }
        Ok(match blocks {
            1 if !self.code.needs_clusters => 0,
            _ => blocks,
        })
    }

    fn check_extents(
        &self,
        of: &'static str,
        extents: [u32; 3],
        limits: [u32; 3],
    ) -> Result<(), LaunchError> {
        for ((axis, actual), limit) in ['x', 'y', 'z'].into_iter().zip(extents).zip(limits) {
            if actual > limit {
                return Err(LaunchError::Extent {
                    kernel: self.name().to_owned(),
                    of,
                    axis,
                    actual,
                    limit,
                });
            }
        }
        Ok(())
    }

    fn check_block(&self, shape: Shape) -> Result<(), LaunchError> {
        let kernel = self.name().to_owned();
        if let Some(required) = self.required_block().filter(|it| *it != shape.block) {
            let actual = shape.block;
            return Err(LaunchError::RequiredBlock {
                kernel,
                actual,
                required,
            });
        }
        let extents = shape.block.iter().map(|&extent| u64::from(extent));
        let actual = extents.fold(1u64, u64::saturating_mul);
        let (limit, limited_by) = match self.max_threads().map(u64::from) {
            Some(own) if own < MOST_THREADS => (own, "its .maxntid"),
            _ => (MOST_THREADS, "a GPU"),
        };
        match actual > limit {
            true => Err(LaunchError::Threads {
                kernel,
                actual,
                limit,
                limited_by,
            }),
            false => Ok(()),
        }
    }
}
