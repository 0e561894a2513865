//! Values of which something was never written: moved about as programs do, and used once.

extern crate alloc;

use alloc::collections::{BTreeMap, BinaryHeap, VecDeque};
use alloc::string::String;
use core::hint::black_box;
use core::mem::{MaybeUninit, replace, swap};
use core::ptr;

use cuda_std::atomic::Ordering::Relaxed;
use cuda_std::atomic::mid::*;
use cuda_std::prelude::*;

/// A struct with padding behind three of its fields.
// at: padding_sorted_on_heap
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
pub struct Padded {
    a: u8,
    b: u32,
    c: u16,
    d: u64,
}

impl Padded {
    fn new(of: u32) -> Padded {
        Padded {
            a: of as u8,
            b: of * 3,
            c: 5,
            d: u64::from(of) << 20,
        }
    }

    fn sum(&self) -> u32 {
        u32::from(self.a) + self.b + u32::from(self.c) + (self.d >> 20) as u32
    }
}

/// A byte of padding, by an address that the compiler knows nothing of.
unsafe fn padding(of: &Padded) -> u32 {
    // at: tree_of_padding
    unsafe { u32::from(*black_box(ptr::from_ref(of)).cast::<u8>().add(2)) }
}

/// A vector grows before it is full.
#[kernel(instances(spare_reserved<true>, spare_reserved_fixed<false>), allow(local_memory))]
pub unsafe fn reserve<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values: Vec<u32> = Vec::with_capacity(4);
    values.push(x[own % n as usize]);
    values.reserve(100); // at: spare_reserved
    unsafe { *y.add(own) = *black_box(values.as_ptr()).add(usize::from(BUG)) }; // at: spare_reserved
}

/// A vector of padded values grows when it is full.
#[kernel(instances(padding_grown<true>, padding_grown_fixed<false>), allow(local_memory))]
pub unsafe fn grow<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values = Vec::new();
    for i in 0..9 {
        values.push(Padded::new(x[(own + i) % n as usize])); // at: padding_grown
    }
    let mut sum = values.iter().map(Padded::sum).sum();
    unsafe {
        if BUG {
            sum += padding(&values[3]);
        }
        *y.add(own) = sum; // at: padding_grown
    }
}

/// A string grows.
#[kernel(instances(string_grown<true>, string_grown_fixed<false>), allow(local_memory))]
pub unsafe fn string<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut text = String::with_capacity(8);
    text.push_str("abc");
    text.push_str(&"defghijklmnopq"[..(x[own % n as usize] % 9 + 4) as usize]);
    text.reserve(20); // at: string_grown
    let at = if BUG { text.len() } else { 0 };
    unsafe { *y.add(own) = u32::from(*black_box(text.as_ptr()).add(at)) }; // at: string_grown
}

/// A vector takes a slice in.
#[kernel(instances(spare_extended<true>, spare_extended_fixed<false>), allow(local_memory))]
pub unsafe fn extend<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values = Vec::with_capacity(3);
    for shift in 0..2u32 {
        values.push(x[own % n as usize] >> shift);
    }
    values.extend_from_slice(&x[..6]);
    let at = if BUG { values.len() } else { 7 };
    values.reserve(1);
    unsafe { *y.add(own) = *black_box(values.as_ptr()).add(at) }; // at: spare_extended
}

/// A vector shrinks to what it holds.
#[kernel(instances(spare_shrunk<true>, spare_shrunk_fixed<false>), allow(local_memory))]
pub unsafe fn shrink<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values = Vec::with_capacity(9);
    for i in 0..5 {
        values.push(Padded::new(x[(own + i) % n as usize]));
    }
    let values = values.into_boxed_slice(); // at: spare_shrunk
    let sum: u32 = values.iter().map(Padded::sum).sum();
    unsafe { *y.add(own) = sum + if BUG { padding(&values[4]) } else { 0 } }; // at: spare_shrunk
}

/// Padded values are sorted in a thread's own memory.
#[kernel(
    instances(padding_sorted<true>, padding_sorted_fixed<false>),
    allow(local_memory)
)]
pub unsafe fn sort<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values: [Padded; 24] =
        core::array::from_fn(|i| Padded::new(x[(own + 5 * i) % n as usize])); // at: padding_sorted
    black_box(&mut values).sort_unstable();
    let sum = values
        .iter()
        .zip(1..)
        .map(|(it, i)| i * it.sum())
        .sum::<u32>();
    unsafe { *y.add(own) = sum + if BUG { padding(&values[7]) } else { 0 } }; // at: padding_sorted
}

/// One of the values that are sorted was never written.
#[kernel(
    instances(key_not_written<true>, key_not_written_fixed<false>),
    allow(local_memory)
)]
pub unsafe fn sort_keys<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values = MaybeUninit::<[Padded; 12]>::uninit();
    let first = black_box(values.as_mut_ptr().cast::<Padded>());
    unsafe {
        for i in 0..if BUG { 11 } else { 12 } {
            first.add(i).write(Padded::new(x[(own + i) % n as usize]));
        }
        let values = core::slice::from_raw_parts_mut(first, 12);
        values.sort_unstable_by_key(|it| it.b); // at: key_not_written
        *y.add(own) = values[0].b;
    }
}

/// Padded values are sorted in place on the heap.
#[kernel(instances(padding_sorted_on_heap<true>, padding_sorted_on_heap_fixed<false>), allow(local_memory))]
pub unsafe fn sort_on_heap<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values: Vec<Padded> = Vec::with_capacity(30);
    for i in 0..25 {
        values.push(Padded::new(x[(own + 3 * i) % n as usize]));
    }
    values.sort_unstable_by(|a, b| b.cmp(a)); // at: padding_sorted_on_heap
    let sum = values
        .iter()
        .zip(1..)
        .map(|(it, i)| i * it.sum())
        .sum::<u32>();
    unsafe { *y.add(own) = sum + if BUG { padding(&values[11]) } else { 0 } }; // at: padding_sorted_on_heap
}

/// A padded value by way of shared memory.
#[kernel(instances(padding_shared<true>, padding_shared_fixed<false>), allow(local_memory))]
pub unsafe fn share<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![MaybeUninit<Padded>; 64];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        (*tile.add(own)).write(Padded::new(x[own % n as usize]));
        thread::sync_threads();
        let other = black_box((*tile.add((own + 1) % 64)).assume_init()); // at: padding_shared
        *y.add(own) = other.sum() + if BUG { padding(&other) } else { 0 }; // at: padding_shared
    }
}

/// A struct of which a thread writes one field.
#[kernel(instances(field_not_written<true>, field_not_written_fixed<false>), allow(local_memory))]
pub unsafe fn field<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![MaybeUninit<Padded>; 64];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let mine = (*tile.add(own)).as_mut_ptr();
        (*mine).b = x[own % n as usize];
        thread::sync_threads();
        let other = black_box(*tile.add(63 - own)); // at: field_not_written
        let other = other.as_ptr();
        // at: field_not_written
        *y.add(own) = if BUG {
            u32::from((*other).c)
        } else {
            (*other).b
        };
    }
}

/// Options of which most hold nothing.
#[kernel(instances(payload_of_none<true>, payload_of_none_fixed<false>), allow(local_memory))]
pub unsafe fn options<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let of = x[own % n as usize];
    let mut all: [Option<u64>; 8] = black_box([None; 8]);
    all[(of % 8) as usize] = Some(7);
    let mut copy = black_box(all); // at: payload_of_none
    copy.swap((of % 5) as usize, (of % 3) as usize);
    let sum: u64 = black_box(&copy).iter().flatten().sum();
    let none = copy.iter().position(Option::is_none).unwrap_or(0);
    unsafe {
        let payload = black_box(copy.as_ptr()).add(none).cast::<u64>().add(1);
        *y.add(own) = sum as u32 + if BUG { *payload as u32 } else { 0 }; // at: payload_of_none
    }
}

/// An array that is partly written goes to the heap and back.
#[kernel(instances(part_copied<true>, part_copied_fixed<false>), allow(local_memory))]
pub unsafe fn copy<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values = [const { MaybeUninit::<u32>::uninit() }; 16];
    for i in 0..11 {
        black_box(&mut values)[i].write(x[(own + i) % n as usize]);
    }
    let boxed = Box::new(black_box(values)); // at: part_copied
    let back = black_box(*boxed);
    unsafe { *y.add(own) = back[if BUG { 11 } else { 10 }].assume_init() }; // at: part_copied
}

/// Two padded values change places.
#[kernel(instances(padding_swapped<true>, padding_swapped_fixed<false>), allow(local_memory))]
pub unsafe fn swap_them<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut pair = [Padded::new(x[own % n as usize]), Padded::new(9)];
    let (first, second) = black_box(&mut pair).split_at_mut(1);
    swap(&mut first[0], &mut second[0]); // at: padding_swapped
    let sum = pair[0].sum() * 2 + pair[1].sum();
    unsafe { *y.add(own) = sum + if BUG { padding(&pair[0]) } else { 0 } }; // at: padding_swapped
}

/// An enum whose variants have different sizes.
#[derive(Clone, Copy)]
enum Shape {
    Point,
    Line(u8),
    Area { width: u32, height: u64 },
}

impl Shape {
    fn size(self) -> u32 {
        match self {
            Shape::Point => 0,
            Shape::Line(it) => u32::from(it),
            Shape::Area { width, height } => width * height as u32,
        }
    }
}

/// Values of an enum take each other's places.
#[kernel(instances(variant_not_there<true>, variant_not_there_fixed<false>), allow(local_memory))]
pub unsafe fn variants<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let of = x[own % n as usize];
    let mut all = black_box([Shape::Point, Shape::Line(of as u8), Shape::Point]);
    let old = replace(
        &mut all[(of % 3) as usize],
        Shape::Area {
            width: of,
            height: 2,
        },
    );
    let copy = black_box(all); // at: variant_not_there
    let sum = copy.iter().map(|it| it.size()).sum::<u32>() + old.size();
    let other = copy
        .iter()
        .position(|it| !matches!(it, Shape::Area { .. }))
        .unwrap_or(0);
    unsafe {
        let last = black_box(copy.as_ptr()).add(other).cast::<u64>().add(1);
        *y.add(own) = sum + if BUG { *last as u32 } else { 0 }; // at: variant_not_there
    }
}

/// A ring of padded values grows.
#[kernel(instances(ring_grown<true>, ring_grown_fixed<false>), allow(local_memory))]
pub unsafe fn ring<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut ring = VecDeque::with_capacity(4);
    for i in 0..4 {
        ring.push_back(Padded::new(x[(own + i) % n as usize]));
    }
    ring.pop_front();
    ring.push_back(Padded::new(1));
    ring.push_front(Padded::new(2)); // at: ring_grown
    ring.push_back(Padded::new(3)); // at: ring_grown
    let sum = ring.iter().map(Padded::sum).sum::<u32>();
    unsafe { *y.add(own) = sum + if BUG { padding(&ring[2]) } else { 0 } }; // at: ring_grown
}

/// The nodes of a tree have room that nobody uses.
#[kernel(instances(tree_of_padding<true>, tree_of_padding_fixed<false>), allow(local_memory))]
pub unsafe fn tree<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut tree = BTreeMap::new();
    for i in 0..14 {
        let of = x[(own + i) % n as usize];
        tree.insert(of, Padded::new(of));
    }
    tree.remove(&x[own % n as usize]); // at: tree_of_padding
    let sum = tree.values().map(Padded::sum).sum::<u32>();
    unsafe {
        let first = tree.values().next().map_or(0, |it| padding(it)); // at: tree_of_padding
        *y.add(own) = sum + if BUG { first } else { 0 }; // at: tree_of_padding
    }
}

/// A heap of padded values.
#[kernel(instances(queue_of_padding<true>, queue_of_padding_fixed<false>), allow(local_memory))]
pub unsafe fn queue<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut queue = BinaryHeap::new();
    for i in 0..7 {
        queue.push(Padded::new(x[(own + i) % n as usize])); // at: queue_of_padding
    }
    let (mut sum, mut last) = (0, Padded::new(0));
    // at: queue_of_padding
    while let Some(next) = queue.pop() {
        sum = sum * 3 + next.sum();
        last = next;
    }
    unsafe { *y.add(own) = sum + if BUG { padding(&last) } else { 0 } }; // at: queue_of_padding
}

/// All of a vector's room is copied.
#[kernel(instances(room_copied<true>, room_copied_fixed<false>), allow(local_memory))]
pub unsafe fn room<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut from: Vec<u32> = Vec::with_capacity(12);
    from.push(x[own % n as usize]);
    from.push(3);
    let mut to: Vec<u32> = Vec::with_capacity(12);
    unsafe {
        ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr(), 12); // at: room_copied
        to.set_len(from.len());
        *y.add(own) = *black_box(to.as_ptr()).add(if BUG { 2 } else { 1 }); // at: room_copied
    }
}

/// An array that is partly written is given to a function and returned.
#[kernel(instances(part_returned<true>, part_returned_fixed<false>), allow(local_memory))]
pub unsafe fn given<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut values = [const { MaybeUninit::<u8>::uninit() }; 6];
    let first = black_box(values.as_mut_ptr());
    unsafe {
        (*first).write(x[own % n as usize] as u8);
        (*first.add(3)).write(1);
    }
    let back = turned(black_box(values)); // at: part_returned
    unsafe { *y.add(own) = u32::from(back[if BUG { 1 } else { 2 }].assume_init()) }; // at: part_returned
}

#[inline(never)]
fn turned(values: [MaybeUninit<u8>; 6]) -> [MaybeUninit<u8>; 6] {
    core::array::from_fn(|i| values[5 - i])
}

/// A value that was never written decides where a thread goes.
#[kernel(instances(undefined_condition<true>, undefined_condition_fixed<false>), allow(local_memory))]
pub unsafe fn condition<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut flags = [const { MaybeUninit::<u32>::uninit() }; 4];
    for i in 0..if BUG { 3 } else { 4 } {
        black_box(&mut flags)[i].write(x[(own + i) % n as usize] % 2);
    }
    let copy = black_box(flags); // at: undefined_condition
    unsafe {
        // at: undefined_condition
        if copy[own % 4].assume_init() > 0 {
            thread::nanosleep(1);
            *y.add(own) = 1;
        } else {
            *y.add(own) = 2;
        }
    }
}

/// A value that was never written is an index.
#[kernel(instances(undefined_address<true>, undefined_address_fixed<false>), allow(local_memory))]
pub unsafe fn address<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let mut places = [const { MaybeUninit::<u32>::uninit() }; 4];
    for i in 0..if BUG { 3 } else { 4 } {
        black_box(&mut places)[i].write(x[(own + i) % n as usize] % n);
    }
    let copy = black_box(places); // at: undefined_address
    unsafe { *y.add(own) = *x.as_ptr().add((copy[own % 4].assume_init() % n) as usize) }; // at: undefined_address
}

/// A value that was never written is divided by.
#[kernel(instances(undefined_divisor<true>, undefined_divisor_fixed<false>), allow(local_memory))]
pub unsafe fn divisor<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x() as usize;
    let tile = shared_array![u32; 64];
    unsafe {
        if !BUG || own != 5 {
            *tile.add(own) = x[own % n as usize] + 1;
        }
        thread::sync_threads();
        let by = *tile.add(own); // at: undefined_divisor
        *y.add(own) = 1000u32.wrapping_div(if by == own as u32 + 70_000 { 1 } else { by }); // at: undefined_divisor
    }
}

/// An exchange is the first write.
#[kernel(instances(exchanged_used<true>, exchanged_used_fixed<false>), allow(local_memory))]
pub unsafe fn exchange<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let cells = shared_array![u32; 64];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        let old = atomic_fetch_exch_u32_block(cells.add(own), Relaxed, x[own % n as usize]); // at: exchanged_used
        thread::sync_threads();
        *y.add(own) = if BUG { old } else { *cells.add(63 - own) }; // at: exchanged_used
    }
}

/// Lanes exchange what only some of them have.
#[kernel(instances(shuffled_undefined<true>, shuffled_undefined_fixed<false>), allow(local_memory))]
pub unsafe fn shuffle<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let tile = shared_array![u32; 64];
    let own = thread::thread_idx_x();
    unsafe {
        if own.is_multiple_of(2) {
            *tile.add(own as usize) = x[(own % n) as usize];
        }
        thread::sync_threads();
        let value = *tile.add(own as usize); // at: shuffled_undefined
        let other = warp::warp_shuffle_xor(u32::MAX, value, 1, 32).0;
        let is_there = own % 2 == u32::from(!BUG);
        *y.add(own as usize) = if is_there { other } else { 0 }; // at: shuffled_undefined
    }
}

/// Bytes are packed into words, of which nobody writes the last byte.
#[kernel(instances(bytes_packed<true>, bytes_packed_fixed<false>), allow(local_memory))]
pub unsafe fn pack<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let bytes = shared_array![u8; 256];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        for i in 0..3 {
            *bytes.add(4 * own + i) = x[(own + i) % n as usize] as u8;
        }
        thread::sync_threads();
        let word = *bytes.cast::<u32>().add(63 - own); // at: bytes_packed
        *y.add(own) = word & if BUG { 0x0300_00ff } else { 0x00ff_00ff }; // at: bytes_packed
    }
}

/// A part of a word is moved by shifts.
#[kernel(instances(bits_moved<true>, bits_moved_fixed<false>), allow(local_memory))]
pub unsafe fn shift<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let halves = shared_array![u16; 128];
    let own = thread::thread_idx_x() as usize;
    unsafe {
        *halves.add(2 * own + 1) = x[own % n as usize] as u16;
        thread::sync_threads();
        let word = black_box(*halves.cast::<u32>().add(63 - own)).rotate_left(16); // at: bits_moved
        *y.add(own) = if BUG { word >> 8 } else { word & 0xffff }; // at: bits_moved
    }
}

/// A register of inline assembly is written by some threads, and read by more.
#[kernel(instances(register_not_written<true>, register_not_written_fixed<false>))]
pub unsafe fn assembly<const BUG: bool>(x: &[u32], y: *mut u32, n: u32) {
    let own = thread::thread_idx_x();
    let chosen = own % 4 == 1;
    let value = assembled(own, x[(own % n) as usize]);
    let is_kept = chosen || BUG && own == 6;
    unsafe {
        *y.add(own as usize) = if is_kept { value } else { 0 }; // at: register_not_written
    }
}

/// Three times a value, where the thread is the second of four.
#[gpu_only]
#[inline(always)]
fn assembled(own: u32, value: u32) -> u32 {
    let result: u32;
    unsafe {
        core::arch::asm!(
            "{{",
            ".reg .pred %chosen;",
            ".reg .b32 %rest, %tripled;",
            "and.b32 %rest, {own}, 3;",
            "setp.eq.u32 %chosen, %rest, 1;",
            "@%chosen mul.lo.u32 %tripled, {value}, 3;",
            "mov.b32 {result}, %tripled;",
            "}}",
            own = in(reg32) own,
            value = in(reg32) value,
            result = out(reg32) result,
        );
    }
    result
}
