//! An access, as the executor describes it.

use super::overlap::Stored;
use crate::memory::Lanes;

/// A launch, or another operation of a stream, as [`Checker::launch`](super::Checker::launch)
/// numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaunchId(pub(super) u32);

impl LaunchId {
    /// Its number, from 1.
    pub(crate) fn number(self) -> u64 {
        u64::from(self.0) + 1
    }
}

/// A resident block. Another block has it once this one has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockId(pub(super) u32);

/// Threads of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessors {
    /// Their block.
    pub block: BlockId,
    /// Index of the warp in it.
    pub warp: u32,
    /// Which lanes.
    pub mask: u32,
}

/// Among which threads an operation is atomic, or orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `.cta`
    Block,
    /// `.cluster`
    Cluster,
    /// `.gpu`
    Device,
    /// `.sys`
    System,
}

impl Scope {
    /// As reports say it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Scope::Block => "the block",
            Scope::Cluster => "the cluster",
            Scope::Device => "the device",
            Scope::System => "the system",
        }
    }
}

/// The accesses that an operation or a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Nothing.
    Relaxed,
    /// Those that follow.
    Acquire,
    /// Those that came before.
    Release,
    /// Both.
    AcquireRelease,
    /// Both, and all such fences among each other: `fence.sc`, `membar`.
    SequentiallyConsistent,
}

impl Order {
    pub(super) fn acquires(self) -> bool {
        !matches!(self, Order::Relaxed | Order::Release)
    }

    pub(super) fn releases(self) -> bool {
        !matches!(self, Order::Relaxed | Order::Acquire)
    }
}

/// Whether an access may meet others without being ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strength {
    /// `ld`, `st` and everything that is not said to be strong: races are its fault.
    Weak,
    /// `.relaxed`, `.acquire`, `.release`; `.volatile` is relaxed with the scope of the system.
    Strong(Order, Scope),
}

/// Kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Reads. So does a compare-and-swap that fails.
    Read(Strength),
    /// Writes.
    Write(Strength),
    /// Reads and writes at once: `atom` and `red`, whose order is relaxed if it is not said.
    Atomic(Order, Scope),
}

impl AccessKind {
    pub(super) fn reads(self) -> bool {
        !matches!(self, AccessKind::Write(_))
    }

    pub(crate) fn writes(self) -> bool {
        !matches!(self, AccessKind::Read(_))
    }

    pub(super) fn strong(self) -> Option<(Order, Scope)> {
        match self {
            AccessKind::Read(Strength::Weak) | AccessKind::Write(Strength::Weak) => None,
            AccessKind::Read(Strength::Strong(order, scope))
            | AccessKind::Write(Strength::Strong(order, scope))
            | AccessKind::Atomic(order, scope) => Some((order, scope)),
        }
    }
}

/// The meaning of a read of bytes that nobody has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// It is a finding.
    Found,
    /// The reader carries along which bits are undefined.
    Carried,
}

/// One access of a warp.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Which instruction, within the launch's program. Always the same `what`, `element_bytes` and
    /// bytes, but that a compare-and-swap may also read, and an atomic be about 1 or 2 bytes of its word, or all.
    pub instruction: u32,
    /// The kind.
    pub what: AccessKind,
    /// Bytes of one element of a vector; else those of the access. More where an atomic of a word is about a part of it alone,
    /// which the lanes then have.
    pub element_bytes: u32,
    /// Where: addresses of global memory, offsets in shared and local memory.
    pub lanes: &'a Lanes<'a>,
    /// The meaning of a read of bytes that nobody has written.
    pub unwritten: Unwritten,
    /// The values of a plain store: asked for only where lanes reach the same bytes. Without them these race.
    pub stored: Option<&'a dyn Stored>,
}
