//! `cuda_std::ptr`, `misc` and the types of `alloc`.

use cuda_std::misc::{breakpoint, clock, globaltimer, profiler_counter};
use cuda_std::prelude::*;
use cuda_std::ptr::AddressSpace::{self, Constant, Global, Local, Shared};
use cuda_std::ptr::*;

use crate::put;

#[address_space(constant)]
static DIGITS: [u32; 4] = [3, 1, 4, 1];

/// Whether the pointer is in each space; whether a conversion to `space` and back gives it again;
/// and whether the address within that space is another number.
#[inline(always)]
unsafe fn places<T>(pointer: *const T, space: AddressSpace) -> [u64; 6] {
    unsafe {
        let specific = convert_generic_to_specific_address_space(pointer, space);
        let back = convert_specific_address_space_to_generic(specific, space);
        [
            is_in_address_space(pointer, Global).into(),
            is_in_address_space(pointer, Shared).into(),
            is_in_address_space(pointer, Constant).into(),
            is_in_address_space(pointer, Local).into(),
            (back == pointer).into(),
            (specific != pointer).into(),
        ]
    }
}

/// The words that `places` writes for a pointer to global, shared, constant and local memory.
///
/// # Safety
/// `out` has one element per thread.
#[kernel(allow(local_memory))]
pub unsafe fn spaces(out: *mut [[u64; 6]; 4]) {
    let own = [thread::thread_idx_x(); 4];
    unsafe {
        let places = [
            places(out, Global),
            places(shared_array![u32; 4], Shared),
            places(&raw const DIGITS[0], Constant),
            places(&raw const own[0], Local),
        ];
        *out.add(thread::linear_index()) = places;
    }
}

/// Whether each clock goes on within a second, and how many nanoseconds have passed.
///
/// # Safety
/// `out` has room for 3 words per thread.
#[kernel]
pub unsafe fn clocks(out: *mut u64) {
    let (ticks, nanoseconds) = (clock(), globaltimer());
    profiler_counter(0);
    profiler_counter(7);
    let mut rounds = 0;
    while rounds < 100_000 && (globaltimer() == nanoseconds || clock() == ticks) {
        thread::nanosleep(1000);
        rounds += 1;
    }
    let (ticks_after, nanoseconds_after) = (clock(), globaltimer());
    let words = [
        (ticks_after > ticks).into(),
        (nanoseconds_after > nanoseconds).into(),
        nanoseconds_after.wrapping_sub(nanoseconds),
    ];
    unsafe { put(out, words) };
}

/// Stops in a debugger, and without one ends with an error: not to be launched on a GPU.
///
/// # Safety
/// `out` has room for one word per thread.
#[kernel]
pub unsafe fn stops(out: *mut u64) {
    breakpoint();
    unsafe { put(out, [1]) };
}

/// Text that is made on the heap.
#[kernel(allow(local_memory, panic_in_loop))]
pub fn text(mut out: Output<[u8; 32]>) {
    for (i, bytes) in out.own() {
        let number = Rc::new(format!("{i:>4}|{:x}", i * 37));
        let other = Rc::clone(&number);
        let mut words: Vec<String> = vec![i.to_string(), "µ".to_owned(), String::from("ab")];
        words.push((*other).clone());
        words.push(Rc::strong_count(&number).to_string());
        let text: Box<[u8]> = words.join("-").into_bytes().into_boxed_slice();
        for (to, from) in bytes.iter_mut().zip(&text) {
            *to = *from;
        }
    }
}
