//! Small structures that programs keep in a thread's own memory and in shared memory: rings, strings, matrices, queues, sets of bits, halves of words; each used
//! once where nothing was written.

use core::hint::black_box;
use core::mem::MaybeUninit;

use cuda_std::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;

/// A ring of at most `N` values.
struct Ring<T, const N: usize> {
    values: [MaybeUninit<T>; N],
    first: usize,
    len: usize,
}

impl<T: Copy, const N: usize> Ring<T, N> {
    const fn new() -> Self {
        Ring {
            values: [const { MaybeUninit::uninit() }; N],
            first: 0,
            len: 0,
        }
    }

    fn push(&mut self, value: T) {
        self.values[(self.first + self.len) % N].write(value);
        self.len += 1;
    }

    unsafe fn pop(&mut self) -> T {
        let value = unsafe { self.values[self.first].assume_init() };
        self.first = (self.first + 1) % N;
        self.len = self.len.wrapping_sub(1);
        value
    }
}

/// A ring is emptied.
#[kernel(instances(ring_popped_empty<true>, ring_popped_empty_fixed<false>), allow(local_memory))]
pub unsafe fn ring<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut ring = Ring::<(u8, u32), 9>::new();
    let mut sum = 0;
    for i in 0..6 {
        let of = x[(own + i) % n as usize];
        black_box(&mut ring).push((of as u8, of));
        if i == 2 {
            sum += unsafe { black_box(&mut ring).pop() }.1;
        }
    }
    let mut ring = black_box(ring); // at: ring_popped_empty
    for _ in 0..if BUG { 6 } else { 5 } {
        let (small, large) = unsafe { black_box(&mut ring).pop() };
        sum = sum * 2 + large + u32::from(small);
    }
    unsafe { *y.add(own) = sum }; // at: ring_popped_empty
}

/// A text of at most `N` bytes.
#[derive(Clone, Copy)]
struct Text<const N: usize> {
    len: u8,
    bytes: [MaybeUninit<u8>; N],
}

impl<const N: usize> Text<N> {
    fn of(text: &str) -> Self {
        let mut bytes = [const { MaybeUninit::uninit() }; N];
        for (place, byte) in bytes.iter_mut().zip(text.as_bytes()) {
            place.write(*byte);
        }
        Text {
            len: text.len() as u8,
            bytes,
        }
    }

    unsafe fn as_bytes(&self, len: usize) -> &[u8] {
        unsafe { core::slice::from_raw_parts(self.bytes.as_ptr().cast(), len) }
    }
}

/// Texts are copied and compared.
#[kernel(instances(text_compared<true>, text_compared_fixed<false>), allow(local_memory))]
pub unsafe fn texts<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let word = &"saxpy and reduce"[..(x[own % n as usize] % 12 + 1) as usize];
    let texts = black_box([Text::<13>::of(word), Text::of("saxpy and"), Text::of(word)]); // at: text_compared
    let copies = black_box(texts);
    let len = usize::from(copies[0].len);
    let more = len + usize::from(BUG);
    unsafe {
        let is_same = texts[0].as_bytes(more) == copies[2].as_bytes(more); // at: text_compared
        let is_less = copies[0].as_bytes(len) < copies[1].as_bytes(9);
        *y.add(own) = u32::from(is_same) + 2 * u32::from(is_less);
    }
}

/// A matrix of any type and size.
#[derive(Clone, Copy)]
struct Matrix<T, const R: usize, const C: usize>([[T; C]; R]);

impl<T: Copy, const R: usize, const C: usize> Matrix<T, R, C> {
    fn transposed(&self) -> Matrix<T, C, R> {
        // at: other_triangle
        Matrix(core::array::from_fn(|c| {
            // at: other_triangle
            core::array::from_fn(|r| self.0[r][c])
        }))
    }
}

/// A triangle of a matrix is written, transposed and read.
#[kernel(instances(other_triangle<true>, other_triangle_fixed<false>), allow(local_memory))]
pub unsafe fn matrix<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut matrix = Matrix([[const { MaybeUninit::<f32>::uninit() }; 5]; 5]);
    for (r, row) in black_box(&mut matrix).0.iter_mut().enumerate() {
        for place in &mut row[..=r] {
            place.write(x[(own + r) % n as usize] as f32);
        }
    }
    let matrix = black_box(matrix.transposed()); // at: other_triangle
    let mut sum = 0.0;
    for r in 0..5 {
        for c in if BUG && r == 3 { 2 } else { r }..5 {
            sum += unsafe { matrix.0[r][c].assume_init() };
        }
    }
    unsafe { *y.add(own) = sum as u32 }; // at: other_triangle
}

/// Threads put what they find into a queue, and take from it together.
#[kernel(instances(queue_overrun<true>, queue_overrun_fixed<false>), allow(local_memory))]
pub unsafe fn queue<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let (count, queue) = (
        shared_array![u32; 1],
        shared_array![MaybeUninit<[u16; 3]>; 65],
    );
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if own == 0 {
            *count = 0;
        }
        thread::sync_threads();
        let of = x[own % n as usize];
        if of.is_multiple_of(2) {
            let place = atomic_fetch_add_u32_block(count, Relaxed, 1);
            (*queue.add(place as usize)).write([of as u16, 1, 2]);
        }
        thread::sync_threads();
        let count = *count + u32::from(BUG);
        let mut sum = 0;
        for place in (0..count as usize).filter(|it| it % 64 == own) {
            let values = (*queue.add(place)).assume_init(); // at: queue_overrun
            sum += values.iter().map(|it| u32::from(*it)).product::<u32>() % 7;
        }
        let total = atomic_fetch_add_u32_block(y, Relaxed, sum); // at: queue_overrun
        if total == u32::MAX {
            *y.add(own) = 1;
        }
    }
}

/// A set of bits, the words of which are cleared when they are first needed.
struct Bits {
    words: [MaybeUninit<u64>; 4],
    cleared: u8,
}

impl Bits {
    fn insert(&mut self, bit: usize) {
        let word = bit / 64;
        if self.cleared >> word & 1 == 0 {
            self.words[word].write(0);
            self.cleared |= 1 << word;
        }
        unsafe { *self.words[word].assume_init_mut() |= 1 << (bit % 64) };
    }

    unsafe fn count(&self, words: u8) -> u32 {
        let all = self.words.iter().enumerate();
        let meant = all.filter(|(word, _)| words >> word & 1 == 1);
        meant
            .map(|(_, it)| unsafe { it.assume_init() }.count_ones())
            .sum()
    }
}

/// Bits of sets are counted.
#[kernel(instances(word_not_cleared<true>, word_not_cleared_fixed<false>), allow(local_memory))]
pub unsafe fn bits<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut bits = Bits {
        words: [const { MaybeUninit::uninit() }; 4],
        cleared: 0,
    };
    for i in 0..5 {
        let of = x[(own + i) % n as usize] as usize;
        black_box(&mut bits).insert(of + of / 64 * 64);
    }
    let bits = black_box(bits); // at: word_not_cleared
    let words = if BUG { 0b1000 } else { 0 } | bits.cleared;
    unsafe { *y.add(own) = bits.count(words) }; // at: word_not_cleared
}

/// Words of which the upper halves are written are compared, and a number is added to their upper halves.
#[kernel(instances(lower_half_added<true>, lower_half_added_fixed<false>), allow(local_memory))]
pub unsafe fn upper_halves<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let words = shared_array![u64; 64];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        words
            .add(own)
            .cast::<u32>()
            .add(1)
            .write(x[own % n as usize]);
        thread::sync_threads();
        let word = black_box(*words.add(63 - own)); // at: lower_half_added
        if word < 50 << 32 {
            thread::nanosleep(1);
            y.add(64 + own).write(1);
        }
        let sum = black_box(word.wrapping_add(7 << 32));
        *y.add(own) = if BUG { sum as u32 } else { (sum >> 32) as u32 }; // at: lower_half_added
    }
}
