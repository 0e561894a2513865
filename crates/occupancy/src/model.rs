//! The blocks of a kernel that a multiprocessor holds.

use crate::{Multiprocessor, OccupancyError};

/// Threads of a warp.
pub const WARP_THREADS: u32 = 32;

/// The resources that a kernel needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// 32-bit registers of a thread.
    pub registers_per_thread: u32,
    /// Shared memory of a block that the kernel declares.
    pub static_shared_bytes: u32,
    /// Shared memory of a block that the launch adds.
    pub dynamic_shared_bytes: u32,
    /// The largest block that the kernel was compiled for (`.maxntid`), if it says so.
    pub max_threads_per_block: Option<u32>,
}

/// A resource that a multiprocessor can run out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// Places for warps. A kernel that they limit has all the occupancy that its block allows.
    Warps,
    /// Places for blocks.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
}

impl Resource {
    /// Its name in tables and in files.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Warps => "warps",
            Resource::Blocks => "blocks",
            Resource::Registers => "registers",
            Resource::SharedMemory => "shared_memory",
        }
    }
}

/// The blocks of a kernel that a multiprocessor holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Occupancy {
    /// Threads of a block.
    pub block_threads: u32,
    /// Blocks per multiprocessor, at least one.
    pub blocks: u32,
    /// Warps per multiprocessor.
    pub active_warps: u32,
    /// The most warps that any kernel gets.
    pub max_warps: u32,
    /// Every resource that allows no more blocks than these, in the order of [`Resource`].
    pub limited_by: Vec<Resource>,
}

impl Occupancy {
    /// Active warps over the most there can be: 0 to 1.
    pub fn fraction(&self) -> f64 {
        f64::from(self.active_warps) / f64::from(self.max_warps)
    }
}

impl Multiprocessor {
    /// Returns what this multiprocessor holds of `kernel` in blocks of `block_threads` threads.
    ///
    /// # Errors
    /// Not even one block runs: it has no thread or too many, or needs more registers or shared
    /// memory than a block may have.
    pub fn occupancy(
        &self,
        kernel: &Kernel,
        block_threads: u32,
    ) -> Result<Occupancy, OccupancyError> {
        let warps = self.warps(kernel, block_threads)?;
        let limits = [
            (Resource::Warps, self.max_warps / warps),
            (Resource::Blocks, self.max_blocks),
            (
                Resource::Registers,
                self.blocks_by_registers(kernel, warps)?,
            ),
            (
                Resource::SharedMemory,
                self.blocks_by_shared_memory(kernel)?,
            ),
        ];
        let blocks = limits.iter().map(|(_, limit)| *limit).min().unwrap_or(0);
        let tight = limits.iter().filter(|(_, limit)| *limit == blocks);
        Ok(Occupancy {
            block_threads,
            blocks,
            active_warps: blocks * warps,
            max_warps: self.max_warps,
            limited_by: tight.map(|(resource, _)| *resource).collect(),
        })
    }

    /// Warps of a block.
    fn warps(&self, kernel: &Kernel, block_threads: u32) -> Result<u32, OccupancyError> {
        let compiled_for = kernel.max_threads_per_block.unwrap_or(u32::MAX);
        let limit = self.max_threads_per_block.min(compiled_for);
        if block_threads == 0 || block_threads > limit {
            return Err(OccupancyError::BlockThreads {
                actual: block_threads,
                limit,
            });
        }
        Ok(block_threads.div_ceil(WARP_THREADS))
    }

    fn blocks_by_registers(&self, kernel: &Kernel, warps: u32) -> Result<u32, OccupancyError> {
        let actual = kernel.registers_per_thread;
        if actual > self.max_registers_per_thread {
            return Err(OccupancyError::RegistersPerThread {
                actual,
                limit: self.max_registers_per_thread,
            });
        }
        if actual == 0 {
            return Ok(u32::MAX);
        }
        let warp_registers = (actual * WARP_THREADS).next_multiple_of(self.register_unit);
        let block_registers = warp_registers * warps.next_multiple_of(self.partitions);
        if block_registers > self.max_registers_per_block {
            return Err(OccupancyError::RegistersPerBlock {
                actual: block_registers,
                limit: self.max_registers_per_block,
                per_thread: kernel.registers_per_thread,
            });
        }
        let partition_warps = self.registers / self.partitions / warp_registers;
        Ok(partition_warps * self.partitions / warps)
    }

    fn blocks_by_shared_memory(&self, kernel: &Kernel) -> Result<u32, OccupancyError> {
        let actual_bytes = kernel
            .static_shared_bytes
            .saturating_add(kernel.dynamic_shared_bytes);
        if actual_bytes > self.max_shared_bytes_per_block {
            return Err(OccupancyError::SharedMemory {
                actual_bytes,
                limit_bytes: self.max_shared_bytes_per_block,
            });
        }
        let allocated = (actual_bytes + self.reserved_shared_bytes_per_block)
            .next_multiple_of(self.shared_unit_bytes);
        Ok(self.shared_bytes.checked_div(allocated).unwrap_or(u32::MAX))
    }
}
