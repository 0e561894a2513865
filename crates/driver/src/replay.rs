//! Launches on the emulator, at once or captured.

use std::mem::ManuallyDrop;

use cuda_std::launch::{Entry, Signature};

use super::DriverError;
use super::launch::Blocks;

/// A launch on the emulator.
pub(super) struct Emulated<S: Signature> {
    pub(super) entry: Entry<S>,
    pub(super) shape: simt::Shape,
    pub(super) blocks: Blocks,
    pub(super) options: simt::Options,
}

impl<S: Signature> Emulated<S> {
    /// # Safety
    /// As for [`Prepared::launch`].
    pub(super) unsafe fn run(&self, arguments: &S::Arguments<'_>) -> Result<(), DriverError> {
        let shared = Shared(&raw const *arguments);
        let call = self.entry.call();
        let memory = (self.entry.memory())(arguments);
        let launch = simt::Launch::new(self.shape)
            .kernel(self.entry.name())
            .options(self.options)
            .memory(&memory, arguments);
        let launch = match self.blocks {
            Blocks::Independent => launch,
            Blocks::Cooperative => launch.cooperative(),
        };
        launch
            .run(&move || {
                // SAFETY: the caller keeps the kernel's contract; `arguments` outlives the call.
                unsafe { call(&*shared.address()) }
            })
            .map_err(|error| DriverError::Emulated {
                kernel: self.entry.name(),
                error,
            })
    }

    /// The launch with its arguments, to be run later and more than once.
    ///
    /// # Safety
    /// The arguments' buffers live until the last run.
    pub(super) unsafe fn keep(self, arguments: &S::Arguments<'_>) -> Replay {
        // SAFETY: arguments are `Copy` values and views, whose lifetime the caller vouches for.
        let kept: ManuallyDrop<S::Arguments<'static>> =
            unsafe { std::mem::transmute_copy(arguments) };
        // SAFETY: `Replay::run`'s caller vouches for it.
        Replay(Box::new(move || unsafe { self.run(&kept) }))
    }
}

/// A captured launch of the emulator.
pub(super) struct Replay(Box<dyn Fn() -> Result<(), DriverError>>);

// SAFETY: a run reads the arguments where they are, through a shared reference, as the emulator's cores
// do (see `Shared`), and they are never dropped.
unsafe impl Send for Replay {}

impl Replay {
    /// # Safety
    /// As for the [`Prepared::launch`] that was captured.
    pub(super) unsafe fn run(&self) -> Result<(), DriverError> {
        (self.0)()
    }
}

/// Arguments that several cores read at once.
struct Shared<A>(*const A);

// SAFETY: `#[kernel]` asks for `Sync` values and elements, and for `Send` elements of an `Output`, of
// which each thread has its own; of a raw pointer the launch's caller vouches for the use.
unsafe impl<A> Sync for Shared<A> {}

impl<A> Shared<A> {
    fn address(&self) -> *const A {
        self.0
    }
}
