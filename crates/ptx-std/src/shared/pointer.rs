//! Pointers into the block's shared memory, 32 bits wide.

use core::fmt;
use core::marker::PhantomData;

use ptx_std_macros::gpu_only;

/// A pointer to a `T` in the shared memory of the running block: an address in the shared window, of 32
/// bits, as `mbarrier`, copies by tensor maps and the tensor cores take it.
///
/// Arithmetic wraps and checks nothing. To read or write through one, make a pointer of it
/// ([`SharedPtr::as_ptr`]).
pub struct SharedPtr<T> {
    address: u32,
    element: PhantomData<*mut T>,
}

impl<T> Clone for SharedPtr<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedPtr<T> {}

impl<T> fmt::Debug for SharedPtr<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SharedPtr({:#x})", self.address)
    }
}

impl<T> SharedPtr<T> {
    /// Where `pointer` points to, which is shared memory: of another pointer the address means nothing.
    #[gpu_only]
    #[inline(always)]
    pub fn new(pointer: *mut T) -> SharedPtr<T> {
        SharedPtr::from_address(crate::arch::tensor::shared_address(pointer.cast()))
    }

    /// The place with this address in the shared window.
    #[inline(always)]
    pub const fn from_address(address: u32) -> SharedPtr<T> {
        SharedPtr {
            address,
            element: PhantomData,
        }
    }

    /// The address in the shared window.
    #[inline(always)]
    pub const fn address(self) -> u32 {
        self.address
    }

    /// The same place for loads and stores.
    #[gpu_only]
    #[inline(always)]
    pub fn as_ptr(self) -> *mut T {
        crate::arch::tensor::generic_address(self.address).cast()
    }

    /// The place `count` elements further on.
    #[inline(always)]
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "it is what pointers call it")]
    pub const fn add(self, count: u32) -> SharedPtr<T> {
        self.byte_add(count.wrapping_mul(size_of::<T>() as u32))
    }

    /// The place `bytes` further on.
    #[inline(always)]
    #[must_use]
    pub const fn byte_add(self, bytes: u32) -> SharedPtr<T> {
        SharedPtr::from_address(self.address.wrapping_add(bytes))
    }

    /// The same place, of another type.
    #[inline(always)]
    #[must_use]
    pub const fn cast<U>(self) -> SharedPtr<U> {
        SharedPtr::from_address(self.address)
    }

    /// The first place from here whose address is a multiple of `bytes`, a power of two.
    #[inline(always)]
    #[must_use]
    pub const fn align_up(self, bytes: u32) -> SharedPtr<T> {
        SharedPtr::from_address(self.address.wrapping_add(bytes - 1) & !(bytes - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_counts_elements_and_bytes() {
        let start: SharedPtr<u64> = SharedPtr::from_address(1000);
        assert_eq!(start.add(3).address(), 1024);
        assert_eq!(start.byte_add(8).cast::<u8>().add(1).address(), 1009);
        assert_eq!(start.align_up(1024).address(), 1024);
        assert_eq!(start.align_up(8).address(), 1000);
    }
}
