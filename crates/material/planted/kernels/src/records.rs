//! Structs, tuples, options and enums with padding on their way between threads, through shared memory, buffers and blocks of the heap;
//! each used once where nothing was written.

use core::hint::black_box;
use core::mem::MaybeUninit;
use core::ptr;

use cuda_std::prelude::*;

/// A record with padding in the middle and at the end.
#[derive(Clone, Copy)]
#[repr(C)]
struct Sample {
    kind: u8,
    value: u64,
    count: u16,
}

impl Sample {
    fn of(x: &[u32], i: usize) -> Sample {
        let of = x[i % x.len()];
        Sample {
            kind: of as u8,
            value: u64::from(of) << 40,
            count: 3,
        }
    }

    fn sum(&self) -> u32 {
        u32::from(self.kind) + (self.value >> 40) as u32 * u32::from(self.count)
    }
}

/// A byte of padding, by an address that the compiler knows nothing of.
unsafe fn padding(of: *const Sample) -> u32 {
    unsafe { u32::from(*black_box(of).cast::<u8>().add(20)) }
}

/// Each thread copies a record to a buffer, and reads another thread's.
#[kernel(instances(sample_in_buffer<true>, sample_in_buffer_fixed<false>), allow(local_memory))]
pub unsafe fn in_buffer<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let samples = unsafe { y.add(64) }.cast::<Sample>();
    let mine = Sample::of(&x[..n as usize], own);
    unsafe {
        ptr::copy_nonoverlapping(black_box(&mine), samples.add(own), 1); // at: sample_in_buffer
        thread::sync_threads();
        let other = samples.add((own + 9) % 64);
        let sum = (*other).sum();
        *y.add(own) = sum + if BUG { padding(other) } else { 0 }; // at: sample_in_buffer
    }
}

/// Thread 0 makes room on the heap, and all threads exchange records there.
#[kernel(instances(sample_on_heap<true>, sample_on_heap_fixed<false>), allow(local_memory))]
pub unsafe fn on_heap<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let room = shared_array![*mut MaybeUninit<Sample>; 1];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own == 0 {
            *room = Box::into_raw(Box::<[Sample]>::new_uninit_slice(65)).cast();
        }
        thread::sync_threads();
        let samples = *room;
        (*samples.add(own)).write(*black_box(&Sample::of(&x[..n as usize], own)));
        thread::sync_threads();
        let at = if BUG && own == 20 { 64 } else { 63 - own };
        let other = (*samples.add(at)).assume_init(); // at: sample_on_heap
        *y.add(own) = black_box(other).sum(); // at: sample_on_heap
        thread::sync_threads();
        if own == 0 {
            drop(Box::from_raw(ptr::slice_from_raw_parts_mut(samples, 65)));
        }
    }
}

/// Tuples are transposed in shared memory.
#[kernel(instances(tuple_missing<true>, tuple_missing_fixed<false>), allow(local_memory))]
pub unsafe fn transpose<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![MaybeUninit<(u8, u32, u16)>; 64];
    let own = thread::thread_idx_x() as usize;
    let of = x[own % n as usize];
    unsafe {
        if !BUG || own != 33 {
            *tile.add(own % 8 * 8 + own / 8) = MaybeUninit::new((of as u8, of * 5, 7));
        }
        thread::sync_threads();
        let (small, large, half) = (*tile.add(own)).assume_init(); // at: tuple_missing
        *y.add(own) = u32::from(small) + large + u32::from(half); // at: tuple_missing
    }
}

/// How far a thread has come.
#[derive(Clone, Copy)]
enum Outcome {
    Nothing,
    Byte(u8),
    Pair { low: u16, high: u64 },
}

impl Outcome {
    fn sum(self) -> u32 {
        // at: outcome_missing
        match self {
            Outcome::Nothing => 1,
            Outcome::Byte(it) => u32::from(it),
            Outcome::Pair { low, high } => u32::from(low) + high as u32,
        }
    }
}

/// Outcomes of different sizes change places in shared memory.
#[kernel(instances(outcome_missing<true>, outcome_missing_fixed<false>), allow(local_memory))]
pub unsafe fn outcomes<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let all = shared_array![MaybeUninit<Outcome>; 64];
    let own = thread::thread_idx_x() as usize;
    let of = x[own % n as usize];
    unsafe {
        let mine = match of % 3 {
            0 => Outcome::Nothing,
            1 => Outcome::Byte(of as u8),
            _ => Outcome::Pair {
                low: of as u16,
                high: 8,
            },
        };
        if !BUG || own != 50 {
            (*all.add(own)).write(black_box(mine));
        }
        thread::sync_threads();
        let other = *all.add((own + 13) % 64); // at: outcome_missing
        thread::sync_threads();
        *all.add(own) = other;
        thread::sync_threads();
        let back = (*all.add((own + 51) % 64)).assume_init();
        *y.add(own) = back.sum(); // at: outcome_missing
    }
}

/// The best of what a thread has seen.
#[derive(Clone, Copy, PartialEq)]
struct Best {
    value: f32,
    index: u8,
    is_there: bool,
}

/// The best of all threads, by a tree in shared memory.
#[kernel(instances(best_of_too_many<true>, best_of_too_many_fixed<false>), allow(local_memory))]
pub unsafe fn best<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let all = shared_array![MaybeUninit<Best>; 96];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        (*all.add(own)).write(Best {
            value: x[own % n as usize] as f32,
            index: own as u8,
            is_there: true,
        });
        thread::sync_threads();
        let mut step = 32;
        while step > 0 {
            if own < step {
                let other = if BUG && own == 31 && step == 32 {
                    64
                } else {
                    own + step
                };
                let (a, b) = (
                    (*all.add(own)).assume_init(),
                    (*all.add(other)).assume_init(), // at: best_of_too_many
                );
                let is_better =
                    b.is_there && (b.value > a.value || b.value == a.value && b.index < a.index); // at: best_of_too_many
                (*all.add(own)).write(if is_better { b } else { a });
            }
            thread::sync_threads();
            step /= 2;
        }
        let best = (*all).assume_init();
        *y.add(own) = best.value as u32 * 100 + u32::from(best.index);
    }
}

/// Halves of a record go through a shuffle.
#[kernel(instances(padding_shuffled<true>, padding_shuffled_fixed<false>), allow(local_memory))]
pub unsafe fn shuffled<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let of = x[own % n as usize];
    let mut record = MaybeUninit::<(u8, u32)>::uninit();
    unsafe {
        let place = black_box(record.as_mut_ptr());
        (&raw mut (*place).0).write(of as u8);
        (&raw mut (*place).1).write(of * 9);
        let word = (&raw mut (*place).0).cast::<u32>();
        let (low, high) = (*word, (*place).1); // at: padding_shuffled
        let low = warp::warp_shuffle_xor(u32::MAX, low, 5, 32).0;
        let high = warp::warp_shuffle_xor(u32::MAX, high, 5, 32).0;
        *y.add(own) = (low & if BUG { 0x1ff } else { 0xff }) + high; // at: padding_shuffled
    }
}

/// A word that is written byte by byte.
union Word {
    whole: u32,
    bytes: [u8; 4],
}

/// Threads write the bytes of words of others.
#[kernel(instances(byte_of_union<true>, byte_of_union_fixed<false>), allow(local_memory))]
pub unsafe fn unions<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let words = shared_array![MaybeUninit<Word>; 16];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let bytes = &raw mut (*(*words.add(own % 16)).as_mut_ptr()).bytes;
        if !BUG || own != 17 {
            bytes
                .cast::<u8>()
                .add(own / 16)
                .write(x[own % n as usize] as u8);
        }
        thread::sync_threads();
        let word = (*words.add(own / 4)).assume_init_ref();
        *y.add(own) = word.whole.rotate_left(own as u32 % 32); // at: byte_of_union
    }
}

/// A high field that is compared and counted up in the word that it shares with padding.
#[kernel(instances(fields_compared<true>, fields_compared_fixed<false>), allow(local_memory))]
pub unsafe fn fields<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![MaybeUninit<(u32, u8)>; 64];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let mine = (*tile.add(own)).as_mut_ptr();
        (&raw mut (*mine).1).write(1);
        if !BUG || own != 40 {
            (&raw mut (*mine).0).write(x[own % n as usize]);
        }
        thread::sync_threads();
        let mut other = black_box((*tile.add(own ^ 2)).assume_init()); // at: fields_compared
        // at: fields_compared
        if other.0 < 50 {
            other.0 += 7;
        }
        let other = black_box(other);
        *y.add(own) = other.0 + u32::from(other.1);
    }
}
