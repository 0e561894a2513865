//! The limits of each compute capability.

use std::fmt;

use crate::OccupancyError;

const KIB: u32 = 1024;

/// A compute capability, such as 9.0 of an H100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    major: u32,
    minor: u32,
}

impl ComputeCapability {
    /// Every capability whose limits are known, ascending.
    pub const ALL: [ComputeCapability; 12] = [
        ComputeCapability::new(7, 0),
        ComputeCapability::new(7, 2),
        ComputeCapability::new(7, 5),
        ComputeCapability::new(8, 0),
        ComputeCapability::new(8, 6),
        ComputeCapability::new(8, 7),
        ComputeCapability::new(8, 9),
        ComputeCapability::new(9, 0),
        ComputeCapability::new(10, 0),
        ComputeCapability::new(10, 3),
        ComputeCapability::new(12, 0),
        ComputeCapability::new(12, 1),
    ];

    /// The capability `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        ComputeCapability { major, minor }
    }

    /// The major number: 9 of 9.0.
    pub const fn major(self) -> u32 {
        self.major
    }

    /// The minor number: 0 of 9.0.
    pub const fn minor(self) -> u32 {
        self.minor
    }

    /// The multiprocessors of a GPU that has it; none where it is not in the table.
    ///
    /// | capability | GPU | multiprocessors |
    /// |---|---|---|
    /// | 7.0 | V100 | 80 |
    /// | 7.2 | AGX Xavier | 8 |
    /// | 7.5 | T4 | 40 |
    /// | 8.0 | A100 | 108 |
    /// | 8.6 | A40 | 84 |
    /// | 8.7 | AGX Orin | 16 |
    /// | 8.9 | L40S | 142 |
    /// | 9.0 | H100, H200 | 132 |
    /// | 10.0, 10.3 | B200, B300 | 148 |
    /// | 12.0 | RTX 5090 | 170 |
    /// | 12.1 | GB10 | 48 |
    pub const fn multiprocessors(self) -> Option<u32> {
        Some(match (self.major, self.minor) {
            (7, 0) => 80,
            (7, 2) => 8,
            (7, 5) => 40,
            (8, 0) => 108,
            (8, 6) => 84,
            (8, 7) => 16,
            (8, 9) => 142,
            (9, 0) => 132,
            (10, 0 | 3) => 148,
            (12, 0) => 170,
            (12, 1) => 48,
            _ => return None,
        })
    }

    /// The name of its architecture: `sm_90`.
    pub fn arch(self) -> String {
        format!("sm_{}{}", self.major, self.minor)
    }

    /// The capability that an architecture's name holds times ten: 90 of `sm_90`.
    pub const fn from_arch(number: u32) -> Self {
        ComputeCapability::new(number / 10, number % 10)
    }
}

impl fmt::Display for ComputeCapability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// What a multiprocessor has, and what a block of it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Multiprocessor {
    /// Warps.
    pub max_warps: u32,
    /// Blocks.
    pub max_blocks: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Shared memory, where the cache gives it all that it can.
    pub shared_bytes: u32,
    /// Threads of a block.
    pub max_threads_per_block: u32,
    /// Registers of a thread.
    pub max_registers_per_thread: u32,
    /// Registers of a block.
    pub max_registers_per_block: u32,
    /// Shared memory of a block, where a kernel opts in.
    pub max_shared_bytes_per_block: u32,
    /// Shared memory that the system takes of each block beside the block's own.
    pub reserved_shared_bytes_per_block: u32,
    /// Registers are given to a warp in multiples of this.
    pub register_unit: u32,
    /// Warps are spread over this many partitions, each with its share of the registers.
    pub partitions: u32,
    /// Shared memory is given to a block in multiples of this.
    pub shared_unit_bytes: u32,
}

impl Multiprocessor {
    /// The limits of a compute capability.
    ///
    /// | capability | warps | blocks | shared KiB | shared KiB per block | reserved KiB per block |
    /// |---|---|---|---|---|---|
    /// | 7.0, 7.2 | 64 | 32 | 96 | 96 | 0 |
    /// | 7.5 | 32 | 16 | 64 | 64 | 0 |
    /// | 8.0 | 64 | 32 | 164 | 163 | 1 |
    /// | 8.6 | 48 | 16 | 100 | 99 | 1 |
    /// | 8.7 | 48 | 16 | 164 | 163 | 1 |
    /// | 8.9 | 48 | 24 | 100 | 99 | 1 |
    /// | 9.0, 10.0, 10.3 | 64 | 32 | 228 | 227 | 1 |
    /// | 12.0, 12.1 | 48 | 24 | 100 | 99 | 1 |
    ///
    /// All have 65,536 registers in 4 partitions, given to warps in units of 256, at most 255 a
    /// thread, and blocks of up to 1024 threads. Shared memory comes in units of 256 bytes on 7.x
    /// and of 128 since.
    ///
    /// Sources: "Technical Specifications per Compute Capability" in the CUDA C++ Programming Guide
    /// (11 for 7.0 and 7.2, 13 for the others), and `cuda_occupancy.h` of CUDA 13 for the units,
    /// the partitions and the blocks, and for 10.3 and 12.1.
    ///
    /// # Errors
    /// The capability is not in the table.
    pub fn of(capability: ComputeCapability) -> Result<Multiprocessor, OccupancyError> {
        let (max_warps, max_blocks, shared_kib) = match (capability.major, capability.minor) {
            (7, 0 | 2) => (64, 32, 96),
            (7, 5) => (32, 16, 64),
            (8, 0) => (64, 32, 164),
            (8, 6) => (48, 16, 100),
            (8, 7) => (48, 16, 164),
            (8, 9) => (48, 24, 100),
            (9, 0) | (10, 0 | 3) => (64, 32, 228),
            (12, 0 | 1) => (48, 24, 100),
            _ => return Err(OccupancyError::UnknownCapability(capability)),
        };
        let (reserved_kib, shared_unit_bytes) = if capability.major < 8 {
            (0, 256)
        } else {
            (1, 128)
        };
        Ok(Multiprocessor {
            max_warps,
            max_blocks,
            registers: 64 * KIB,
            shared_bytes: shared_kib * KIB,
            max_threads_per_block: 1024,
            max_registers_per_thread: 255,
            max_registers_per_block: 64 * KIB,
            max_shared_bytes_per_block: (shared_kib - reserved_kib) * KIB,
            reserved_shared_bytes_per_block: reserved_kib * KIB,
            register_unit: 256,
            partitions: 4,
            shared_unit_bytes,
        })
    }
}

/// The capabilities that there is a table of, as text.
pub(crate) fn known() -> String {
    ComputeCapability::ALL
        .map(|capability| capability.to_string())
        .join(", ")
}
