//! The edges of a thread's launches, for fuzzers that are guided by them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::count::{OfBlock, Tally};
use crate::digest;

thread_local! {
    /// Of the launches in the innermost call of [`edges_into`] on this thread: how many threads went along each.
    static TAKEN: RefCell<Option<HashMap<u64, u64>>> = const { RefCell::new(None) };
}

/// Adds the edges of the launches that `run` makes on this thread to `map`, the feedback of coverage-guided fuzzers:
/// libFuzzer, AFL and LibAFL have such a map, and a loop of one's own makes one. Gives what `run` gives.
///
/// An edge is a basic block of a kernel with where its threads went at its end: they took the branch, they did not, some of
/// a warp did and others not, or to which of several targets. Each has its place in the map, the same in every process; two may
/// share one, and do so less often in a larger map. The byte there grows by the threads that went along the edge (by
/// the warps whose threads parted), up to 255. A basic block in which a launch fails has no edge.
///
/// The bytes are written when `run` ends, also by a panic. In a call within another the inner map has the edges. A thread that
/// is in no such call asks once per launch.
///
/// ```
/// use std::sync::atomic::{AtomicU8, Ordering};
///
/// use engine::coverage::edges_into;
/// use engine::memory::Memory;
/// use engine::{Module, Options, Shape};
///
/// let ptx = "
/// .version 8.0
/// .target sm_80
/// .address_size 64
/// .visible .entry early(.param .u32 limit) {
///     .reg .b32 %r<3>;
///     .reg .pred %p;
///     mov.u32 %r1, %tid.x;
///     ld.param.u32 %r2, [limit];
///     setp.ge.u32 %p, %r1, %r2;
///     @%p bra END;
///     add.u32 %r1, %r1, 1;
/// END:
///     ret;
/// }";
/// let module = Module::load(ptx, &Default::default()).expect("PTX");
/// let kernel = module.kernel("early").expect("the kernel");
/// let shape = Shape { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 0 };
/// let edges = |limit: u32| {
///     let map = [const { AtomicU8::new(0) }; 4096];
///     let launch = || kernel.launch(shape, Options::default(), &limit.to_le_bytes(), &|_| (), None);
///     edges_into(&map, launch).expect("nothing is wrong");
///     map.iter().filter(|it| it.load(Ordering::Relaxed) > 0).count()
/// };
/// // With the limit 0 all threads take the branch to the last block, which all leave; with 7 some do not, and pass the block before it.
/// assert_eq!((edges(0), edges(7)), (2, 5));
/// ```
pub fn edges_into<R>(map: &[AtomicU8], run: impl FnOnce() -> R) -> R {
    let _within = Within {
        map,
        outer: TAKEN.replace(Some(HashMap::new())),
    };
    run()
}

/// A call of [`edges_into`]. Its end writes the map.
struct Within<'m> {
    map: &'m [AtomicU8],
    outer: Option<HashMap<u64, u64>>,
}

impl Drop for Within<'_> {
    fn drop(&mut self) {
        let taken = TAKEN.replace(self.outer.take()).unwrap_or_default();
        for (edge, threads) in taken {
            // A map without bytes takes none.
            let Some(place) = edge.checked_rem(self.map.len() as u64) else {
                return;
            };
            let byte = &self.map[place as usize];
            let sum = threads.saturating_add(byte.load(Ordering::Relaxed).into());
            byte.store(sum.min(255) as u8, Ordering::Relaxed);
        }
    }
}

/// Whether this thread is in a call of [`edges_into`].
pub(super) fn are_asked_for() -> bool {
    let is_within = TAKEN.try_with(|taken| taken.borrow().is_some());
    // A thread that ends has left it.
    is_within.unwrap_or(false)
}

/// A launch of this kernel by this thread has ended.
pub(super) fn add(kernel: &str, tally: &Tally) {
    let kernel = digest::of(kernel.bytes());
    let add = |taken: &RefCell<Option<HashMap<u64, u64>>>| {
        let mut taken = taken.borrow_mut();
        let Some(taken) = taken.as_mut() else { return };
        for (edge, threads) in edges(tally) {
            if threads > 0 {
                *taken.entry(kernel ^ edge).or_default() += threads;
            }
        }
    };
    // As above.
    let _ = TAKEN.try_with(add);
}

/// Each edge of the functions that have run, and the threads that went along it.
fn edges(tally: &Tally) -> impl Iterator<Item = (u64, u64)> {
    tally
        .functions()
        .flat_map(|(function, blocks, switches)| {
            let numbered = (0u32..).zip(blocks);
            let of_branches = numbered.flat_map(move |(block, ran)| {
                let outcomes = (0u32..).zip(outcomes(ran));
                outcomes.map(move |(outcome, threads)| ([function, block, 0, outcome], threads))
            });
            let of_switches = switches
                .iter()
                .map(move |(&(block, target), &threads)| ([function, block, 1, target], threads));
            of_branches.chain(of_switches)
        })
        .map(|(edge, threads)| {
            (
                digest::of(edge.into_iter().flat_map(u32::to_le_bytes)),
                threads,
            )
        })
}

/// Threads that took the branch of a block, that did not, and warps whose threads parted there. A block without a branch has
/// those that did not.
fn outcomes(block: &OfBlock) -> [u64; 3] {
    [block.taken, block.lanes - block.taken, block.splits]
}
