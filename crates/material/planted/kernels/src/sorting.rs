//! Sorting and searching of padded values: by the standard library, which moves them about as bytes, and by threads of a block; each used
//! once where nothing was written.

use core::hint::black_box;
use core::mem::MaybeUninit;
use core::ptr;

use cuda_std::prelude::*;

/// A key, with padding before and behind it.
// at: bitonic_too_few
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
struct Keyed {
    group: u8,
    key: u32,
    extra: u8,
}

impl Keyed {
    fn of(x: &[u32], i: usize) -> Keyed {
        let of = x[i % x.len()];
        Keyed {
            group: (of % 3) as u8,
            key: of,
            extra: i as u8,
        }
    }

    fn sum(&self) -> u32 {
        u32::from(self.group) + self.key * 2 + u32::from(self.extra)
    }
}

/// Sums that tell the order of values.
fn ordered(values: &[Keyed]) -> u32 {
    values.iter().fold(0, |sum, it| sum * 5 + it.sum())
}

/// A vector of pairs of different sizes is sorted.
#[kernel(instances(pair_not_pushed<true>, pair_not_pushed_fixed<false>), allow(local_memory))]
pub unsafe fn pairs<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values: Vec<(u16, u64)> = black_box(Vec::with_capacity(20));
    for i in 0..if BUG { 17 } else { 18 } {
        let of = x[(own + i * 3) % n as usize];
        values.push((of as u16 % 4, u64::from(of)));
    }
    unsafe { values.set_len(18) };
    values.sort_unstable(); // at: pair_not_pushed
    let sum = values.iter().fold(0, |sum, it| sum * 3 + it.1 as u32);
    unsafe { *y.add(own) = sum + u32::from(values[0].0) };
}

/// A stable sort, by way of memory of its own.
#[kernel(instances(padding_merged<true>, padding_merged_fixed<false>), allow(local_memory))]
pub unsafe fn stable<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values: Vec<Keyed> = Vec::new();
    values.extend((0..33).map(|i| Keyed::of(&x[..n as usize], own + i)));
    values.sort_by_key(|it| it.group);
    values.sort_by(|a, b| (b.group, a.extra).cmp(&(a.group, b.extra)));
    let sum = ordered(&values);
    unsafe {
        let byte = black_box(&values[30]);
        let byte = ptr::from_ref(byte)
            .cast::<u8>()
            .add(if BUG { 1 } else { 8 });
        *y.add(own) = sum + u32::from(*byte); // at: padding_merged
    }
}

/// The middle of values is looked for, and neighbours that are equal are merged.
#[kernel(instances(last_not_written<true>, last_not_written_fixed<false>), allow(local_memory))]
pub unsafe fn middle<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values: Vec<Keyed> = black_box(Vec::with_capacity(16));
    for i in 0..if BUG { 14 } else { 15 } {
        values.push(Keyed::of(&x[..n as usize], own + i * i));
    }
    unsafe { values.set_len(15) };
    let (_, middle, _) = values.select_nth_unstable_by_key(7, |it| it.key); // at: last_not_written
    let key = middle.key;
    values.sort_unstable_by_key(|it| it.key % 8);
    values.dedup_by_key(|it| it.key % 8);
    let place = values.partition_point(|it| it.key % 8 < 4);
    unsafe { *y.add(own) = key + ordered(&values[..place]) };
}

/// A block sorts values in shared memory, each thread two of them at a time.
#[kernel(instances(bitonic_too_few<true>, bitonic_too_few_fixed<false>), allow(local_memory))]
pub unsafe fn bitonic<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let all = shared_array![MaybeUninit<Keyed>; 64];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        if !BUG || own != 29 {
            *all.add(own) = MaybeUninit::new(Keyed::of(&x[..n as usize], own));
        }
        thread::sync_threads();
        let mut width = 2;
        while width <= 64 {
            let mut step = width / 2;
            while step > 0 {
                let other = own ^ step;
                if other > own {
                    let (a, b) = (
                        (*all.add(own)).assume_init(),
                        (*all.add(other)).assume_init(), // at: bitonic_too_few
                    );
                    // at: bitonic_too_few
                    if (a > b) == (own & width == 0) {
                        ptr::swap(all.add(own), all.add(other));
                    }
                }
                thread::sync_threads();
                step /= 2;
            }
            width *= 2;
        }
        *y.add(own) = (*all.add(own)).assume_init().sum();
    }
}

/// Two sorted runs, of which the first is one element longer than what was written, are merged into a third array.
#[kernel(instances(run_too_long<true>, run_too_long_fixed<false>), allow(local_memory))]
pub unsafe fn merge<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut runs = [[const { MaybeUninit::<Keyed>::uninit() }; 8]; 2];
    let count = if BUG { 7 } else { 6 };
    for (run, from) in black_box(&mut runs).iter_mut().zip([own, own + 20]) {
        for i in 0..6 {
            let value = Keyed::of(&x[..n as usize], from + i);
            let mut place = i;
            unsafe {
                while place > 0 && run[place - 1].assume_init_ref().key > value.key {
                    run[place] = run[place - 1];
                    place -= 1;
                }
            }
            run[place].write(value);
        }
    }
    let runs = black_box(runs); // at: run_too_long
    let mut merged = [const { MaybeUninit::<Keyed>::uninit() }; 16];
    let (mut a, mut b) = (0, 0);
    unsafe {
        while a < count || b < 6 {
            let takes_first = b == 6
                || a < count
                    && runs[0][a].assume_init_ref().key <= runs[1][b].assume_init_ref().key;
            merged[a + b] = if takes_first { runs[0][a] } else { runs[1][b] };
            (a, b) = if takes_first { (a + 1, b) } else { (a, b + 1) };
        }
        let merged = black_box(&merged);
        let sum = merged[..a + b]
            .iter()
            .fold(0, |sum, it| sum * 5 + it.assume_init_ref().sum());
        *y.add(own) = sum;
    }
}

/// A heap is built in a vector's room and emptied by swaps, as `heapsort` does.
#[kernel(instances(heap_too_large<true>, heap_too_large_fixed<false>), allow(local_memory))]
pub unsafe fn heap<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values: Vec<Keyed> = Vec::with_capacity(16);
    values.extend((0..11).map(|i| Keyed::of(&x[..n as usize], own + 2 * i)));
    let length = values.len() + usize::from(BUG);
    let first = black_box(values.as_mut_ptr());
    let sift = |mut at: usize, end: usize| unsafe {
        while 2 * at + 1 < end {
            let mut child = 2 * at + 1;
            if child + 1 < end && (*first.add(child)).key < (*first.add(child + 1)).key {
                child += 1;
            }
            // at: heap_too_large
            if (*first.add(at)).key >= (*first.add(child)).key {
                break;
            }
            ptr::swap(first.add(at), first.add(child));
            at = child;
        }
    };
    (0..length / 2).rev().for_each(|at| sift(at, length)); // at: heap_too_large
    for end in (1..length).rev() {
        unsafe { ptr::swap(first, first.add(end)) };
        sift(0, end);
    }
    unsafe { *y.add(own) = ordered(core::slice::from_raw_parts(first, 11)) };
}
