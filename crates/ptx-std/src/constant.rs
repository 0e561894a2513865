//! Constant memory: what `#[address_space(constant)]` makes of a static on the GPU. On the host the
//! static stays as it is.

use core::marker::PhantomData;
use core::ops::Deref;

/// Knows the symbol of one static.
///
/// # Safety
/// Only `#[address_space(constant)]` implements it: the address is that of a variable which holds
/// its initial value from before the first kernel on, and which no kernel writes.
#[doc(hidden)]
pub unsafe trait Site {
    /// Its address.
    fn address() -> *const u8;
}

/// A static in constant memory. Use it as the value it holds.
pub struct Static<T, S: Site>(PhantomData<(T, fn(S))>);

impl<T, S: Site> Static<T, S> {
    /// The static whose symbol `S` knows.
    ///
    /// # Safety
    /// Only `#[address_space(constant)]` calls it, with a site of the declaration's own, whose
    /// variable is a `T`.
    #[doc(hidden)]
    pub const unsafe fn new() -> Self {
        Static(PhantomData)
    }
}

impl<T, S: Site> Deref for Static<T, S> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the attribute has given the symbol a value of this type, and kernels only read it.
        unsafe { &*S::address().cast() }
    }
}
