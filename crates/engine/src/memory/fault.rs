//! Why an access cannot be made.

use super::place::Place;

/// What is wrong with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultClass {
    /// It lies in nobody's memory, or its end does.
    OutOfBounds,
    /// It lies in memory that was freed.
    Freed,
    /// It is null, or within the first 64 KiB.
    Null,
    /// It lies in constant memory, which is written to.
    ReadOnly,
    /// It was made from a parameter through which nobody writes, and is written to.
    Fixed,
    /// It lies in the memory of another device, which this one was given no access to.
    NoPeerAccess,
    /// It lies in the shared memory of another block.
    OtherBlock,
    /// It lies in the local memory of another thread.
    OtherThread,
    /// It lies in local memory, and the access is atomic or orders others: only global and shared memory has such.
    AtomicOnLocal,
    /// It is no multiple of the access's bytes.
    Misaligned,
    /// It is an address of another state space.
    Window,
    /// `free` of what is no start of a heap block.
    NotAllocated,
    /// `free` of what was freed before.
    DoubleFree,
}

/// An access that cannot be made: the first of its warp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {bytes} bytes at {place}", .class.name())]
pub struct Fault {
    /// What is wrong.
    pub class: FaultClass,
    /// The lane whose address it is.
    pub lane: u32,
    /// Bytes of the access.
    pub bytes: u32,
    /// Where.
    pub place: Box<Place>,
}

impl FaultClass {
    /// As reports begin.
    pub fn name(self) -> &'static str {
        match self {
            FaultClass::OutOfBounds => "out of bounds",
            FaultClass::Freed => "use after free",
            FaultClass::Null => "null pointer",
            FaultClass::ReadOnly => "write to constant memory",
            FaultClass::Fixed => "write through a shared reference",
            FaultClass::NoPeerAccess => "no peer access",
            FaultClass::OtherThread => "local memory of another thread",
            FaultClass::OtherBlock => "shared memory of another block",
            FaultClass::AtomicOnLocal => "atomic or ordered access to local memory",
            FaultClass::Misaligned => "misaligned",
            FaultClass::Window => "address of another state space",
            FaultClass::NotAllocated => "free of what was not allocated",
            FaultClass::DoubleFree => "double free",
        }
    }
}
