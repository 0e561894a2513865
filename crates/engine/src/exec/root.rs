//! The root of a pointer: the memory that it was made from.

/// The origin of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// The kernel's pointer at this offset of its parameters.
    Parameter(u32),
    /// A variable in global or constant memory, at this address.
    Variable(u64),
    /// The same of one that nobody writes: of a write alone.
    Constant(u64),
    /// A variable in shared memory, at this offset.
    Shared(u64),
    /// A part of dynamic shared memory, which this instruction declares.
    Part(u32),
    /// A variable in local memory, at this offset in the function's frame.
    Local(u32),
}
