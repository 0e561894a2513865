//! The part of a program that is recorded: all, or what lies between `cudaProfilerStart` and `cudaProfilerStop`.

use std::env;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The environment variable that is set where only the profiler's range is recorded.
pub const BY_PROFILER: &str = "RIDGEPOINT_RECORDING_BY_PROFILER";

/// Says what is recorded. Work of a device is what its call is, and may end long after the range.
#[derive(Debug)]
pub(crate) struct Gate {
    is_open: AtomicBool,
    ranges: Option<Mutex<Vec<Range>>>,
}

/// Between two calls.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// Calls have numbers in their order, from 1.
    after: u32,
    before: u32,
    start: u64,
    end: u64,
}

impl Gate {
    pub(crate) fn from_environment() -> Gate {
        Gate::new(env::var_os(BY_PROFILER).is_some())
    }

    fn new(is_by_profiler: bool) -> Gate {
        Gate {
            is_open: AtomicBool::new(!is_by_profiler),
            ranges: is_by_profiler.then(Mutex::default),
        }
    }

    /// `cudaProfilerStart` has returned. Says whether a range begins by that.
    pub(crate) fn open(&self, correlation: u32, now: u64) -> bool {
        self.change(|ranges| {
            let begins = !self.is_open.swap(true, Ordering::Relaxed);
            if begins {
                ranges.push(Range {
                    after: correlation,
                    before: u32::MAX,
                    start: now,
                    end: u64::MAX,
                });
            }
            begins
        })
    }

    /// `cudaProfilerStop` is called. Says whether a range ends by that.
    pub(crate) fn close(&self, correlation: u32, now: u64) -> bool {
        self.change(|ranges| {
            let ends = self.is_open.swap(false, Ordering::Relaxed);
            if let (true, Some(range)) = (ends, ranges.last_mut()) {
                range.before = correlation;
                range.end = now;
            }
            ends
        })
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Range>) -> bool) -> bool {
        self.ranges.as_ref().is_some_and(|ranges| {
            change(&mut ranges.lock().unwrap_or_else(PoisonError::into_inner))
        })
    }

    /// Whether calls are recorded at this moment.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Whether what this call has asked for is recorded.
    pub(crate) fn has_call(&self, correlation: u32) -> bool {
        self.has(|range| range.after < correlation && correlation < range.before)
    }

    /// Whether what happens at this time, and is no call's, is recorded.
    pub(crate) fn has_time(&self, time: u64) -> bool {
        self.has(|range| (range.start..range.end).contains(&time))
    }

    fn has(&self, is_in: impl Fn(&Range) -> bool) -> bool {
        self.ranges.as_ref().is_none_or(|ranges| {
            let ranges = ranges.lock().unwrap_or_else(PoisonError::into_inner);
            ranges.iter().any(is_in)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_recorded_or_what_the_profilers_ranges_have_called() {
        let all = Gate::new(false);
        all.close(5, 50);
        assert!(all.is_open() && all.has_call(9) && all.has_time(90));

        let ranges = Gate::new(true);
        assert!(!ranges.is_open() && !ranges.has_call(1) && !ranges.has_time(1));
        for (open, close) in [(10, 20), (30, 40)] {
            ranges.open(open, u64::from(open) * 10);
            // A second start within the range changes nothing.
            ranges.open(open + 5, 0);
            assert!(ranges.is_open() && ranges.has_call(open + 1));
            ranges.close(close, u64::from(close) * 10);
            assert!(!ranges.is_open());
        }
        let calls: Vec<u32> = (0..50).filter(|it| ranges.has_call(*it)).collect();
        assert!(calls.into_iter().eq((11..20).chain(31..40)));
        assert!(ranges.has_time(399) && !ranges.has_time(400) && !ranges.has_time(250));
    }
}
