//! How a launch ends early.

use std::fmt;

use super::endless::Endless;
use super::op::Context;
use super::surroundings::Unmet;
use crate::check::Finding;
use crate::memory::Fault;

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Index of its block, x, y, z.
    pub block: [u32; 3],
    /// Its index in the block, x, y, z.
    pub thread: [u32; 3],
}

impl fmt::Display for Thread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "block {:?}, thread {:?}",
            self.block, self.thread
        )
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// A `trap` or a breakpoint.
    #[error("trap")]
    Trap,
    /// The same, by which CUDA C++'s `grid.sync` ends a launch that is not cooperative.
    #[error("trap, with which `grid.sync` ends a launch that is not cooperative")]
    NotCooperative,
    /// An access to memory that the launch has not.
    #[error("{0}")]
    Memory(Fault),
    /// Something that threads must not do with memory.
    #[error("{0}")]
    Check(Box<Finding>),
    /// A failed assertion of `assert` in CUDA C++.
    #[error("assertion `{message}` failed in {function}, {file}:{line}")]
    Assertion {
        /// The condition.
        message: String,
        /// Where.
        file: String,
        /// Where.
        line: u32,
        /// In which function.
        function: String,
    },
    /// A call of an address that is no function's.
    #[error("call of {address:#x}, which is no function")]
    NoFunction {
        /// The address.
        address: u64,
    },
    /// Calls nested deeper than the emulator allows.
    #[error("calls are nested more than {limit} deep")]
    Recursion {
        /// How deep they may be.
        limit: u32,
    },
    /// Threads that go separate ways where they must stay together.
    #[error("divergence in block {block:?}: {text}")]
    Diverged {
        /// The block.
        block: [u32; 3],
        /// Who is where, and what is wrong with that.
        text: String,
    },
    /// Threads that wait for others which will not come.
    #[error("block {block:?} cannot go on: {waiting}")]
    Stuck {
        /// The block.
        block: [u32; 3],
        /// Who waits where for what.
        waiting: String,
    },
    /// More local memory than a thread has.
    #[error("{actual} bytes of local memory in calls; a thread has {limit}")]
    LocalMemory {
        /// What the calls take together.
        actual: u32,
        /// What there is.
        limit: u32,
    },
    /// More registers than the calls of a warp may take.
    #[error("{actual} bytes of registers in the calls of a warp; the emulator has {limit}")]
    Registers {
        /// What the calls take together.
        actual: u64,
        /// What there is.
        limit: u64,
    },
    /// What goes on for ever, or for longer than a limit allows.
    #[error("{0}")]
    Endless(Box<Endless>),
    /// A launch whose time is over, between two of its blocks.
    #[error("the launch {0}")]
    Unfinished(Box<Endless>),
    /// A thread that waits for what others write, while others cannot begin.
    #[error(
        "waits for what others write, for more than {limit} steps, and block {block:?} has not begun: the \
        device holds {held} at once, and those that have begun do not end"
    )]
    NotBegun {
        /// How many steps were allowed.
        limit: u64,
        /// The first block that has not begun.
        block: [u32; 3],
        /// How many blocks the device holds.
        held: u64,
    },
    /// The same, where nothing promises that those which have begun run beside others.
    #[error(
        "waits for what others write, for more than {limit} steps, and block {block:?} has not begun: only a \
        cooperative launch has all of its blocks running at once"
    )]
    NotPromised {
        /// How many steps were allowed.
        limit: u64,
        /// The first block that has not begun.
        block: [u32; 3],
    },
    /// A thread that waits for what a kernel of another device was to write, which has failed.
    #[error("waits for what others write, and a kernel on cpu:{device} has failed meanwhile")]
    PeerFailed {
        /// The number of the other device.
        device: u32,
    },
    /// A phase of an mbarrier that never ends.
    #[error("{0}")]
    Unmet(String),
    /// A register that a product of matrices has in flight.
    #[error("{verb} {register}, which a `wgmma` has in flight")]
    InFlight {
        /// Its name.
        register: String,
        /// What is done with it.
        verb: &'static str,
        /// The product's instruction, numbered in its module.
        site: u32,
        /// Whether the product writes it, or reads it.
        is_written: bool,
    },
    /// An instruction that is used as PTX forbids.
    #[error("{0}")]
    Misused(String),
    /// A function of the module that has an instruction which the engine does not execute.
    #[error("{0}")]
    Unlowered(crate::Unlowered),
}

/// What went wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failed {
    pub(crate) failure: Failure,
    pub(crate) thread: Thread,
    /// The function and its instruction.
    pub(crate) function: String,
    pub(crate) instruction: u32,
}

impl Context<'_> {
    /// Keeps the first fault of the instructions that run.
    #[cold]
    pub(crate) fn fault(&mut self, failure: Failure, instruction: u32) {
        if self.at.fault.is_none() {
            self.at.fault = Some(Box::new(self.failed(failure, instruction)));
        }
    }

    /// That a wait at an mbarrier never ends.
    #[cold]
    pub(crate) fn unmet(&self, unmet: &Unmet) -> Failure {
        let Unmet {
            offset,
            arrivals,
            bytes,
            ..
        } = *unmet;
        let place = self.at.layout.place(offset);
        let what = match (arrivals, bytes) {
            (0, bytes) => format!("{bytes} bytes"),
            (arrivals, 0) => format!("{arrivals} arrivals"),
            (arrivals, bytes) => format!("{arrivals} arrivals and {bytes} bytes"),
        };
        Failure::Unmet(format!(
            "waits for ever: the mbarrier on {place} expects {what} that do not come"
        ))
    }

    /// A failure of the first running lane, or of that which the failure names.
    #[cold]
    pub(crate) fn failed(&self, failure: Failure, instruction: u32) -> Failed {
        let lane = match &failure {
            Failure::Memory(fault) => fault.lane,
            _ => self.mask.trailing_zeros(),
        };
        Failed {
            failure,
            thread: Thread {
                block: self.at.block_index,
                thread: self.at.thread_index(lane as usize),
            },
            function: self.at.function().to_owned(),
            instruction,
        }
    }
}
