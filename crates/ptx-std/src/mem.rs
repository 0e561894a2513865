//! A block's shared memory in numbers, and the heap of the device, which is what `alloc`'s types
//! allocate from: 8 MiB unless the host asks for more (`cudaLimitMallocHeapSize`).

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

use crate::arch;

unsafe extern "C" {
    /// Memory of the device's heap, aligned to 16 bytes, or null. On the host it is C's.
    pub fn malloc(size: usize) -> *mut c_void;

    /// Gives back what `malloc` gave, or null.
    pub fn free(pointer: *mut c_void);
}

/// What `alloc`'s types allocate from on the GPU.
#[derive(Clone, Copy, Debug)]
pub struct CUDAAllocator;

/// What `malloc` aligns to.
const MALLOC_ALIGN: usize = 16;

// SAFETY: malloc and free keep the rules; memory of a larger alignment than theirs is refused.
unsafe impl GlobalAlloc for CUDAAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > MALLOC_ALIGN {
            return core::ptr::null_mut();
        }
        // SAFETY: any size is allowed; null says that there is no memory.
        unsafe { malloc(layout.size()).cast() }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, _: Layout) {
        // SAFETY: the caller has it from `alloc`.
        unsafe { free(pointer.cast()) }
    }
}

/// The allocator of every kernel.
#[cfg(target_arch = "nvptx64")]
#[global_allocator]
pub static GLOBAL_ALLOCATOR: CUDAAllocator = CUDAAllocator;

/// Bytes of dynamic shared memory that the launch gave the block.
#[inline(always)]
pub fn dynamic_smem_size() -> u32 {
    arch::dynamic_smem_size()
}

/// Bytes of shared memory that the block has, static and dynamic, with what the system reserves.
/// In a kernel without PTX the arrays count that the block has used so far.
#[inline(always)]
pub fn total_smem_size() -> u32 {
    arch::total_smem_size()
}
