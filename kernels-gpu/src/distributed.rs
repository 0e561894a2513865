//! Kernels of devices that share a vector, each with a part of it: they write what the others need into the others' memory.
//!
//! A number is handed over in one word, which is 0 until then ([`to_word`]): it says itself that it has come, so nothing else need
//! be ordered with it, and no fence waits. Every device has three sets of words ([`SETS`]) and uses them in turns. A device sends
//! the words of a turn, one at least, when it has taken all those of the turn before. As it takes a set, it empties the one of the
//! turn before, which nobody writes to until this device has sent again: they wait for its words. A device that never sent would hold
//! nobody back.
//!
//! No fence orders the emptying of a set and the next word that comes to it, either. Between them lie the end of the kernel that
//! empties, a word that this device sends in a later one, and the kernel of the other device that waits for this word before the next
//! sends. GPUs keep to that order. PTX's memory model does not promise it: all these words are relaxed, and it asks for a release and
//! an acquire between the devices.

use cuda_std::atomic::Ordering;
use cuda_std::atomic::mid::{
    atomic_load_32_system, atomic_load_64_system, atomic_store_32_system, atomic_store_64_system,
};
use cuda_std::cfg::ComputeCapability;
use cuda_std::prelude::*;
use cuda_std::warp::{FULL_MASK, WARP_SIZE, warp_shuffle_idx};
use cuda_std::{grid_dependency, misc};

use crate::functions::{Divide, Unary};
use crate::gemv::own_sum;
use crate::norm::{self, Squares, own_squares};
use crate::reduction::{Turn, block_sum, block_sum_in_first_warp, from_word, grid_sum, to_word};

/// Sets of words that each device has.
pub const SETS: usize = 3;
/// The most devices that share a vector: a warp's lanes write to one each.
pub const MOST_DEVICES: usize = 32;
/// Threads per block of [`gemv_send()`]: twice those of [`gemv`](crate::gemv), because a part of a matrix has few rows for each block that runs
/// at once, and the last rows are waited for.
pub const SEND_BLOCK: u32 = 512;
/// Threads per block of [`take_normalized()`] and [`take_look()`].
pub const TAKE_BLOCK: u32 = 1024;
/// Elements of `f64` that are read at once.
const WIDTH: usize = 2;
/// Words that a thread asks for at once.
const IN_FLIGHT: usize = 8;
/// Looks at words between two looks at the time.
const LOOKS: u32 = 1 << 10;

/// Some rows of `y = A x`, whose elements go to all devices: element `first_row + i`, of row `i` of `a`, to that word of each of
/// `targets`. What launches before have written to `x` is waited for here, so this one may begin before they end.
///
/// The first blocks take the first rows, or with `backwards` the last: a step that goes the other way than the one before finds in the
/// L2 cache what that has read last.
///
/// # Safety
/// `a` has a row of `len` elements for each block of the grid, which has one dimension, and `x` has `len`; both are aligned to 16
/// bytes. `targets` are at most [`MOST_DEVICES`] addresses of words that this device reaches, and each has that many.
#[kernel(block = [512, 1, 1], min_blocks = 2)]
pub unsafe fn gemv_send(
    a: *const f64,
    x: *const f64,
    len: usize,
    first_row: usize,
    backwards: bool,
    targets: &[u64],
) {
    let block = thread::block_idx_x();
    let row = if backwards {
        thread::grid_dim_x() - 1 - block
    } else {
        block
    } as usize;
    overlap_next();
    // SAFETY: a row of the matrix, by the kernel's contract; rows of whole vectors are aligned, and so is each element.
    let own = unsafe {
        let start = a.add(row * len);
        if len.is_multiple_of(WIDTH) {
            own_sum::<f64, WIDTH, { SEND_BLOCK as usize }, true>(
                start,
                x,
                len,
                wait_for_launch_before,
            )
        } else {
            own_sum::<f64, 1, { SEND_BLOCK as usize }, true>(start, x, len, wait_for_launch_before)
        }
    };
    if let Some([sum]) = block_sum_in_first_warp([own])
        && let Some(&target) = targets.get(thread::thread_idx_x() as usize)
    {
        // SAFETY: by the kernel's contract; the word is this row's alone.
        unsafe { send(target, first_row + row, sum) };
    }
}

/// The numbers of `words`, once they have come, divided by their norm, to `x`, and the norm to `norm`; `spare` is emptied. Every
/// block reads all numbers, and writes its part.
///
/// A launch waits for `nanoseconds`. Of what has not come by then it makes NaN, sets `lost`, and later launches do not wait again.
///
/// # Safety
/// `words` and `spare` are `len` words each of this device, apart from each other, and `x` has room for as many numbers. Nobody sends
/// to `spare` before this device has sent again. `lost` is one number, 0 at first, and `norm` has one element. The grid has one
/// dimension. Where it overlaps the launch before, that is [`gemv_send()`], which sends its own rows here too: no other reads `x`.
#[kernel(block = [1024, 1, 1])]
pub unsafe fn take_normalized(
    words: *mut u64,
    spare: *mut u64,
    x: *mut f64,
    len: usize,
    norm: *mut f64,
    lost: *mut u32,
    nanoseconds: u64,
) {
    overlap_next();
    let patience = Patience::new(lost, nanoseconds);
    // SAFETY: the kernel's contract.
    unsafe { normalized(words, spare, x, len, norm, patience, |_, _| {}) };
}

/// As [`take_normalized()`], and keeps what a look at `x` needs, so that the look can be taken beside the next steps: the elements
/// that `x` had before to `before`, and the numbers that the matrix made of them to `product`.
///
/// # Safety
/// As for [`take_normalized()`]; `before` and `product` have room for `len` numbers each, apart from everything else, and `x` has an
/// element for each.
#[kernel(block = [1024, 1, 1])]
#[allow(
    clippy::too_many_arguments,
    reason = "what is kept, beside those of the kernel without"
)]
pub unsafe fn take_look(
    words: *mut u64,
    spare: *mut u64,
    x: *mut f64,
    len: usize,
    norm: *mut f64,
    lost: *mut u32,
    nanoseconds: u64,
    before: *mut f64,
    product: *mut f64,
) {
    overlap_next();
    let patience = Patience::new(lost, nanoseconds);
    // SAFETY: the kernel's contract; `normalized` comes to each element below `len` once, and overwrites it afterwards.
    unsafe {
        normalized(words, spare, x, len, norm, patience, |i, number| {
            // This launch may have begun before `x` was written, which the product has waited for. It has sent all its rows, so
            // this takes no time.
            wait_for_launch_before();
            *before.add(i) = *x.add(i);
            *product.add(i) = number;
        });
    }
}

/// Normalizes as [`take_normalized()`]. Calls `keep` with the place and the number of each element that this thread is about to overwrite.
///
/// # Safety
/// That of [`take_normalized()`].
#[inline(always)]
unsafe fn normalized(
    words: *mut u64,
    spare: *mut u64,
    x: *mut f64,
    len: usize,
    norm: *mut f64,
    mut patience: Patience,
    mut keep: impl FnMut(usize, f64),
) {
    let mut sums = [0.0; 3];
    // The first element that this thread writes, which is among those that it reads.
    let first = thread::global_index();
    let mut first_number = 0.0;
    // SAFETY: words of this device.
    unsafe {
        taken(
            words,
            thread::thread_idx_x() as usize,
            TAKE_BLOCK as usize,
            len,
            &mut patience,
            |i, number| {
                f64::add_squares([[number]], core::array::from_mut(&mut sums));
                first_number = if i == first { number } else { first_number };
            },
        );
    }
    let length = f64::root(block_sum(sums));
    if thread::global_index() == 0 {
        // SAFETY: one thread of the grid.
        unsafe { *norm = length };
    }
    let divide = Divide::by(length);
    for i in thread::grid_stride(len) {
        // SAFETY: i < len, and comes to one thread. All words of the turn have come, so nobody reads `x` any more.
        unsafe {
            let number = match i == first {
                true => first_number,
                false => from_word(atomic_load_64_system(words.add(i), Ordering::Relaxed)),
            };
            keep(i, number);
            *x.add(i) = divide.of(number);
            atomic_store_64_system(spare.add(i), Ordering::Relaxed, 0);
        }
    }
}

/// The sums of the squares of this device's part of a vector, [`Squares`], to all devices: sum `k` to word `K * rank + k` of each of
/// `targets`.
///
/// # Safety
/// `x`, `partials`, `ticket` and the grid are as for [`nrm2`](norm::nrm2); `targets` as for [`gemv_send()`].
#[kernel(block = [512, 1, 1], min_blocks = 2,
         instances(squares_send_f32<f32, 4, 1>, squares_send_f64<f64, 2, 3>))]
pub unsafe fn squares_send<T: Squares<K>, const N: usize, const K: usize>(
    x: &[T],
    rank: u32,
    targets: &[u64],
    partials: *mut [f64; K],
    ticket: *mut u32,
) {
    // SAFETY: the kernel's contract.
    let sums = unsafe {
        let turn = Turn::take(ticket);
        let own = own_squares::<T, N, K, { norm::IN_FLIGHT }>(norm::BLOCK as usize, x);
        grid_sum(turn, own, partials)
    };
    if let Some(sums) = sums
        && let Some(&target) = targets.get(thread::thread_idx_x() as usize)
    {
        for k in 0..K {
            // SAFETY: by the kernel's contract; the words are this device's.
            unsafe { send(target, rank as usize * K + k, sums[k]) };
        }
    }
}

/// The norm of a vector, of whose parts the sums come as [`squares_send`] sends them, added up in the order of the devices; `spare` is
/// emptied.
///
/// # Safety
/// `words` and `spare` are as for [`take_normalized()`], `K` for each of `devices`, `norm` has one element, `lost` is as there. The grid
/// is one block.
#[kernel(block = [32, 1, 1], instances(take_root_f32<f32, 1>, take_root_f64<f64, 3>))]
pub unsafe fn take_root<T: Squares<K>, const K: usize>(
    words: *mut u64,
    spare: *mut u64,
    devices: u32,
    norm: *mut T,
    lost: *mut u32,
    nanoseconds: u64,
) {
    // A lane for each sum.
    let lane = thread::thread_idx_x() as usize;
    let mut own = 0.0;
    if lane < K {
        let mut patience = Patience::new(lost, nanoseconds);
        let (words, spare) = (words.wrapping_add(lane), spare.wrapping_add(lane));
        let len = (devices as usize * K).saturating_sub(lane);
        // SAFETY: words of this device, each of which one lane takes.
        unsafe {
            taken(words, 0, K, len, &mut patience, |i, number| {
                own += number;
                atomic_store_64_system(spare.add(i), Ordering::Relaxed, 0);
            });
        }
    }
    let mut sums = [0.0; K];
    for k in 0..K {
        // SAFETY: all lanes of the block's one warp come here.
        (sums[k], _) = unsafe { warp_shuffle_idx(FULL_MASK, own, k as u32, WARP_SIZE) };
        // A root is NaN if the first sum is; of another that is lost it would say nothing.
        if sums[k].is_nan() {
            sums[0] = f64::NAN;
        }
    }
    if lane == 0 {
        // SAFETY: one thread.
        unsafe { *norm = T::root(sums) };
    }
}

/// # Safety
/// `target` is the address of more than `place` words that this device reaches.
#[inline(always)]
unsafe fn send(target: u64, place: usize, number: f64) {
    let words = core::ptr::with_exposed_provenance_mut::<u64>(target as usize);
    // SAFETY: the caller's contract.
    unsafe { atomic_store_64_system(words.add(place), Ordering::Relaxed, to_word(number)) };
}

/// Calls `each` with the place and the number of every `step`-th word below `len` from `first` on, once it has come; of those that are
/// lost the number is NaN.
///
/// # Safety
/// `words` are `len` words of this device.
#[inline(always)]
unsafe fn taken(
    words: *mut u64,
    mut first: usize,
    step: usize,
    len: usize,
    patience: &mut Patience,
    mut each: impl FnMut(usize, f64),
) {
    while first < len {
        let mut group = [to_word(0.0); IN_FLIGHT];
        let mut is_missing = true;
        while is_missing {
            is_missing = false;
            for u in 0..IN_FLIGHT {
                let i = first + u * step;
                if i < len {
                    // SAFETY: i < len.
                    group[u] = unsafe { atomic_load_64_system(words.add(i), Ordering::Relaxed) };
                }
                is_missing |= group[u] == 0;
            }
            is_missing &= patience.is_left();
        }
        for u in 0..IN_FLIGHT {
            let i = first + u * step;
            if i < len {
                each(i, from_word(group[u]));
            }
        }
        first += IN_FLIGHT * step;
    }
}

/// How long a thread goes on to wait.
struct Patience {
    lost: *mut u32,
    nanoseconds: u64,
    began: u64,
    looks: u32,
}

impl Patience {
    #[inline(always)]
    fn new(lost: *mut u32, nanoseconds: u64) -> Patience {
        Patience {
            lost,
            nanoseconds,
            began: 0,
            looks: 0,
        }
    }

    /// Whether to look again. Says that words are lost, where it is for too long that none has come.
    #[inline(always)]
    fn is_left(&mut self) -> bool {
        self.looks += 1;
        if !self.looks.is_multiple_of(LOOKS) {
            return true;
        }
        let now = misc::globaltimer();
        if self.looks == LOOKS {
            self.began = now;
        }
        // SAFETY: all threads write the same to it, by atomic stores.
        unsafe {
            if now - self.began >= self.nanoseconds {
                atomic_store_32_system(self.lost, Ordering::Relaxed, 1);
            }
            atomic_load_32_system(self.lost, Ordering::Relaxed) == 0
        }
    }
}

/// Whether launches can overlap: before `sm_90` there is neither the instruction nor the launch.
#[inline(always)]
fn can_overlap() -> bool {
    ComputeCapability::from_cuda_arch_env() >= ComputeCapability::Compute90
}

/// The next launch may begin, if it asks for that.
#[inline(always)]
fn overlap_next() {
    if can_overlap() {
        grid_dependency::launch_dependents();
    }
}

#[inline(always)]
fn wait_for_launch_before() {
    if can_overlap() {
        grid_dependency::wait();
    }
}
