//! Compute capabilities, and the limits of each.

use std::fmt;

use crate::OccupancyError;
use crate::lanes::Facts;

const KIB: u32 = 1024;

/// A compute capability, such as 9.0 of an H100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCapability {
    major: u32,
    minor: u32,
}

impl Facts {
    const fn has_limits(self) -> bool {
        self.warps > 0
    }
}

macro_rules! rows {
    ($($name:ident = $number:literal [$($architecture:tt)*] { $($field:ident: $value:literal),* })*) => {
        #[allow(clippy::needless_update, reason = "a row may leave nothing out")]
        const ROWS: &[(u32, Facts)] = &[
            $(($number, Facts { $($field: $value,)* ..Facts::UNKNOWN }),)*
        ];
    };
}

crate::capabilities!(rows);

const WITH_LIMITS: usize = {
    let (mut index, mut count) = (0, 0);
    while index < ROWS.len() {
        count += ROWS[index].1.has_limits() as usize;
        index += 1;
    }
    count
};

impl ComputeCapability {
    /// Every capability whose limits are known, ascending.
    pub const ALL: [ComputeCapability; WITH_LIMITS] = {
        let mut all = [ComputeCapability::new(0, 0); WITH_LIMITS];
        let (mut index, mut count) = (0, 0);
        while index < ROWS.len() {
            if ROWS[index].1.has_limits() {
                all[count] = ComputeCapability::from_arch(ROWS[index].0);
                count += 1;
            }
            index += 1;
        }
        all
    };

    /// Its row.
    pub(crate) const fn facts(self) -> Facts {
        let mut index = 0;
        while index < ROWS.len() {
            if ROWS[index].0 == self.major * 10 + self.minor && self.minor < 10 {
                return ROWS[index].1;
            }
            index += 1;
        }
        Facts::UNKNOWN
    }

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

    /// The multiprocessors of a GPU that has it, such as an H100 of 9.0; none where it is not in the table.
    pub const fn multiprocessors(self) -> Option<u32> {
        match self.facts().multiprocessors {
            0 => None,
            count => Some(count),
        }
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

/// The resources of a multiprocessor, and the limits of a block on it.
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
    /// All have 65,536 registers in 4 partitions, given to warps in units of 256, at most 255 a
    /// thread, and blocks of up to 1024 threads. Shared memory comes in units of 256 bytes on 7.x
    /// and of 128 since, of which a block takes 1 KiB more than it asks for (`cuda_occupancy.h` of CUDA 13).
    ///
    /// # Errors
    /// The capability is not in the table.
    pub fn of(capability: ComputeCapability) -> Result<Multiprocessor, OccupancyError> {
        let facts = capability.facts();
        if !facts.has_limits() {
            return Err(OccupancyError::UnknownCapability(capability));
        }
        let (reserved_kib, shared_unit_bytes) = if capability.major < 8 {
            (0, 256)
        } else {
            (1, 128)
        };
        Ok(Multiprocessor {
            max_warps: facts.warps,
            max_blocks: facts.blocks,
            registers: 64 * KIB,
            shared_bytes: facts.shared_kib * KIB,
            max_threads_per_block: 1024,
            max_registers_per_thread: 255,
            max_registers_per_block: 64 * KIB,
            max_shared_bytes_per_block: (facts.shared_kib - reserved_kib) * KIB,
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
