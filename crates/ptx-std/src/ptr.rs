//! Address spaces of pointers.
//!
//! Every pointer in Rust is generic: the hardware finds out at each access whether it leads to
//! global, shared, constant or local memory. These functions ask, and convert to and from the
//! addresses that an instruction for one space takes.
//!
//! On the host all memory is [`AddressSpace::Global`], and conversions change nothing.
//!
//! ```
//! use cuda_std::ptr::*;
//!
//! let x = [1.0_f32, 2.0];
//! let pointer = x.as_ptr();
//! // SAFETY: the array is alive, and on the host in global memory, as a kernel's argument is on the GPU.
//! unsafe {
//!     assert!(is_in_address_space(pointer, AddressSpace::Global));
//!     for other in [AddressSpace::Shared, AddressSpace::Constant, AddressSpace::Local] {
//!         assert!(!is_in_address_space(pointer, other));
//!     }
//!     // An instruction such as `ld.global` takes this address, and the pointer comes of it again.
//!     let address = convert_generic_to_specific_address_space(pointer, AddressSpace::Global);
//!     let again = convert_specific_address_space_to_generic(address, AddressSpace::Global);
//!     assert_eq!(*again, 1.0);
//! }
//! ```

use crate::arch::ptr as arch;

/// A kind of GPU memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Memory of the device, which all threads read and write.
    Global,
    /// Memory of a block, which its threads read and write.
    Shared,
    /// Memory of the device, which all threads read.
    Constant,
    /// Memory of one thread.
    Local,
}

/// Whether the pointer leads to memory of this kind.
///
/// # Safety
/// The pointer is valid for reading a `T`.
#[inline(always)]
#[must_use]
pub unsafe fn is_in_address_space<T>(ptr: *const T, address_space: AddressSpace) -> bool {
    arch::is_in(ptr.cast(), address_space)
}

/// The address within its own kind of memory. The result is for instructions that name the space
/// and must not be dereferenced.
///
/// # Safety
/// The pointer is valid for reading a `T`, which lies in memory of this kind.
#[inline(always)]
#[must_use]
pub unsafe fn convert_generic_to_specific_address_space<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    arch::to_specific(ptr.cast(), address_space).cast()
}

/// The generic pointer for an address within memory of this kind.
///
/// # Safety
/// The address is one within memory of this kind, at which a `T` can be read.
#[inline(always)]
#[must_use]
pub unsafe fn convert_specific_address_space_to_generic<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    arch::to_generic(ptr.cast(), address_space).cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_memory_is_global_and_keeps_its_addresses() {
        let value = 7_u32;
        let pointer = &raw const value;
        let is_in = |space| {
            // SAFETY: the value is alive.
            unsafe { is_in_address_space(pointer, space) }
        };
        assert!(is_in(AddressSpace::Global));
        assert!(!is_in(AddressSpace::Shared));
        // SAFETY: as above, and host memory is global.
        let there_and_back = unsafe {
            let specific = convert_generic_to_specific_address_space(pointer, AddressSpace::Global);
            convert_specific_address_space_to_generic(specific, AddressSpace::Global)
        };
        assert_eq!(there_and_back, pointer);
    }
}
