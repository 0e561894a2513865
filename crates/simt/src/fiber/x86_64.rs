//! Fibers for x86-64, with cheaper turns than corosensei's: see `cuda_std::emulation::Gate`.

use std::any::Any;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::{self, NonNull};

use corosensei::stack::Stack;
use cuda_std::emulation::Gate;

use crate::stack::ThreadStack;

/// A function on a stack of its own, and a value that it shares with who lets it run.
pub(crate) struct Fiber<T> {
    stack: ThreadStack,
    /// At the beginning of the stack, until the fiber is dropped.
    inside: NonNull<Inside<T>>,
}

/// A fiber as it sees itself.
#[repr(C)]
pub(crate) struct Inside<T> {
    gate: Gate,
    state: Cell<State>,
    shared: T,
    /// What it has ended with, if with one.
    panic: Cell<Option<Box<dyn Any + Send>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Runs,
    /// It is dropped.
    Unwinds,
    Ended,
}

/// What lies at the beginning of the stack.
#[repr(C, align(64))]
struct Start<T, F> {
    inside: Inside<T>,
    /// Until it begins.
    body: F,
}

/// The panic that unwinds a fiber which is dropped.
struct Unwound;

impl<T: 'static> Fiber<T> {
    /// Runs `body` on the stack from the first [`Fiber::resume`] on.
    pub(crate) fn new<F>(stack: ThreadStack, shared: T, body: F) -> Fiber<T>
    where
        F: FnOnce(&Inside<T>) + 'static,
    {
        let start = stack.base().get() - size_of::<Start<T, F>>();
        let start = (start & !(align_of::<Start<T, F>>() - 1)) as *mut Start<T, F>;
        // SAFETY: the stack is ours, and far larger than what is written.
        let inside = unsafe {
            // As if `run` were called from nowhere, where a backtrace ends.
            let top = start.cast::<usize>().sub(2);
            top.write(run::<T, F> as *const () as usize);
            top.add(1).write(0);
            start.write(Start {
                inside: Inside {
                    gate: Gate::to(top),
                    state: Cell::new(State::Runs),
                    shared,
                    panic: Cell::new(None),
                },
                body,
            });
            NonNull::new_unchecked(&raw mut (*start).inside)
        };
        Fiber { stack, inside }
    }
}

impl<T> Fiber<T> {
    #[inline]
    fn inside(&self) -> &Inside<T> {
        // SAFETY: it lies there as long as we do.
        unsafe { self.inside.as_ref() }
    }

    #[inline]
    pub(crate) fn shared(&self) -> &T {
        &self.inside().shared
    }

    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.inside().state.get() == State::Ended
    }

    /// Lets it go on until it suspends itself or ends. A panic in it goes on here.
    ///
    /// # Panics
    /// It has ended.
    // For what the gate is inlined.
    #[inline(always)]
    pub(crate) fn resume(&mut self) {
        assert!(!self.has_ended(), "a fiber that has ended cannot go on");
        let inside = self.inside();
        // SAFETY: the fiber does not run, and passes the gate when it stops.
        unsafe { inside.gate.pass() };
        if self.has_ended() {
            self.pass_panic_on();
        }
    }

    #[cold]
    fn pass_panic_on(&self) {
        if let Some(payload) = self.inside().panic.take()
            && !payload.is::<Unwound>()
        {
            panic::resume_unwind(payload);
        }
    }

    /// # Panics
    /// It has not ended.
    pub(crate) fn into_stack(self) -> ThreadStack {
        assert!(
            self.has_ended(),
            "a fiber that has not ended needs its stack"
        );
        let mut this = ManuallyDrop::new(self);
        this.drop_shared();
        // SAFETY: nobody else takes it out of `this`.
        unsafe { ptr::read(&raw const this.stack) }
    }

    /// Ends it where it is.
    ///
    /// # Safety
    /// What is on its stack can be forgotten.
    pub(crate) unsafe fn abandon(&mut self) {
        self.inside().state.set(State::Ended);
    }

    /// The last that is done.
    fn drop_shared(&mut self) {
        // SAFETY: the fiber has ended, so that nobody has references to it.
        unsafe { ptr::drop_in_place(&raw mut (*self.inside.as_ptr()).shared) };
    }
}

impl<T> Drop for Fiber<T> {
    /// Drops what is on its stack.
    fn drop(&mut self) {
        while !self.has_ended() {
            self.inside().state.set(State::Unwinds);
            self.resume();
        }
        self.drop_shared();
    }
}

impl<T> Inside<T> {
    #[inline]
    pub(crate) fn shared(&self) -> &T {
        &self.shared
    }

    /// Stops the fiber, which is the one that runs, until it is resumed. Unwinds where it is dropped
    /// instead.
    #[inline(always)]
    pub(crate) fn suspend(&self) {
        // SAFETY: who resumed this fiber passed the gate, and waits.
        unsafe { self.gate.pass() };
        self.go_on();
    }

    /// To suspend it by: after it has been passed, [`Inside::go_on`] is called.
    pub(crate) fn gate(&self) -> Option<&Gate> {
        Some(&self.gate)
    }

    /// What [`Inside::suspend`] does once the fiber is resumed.
    #[inline]
    pub(crate) fn go_on(&self) {
        if self.state.get() == State::Unwinds {
            unwind();
        }
    }
}

#[cold]
fn unwind() -> ! {
    panic::resume_unwind(Box::new(Unwound))
}

/// The first function on a fiber's stack.
extern "sysv64" fn run<T, F: FnOnce(&Inside<T>)>(start: NonNull<Start<T, F>>) -> ! {
    // SAFETY: `Fiber::new` wrote it, and nobody but us takes the body.
    let (inside, body) = unsafe {
        let start = start.as_ptr();
        (&(*start).inside, (&raw const (*start).body).read())
    };
    let end = panic::catch_unwind(AssertUnwindSafe(|| {
        if inside.state.get() == State::Runs {
            body(inside);
        }
    }));
    inside.panic.set(end.err());
    inside.state.set(State::Ended);
    loop {
        // SAFETY: as in `suspend`; nobody resumes what has ended.
        unsafe { inside.gate.pass() };
    }
}
