//! A block's shared memory in numbers, and the heap of the device, which is what `alloc`'s types
//! allocate from: 8 MiB unless the host asks for more (`cudaLimitMallocHeapSize`).

use crate::arch;

/// Bytes of dynamic shared memory that the launch gave the block.
#[inline(always)]
pub fn dynamic_smem_size() -> u32 {
    arch::dynamic_smem_size()
}

/// Bytes of shared memory that the block has, static and dynamic, with what the system reserves.
/// The emulator counts the arrays that the block has used so far.
#[inline(always)]
pub fn total_smem_size() -> u32 {
    arch::total_smem_size()
}

#[cfg(target_arch = "nvptx64")]
#[global_allocator]
static HEAP: arch::Heap = arch::Heap;
