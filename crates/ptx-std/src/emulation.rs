//! What an emulator provides when kernels run on the host.
//!
//! An emulator runs the kernel's function once for every thread of the grid, each time inside
//! [`enter`] with that thread's [`Lane`]. Kernels never call anything here.

use core::cell::Cell;
use core::ptr::NonNull;
use std::thread_local;

/// Where a thread stands in its grid, in the order x, y, z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coordinates {
    /// Index of the thread in its block.
    pub thread_idx: [u32; 3],
    /// Index of the block in the grid.
    pub block_idx: [u32; 3],
    /// Threads a block.
    pub block_dim: [u32; 3],
    /// Blocks in the grid.
    pub grid_dim: [u32; 3],
}

/// What a thread asks of the emulator beyond its coordinates: everything that may have to wait
/// for other threads.
pub trait Hooks {
    /// Returns when every live thread of the block has called it.
    fn sync_threads(&self);
}

/// One emulated GPU thread.
pub struct Lane<'a> {
    /// Where the thread stands.
    pub coordinates: Coordinates,
    /// The emulator that runs it.
    pub hooks: &'a dyn Hooks,
}

thread_local! {
    static CURRENT: Cell<Option<NonNull<Lane<'static>>>> = const { Cell::new(None) };
}

/// Runs `body` as the thread `lane`: what the body asks of `cuda_std` is answered by `lane`.
///
/// A hook may run other threads on the same host thread before it returns, each in an `enter` of
/// its own; the thread that called the hook is the current one again afterwards.
pub fn enter<R>(lane: &Lane<'_>, body: impl FnOnce() -> R) -> R {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            CURRENT.set(None);
        }
    }
    let _leave = Leave;
    CURRENT.set(Some(NonNull::from(lane).cast()));
    body()
}

/// Asks the lane of the thread that runs.
#[inline]
pub(crate) fn with_current<R>(ask: impl FnOnce(&Lane<'_>) -> R) -> R {
    let current = CURRENT
        .get()
        .expect("a kernel's function was called outside of a launch: run it through an emulator");
    // SAFETY: `enter` put the pointer there from a reference that outlives its body, and takes it
    // away when the body ends; we are inside the body.
    let answer = ask(unsafe { current.as_ref() });
    CURRENT.set(Some(current));
    answer
}
