//! Pointers into the block's shared memory, 32 bits wide.

use core::fmt;
use core::marker::PhantomData;

use ptx_std_macros::gpu_only;

/// A pointer to a `T` in the shared memory of the running block: an address in the shared window, of 32
/// bits, as `mbarrier`, copies by tensor maps and the tensor cores take it.
///
/// Arithmetic wraps and checks nothing. To read or write through one, make a pointer of it
/// ([`SharedPtr::as_ptr`]).
///
/// ```
/// use cuda_std::shared::SharedPtr;
///
/// // Behind a tile of 1000 bytes, three words, and then a tile that is aligned to 1024 bytes.
/// let start: SharedPtr<u8> = SharedPtr::from_address(0x400);
/// let words = start.byte_add(1000).cast::<u64>();
/// let tile = words.add(3).align_up(1024).cast::<f32>();
/// assert_eq!([words.address(), tile.address()], [0x7E8, 0x800]);
/// ```
///
/// A kernel makes one of a pointer, and the other way round. Ordinary reads and writes are faster through the
/// pointer that it was made of, of which the compiler knows that it leads to shared memory:
///
/// ```
/// use cuda_std::async_copy::{cp_async_ca, cp_async_wait_all};
/// use cuda_std::prelude::*;
/// use cuda_std::shared::SharedPtr;
///
/// /// Swaps the two halves of 64 elements.
/// ///
/// /// # Safety
/// /// A block of 64 threads; `y` has room for 64 elements.
/// #[kernel]
/// pub unsafe fn swap_halves(x: &[f32], y: *mut f32) {
///     let own = thread::thread_idx_x() as usize;
///     let tile = shared_array![f32; 64];
///     let place = SharedPtr::new(tile).add(own as u32);
///     // SAFETY: each thread copies its own element, and reads another's behind wait and barrier.
///     unsafe {
///         cp_async_ca(place.as_ptr(), &x[own]);
///         cp_async_wait_all();
///         thread::sync_threads();
///         *y.add(own) = *tile.add((own + 32) % 64);
///     }
/// }
/// # use cuda_std::launch::Kernel;
/// # assert_eq!(swap_halves::PARAMETERS.len(), 2);
/// ```
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
