//! How a launch ends early.

use super::endless::Endless;
use super::op::Context;
use super::surroundings::Unmet;
use super::unlowered::Unlowered;
use crate::check::{Finding, Stop, Thread, Verb};
use crate::finding_kind::FindingKind;
use crate::memory::{Fault, OutOfMemory, Place};

/// Why a thread could not go on, beside the findings.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// A `trap` or a breakpoint.
    #[error("trap")]
    Trap,
    /// The same, after the heap had no room for an allocation of the launch.
    #[error(
        "trap, after an allocation of {} bytes found no room: {} of {} bytes of the device's heap are in use",
        .0.bytes, .0.used, .0.limit
    )]
    HeapFull(OutOfMemory),
    /// A trap by which CUDA C++'s `grid.sync` ends a launch that is not cooperative.
    #[error("trap, with which `grid.sync` ends a launch that is not cooperative")]
    NotCooperative,
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
    /// More local memory than a thread has.
    #[error("{actual} bytes of local memory in calls; a thread has {limit}")]
    LocalMemory {
        /// Bytes that the calls take together.
        actual: u32,
        /// Bytes that a thread has.
        limit: u32,
    },
    /// More registers than the calls of a warp may take.
    #[error("{actual} bytes of registers in the calls of a warp; the emulator has {limit}")]
    Registers {
        /// Bytes that the calls take together.
        actual: u64,
        /// Bytes that the emulator has.
        limit: u64,
    },
    /// A launch that goes on for ever, or for longer than a limit allows.
    #[error("{0}")]
    Endless(Box<Endless>),
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
    /// The system has no memory for what checks keep of an allocation that the launch reaches.
    #[error(
        "its checks have no memory: the system was asked for {bytes} bytes; use smaller buffers, or launch without checks"
    )]
    NoMemory {
        /// How many bytes were asked for.
        bytes: u64,
    },
    /// A debugger that goes back: the launch ends here, and runs again.
    #[error("ended by the debugger")]
    Abandoned,
    /// A function of the module that has an instruction which the engine does not execute.
    #[error("{0}")]
    Unlowered(Unlowered),
}

/// The cause of a launch's end, as the executor knows it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cause {
    /// A thread could not go on.
    Failure(Failure),
    /// An access cannot be made.
    Fault(Fault),
    /// The checker has found something.
    Found(Box<Finding>),
    /// The executor itself has found something.
    Wrong(Box<Wrong>),
    /// The launch's time was over between two blocks.
    Unfinished(Box<Endless>),
}

/// A finding before its thread is known by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wrong {
    pub(crate) kind: FindingKind,
    pub(crate) place: Option<Place>,
    pub(crate) verb: Verb,
    /// The instruction before, numbered in its module, and what it does.
    pub(crate) before: Option<(u32, Verb)>,
    pub(crate) details: String,
}

impl Cause {
    /// A finding that words describe.
    pub(crate) fn wrong(kind: FindingKind, details: String) -> Cause {
        Cause::Wrong(Box::new(Wrong {
            kind,
            place: None,
            verb: Verb::Reach,
            before: None,
            details,
        }))
    }

    /// An instruction that is used as PTX forbids, in words.
    #[cold]
    pub(crate) fn misuse(details: impl Into<String>) -> Cause {
        Cause::wrong(FindingKind::Misuse, details.into())
    }
}

impl From<Failure> for Cause {
    fn from(failure: Failure) -> Cause {
        Cause::Failure(failure)
    }
}

/// The cause of a launch's end, and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failed {
    pub(crate) cause: Cause,
    pub(crate) thread: Thread,
    /// The function and its instruction.
    pub(crate) function: String,
    pub(crate) instruction: u32,
}

impl Context<'_> {
    /// Keeps the first fault of the instructions that run.
    #[cold]
    pub(crate) fn fault(&mut self, cause: Cause, instruction: u32) {
        if self.at.fault.is_none() {
            self.at.fault = Some(Box::new(self.failed(cause, instruction)));
        }
    }

    /// That a wait at an mbarrier never ends.
    #[cold]
    pub(crate) fn unmet(&self, unmet: &Unmet) -> Cause {
        let Unmet {
            offset,
            arrivals,
            bytes,
            ..
        } = *unmet;
        Cause::Wrong(Box::new(Wrong {
            kind: FindingKind::EndlessPhase { arrivals, bytes },
            place: Some(self.at.layout.place(offset)),
            verb: Verb::Reach,
            before: None,
            details: String::new(),
        }))
    }

    /// A failure of the first running lane, or of that which the fault names.
    #[cold]
    pub(crate) fn failed(&self, cause: Cause, instruction: u32) -> Failed {
        let lane = match &cause {
            Cause::Fault(fault) => fault.lane,
            _ => self.mask.trailing_zeros(),
        };
        Failed {
            cause,
            thread: Thread {
                block: self.at.block_index,
                thread: self.at.thread_index(lane as usize),
            },
            function: self.at.function().to_owned(),
            instruction,
        }
    }
}

impl From<Box<Stop>> for Cause {
    fn from(stop: Box<Stop>) -> Cause {
        match *stop {
            Stop::Found(finding) => Cause::Found(finding),
            Stop::NoMemory { bytes } => Cause::Failure(Failure::NoMemory { bytes }),
        }
    }
}
