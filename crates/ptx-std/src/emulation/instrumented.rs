//! What instrumented code calls. The compiler's ThreadSanitizer pass puts a call before each access
//! to memory and in place of each atomic operation, the coverage pass one on each edge of the
//! control flow. Their own runtimes are not linked: these functions are there instead.
//!
//! Most of them need their return address, which is the place of the access. Only a naked function
//! has it: it puts the address behind the arguments and goes on to an ordinary function.

use core::ops::Range;
use core::sync::atomic::{self, Ordering};
use std::alloc::{GlobalAlloc, Layout, System};

use super::{Access, CURRENT, Effect, Place, Scope, with_current};

/// Knows what the kernels allocate.
#[global_allocator]
static HEAP: Watched = Watched;

struct Watched;

// SAFETY: all is `System`'s, which keeps the contract.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        let memory = unsafe { System.alloc(layout) };
        // What the emulator itself allocates meanwhile is not the kernel's.
        if let Some(lane) = CURRENT.take() {
            let range = memory.addr()..memory.addr() + layout.size();
            // SAFETY: as in `with_current`.
            unsafe { lane.as_ref() }.hooks.allocated(range);
            CURRENT.set(Some(lane));
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        unsafe { System.dealloc(memory, layout) };
    }
}

/// Goes on to `$to` with the return address in an argument register, and perhaps a constant in the
/// third.
#[cfg(target_arch = "x86_64")]
macro_rules! go_on {
    ($x86:literal $arm:literal $to:path) => {
        core::arch::naked_asm!(concat!("mov ", $x86, ", [rsp]"), "jmp {to}", to = sym $to)
    };
    ($x86:literal $arm:literal $to:path, $constant:expr) => {
        core::arch::naked_asm!(
            concat!("mov ", $x86, ", [rsp]"),
            "mov edx, {what}",
            "jmp {to}",
            what = const $constant,
            to = sym $to
        )
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! go_on {
    ($x86:literal $arm:literal $to:path) => {
        core::arch::naked_asm!(concat!("mov ", $arm, ", x30"), "b {to}", to = sym $to)
    };
    ($x86:literal $arm:literal $to:path, $constant:expr) => {
        core::arch::naked_asm!(
            concat!("mov ", $arm, ", x30"),
            "mov w2, {what}",
            "b {to}",
            what = const $constant,
            to = sym $to
        )
    };
}

/// Functions of these names, which go on to others with their return address behind the arguments:
/// in this register of x86-64 and in that of AArch64.
macro_rules! with_return_address {
    ($($name:ident($x86:literal $arm:literal) => $to:path $(, $constant:expr)?;)*) => {$(
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        extern "C" fn $name() {
            go_on!($x86 $arm $to $(, $constant)?)
        }
    )*};
}

/// Where the program lies.
pub(super) fn program() -> Range<usize> {
    unsafe extern "C" {
        // The linker defines both; their addresses are all that they have.
        static __executable_start: u8;
        static _end: u8;
    }
    (&raw const __executable_start).addr()..(&raw const _end).addr()
}

/// An access's size, alignment and effect in one word.
const fn plain(bytes: u32, alignment: u32, writes: u32) -> u32 {
    bytes | alignment << 5 | writes << 10
}

with_return_address! {
    __tsan_read1("rsi" "x1") => access, plain(1, 1, 0);
    __tsan_read2("rsi" "x1") => access, plain(2, 2, 0);
    __tsan_read4("rsi" "x1") => access, plain(4, 4, 0);
    __tsan_read8("rsi" "x1") => access, plain(8, 8, 0);
    __tsan_read16("rsi" "x1") => access, plain(16, 8, 0);
    __tsan_write1("rsi" "x1") => access, plain(1, 1, 1);
    __tsan_write2("rsi" "x1") => access, plain(2, 2, 1);
    __tsan_write4("rsi" "x1") => access, plain(4, 4, 1);
    __tsan_write8("rsi" "x1") => access, plain(8, 8, 1);
    __tsan_write16("rsi" "x1") => access, plain(16, 8, 1);
    __tsan_unaligned_read2("rsi" "x1") => access, plain(2, 1, 0);
    __tsan_unaligned_read4("rsi" "x1") => access, plain(4, 1, 0);
    __tsan_unaligned_read8("rsi" "x1") => access, plain(8, 1, 0);
    __tsan_unaligned_read16("rsi" "x1") => access, plain(16, 1, 0);
    __tsan_unaligned_write2("rsi" "x1") => access, plain(2, 1, 1);
    __tsan_unaligned_write4("rsi" "x1") => access, plain(4, 1, 1);
    __tsan_unaligned_write8("rsi" "x1") => access, plain(8, 1, 1);
    __tsan_unaligned_write16("rsi" "x1") => access, plain(16, 1, 1);
    __tsan_memcpy("rcx" "x3") => copy;
    __tsan_memmove("rcx" "x3") => copy;
    __tsan_memset("rcx" "x3") => set;
}

extern "C" fn access(address: usize, place: usize, what: u32) {
    let effect = match what >> 10 {
        0 => Effect::Read,
        _ => Effect::Write,
    };
    report(
        address,
        (what & 31) as usize,
        (what >> 5 & 31) as usize,
        effect,
        None,
        place,
    );
}

/// Tells the emulator, if a kernel's thread runs and the memory is not of those that nobody watches.
#[inline]
fn report(
    address: usize,
    bytes: usize,
    alignment: usize,
    effect: Effect,
    atomic: Option<(Scope, Ordering)>,
    place: usize,
) {
    let Some(current) = CURRENT.get() else {
        return;
    };
    // SAFETY: as in `with_current`.
    let lane = unsafe { current.as_ref() };
    // The thread asks for its lane, in code of this crate that was inlined into the kernel's.
    let is_slot = CURRENT.with(|slot| (&raw const *slot).addr() == address);
    if is_slot || lane.unwatched.iter().any(|range| range.contains(&address)) {
        return;
    }
    with_current(|lane| {
        lane.step(1);
        lane.hooks.access(&Access {
            address,
            bytes,
            alignment,
            effect,
            atomic,
            place: Place::Code(place),
        });
    });
}

unsafe extern "C" fn copy(to: *mut u8, from: *const u8, bytes: usize, place: usize) -> *mut u8 {
    if bytes > 0 {
        report(from.addr(), bytes, 1, Effect::Read, None, place);
        report(to.addr(), bytes, 1, Effect::Write, None, place);
    }
    // SAFETY: the instrumented code asked for this copy.
    unsafe { core::ptr::copy(from, to, bytes) };
    to
}

unsafe extern "C" fn set(to: *mut u8, value: i32, bytes: usize, place: usize) -> *mut u8 {
    if bytes > 0 {
        report(to.addr(), bytes, 1, Effect::Write, None, place);
    }
    // SAFETY: the instrumented code asked for this.
    unsafe { core::ptr::write_bytes(to, value as u8, bytes) };
    to
}

/// A memory order as the compiler passes it.
fn ordering(number: i32) -> Ordering {
    match number {
        0 => Ordering::Relaxed,
        1 | 2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    }
}

macro_rules! atomics {
    ($($bits:ident $atomic:ident: $load:ident $store:ident $exchange:ident
        $compare:ident $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident;)*) => {$(
        mod $bits {
            use super::*;

            /// Tells the emulator, and returns the value in memory and the order.
            unsafe fn begin<'a>(
                address: *mut $bits,
                effect: Effect,
                order: i32,
                place: usize,
            ) -> (&'a atomic::$atomic, Ordering) {
                let order = ordering(order);
                let size = size_of::<$bits>();
                // `core`'s atomics know no scope: they are those of the whole system.
                let atomic = Some((Scope::Device, order));
                report(address.addr(), size, size, effect, atomic, place);
                // SAFETY: the instrumented code uses the memory so.
                (unsafe { atomic::$atomic::from_ptr(address) }, order)
            }

            pub(super) unsafe extern "C" fn load(
                address: *mut $bits,
                order: i32,
                place: usize,
            ) -> $bits {
                // SAFETY: the instrumented code's own.
                let (value, order) = unsafe { begin(address, Effect::Read, order, place) };
                value.load(order)
            }

            pub(super) unsafe extern "C" fn store(
                address: *mut $bits,
                new: $bits,
                order: i32,
                place: usize,
            ) {
                // SAFETY: the instrumented code's own.
                let (value, order) = unsafe { begin(address, Effect::Write, order, place) };
                value.store(new, order);
            }

            pub(super) unsafe extern "C" fn compare(
                address: *mut $bits,
                expected: $bits,
                new: $bits,
                order: i32,
                failure: i32,
                place: usize,
            ) -> $bits {
                // SAFETY: the instrumented code's own.
                let (value, order) = unsafe { begin(address, Effect::Modify, order, place) };
                value
                    .compare_exchange(expected, new, order, ordering(failure))
                    .unwrap_or_else(|other| other)
            }

            atomics!(@modify $bits exchange swap);
            atomics!(@modify $bits add fetch_add);
            atomics!(@modify $bits sub fetch_sub);
            atomics!(@modify $bits and fetch_and);
            atomics!(@modify $bits or fetch_or);
            atomics!(@modify $bits xor fetch_xor);
            atomics!(@modify $bits nand fetch_nand);
        }

        with_return_address! {
            $load("rdx" "x2") => $bits::load;
            $store("rcx" "x3") => $bits::store;
            $compare("r9" "x5") => $bits::compare;
            $exchange("rcx" "x3") => $bits::exchange;
            $add("rcx" "x3") => $bits::add;
            $sub("rcx" "x3") => $bits::sub;
            $and("rcx" "x3") => $bits::and;
            $or("rcx" "x3") => $bits::or;
            $xor("rcx" "x3") => $bits::xor;
            $nand("rcx" "x3") => $bits::nand;
        }
    )*};
    (@modify $bits:ident $name:ident $method:ident) => {
        pub(super) unsafe extern "C" fn $name(
            address: *mut $bits,
            operand: $bits,
            order: i32,
            place: usize,
        ) -> $bits {
            // SAFETY: the instrumented code's own.
            let (value, order) = unsafe { begin(address, Effect::Modify, order, place) };
            value.$method(operand, order)
        }
    };
}

atomics! {
    u8 AtomicU8: __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
        __tsan_atomic8_compare_exchange_val __tsan_atomic8_fetch_add __tsan_atomic8_fetch_sub
        __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or __tsan_atomic8_fetch_xor
        __tsan_atomic8_fetch_nand;
    u16 AtomicU16: __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
        __tsan_atomic16_compare_exchange_val __tsan_atomic16_fetch_add __tsan_atomic16_fetch_sub
        __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or __tsan_atomic16_fetch_xor
        __tsan_atomic16_fetch_nand;
    u32 AtomicU32: __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
        __tsan_atomic32_compare_exchange_val __tsan_atomic32_fetch_add __tsan_atomic32_fetch_sub
        __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or __tsan_atomic32_fetch_xor
        __tsan_atomic32_fetch_nand;
    u64 AtomicU64: __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
        __tsan_atomic64_compare_exchange_val __tsan_atomic64_fetch_add __tsan_atomic64_fetch_sub
        __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or __tsan_atomic64_fetch_xor
        __tsan_atomic64_fetch_nand;
}

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_thread_fence(order: i32) {
    let order = ordering(order);
    super::fence(Scope::Device, order);
    atomic::fence(order);
}

/// A fence between a thread and itself.
#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_order: i32) {}

/// The constructor of each instrumented crate calls it.
#[unsafe(no_mangle)]
extern "C" fn __tsan_init() {}

/// An edge of the control flow.
#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_trace_pc() {
    let Some(lane) = CURRENT.get() else {
        return;
    };
    // SAFETY: as in `with_current`.
    unsafe { lane.as_ref() }.step(1);
    // Other threads may have run meanwhile.
    CURRENT.set(Some(lane));
}
