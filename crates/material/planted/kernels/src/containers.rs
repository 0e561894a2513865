//! Containers on the heap whose room is larger than what they hold, as programs write them; each used once where nothing was written.

extern crate alloc;

use alloc::rc::Rc;
use core::hint::black_box;
use core::mem::MaybeUninit;

use cuda_std::prelude::*;

/// A vector takes in what a filter lets through, and grows on the way.
#[kernel(instances(filter_collected<true>, filter_collected_fixed<false>), allow(local_memory))]
pub unsafe fn collect<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let kept = x[..n as usize]
        .iter()
        .filter(|it| (*it + own as u32).is_multiple_of(5));
    let mut values: Vec<u64> = kept.map(|it| u64::from(*it)).collect();
    values.reserve(1);
    let mut values = black_box(values);
    unsafe {
        if BUG {
            values.set_len(values.len() + 1);
        }
        *y.add(own) = values.iter().fold(0, |sum, it| sum * 3 + *it as u32); // at: filter_collected
    }
}

/// A vector is split, and its parts are put together in another order.
#[kernel(instances(vector_split<true>, vector_split_fixed<false>), allow(local_memory))]
pub unsafe fn split<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut first: Vec<(u8, u32)> = Vec::with_capacity(16);
    first.extend((0..9).map(|i| (i as u8, x[(own + i) % n as usize])));
    let mut second = first.split_off(5);
    second.append(&mut first);
    second.insert(2, (7, 70));
    second.swap_remove(0);
    let sum: u32 = second.iter().map(|it| u32::from(it.0) ^ it.1).sum();
    let first = black_box(second.as_ptr());
    let at = if BUG { second.len() + 1 } else { 0 }; // Behind the value that has moved down.
    unsafe { *y.add(own) = sum + (*first.add(at)).1 }; // at: vector_split
}

/// Rows of different lengths, all of the same capacity.
#[kernel(instances(row_too_long<true>, row_too_long_fixed<false>), allow(local_memory))]
pub unsafe fn rows<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut rows: Vec<Vec<u16>> = Vec::new();
    for length in 1..6 {
        let mut row = Vec::with_capacity(6);
        row.extend((0..length).map(|i| x[(own + i) % n as usize] as u16));
        rows.push(row);
    }
    let rows = black_box(rows);
    let mut sum = 0;
    for (row, length) in rows.iter().zip(1..) {
        let length = if BUG && length == 3 { 4 } else { length };
        let row = unsafe { core::slice::from_raw_parts(row.as_ptr(), length) };
        sum += row.iter().map(|it| u32::from(*it)).max().unwrap_or(0); // at: row_too_long
    }
    unsafe { *y.add(own) = sum }; // at: row_too_long
}

/// A boxed slice that is filled from both ends.
#[kernel(instances(middle_not_filled<true>, middle_not_filled_fixed<false>), allow(local_memory))]
pub unsafe fn both_ends<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values = black_box(Box::<[u32]>::new_uninit_slice(11));
    let (mut low, mut high) = (0, values.len());
    for i in 0..if BUG { 10 } else { 11 } {
        let of = x[(own + i) % n as usize];
        if of.is_multiple_of(2) {
            values[low].write(of);
            low += 1;
        } else {
            high -= 1;
            values[high].write(of);
        }
    }
    let values = black_box(unsafe { values.assume_init() });
    let sum = values.iter().zip(1..).map(|(it, i)| it * i).sum(); // at: middle_not_filled
    unsafe { *y.add(own) = sum }; // at: middle_not_filled
}

/// A place of a hash table. One that is empty has no value.
struct Entry {
    key: u32,
    is_used: bool,
    value: MaybeUninit<u64>,
}

/// A hash table with open addressing.
struct Table {
    entries: Box<[Entry]>,
}

impl Table {
    fn new() -> Table {
        let empty = |_| Entry {
            key: 0,
            is_used: false,
            value: MaybeUninit::uninit(),
        };
        Table {
            entries: (0..16).map(empty).collect(),
        }
    }

    fn place(&self, key: u32) -> usize {
        let mut place = (key.wrapping_mul(0x9e37_79b9) >> 28) as usize;
        while self.entries[place].is_used && self.entries[place].key != key {
            place = (place + 1) % 16;
        }
        place
    }

    fn insert(&mut self, key: u32, value: u64) {
        let place = self.place(key);
        self.entries[place] = Entry {
            key,
            is_used: true,
            value: MaybeUninit::new(value),
        };
    }
}

/// A key that is not in the table is looked up.
#[kernel(instances(key_not_there<true>, key_not_there_fixed<false>), allow(local_memory))]
pub unsafe fn look_up<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut table = Table::new();
    for i in 0..9 {
        let key = x[(own + i) % n as usize];
        table.insert(key, u64::from(key) << 7);
    }
    let mut table = black_box(table);
    table.entries.rotate_left(16);
    let mut sum = 0;
    for i in 0..9 {
        let entry = &table.entries[table.place(x[(own + i) % n as usize])];
        sum += unsafe { entry.value.assume_init() } as u32;
    }
    let entry = &table.entries[table.place(1000)];
    if BUG || entry.is_used {
        sum += unsafe { entry.value.assume_init() } as u32; // at: key_not_there
    }
    unsafe { *y.add(own) = sum }; // at: key_not_there
}

/// Values of different sizes and alignments, one behind the other in one block.
struct Arena {
    bytes: Vec<u8>,
}

impl Arena {
    fn put<T>(&mut self, value: T) -> *mut T {
        let end = self.bytes.len().next_multiple_of(align_of::<T>());
        assert!(end + size_of::<T>() <= self.bytes.capacity());
        unsafe {
            self.bytes.set_len(end + size_of::<T>());
            let place = self.bytes.as_mut_ptr().add(end).cast::<T>();
            place.write(value);
            place
        }
    }
}

/// The bytes between two values of an arena.
#[kernel(instances(between_values<true>, between_values_fixed<false>), allow(local_memory))]
pub unsafe fn arena<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let of = x[own % n as usize];
    let mut arena = Arena {
        bytes: Vec::with_capacity(40),
    };
    unsafe {
        let byte = arena.put(of as u8);
        let half = arena.put(of as u16);
        let double = arena.put(u64::from(of));
        let copy = black_box(arena.bytes.clone()); // at: between_values
        let base = arena.bytes.as_ptr();
        let at = |place: usize| copy.as_ptr().add(place - base.addr());
        let sum = u32::from(*at(byte.addr()))
            + u32::from(at(half.addr()).cast::<u16>().read_unaligned())
            + at(double.addr()).cast::<u64>().read_unaligned() as u32;
        let gap = u32::from(*at(if BUG { half.addr() + 2 } else { byte.addr() }));
        *y.add(own) = sum + gap; // at: between_values
    }
}

/// A list whose nodes lie in a slab and whose last one holds nothing.
#[derive(Clone, Copy)]
struct Node {
    next: u16,
    value: MaybeUninit<u32>,
}

/// A list is walked to its end, and one further.
#[kernel(instances(end_of_list<true>, end_of_list_fixed<false>), allow(local_memory))]
pub unsafe fn list<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut nodes = vec![Node {
        next: 0,
        value: MaybeUninit::uninit(),
    }];
    for i in 0..6 {
        let next = nodes.len() as u16 - 1;
        let value = MaybeUninit::new(x[(own + i) % n as usize]);
        nodes.push(Node { next, value }); // at: end_of_list
    }
    let mut nodes = black_box(nodes);
    nodes.shrink_to_fit();
    nodes[1..].reverse();
    let count = if BUG { 7 } else { 6 };
    let mut sum = 0;
    for i in 0..count {
        let node = nodes[(i + 1) % 7];
        sum = sum * 2 + unsafe { node.value.assume_init() };
    }
    unsafe { *y.add(own) = sum + u32::from(nodes[0].next) }; // at: end_of_list
}

/// A search tree, which has values for some of its keys.
struct Branch {
    key: u16,
    value: MaybeUninit<u64>,
    has_value: bool,
    below: [Option<Box<Branch>>; 2],
}

impl Branch {
    fn insert(root: &mut Option<Box<Branch>>, key: u16) -> &mut Branch {
        let mut at = root;
        while at.as_ref().is_some_and(|it| it.key != key) {
            let branch = at.as_mut().expect("it is there");
            at = &mut branch.below[usize::from(branch.key < key)];
        }
        at.get_or_insert_with(|| {
            Box::new(Branch {
                key,
                value: MaybeUninit::uninit(),
                has_value: false,
                below: [None, None],
            })
        })
    }
}

/// A tree of boxes is walked.
#[kernel(instances(branch_without_value<true>, branch_without_value_fixed<false>), allow(local_memory))]
pub unsafe fn branches<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut root = None;
    for i in 0..7 {
        let key = x[(own + i) % n as usize] as u16;
        let branch = Branch::insert(&mut root, key);
        if !i.is_multiple_of(3) {
            branch.value.write(u64::from(key) * 11);
            branch.has_value = true;
        }
    }
    let (mut sum, mut left) = (0, vec![black_box(root)]);
    while let Some(next) = left.pop() {
        let Some(branch) = next else { continue };
        if branch.has_value || (BUG && u32::from(branch.key) == x[own % n as usize]) {
            sum += unsafe { branch.value.assume_init() } as u32; // at: branch_without_value
        }
        left.extend(branch.below);
    }
    unsafe { *y.add(own) = sum }; // at: branch_without_value
}

/// A vector's room is written by an iterator that ends early.
#[kernel(instances(room_not_filled<true>, room_not_filled_fixed<false>), allow(local_memory))]
pub unsafe fn windows<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values = black_box(Vec::<u32>::with_capacity(12));
    let last = if BUG { 11 } else { 12 };
    let from = x[..n as usize].iter().cycle().skip(own).take(last);
    for (place, value) in values.spare_capacity_mut().iter_mut().zip(from) {
        place.write(*value);
    }
    unsafe { values.set_len(12) };
    let pairs = black_box(&values).windows(2).step_by(3);
    let differences = pairs.map(|it| it[0].abs_diff(it[1]));
    let chunks = values.as_chunks::<4>().0.iter().map(|it| it[0] ^ it[3]); // at: room_not_filled
    unsafe { *y.add(own) = differences.chain(chunks).sum() }; // at: room_not_filled
}

/// Counted boxes of padded values are cloned and compared.
#[kernel(instances(padding_counted<true>, padding_counted_fixed<false>), allow(local_memory))]
pub unsafe fn counted<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let of = x[own % n as usize];
    let first = Rc::new((of as u8, u64::from(of), of as u16));
    let second = black_box(Rc::clone(&first));
    let third = Rc::new(*second); // at: padding_counted
    let sum = u32::from(third == first) + Rc::strong_count(&first) as u32 * 10;
    let bytes = black_box(&raw const *third).cast::<u8>();
    // A `u64` has eight bytes, the others three, and the tuple sixteen.
    let known = [&raw const third.0, (&raw const third.2).cast::<u8>()];
    let offset = known.map(|it| it.addr() - (&raw const *third).addr());
    let written = [offset[0], offset[1], offset[1] + 1];
    let gap = (0..16).rfind(|at| {
        let double = (&raw const third.1).addr() - (&raw const *third).addr();
        !written.contains(at) && !(double..double + 8).contains(at)
    });
    let at = if BUG { gap.unwrap_or(0) } else { written[0] };
    unsafe { *y.add(own) = sum + u32::from(*bytes.add(at)) }; // at: padding_counted
}
