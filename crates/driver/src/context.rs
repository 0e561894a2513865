//! The context that every operation of a GPU happens in, whichever thread asks for it.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use cuda_std::launch::Home;
use cust::context::Context as Primary;
use cust::device::Device as CudaDevice;
use cust::sys::CUcontext;

use super::error::{checked, during};
use super::{DriverError, home};

/// The primary context of a GPU, which is one for the process. It stays for as long as anything that
/// is [`Owned`] in it.
#[derive(Clone, Debug)]
pub(super) struct Context {
    primary: Arc<Primary>,
    /// The owner of all that is made in it.
    pub(super) home: &'static Home,
}

impl Context {
    /// The context of the GPU, which the calling thread is then in.
    pub(super) fn open(device: CudaDevice, home: &'static Home) -> Result<Context, DriverError> {
        let primary = Primary::new(device).map_err(during("create a context"))?;
        let context = Context {
            primary: Arc::new(primary),
            home,
        };
        context.enter()?;
        home::opened(home, context.raw());
        Ok(context)
    }

    /// Makes this the context that the calling thread's next calls of the driver happen in. It stays
    /// so: whoever calls the driver enters first, so none brings back what was before.
    pub(super) fn enter(&self) -> Result<(), DriverError> {
        // SAFETY: the context is retained for as long as `self` is there.
        let entered = unsafe { cuda_loader::make_current(self.raw()) };
        checked("enter the GPU's context", entered)
    }

    /// Makes something in this context, by `make`.
    pub(super) fn own<T>(
        &self,
        make: impl FnOnce() -> Result<T, DriverError>,
    ) -> Result<Owned<T>, DriverError> {
        self.enter()?;
        Ok(self.owner_of(make()?))
    }

    /// The owner of what has been made in this context.
    pub(super) fn owner_of<T>(&self, value: T) -> Owned<T> {
        Owned {
            value: ManuallyDrop::new(value),
            context: self.clone(),
        }
    }

    pub(super) fn raw(&self) -> CUcontext {
        self.primary.as_raw()
    }
}

/// Something of the driver's that is used in its own context alone, and dropped there.
#[derive(Debug)]
pub(super) struct Owned<T> {
    value: ManuallyDrop<T>,
    context: Context,
}

impl<T> Owned<T> {
    /// The value, with the calling thread in its context.
    pub(super) fn enter(&self) -> Result<&T, DriverError> {
        self.context.enter()?;
        Ok(&self.value)
    }

    /// As [`Owned::enter`], to change it.
    pub(super) fn enter_mut(&mut self) -> Result<&mut T, DriverError> {
        self.context.enter()?;
        Ok(&mut self.value)
    }

    /// The value, for what asks nothing of the driver.
    pub(super) fn outside(&self) -> &T {
        &self.value
    }

    /// As [`Owned::outside`], to change it.
    pub(super) fn outside_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The context that it is used in.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Keeps the value for ever. Its context goes without it.
    pub(super) fn forget(self) {
        let mut whole = ManuallyDrop::new(self);
        // SAFETY: `whole` is neither used nor dropped after this.
        unsafe { std::ptr::drop_in_place(&raw mut whole.context) };
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // A context that cannot be entered has lost what was in it.
        if self.context.enter().is_ok() {
            // SAFETY: dropped here alone.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}
