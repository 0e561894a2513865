//! A block's shared memory in numbers, and the heap of the device, which is what `alloc`'s types
//! allocate from: 8 MiB unless the host asks for more (`cudaLimitMallocHeapSize`).
//!
//! ```
//! use cuda_std::mem::{dynamic_smem_size, total_smem_size};
//! use cuda_std::prelude::*;
//!
//! let kernel = || {
//!     let tile = shared_array![f32; 32];
//!     assert_eq!(dynamic_smem_size(), 256); // As many bytes as the launch gave.
//!     assert!(total_smem_size() >= 256 + 32 * 4);
//! #   assert!(!tile.is_null());
//! };
//! # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 256 };
//! # simt::Launch::new(shape).run(&kernel)?;
//! # Ok::<(), simt::LaunchError>(())
//! ```

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

use crate::arch;

unsafe extern "C" {
    /// Memory of the device's heap, aligned to 16 bytes, or null. On the host it is C's.
    ///
    /// ```
    /// use cuda_std::mem::{free, malloc};
    ///
    /// // SAFETY: the memory is used until it is given back, and by nobody else.
    /// unsafe {
    ///     let values = malloc(4 * size_of::<f32>()).cast::<f32>();
    ///     assert!(!values.is_null(), "the heap is full");
    ///     values.add(3).write(1.5);
    ///     assert_eq!(values.add(3).read(), 1.5);
    ///     free(values.cast());
    /// }
    /// ```
    pub fn malloc(size: usize) -> *mut c_void;

    /// Gives back what `malloc` gave, or null.
    pub fn free(pointer: *mut c_void);
}

/// The allocator of `alloc`'s types on the GPU.
///
/// ```
/// use core::alloc::{GlobalAlloc, Layout};
/// use cuda_std::mem::CUDAAllocator;
///
/// let (fits, too_wide) = (Layout::new::<[f32; 4]>(), Layout::from_size_align(64, 32).expect("a layout"));
/// // SAFETY: the layouts have bytes, and what was allocated is given back.
/// unsafe {
///     let values = CUDAAllocator.alloc(fits);
///     assert!(!values.is_null());
///     CUDAAllocator.dealloc(values, fits);
///     assert!(CUDAAllocator.alloc(too_wide).is_null(), "nothing is aligned to more than 16 bytes");
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CUDAAllocator;

/// The alignment of `malloc`'s memory, in bytes.
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
