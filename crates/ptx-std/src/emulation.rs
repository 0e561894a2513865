//! The interface that an emulator implements when kernels run on the host.
//!
//! An emulator runs the kernel's function once for every thread of the grid, each time inside
//! [`enter`] with that thread's [`Lane`]. Kernels never call anything here.
//!
//! The smallest emulator runs blocks of one thread, which never waits for another:
//!
//! ```
//! use core::cell::{Cell, RefCell};
//! use core::panic::Location;
//! use std::collections::BTreeMap;
//! use cuda_std::emulation::*;
//! use cuda_std::{println, shared_array, thread, warp};
//!
//! #[derive(Default)]
//! struct Alone {
//!     /// 16 bytes each, because arrays are aligned to as many.
//!     arrays: RefCell<BTreeMap<SharedArrayKey, Vec<u128>>>,
//!     text: RefCell<String>,
//! }
//! type SharedArrayKey = (u64, &'static str, usize);
//!
//! // SAFETY: arrays are as large as they are asked for, and live as long as the hooks, whose threads end
//! // first; a block has one thread.
//! unsafe impl Hooks for Alone {
//!     fn sync_threads(&self, predicate: bool, _: &'static Location<'static>) -> Tally {
//!         Tally { threads: 1, in_favour: predicate.into() }
//!     }
//!
//!     fn exchange(&self, operation: Operation, mask: u32, value: u64, _: &'static Location<'static>) -> Exchange {
//!         // Other lanes that a mask names have ended.
//!         assert!(mask & 1 == 1, "a {operation:?} without the lane");
//!         let mut values = [0; WARP_SIZE as usize];
//!         values[0] = value;
//!         Exchange { lanes: 1, values }
//!     }
//!
//!     fn active_mask(&self, _: &'static Location<'static>) -> u32 {
//!         1
//!     }
//!
//!     fn give_way(&self, _: u32, _: &'static Location<'static>) -> u32 {
//!         pause(|| assert_eq!(current(), None, "others would run here"));
//!         FUEL
//!     }
//!
//!     fn shared_array(&self, array: SharedArray) -> *mut u8 {
//!         let mut arrays = self.arrays.borrow_mut();
//!         let memory = arrays.entry((array.site, array.element, array.len));
//!         memory.or_insert_with(|| vec![u128::MAX; array.bytes().div_ceil(16)]).as_mut_ptr().cast()
//!     }
//!
//!     fn dynamic_shared(&self) -> (*mut u8, usize) {
//!         (core::ptr::dangling_mut::<u128>().cast(), 0)
//!     }
//!
//!     fn shared_bytes(&self) -> usize {
//!         self.arrays.borrow().values().map(|memory| 16 * memory.len()).sum()
//!     }
//!
//!     fn print(&self, text: &str) {
//!         self.text.borrow_mut().push_str(text);
//!     }
//! }
//!
//! let kernel = || {
//!     let square = shared_array![u32; 1];
//!     // SAFETY: the block has one thread.
//!     unsafe { *square = thread::block_idx_x().pow(2) };
//!     thread::nanosleep(100);
//!     // SAFETY: as above, and the other lanes have ended.
//!     let (square, ballot) = unsafe { (*square, warp::warp_vote_ballot(warp::FULL_MASK, true)) };
//!     println!("{square} {ballot} {}", thread::sync_threads_count(0));
//! };
//! let hooks = Alone::default();
//! for x in 0..3 {
//!     let coordinates = Coordinates { block_idx: [x, 0, 0], block_dim: [1; 3], grid_dim: [3, 1, 1], ..Default::default() };
//!     let lane = Lane { coordinates, fuel: Cell::new(FUEL), hooks: &hooks };
//!     enter(&lane, || {
//!         assert_eq!(current(), Some(coordinates));
//!         kernel();
//!     });
//! }
//! assert_eq!(hooks.text.take(), "0 1 0\n1 1 0\n4 1 0\n");
//!
//! // What kernels ask for, asked for directly:
//! let place = Location::caller();
//! assert_eq!(hooks.sync_threads(true, place), Tally { threads: 1, in_favour: 1 });
//! assert_eq!(hooks.exchange(Operation::Vote, 1, 5, place).values[0], 5);
//! assert_eq!((hooks.active_mask(place), hooks.give_way(100, place)), (1, FUEL));
//! let tile = SharedArray { site: 1, element: "f32", element_bytes: 4, len: 256 };
//! let before = hooks.shared_bytes();
//! assert!(hooks.shared_array(tile).cast::<u128>().is_aligned());
//! assert_eq!(hooks.shared_bytes() - before, tile.bytes());
//! assert_eq!(hooks.dynamic_shared().1, 0);
//! hooks.print("the end");
//! assert_eq!(hooks.text.take(), "the end");
//! assert_eq!(current(), None);
//! ```

use core::cell::Cell;
use core::panic::Location;
use core::ptr::NonNull;
use std::thread_local;

pub use crate::warp::WARP_SIZE;

/// Where a thread stands in its grid, in the order x, y, z.
///
/// ```
/// use cuda_std::emulation::Coordinates;
///
/// let thread = Coordinates {
///     thread_idx: [3, 1, 0],
///     block_idx: [0, 0, 0],
///     block_dim: [40, 2, 1],
///     grid_dim: [1, 1, 1],
/// };
/// assert_eq!(thread.linear_thread(), 43);
/// assert_eq!(thread.lane(), 11);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coordinates {
    /// Index of the thread in its block.
    pub thread_idx: [u32; 3],
    /// Index of the block in the grid.
    pub block_idx: [u32; 3],
    /// Threads per block.
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

/// The predicates of a block's threads at a barrier, counted.
///
/// ```
/// use cuda_std::emulation::Tally;
///
/// // Of four threads that came, each with a predicate:
/// let tally = [true, false, true, true].iter().fold(Tally::default(), |tally, &predicate| Tally {
///     threads: tally.threads + 1,
///     in_favour: tally.in_favour + u32::from(predicate),
/// });
/// assert_eq!(tally, Tally { threads: 4, in_favour: 3 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Threads that were there.
    pub threads: u32,
    /// Those of them whose predicate was true.
    pub in_favour: u32,
}

/// The operation that lanes exchange values for.
///
/// ```
/// use cuda_std::emulation::Operation;
///
/// /// Whether the values that lanes brought matter, or only that they came.
/// fn carries_values(operation: Operation) -> bool {
///     match operation {
///         Operation::Sync => false,
///         Operation::Vote | Operation::Match | Operation::Shuffle | Operation::Reduce => true,
///     }
/// }
/// assert!(carries_values(Operation::Vote) && !carries_values(Operation::Sync));
/// ```
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

/// The values that the lanes of a warp brought to an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The lanes of the mask that came; the others had ended.
    pub lanes: u32,
    /// Each lane's value; of lanes that did not come, 0.
    pub values: [u64; WARP_SIZE as usize],
}

/// One declaration of shared memory.
///
/// ```
/// use cuda_std::emulation::SharedArray;
///
/// let tile = SharedArray { site: 1, element: "f32", element_bytes: 4, len: 256 };
/// assert_eq!(tile.bytes(), 1024);
/// ```
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

/// The requests of a thread to the emulator beyond its coordinates: all that it shares with others.
///
/// # Safety
/// Kernels use the memory that [`Hooks::shared_array`] and [`Hooks::dynamic_shared`] return: it is as large and
/// aligned as they say, is the block's own, and lives until the last thread of the block has ended. Every thread
/// of the block is given the same. [`Hooks::sync_threads`] and [`Hooks::exchange`] return when the others have
/// come, because kernels take what those wrote before as written; to a thread that is unwound they may return at
/// once.
pub unsafe trait Hooks {
    /// Returns when every live thread of the block has called it.
    fn sync_threads(&self, predicate: bool, place: &'static Location<'static>) -> Tally;

    /// Returns what the lanes have brought, when every lane that the mask names and that has not ended has
    /// come for the same operation with the same mask.
    fn exchange(
        &self,
        operation: Operation,
        mask: u32,
        value: u64,
        place: &'static Location<'static>,
    ) -> Exchange;

    /// The lanes of the warp that are at this place of the source together.
    fn active_mask(&self, place: &'static Location<'static>) -> u32;

    /// Lets other threads go on. It counts as so many steps; returns how many the thread may go on
    /// for before it does so again.
    fn give_way(&self, steps: u32, place: &'static Location<'static>) -> u32;

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
    /// How many steps it goes before it [gives way](Hooks::give_way).
    pub fuel: Cell<u32>,
    /// The emulator that runs it.
    pub hooks: &'a dyn Hooks,
}

thread_local! {
    static CURRENT: Cell<Option<NonNull<Lane<'static>>>> = const { Cell::new(None) };
}

/// Runs `body` as the thread `lane`: what the body asks of `cuda_std` is answered by `lane`.
pub fn enter<R>(lane: &Lane<'_>, body: impl FnOnce() -> R) -> R {
    let _leave = Restore(CURRENT.replace(Some(NonNull::from(lane).cast())));
    body()
}

/// Runs `others` as no emulated thread: a hook that lets other threads run on the same host thread does so
/// there.
#[inline]
pub fn pause<R>(others: impl FnOnce() -> R) -> R {
    let _resume = Restore(CURRENT.take());
    others()
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

/// Counts an atomic operation, if a kernel runs: host code may use the same functions. Who reads again
/// and again waits for another thread, which is to have its turn soon.
#[inline]
pub(crate) fn step(steps: u32, place: &'static Location<'static>) {
    if CURRENT.get().is_some() {
        with_current(|lane| {
            let left = lane.fuel.get().checked_sub(steps);
            lane.fuel
                .set(left.unwrap_or_else(|| lane.hooks.give_way(FUEL, place)));
        });
    }
}

/// How many steps a thread goes through before it gives way, at most.
pub const FUEL: u32 = 1 << 16;

/// Asks the lane of the thread that runs.
#[inline]
pub(crate) fn with_current<R>(ask: impl FnOnce(&Lane<'_>) -> R) -> R {
    let current = CURRENT.get().expect(OUTSIDE);
    // SAFETY: `enter` put the pointer there from a reference that outlives its body, and takes it
    // away when the body ends; we are inside the body.
    ask(unsafe { current.as_ref() })
}
