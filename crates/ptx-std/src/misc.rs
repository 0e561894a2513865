//! Debugging aids and clocks.
//!
//! ```
//! use cuda_std::misc::*;
//!
//! let kernel = || {
//!     let (cycles, nanoseconds) = (clock(), globaltimer());
//!     profiler_counter(0); // Profilers count how often a warp comes here.
//!     if cycles == u64::MAX {
//!         breakpoint();
//!     }
//!     assert!(clock() >= cycles && globaltimer() >= nanoseconds);
//! };
//! # let shape = simt::Shape { grid: [1, 1, 1], block: [32, 1, 1], dynamic_shared: 0 };
//! # simt::Launch::new(shape).run(&kernel)?;
//! # Ok::<(), simt::LaunchError>(())
//! ```

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_go_forward() {
        let (clock_before, timer_before) = (clock(), globaltimer());
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(clock() - clock_before >= 2_000_000);
        assert!(globaltimer() > timer_before);
    }

    #[test]
    fn events_and_breakpoints_do_nothing_on_the_host() {
        breakpoint();
        (0..=7).for_each(profiler_counter);
    }

    #[test]
    #[should_panic(expected = "counters 0 to 7")]
    fn there_is_no_eighth_counter() {
        profiler_counter(8);
    }
}
