//! Debugger, profiler and clocks.

use core::arch::asm;

#[inline(always)]
pub(crate) fn breakpoint() {
    // SAFETY: a debugger sees the thread; memory is not touched.
    unsafe { asm!("brkpt;", options(nostack)) }
}

/// `counter` is at most 7.
#[inline(always)]
pub(crate) fn profiler_counter(counter: u32) {
    macro_rules! events {
        ($($number:literal)*) => {
            match counter {
                // SAFETY: the instruction touches a counter of the hardware, not memory.
                $($number => unsafe {
                    asm!(concat!("pmevent ", $number, ";"), options(nostack))
                },)*
                _ => {}
            }
        };
    }
    events!(0 1 2 3 4 5 6 7);
}

#[inline(always)]
pub(crate) fn clock() -> u64 {
    let ticks;
    // SAFETY: reading a special register has no precondition.
    unsafe { asm!("mov.u64 {}, %clock64;", out(reg64) ticks, options(nostack)) }
    ticks
}

#[inline(always)]
pub(crate) fn globaltimer() -> u64 {
    let nanoseconds;
    // SAFETY: reading a special register has no precondition.
    unsafe { asm!("mov.u64 {}, %globaltimer;", out(reg64) nanoseconds, options(nostack)) }
    nanoseconds
}
