//! What an emulator provides when kernels run on the host.
//!
//! An emulator runs the kernel's function once for every thread of the grid, each time inside
//! [`enter`] with that thread's [`Lane`]. Kernels never call anything here.

mod gate;
#[cfg(instrumented)]
mod instrumented;

use core::cell::Cell;
use core::fmt;
use core::ops::Range;
use core::panic::Location;
use core::ptr::NonNull;
use core::sync::atomic::Ordering;
use std::rc::Rc;
use std::thread_local;

pub use crate::warp::WARP_SIZE;
pub use gate::Gate;

/// Whether the crates that depend on this one are compiled so that each access of theirs to memory
/// comes to [`Hooks::access`], as `ridgepoint check` does it.
pub const INSTRUMENTED: bool = cfg!(instrumented);

/// Where the sources of this crate lie, whose lines say nothing to a kernel's author.
pub const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

/// Where the program itself lies, its code, its constants and its statics, where it is
/// [`INSTRUMENTED`].
pub fn program() -> Range<usize> {
    #[cfg(instrumented)]
    return instrumented::program();
    #[cfg(not(instrumented))]
    return 0..0;
}

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

impl Coordinates {
    /// Index of the thread in its block, x running fastest.
    pub fn linear_thread(&self) -> u32 {
        let [x, y, z] = self.thread_idx;
        let [width, height, _] = self.block_dim;
        (z * height + y) * width + x
    }

    /// Index of the thread in its warp.
    pub fn lane(&self) -> u32 {
        self.linear_thread() % WARP_SIZE
    }
}

/// What the threads of a block said at a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Threads that were there.
    pub threads: u32,
    /// Those of them whose predicate was true.
    pub in_favour: u32,
}

/// What lanes exchange values for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `sync_warp`.
    Sync,
    /// A vote.
    Vote,
    /// A match.
    Match,
    /// A shuffle.
    Shuffle,
    /// A reduction.
    Reduce,
}

/// What the lanes of a warp brought to an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Each lane's value; of lanes outside the mask, 0.
    pub values: [u64; WARP_SIZE as usize],
}

/// One declaration of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedArray {
    /// Which declaration it is.
    pub site: u64,
    /// The type of its elements.
    pub element: &'static str,
    /// The size of one.
    pub element_bytes: usize,
    /// How many there are.
    pub len: usize,
}

impl SharedArray {
    /// Its size.
    pub fn bytes(&self) -> usize {
        self.element_bytes * self.len
    }
}

/// Between which threads an atomic operation is atomic, and a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of a block.
    Block,
    /// Those of the device, or of the whole system: the emulator is one device.
    Device,
}

/// What an access does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads, and writes what depends on it.
    Modify,
}

/// Where in the program something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A return address: the call before it.
    Code(usize),
    /// A line of the source.
    Source(&'static Location<'static>),
}

/// One access of a thread to memory.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The first byte.
    pub address: usize,
    /// How many bytes.
    pub bytes: usize,
    /// The alignment that it needs.
    pub alignment: usize,
    /// What it does.
    pub effect: Effect,
    /// Of an atomic access, its scope and order.
    pub atomic: Option<(Scope, Ordering)>,
    /// Where it is.
    pub place: Place,
}

/// What a thread asks of the emulator beyond its coordinates: all that it shares with others.
pub trait Hooks {
    /// Returns when every live thread of the block has called it.
    fn sync_threads(&self, predicate: bool, place: &'static Location<'static>) -> Tally;

    /// Brings a value to the lanes that `mask` names. The thread waits next, and asks for what all have
    /// [`brought`](Hooks::brought) when it goes on.
    fn bring(&self, operation: Operation, mask: u32, value: u64, place: &'static Location<'static>);

    /// Returns when every lane that the mask names has come for the same operation with the same
    /// mask. Only where the thread has no [gate](Lane::gate).
    fn wait(&self);

    /// What all of them have brought.
    fn brought(&self) -> Rc<Exchange>;

    /// The lanes of the warp that are at this place of the source together.
    fn active_mask(&self, place: &'static Location<'static>) -> u32;

    /// Lets other threads go on for so many nanoseconds.
    fn sleep(&self, nanoseconds: u32);

    /// Before each access: of atomic ones through `cuda_std` always, of all others where the
    /// kernel is [`INSTRUMENTED`]. Does not return for an access that must not happen.
    fn access(&self, access: &Access);

    /// A fence.
    fn fence(&self, scope: Scope, ordering: Ordering);

    /// The thread has used up its [fuel](Lane::fuel). Gives it more, or does not return.
    fn refuel(&self) -> u32;

    /// The thread has allocated memory on the heap. Only where it is [`INSTRUMENTED`].
    fn allocated(&self, memory: Range<usize>);

    /// The thread does what lanes that go separate ways must not. Does not return.
    fn diverged(&self, what: fmt::Arguments<'_>, place: &'static Location<'static>) -> !;

    /// The block's memory for `array`, which is aligned to 16 bytes and not initialised.
    fn shared_array(&self, array: SharedArray) -> *mut u8;

    /// The block's dynamic shared memory and its size in bytes, which the launch gave.
    fn dynamic_shared(&self) -> (*mut u8, usize);

    /// Bytes of all shared memory that the block has: dynamic, and of the arrays seen so far.
    fn shared_bytes(&self) -> usize;

    /// Shows what the kernel prints.
    fn print(&self, text: &str);
}

/// One emulated GPU thread.
pub struct Lane<'a> {
    /// Where the thread stands.
    pub coordinates: Coordinates,
    /// Memory of which no access need be told: its stack, which is nobody else's, and what the
    /// launch itself hands to all threads.
    pub unwatched: [Range<usize>; 3],
    /// How many steps it goes before it asks for more: accesses, and where it is [`INSTRUMENTED`]
    /// every turn of a loop.
    pub fuel: Cell<u32>,
    /// The emulator that runs it.
    pub hooks: &'a dyn Hooks,
    /// Where it waits, if not in [`Hooks::wait`]. On the other side is the emulator.
    pub gate: Option<&'a Gate>,
}

impl Lane<'_> {
    /// Uses fuel.
    #[inline]
    fn step(&self, steps: u32) {
        match self.fuel.get().checked_sub(steps) {
            Some(left) => self.fuel.set(left),
            None => self.fuel.set(self.hooks.refuel()),
        }
    }

    /// What the lanes of `mask` bring, this one `value`.
    #[inline(always)]
    pub(crate) fn exchange(
        &self,
        operation: Operation,
        mask: u32,
        value: u64,
        place: &'static Location<'static>,
    ) -> Rc<Exchange> {
        self.hooks.bring(operation, mask, value, place);
        self.wait();
        self.hooks.brought()
    }

    #[inline(always)]
    fn wait(&self) {
        let _pause = pause();
        match self.gate {
            // SAFETY: the emulator has given us the gate, passed it last, and waits.
            Some(gate) => unsafe { gate.pass() },
            None => self.hooks.wait(),
        }
    }
}

thread_local! {
    static CURRENT: Cell<Option<NonNull<Lane<'static>>>> = const { Cell::new(None) };
}

/// Runs `body` as the thread `lane`: what the body asks of `cuda_std` is answered by `lane`.
pub fn enter<R>(lane: &Lane<'_>, body: impl FnOnce() -> R) -> R {
    let _leave = Restore(CURRENT.replace(Some(NonNull::from(lane).cast())));
    body()
}

/// Says that the thread that runs here does not any more, until what this returns is dropped. A hook
/// that lets other threads run on the same host thread does so meanwhile.
#[inline]
pub fn pause() -> impl Drop {
    Restore(CURRENT.take())
}

/// Makes another lane the current one again, also where a thread is unwound.
struct Restore(Option<NonNull<Lane<'static>>>);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Where the emulated thread stands that runs on this host thread, if one does.
pub fn current() -> Option<Coordinates> {
    // SAFETY: as in `with_current`.
    CURRENT
        .get()
        .map(|lane| unsafe { lane.as_ref() }.coordinates)
}

/// Where the thread stands that runs.
#[inline]
pub(crate) fn coordinates<R>(read: impl FnOnce(&Coordinates) -> R) -> R {
    let current = CURRENT.get().expect(OUTSIDE);
    // SAFETY: as in `with_current`.
    read(&unsafe { current.as_ref() }.coordinates)
}

const OUTSIDE: &str =
    "a kernel's function was called outside of a launch: run it through an emulator";

/// Tells the emulator of an atomic access, if a kernel runs: host code may use the same functions.
#[inline]
pub(crate) fn atomic_access<T>(
    pointer: *mut T,
    effect: Effect,
    scope: Scope,
    ordering: Ordering,
    place: &'static Location<'static>,
) {
    if CURRENT.get().is_some() {
        with_current(|lane| {
            // Who reads again and again waits for another thread, and is to have its turn soon.
            lane.step(if effect == Effect::Read { 256 } else { 1 });
            lane.hooks.access(&Access {
                address: pointer.addr(),
                bytes: size_of::<T>(),
                alignment: size_of::<T>(),
                effect,
                atomic: Some((scope, ordering)),
                place: Place::Source(place),
            });
        });
    }
}

/// Tells the emulator of a fence, if a kernel runs.
pub(crate) fn fence(scope: Scope, ordering: Ordering) {
    if CURRENT.get().is_some() {
        with_current(|lane| lane.hooks.fence(scope, ordering));
    }
}

/// Asks the lane of the thread that runs.
#[inline]
pub(crate) fn with_current<R>(ask: impl FnOnce(&Lane<'_>) -> R) -> R {
    let current = CURRENT.get().expect(OUTSIDE);
    // SAFETY: `enter` put the pointer there from a reference that outlives its body, and takes it
    // away when the body ends; we are inside the body.
    ask(unsafe { current.as_ref() })
}
