//! Shared memory, and the driver's own functions.
//!
//! A static cannot be put into another address space with a stock compiler. What stands here names
//! a symbol that ptx-builder declares, with the alignment and the size that are part of its name,
//! and ptx-builder turns the generic loads and stores through its address into shared ones.

use core::any::type_name;
use core::arch::asm;
use core::ffi::{c_char, c_void};
use core::sync::atomic::AtomicU32;

#[inline(always)]
pub(crate) fn shared_array<T, const N: usize, const SITE: u64>() -> *mut T {
    let pointer: *mut T;
    // SAFETY: takes the address of a variable.
    unsafe {
        asm!(
            "mov.u64 {p}, __shared_{site}_{element}__16_{bytes}; cvta.shared.u64 {p}, {p};",
            p = out(reg64) pointer,
            site = const SITE,
            // A generic function's arrays of different types are different arrays.
            element = const fnv1a(type_name::<T>()),
            bytes = const size_of::<T>() * N,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    pointer
}

const fn fnv1a(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x100_0000_01b3);
        i += 1;
    }
    hash
}

#[inline(always)]
pub(crate) fn dynamic_shared() -> *mut u8 {
    let pointer: *mut u8;
    // SAFETY: takes the address of a variable.
    unsafe {
        asm!(
            "mov.u64 {p}, __dynamic_shared; cvta.shared.u64 {p}, {p};",
            p = out(reg64) pointer,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    pointer
}

/// A pointer as that to a part of dynamic shared memory. The emulator's checks know the names of the registers
/// that nothing reads; `ptxas` drops them.
#[inline(always)]
pub(crate) fn shared_part(from: *mut u8, number: u32, bytes: u32, element: u32) -> *mut u8 {
    let pointer: *mut u8;
    // SAFETY: a move, and others to registers of its own.
    unsafe {
        asm!(
            "{{",
            ".reg .b32 __part_number, __part_bytes, __part_element;",
            "mov.b32 __part_number, {number};",
            "mov.b32 __part_bytes, {bytes};",
            "mov.b32 __part_element, {element};",
            "mov.b64 {pointer}, {from};",
            "}}",
            number = in(reg32) number,
            bytes = in(reg32) bytes,
            element = in(reg32) element,
            from = in(reg64) from,
            pointer = out(reg64) pointer,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    pointer
}

/// Four words that other threads may write meanwhile, of which each is read whole.
///
/// # Safety
/// `words` points to four of them, and is aligned to 16 bytes.
#[inline(always)]
pub(crate) unsafe fn load_four(words: *const AtomicU32) -> [u32; 4] {
    let (a, b, c, d): (u32, u32, u32, u32);
    // SAFETY: the caller's; a volatile access is a relaxed one, on GPUs that have no `ld.relaxed`, too.
    unsafe {
        asm!(
            "ld.volatile.v4.b32 {{{a}, {b}, {c}, {d}}}, [{words}];",
            a = out(reg32) a,
            b = out(reg32) b,
            c = out(reg32) c,
            d = out(reg32) d,
            words = in(reg64) words,
            options(nostack, readonly, preserves_flags)
        );
    }
    [a, b, c, d]
}

unsafe extern "C" {
    /// The driver's formatted output: a C format and its arguments, packed as a C structure.
    pub fn vprintf(format: *const c_char, arguments: *const c_void) -> i32;

    /// The driver's failed assertion: says so on the host and ends the grid.
    pub fn __assertfail(
        message: *const c_char,
        file: *const c_char,
        line: u32,
        function: *const c_char,
        char_size: usize,
    );
}

/// Prints text that ends with a 0 byte.
pub(crate) fn print(text: &[u8]) {
    let arguments = [text.as_ptr()];
    // SAFETY: "%s" takes one pointer to text that ends with a 0 byte.
    unsafe { vprintf(c"%s".as_ptr(), arguments.as_ptr().cast()) };
}

/// The function that the compiler calls to compare slices: nothing else defines it for a GPU. ptx-builder leaves
/// it out where nothing calls it.
///
/// # Safety
/// Both point to `len` readable bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const c_void, b: *const c_void, len: usize) -> i32 {
    let (a, b) = (a.cast::<u8>(), b.cast::<u8>());
    for i in 0..len {
        // SAFETY: i < len.
        let (a, b) = unsafe { (*a.add(i), *b.add(i)) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}
