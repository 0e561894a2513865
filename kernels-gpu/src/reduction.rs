//! Sums over a block, and over a grid in one launch. The order of the additions depends on the
//! launch's shape alone, so the same launch gives the same bits.

use cuda_std::atomic::Ordering;
use cuda_std::atomic::mid::{
    atomic_fetch_add_u32_device, atomic_load_64_device, atomic_store_32_device,
    atomic_store_64_device,
};
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, lane_id, warp_shuffle_idx, warp_shuffle_xor};

use crate::real::Float;

/// The most warps that a block has.
const MOST_WARPS: usize = 32;

/// The sum over the lanes of a warp, in all of them. Every lane comes here.
#[inline(always)]
pub fn warp_sum<T: Float, const K: usize>(mut sums: [T; K]) -> [T; K] {
    let mut bits = WARP_SIZE / 2;
    while bits > 0 {
        for k in 0..K {
            // SAFETY: all lanes come here.
            let (other, _) = unsafe { warp_shuffle_xor(FULL_MASK, sums[k], bits, WARP_SIZE) };
            // Both lanes add the same two numbers, so all lanes end with the same bits.
            sums[k] = sums[k] + other;
        }
        bits /= 2;
    }
    sums
}

/// The sums over the threads of a block, in all of them. All threads come here, whole warps of them;
/// between two calls lies a barrier.
#[inline(always)]
pub fn block_sum<T: Float, const K: usize>(own: [T; K]) -> [T; K] {
    warp_sum(sum_of_warp(own))
}

/// The sums over the threads of a block, in the threads of its first warp, as [`block_sum`].
#[inline(always)]
fn block_sum_in_first_warp<T: Float, const K: usize>(own: [T; K]) -> Option<[T; K]> {
    let of_lane = sum_of_warp(own);
    (thread::thread_idx_x() < WARP_SIZE).then(|| warp_sum(of_lane))
}

/// The sums over the threads of a warp of the block: in each warp lane n has those of warp n.
#[inline(always)]
fn sum_of_warp<T: Float, const K: usize>(own: [T; K]) -> [T; K] {
    let warp_sums = shared_array![[T; K]; MOST_WARPS];
    let lane = lane_id() as usize;
    let warp = (thread::thread_idx_x() / WARP_SIZE) as usize;
    let sum = warp_sum(own);
    if lane == 0 {
        // SAFETY: a block has at most MOST_WARPS warps.
        unsafe { *warp_sums.add(warp) = sum };
    }
    thread::sync_threads();
    let warps = (thread::block_dim_x() / WARP_SIZE) as usize;
    if lane < warps {
        // SAFETY: in the array, and written before the barrier.
        unsafe { *warp_sums.add(lane) }
    } else {
        [T::default(); K]
    }
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
        if thread::thread_idx_x() == 0 && thread::grid_dim_x() > 1 {
            // What is added is 1. ptxas does not know that lane 0 is here, and so does not make one
            // addition of a warp's, whose result all of its lanes would wait for at once.
            let one = lane_id() + 1;
            // SAFETY: the caller's contract.
            turn = unsafe { atomic_fetch_add_u32_device(ticket, Ordering::Relaxed, one) };
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
/// `partials` has `K` elements a block and `ticket` is the one that `turn` was taken from. All bits
/// of both are 0 before their first use, and again after the launch. Nothing else touches either
/// meanwhile. All threads of the grid take their turn and come here once, in blocks of one dimension
/// and whole warps.
#[inline(always)]
pub unsafe fn grid_sum<const K: usize>(
    turn: Turn,
    own: [f64; K],
    partials: *mut [f64; K],
    ticket: *mut u32,
) -> Option<[f64; K]> {
    let of_block = block_sum_in_first_warp(own)?;
    let blocks = thread::grid_dim_x();
    if blocks == 1 {
        return Some(of_block);
    }
    let words: *mut u64 = partials.cast();
    if lane_id() == 0 {
        for k in 0..K {
            let word = to_word(of_block[k]);
            // SAFETY: K words a block.
            unsafe {
                let own = words.add(thread::block_idx_x() as usize * K + k);
                atomic_store_64_device(own, Ordering::Relaxed, word);
            }
        }
    }
    // SAFETY: all lanes of the first warp come here.
    let (turn, _) = unsafe { warp_shuffle_idx(FULL_MASK, turn.0, 0, WARP_SIZE) };
    if turn != blocks - 1 {
        return None;
    }
    let mut sums = [0.0; K];
    let mut first = lane_id();
    while first < blocks {
        // SAFETY: K words a block, each of which is on its way.
        let of_blocks = unsafe { take_words::<K>(words, first, blocks) };
        for i in 0..AT_ONCE {
            for k in 0..K {
                sums[k] += from_word(of_blocks[i][k]);
            }
        }
        first += const { AT_ONCE as u32 * WARP_SIZE };
    }
    if lane_id() == 0 {
        // SAFETY: every block has its number.
        unsafe { atomic_store_32_device(ticket, Ordering::Relaxed, 0) };
    }
    Some(warp_sum(sums))
}

/// Blocks whose words a lane waits for at once.
const AT_ONCE: usize = 8;

/// Waits for the words of every [`WARP_SIZE`]th block from `first` on, takes them, and leaves 0. The
/// word of a block that is not there is that of 0.
///
/// # Safety
/// `words` has `K` a block, and each is 0 or will be written once more.
#[inline(always)]
unsafe fn take_words<const K: usize>(
    words: *mut u64,
    first: u32,
    blocks: u32,
) -> [[u64; K]; AT_ONCE] {
    let block = |i: usize| first + WARP_SIZE * i as u32;
    let place = |i: usize, k: usize| words.wrapping_add(block(i) as usize * K + k);
    let mut taken = [[to_word(0.0); K]; AT_ONCE];
    let mut is_missing = true;
    while is_missing {
        is_missing = false;
        for i in 0..AT_ONCE {
            for k in 0..K {
                if block(i) < blocks {
                    // SAFETY: a block's word.
                    taken[i][k] = unsafe { atomic_load_64_device(place(i, k), Ordering::Relaxed) };
                }
                is_missing |= taken[i][k] == 0;
            }
        }
    }
    for i in 0..AT_ONCE {
        for k in 0..K {
            if block(i) < blocks {
                // SAFETY: as above.
                unsafe { atomic_store_64_device(place(i, k), Ordering::Relaxed, 0) };
            }
        }
    }
    taken
}

/// The bits of a number, turned over. No number's are 0: those would be of a NaN that is not the
/// usual one.
#[inline(always)]
fn to_word(number: f64) -> u64 {
    !if number.is_nan() { f64::NAN } else { number }.to_bits()
}

#[inline(always)]
fn from_word(word: u64) -> f64 {
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
