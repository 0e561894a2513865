//! Fibers for any processor that corosensei knows.

use std::ptr;
use std::rc::Rc;

use corosensei::{Coroutine, Yielder};
use cuda_std::emulation::Gate;

use crate::stack::ThreadStack;

/// A function on a stack of its own, and a value that it shares with who lets it run.
pub(crate) struct Fiber<T> {
    coroutine: Coroutine<(), (), (), ThreadStack>,
    shared: Rc<T>,
}

/// A fiber as it sees itself.
pub(crate) struct Inside<T> {
    yielder: *const Yielder<(), ()>,
    shared: Rc<T>,
}

impl<T: 'static> Fiber<T> {
    /// Runs `body` on the stack from the first [`Fiber::resume`] on.
    pub(crate) fn new<F>(stack: ThreadStack, shared: T, body: F) -> Fiber<T>
    where
        F: FnOnce(&Inside<T>) + 'static,
    {
        let shared = Rc::new(shared);
        let inside = shared.clone();
        let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            body(&Inside {
                yielder: ptr::from_ref(yielder),
                shared: inside,
            });
        });
        Fiber { coroutine, shared }
    }
}

impl<T> Fiber<T> {
    pub(crate) fn shared(&self) -> &T {
        &self.shared
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.coroutine.done()
    }

    /// Lets it go on until it suspends itself or ends. A panic in it goes on here.
    ///
    /// # Panics
    /// It has ended.
    pub(crate) fn resume(&mut self) {
        self.coroutine.resume(());
    }

    /// # Panics
    /// It has not ended.
    pub(crate) fn into_stack(self) -> ThreadStack {
        self.coroutine.into_stack()
    }

    /// Ends it where it is.
    ///
    /// # Safety
    /// What is on its stack can be forgotten.
    pub(crate) unsafe fn abandon(&mut self) {
        // SAFETY: the caller's contract.
        unsafe { self.coroutine.force_reset() };
    }
}

impl<T> Inside<T> {
    pub(crate) fn shared(&self) -> &T {
        &self.shared
    }

    /// None, here.
    pub(crate) fn gate(&self) -> Option<&Gate> {
        None
    }

    /// Nothing to be done after [`Inside::suspend`].
    pub(crate) fn go_on(&self) {}

    /// Stops the fiber, which is the one that runs, until it is resumed. Unwinds where it is dropped
    /// instead.
    pub(crate) fn suspend(&self) {
        // SAFETY: `Fiber::new` made it of a reference that outlives the body.
        unsafe { &*self.yielder }.suspend(());
    }
}
