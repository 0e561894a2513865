//! The windows of generic addresses: their top bytes.

use super::LOCAL_BITS;

/// The block's shared memory.
pub(crate) const SHARED: u64 = 0x01 << 56;
/// The thread's local memory.
pub(crate) const LOCAL: u64 = 0x02 << 56;
/// The kernel's parameters.
pub(crate) const PARAMETERS: u64 = 0x03 << 56;
/// Constant memory, whose own addresses are the host's.
pub(crate) const CONSTANT: u64 = 0x05 << 56;
/// Functions.
pub(crate) const FUNCTIONS: u64 = 0x04 << 56;
/// The part of an address that is not the window.
pub(crate) const OFFSET: u64 = (1 << 56) - 1;

/// The shared memory of a block, in checked launches: other blocks' is another window. An odd number, so
/// that what lies before it is nobody's.
pub(crate) fn of_block(block: u64) -> u64 {
    SHARED | (2 * block + 1) << 32 & OFFSET
}

/// The local memory of a block's first thread, in checked launches, and how far the next one's is behind:
/// other threads' is another window, of 16 MiB. Odd numbers, as for [`of_block`]; blocks that are a multiple
/// of 2^21 apart share theirs.
pub(crate) fn of_threads(block: u64) -> (u64, u64) {
    (
        LOCAL | (block << 11 | 1) << LOCAL_BITS & OFFSET,
        2 << LOCAL_BITS,
    )
}

/// The window of an address; 0 is global memory.
pub(crate) fn of(address: u64) -> u64 {
    address & !OFFSET
}
