//! How a launch is run and what is looked for meanwhile.

use cuda_std::emulation::INSTRUMENTED;

/// The order in which blocks, warps and lanes run, and where they take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// By their index; a thread runs until it ends or waits.
    #[default]
    InOrder,
    /// Another order for each number, the same for the same number: several blocks take turns,
    /// their warps and lanes go ahead and fall behind, and a thread may lose its turn at any atomic
    /// operation, in instrumented code at any access. Blocks run on one core.
    Seeded(u64),
}

/// What is looked for while a kernel runs. A launch in which something is found fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Two threads reach the same memory, one writing, with nothing to order them.
    pub races: bool,
    /// A barrier that a thread of the block has left without, or that its threads meet at
    /// different places.
    pub divergence: bool,
    /// Shared memory or a device buffer read before it was written.
    pub uninitialised: bool,
    /// Memory that is none of the launch's.
    pub bounds: bool,
}

impl Checks {
    /// All of them.
    pub const ALL: Checks = Checks {
        races: true,
        divergence: true,
        uninitialised: true,
        bounds: true,
    };

    /// None of them.
    pub const NONE: Checks = Checks {
        races: false,
        divergence: false,
        uninitialised: false,
        bounds: false,
    };

    /// Whether one of them looks at each access to memory, which needs instrumented code or PTX.
    pub fn watch_memory(self) -> bool {
        self.races || self.uninitialised || self.bounds
    }
}

impl Default for Checks {
    /// All that are possible: those of memory where the code is instrumented.
    fn default() -> Self {
        Checks {
            divergence: true,
            ..if INSTRUMENTED {
                Checks::ALL
            } else {
                Checks::NONE
            }
        }
    }
}

/// How a launch is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Who goes first.
    pub schedule: Schedule,
    /// What is looked for.
    pub checks: Checks,
    /// How many steps a thread may take, and threads that wait for others' flags together: one for
    /// each access and each turn of a loop in instrumented code, elsewhere one for each atomic
    /// operation, but 256 where it only reads; 64 for each barrier and each exchange in a warp; one
    /// a nanosecond of sleep. Where a launch has several cores, waiting for a flag counts only when all
    /// of them have looked in vain, and then as a 4096th of all steps at least.
    pub steps: u64,
    /// Bytes of shared memory that a block may have, static and dynamic.
    pub shared_per_block: u32,
}

impl Default for Options {
    /// In order, all checks that are possible, 2^28 steps a thread, the 227 KiB of compute
    /// capability 9.0.
    fn default() -> Self {
        Options {
            schedule: Schedule::default(),
            checks: Checks::default(),
            steps: 1 << 28,
            shared_per_block: 227 * 1024,
        }
    }
}
