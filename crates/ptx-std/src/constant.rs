//! Constant memory: what `#[address_space(constant)]` makes of a static on the GPU. On the host the
//! static stays as it is.

use core::marker::PhantomData;
use core::ops::Deref;

/// Knows the symbol of one static.
#[doc(hidden)]
pub trait Site {
    /// Its address.
    fn address() -> *const u8;
}

/// A static in constant memory. Use it as the value it holds.
pub struct Static<T, S: Site>(PhantomData<(T, fn(S))>);

impl<T, S: Site> Static<T, S> {
    #[doc(hidden)]
    pub const fn new() -> Self {
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
