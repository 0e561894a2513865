//! Sums over a block, and over a grid in one launch. The order of the additions depends on the
//! launch's shape alone, so the same launch gives the same bits.

use cuda_std::atomic::Ordering;
use cuda_std::atomic::mid::{
    atomic_fetch_inc_u32_device, atomic_load_64_device, atomic_store_64_device,
};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_shuffle_xor, warp_vote_any};

use crate::real::Float;

/// The most warps that a block has.
const MOST_WARPS: usize = 32;
/// Sums of warps that a lane adds up itself: that takes less time than to pass them on.
const WARPS_EACH: usize = 8;
/// Lanes that do so. The others do the same over again.
const ADDING_LANES: u32 = (MOST_WARPS / WARPS_EACH) as u32;
/// Sums of blocks that a thread waits for at once where one warp takes them all.
const OF_A_WARP: usize = 8;
/// The same where all threads of a block do.
const OF_A_BLOCK: usize = 4;

/// The sum over the lanes of a warp, in all of them. Every lane comes here.
#[inline(always)]
pub fn warp_sum<T: Float, const K: usize>(sums: [T; K]) -> [T; K] {
    group_sum(sums, WARP_SIZE)
}

/// The sum over each group of `lanes` neighbouring lanes, a power of two, in all of the group. Every
/// lane of the warp comes here.
///
/// Of several sums the first is expected to count: others are passed on where they are not 0.
#[inline(always)]
fn group_sum<T: Float, const K: usize>(mut sums: [T; K], lanes: u32) -> [T; K] {
    for k in 0..K {
        // SAFETY: all lanes come here.
        if k > 0 && !unsafe { warp_vote_any(FULL_MASK, sums[k] != T::default()) } {
            continue;
        }
        let mut bits = lanes / 2;
        while bits > 0 {
            // SAFETY: all lanes come here.
            let (other, _) = unsafe { warp_shuffle_xor(FULL_MASK, sums[k], bits, WARP_SIZE) };
            // Both lanes add the same two numbers, so all lanes end with the same bits.
            sums[k] = sums[k] + other;
            bits /= 2;
        }
    }
    sums
}

/// The sums over the threads of a block, in all of them. All threads come here, whole warps of them;
/// between two calls lies a barrier.
#[inline(always)]
pub fn block_sum<T: Float, const K: usize>(own: [T; K]) -> [T; K] {
    let sums = sums_of_warps(warp_sum(own));
    // SAFETY: just made.
    unsafe { sum_over_warps(sums) }
}

/// The sums over the threads of a block, in the threads of its first warp, as [`block_sum`].
#[inline(always)]
pub fn block_sum_in_first_warp<T: Float, const K: usize>(own: [T; K]) -> Option<[T; K]> {
    let sums = sums_of_warps(warp_sum(own));
    // SAFETY: just made.
    (thread::thread_idx_x() < WARP_SIZE).then(|| unsafe { sum_over_warps(sums) })
}

/// Where the sums of all warps of the block are. Every warp brings its own, and all threads meet at a
/// barrier, so that each may read what any wrote before; another barrier lies before the next call.
#[inline(always)]
fn sums_of_warps<T: Float, const K: usize>(sum: [T; K]) -> *const [T; K] {
    let sums = shared_array![[T; K]; MOST_WARPS];
    if lane_id() == 0 {
        let warp = thread::thread_idx_x() / WARP_SIZE;
        // SAFETY: a block has at most MOST_WARPS warps.
        unsafe { *sums.add(warp as usize) = sum };
    }
    thread::sync_threads();
    sums
}

/// # Safety
/// `of_warps` is that of [`sums_of_warps`]. Every lane of the warp comes here.
#[inline(always)]
unsafe fn sum_over_warps<T: Float, const K: usize>(of_warps: *const [T; K]) -> [T; K] {
    let warps = thread::block_dim_x() / WARP_SIZE;
    let first = lane_id() % ADDING_LANES * WARPS_EACH as u32;
    let mut sums = [[T::default(); K]; WARPS_EACH];
    for i in 0..WARPS_EACH {
        let warp = first + i as u32;
        if warp < warps {
            // SAFETY: every warp has written its sum before the barrier.
            sums[i] = unsafe { *of_warps.add(warp as usize) };
        }
    }
    group_sum(in_pairs(sums), ADDING_LANES)
}

/// The sum of a power of two of sums, of neighbours first: additions that do not wait for each other.
#[inline(always)]
fn in_pairs<T: Float, const K: usize, const N: usize>(mut sums: [[T; K]; N]) -> [T; K] {
    const { assert!(N.is_power_of_two()) };
    let mut count = N;
    while count > 1 {
        count /= 2;
        for i in 0..count {
            for k in 0..K {
                sums[i][k] = sums[2 * i][k] + sums[2 * i + 1][k];
            }
        }
    }
    sums[0]
}

/// A block's number in the order in which the blocks of a grid began. Its first thread knows it.
pub struct Turn(u32);

impl Turn {
    /// Takes the next number. It is there long before the block's sum, so nothing waits for it.
    ///
    /// # Safety
    /// That of [`grid_sum`].
    #[inline(always)]
    pub unsafe fn take(ticket: *mut u32) -> Turn {
        let mut turn = 0;
        let blocks = thread::grid_dim_x();
        if thread::thread_idx_x() == 0 && blocks > 1 {
            // The last number is followed by 0. An addition would do, but ptxas makes one of a warp's
            // of it, and waits for its result at once.
            // SAFETY: the caller's contract.
            turn = unsafe { atomic_fetch_inc_u32_device(ticket, Ordering::Relaxed, blocks - 1) };
        }
        Turn(turn)
    }
}

/// The sums over all threads of a one-dimensional grid, in the first warp of one block: the one that
/// began last, which waits for the sums of the others. They have begun, so they come. The rest gets
/// `None`.
///
/// A sum is handed on in one word that is not zero, so that nothing else need be ordered with it.
///
/// # Safety
/// `partials` has `K` elements per block and `turn` was taken from a ticket. All bits of both are 0
/// before their first use, and again after the launch. Nothing else touches either meanwhile. All
/// threads of the grid take their turn and come here once, in blocks of one dimension and whole warps.
#[inline(always)]
pub unsafe fn grid_sum<const K: usize>(
    turn: Turn,
    own: [f64; K],
    partials: *mut [f64; K],
) -> Option<[f64; K]> {
    let turn_of_block = shared_array![u32; 1];
    let thread = thread::thread_idx_x();
    if thread == 0 {
        // SAFETY: one thread writes it, and a barrier follows.
        unsafe { *turn_of_block = turn.0 };
    }
    let sums = sums_of_warps(warp_sum(own));
    let blocks = thread::grid_dim_x();
    let words: *mut u64 = partials.cast();
    if thread < WARP_SIZE {
        // SAFETY: just made.
        let of_block = unsafe { sum_over_warps(sums) };
        if blocks == 1 {
            return Some(of_block);
        }
        if thread == 0 {
            for k in 0..K {
                // SAFETY: K words per block.
                unsafe {
                    let own = words.add(thread::block_idx_x() as usize * K + k);
                    atomic_store_64_device(own, Ordering::Relaxed, to_word(of_block[k]));
                }
            }
        }
    }
    // One warp adds up few sums sooner than several that have to meet.
    let one_warp_does = blocks <= const { WARP_SIZE * OF_A_WARP as u32 };
    // SAFETY: written before the barrier.
    let is_last = unsafe { *turn_of_block } == blocks - 1;
    if !is_last || (one_warp_does && thread >= WARP_SIZE) {
        return None;
    }
    // SAFETY: K words per block, and each block has begun. This is the only one that began last.
    let own = unsafe {
        if one_warp_does {
            sum_of_words::<K, OF_A_WARP>(words, WARP_SIZE)
        } else {
            sum_of_words::<K, OF_A_BLOCK>(words, thread::block_dim_x())
        }
    };
    let of_warp = warp_sum(own);
    if one_warp_does {
        return Some(of_warp);
    }
    // The first warp has read the sums of before.
    thread::sync_threads();
    let sums = sums_of_warps(of_warp);
    // SAFETY: just made.
    (thread < WARP_SIZE).then(|| unsafe { sum_over_warps(sums) })
}

/// This thread's part of the sum over all blocks, of which each of so many threads has one. It takes the
/// words of `AT_ONCE` blocks at once.
///
/// # Safety
/// The first `threads` threads of one block come here, and no other. `words` has `K` for each block of
/// the grid, each 0 until that block has written it, which it has or will.
#[inline(always)]
unsafe fn sum_of_words<const K: usize, const AT_ONCE: usize>(
    words: *mut u64,
    threads: u32,
) -> [f64; K] {
    let mut sums = [0.0; K];
    let mut first = thread::thread_idx_x();
    while first < thread::grid_dim_x() {
        // SAFETY: these words are those of this thread.
        let of_blocks = in_pairs(unsafe { take_words::<K, AT_ONCE>(words, first, threads) });
        for k in 0..K {
            sums[k] += of_blocks[k];
        }
        first += threads * AT_ONCE as u32;
    }
    sums
}

/// Waits for the words of `AT_ONCE` blocks, `step` apart from `first` on, takes them, and leaves 0. The
/// sum of a block that is not there is 0.
///
/// # Safety
/// As for [`sum_of_words`]; no other thread takes these words.
#[inline(always)]
unsafe fn take_words<const K: usize, const AT_ONCE: usize>(
    words: *mut u64,
    first: u32,
    step: u32,
) -> [[f64; K]; AT_ONCE] {
    let blocks = thread::grid_dim_x();
    let block = |i: usize| first + step * i as u32;
    let place = |i: usize, k: usize| words.wrapping_add(block(i) as usize * K + k);
    let is_there = |i: usize| block(i) < blocks;
    let mut taken = [[to_word(0.0); K]; AT_ONCE];
    let mut is_missing = true;
    while is_missing {
        is_missing = false;
        for i in 0..AT_ONCE {
            for k in 0..K {
                if is_there(i) {
                    // SAFETY: a block's word.
                    taken[i][k] = unsafe { atomic_load_64_device(place(i, k), Ordering::Relaxed) };
                }
                is_missing |= taken[i][k] == 0;
            }
        }
    }
    for i in 0..AT_ONCE {
        for k in 0..K {
            if is_there(i) {
                // SAFETY: as above.
                unsafe { atomic_store_64_device(place(i, k), Ordering::Relaxed, 0) };
            }
        }
    }
    taken.map(|of_block| of_block.map(from_word))
}

/// The bits of a number, turned over. No number's are 0: those would be of a NaN that is not the
/// usual one.
#[inline(always)]
pub fn to_word(number: f64) -> u64 {
    !if number.is_nan() { f64::NAN } else { number }.to_bits()
}

/// The number that [`to_word`] was given.
#[inline(always)]
pub fn from_word(word: u64) -> f64 {
    f64::from_bits(!word)
}

/// Adds up an element of `partials` for each block of the grid, in the same order in every block.
///
/// # Safety
/// Each block has written its element, and a barrier lies between.
#[inline(always)]
pub unsafe fn sum_of_blocks<const K: usize>(partials: *const [f64; K]) -> [f64; K] {
    let mut own = [0.0; K];
    let mut block = thread::thread_idx_x();
    while block < thread::grid_dim_x() {
        // SAFETY: an element for each block.
        let of_block = unsafe { *partials.add(block as usize) };
        for k in 0..K {
            own[k] += of_block[k];
        }
        block += thread::block_dim_x();
    }
    block_sum(own)
}
