//! `cuda_std::async_copy`.

use cuda_std::async_copy::*;
use cuda_std::prelude::*;

use crate::put;

/// Threads per block.
pub const BLOCK: usize = 64;

/// A line's value as one number.
pub fn number([a, b, c, d]: [u32; 4]) -> u64 {
    u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48
}

/// A block's arrays in shared memory, one for each copy.
#[derive(Clone, Copy)]
struct Copies {
    words: *mut u32,
    pairs: *mut u64,
    lines: *mut [u32; 4],
    uncached: *mut [u32; 4],
}

impl Copies {
    /// Returns the words that were copied for one thread.
    unsafe fn read(&self, thread: usize) -> [u64; 4] {
        unsafe {
            [
                (*self.words.add(thread)).into(),
                *self.pairs.add(thread),
                number(*self.lines.add(thread)),
                number(*self.uncached.add(thread)),
            ]
        }
    }
}

/// Each thread's own copies, group by group as they arrive, one more that is in no group, and after
/// the barrier those of another thread.
///
/// # Safety
/// The inputs have one element per thread, `out` 9.
#[kernel(block = [64])]
pub unsafe fn copies(words: *const u32, pairs: *const u64, lines: *const [u32; 4], out: *mut u64) {
    let copies = Copies {
        words: shared_array![u32; BLOCK],
        pairs: shared_array![u64; BLOCK],
        lines: shared_array![[u32; 4]; BLOCK],
        uncached: shared_array![[u32; 4]; BLOCK],
    };
    let last = shared_array![u32; BLOCK];
    let (own, element) = (thread::thread_idx_x() as usize, thread::global_index());
    unsafe {
        // What a copy that never comes would leave.
        *copies.words.add(own) = 0;
        *copies.pairs.add(own) = 0;
        *copies.lines.add(own) = [0; 4];
        *copies.uncached.add(own) = [0; 4];
        *last.add(own) = 0;
        thread::sync_threads();

        cp_async_ca(copies.words.add(own), words.add(element));
        cp_async_commit_group();
        cp_async_ca(copies.pairs.add(own), pairs.add(element));
        cp_async_commit_group();
        cp_async_ca(copies.lines.add(own), lines.add(element));
        cp_async_cg(copies.uncached.add(own), lines.add(element));
        cp_async_commit_group();

        cp_async_wait_group::<2>();
        let word = (*copies.words.add(own)).into();
        cp_async_wait_group::<1>();
        let pair = *copies.pairs.add(own);
        cp_async_wait_group::<0>();
        let [_, _, line, uncached] = copies.read(own);
        cp_async_ca(last.add(own), words.add(element));
        cp_async_wait_all();
        let last = (*last.add(own)).into();
        thread::sync_threads();
        let [a, b, c, d] = copies.read(BLOCK - 1 - own);
        put(out, [word, pair, line, uncached, last, a, b, c, d]);
    }
}
