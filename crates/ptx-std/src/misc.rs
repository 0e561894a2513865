//! Debugging aids and clocks.

use crate::arch::misc as arch;

/// Stops in the debugger that runs the kernel; without one, the kernel ends with an error. Does
/// nothing on the host.
#[inline(always)]
pub fn breakpoint() {
    arch::breakpoint();
}

/// Counts one event a warp with the hardware counter `counter`, which profilers read. Does nothing
/// on the host.
///
/// The instruction holds the counter's number: pass a constant.
///
/// # Panics
/// For a counter that is not in `0..=7`.
#[inline(always)]
pub fn profiler_counter(counter: u32) {
    assert!(counter <= 7, "profiler_counter: there are counters 0 to 7");
    arch::profiler_counter(counter);
}

/// Ticks of the multiprocessor's clock: differences of two readings by one thread are times in
/// cycles. On the host it counts nanoseconds.
///
/// The compiler moves no memory access across it; loads that are under way may still be so.
#[inline(always)]
#[must_use]
pub fn clock() -> u64 {
    arch::clock()
}

/// Nanoseconds of a clock that all multiprocessors share. How often it is updated depends on the
/// GPU: expect a microsecond. On the host, nanoseconds since 1970.
///
/// The compiler moves no memory access across it.
#[inline(always)]
#[must_use]
pub fn globaltimer() -> u64 {
    arch::globaltimer()
}
