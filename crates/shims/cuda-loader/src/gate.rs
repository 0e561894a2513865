//! Every call but the change of context passes here, and can be recorded. Off, that costs one load per
//! call.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A call of one of the driver's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function's name: "cuLaunchKernel". What a header calls `cuMemAlloc` is `cuMemAlloc_v2`.
    pub function: &'static str,
    /// When it was called.
    pub began: Instant,
    /// How long it took to return.
    pub took: Duration,
}

/// How many threads record.
static RECORDERS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static CALLS: RefCell<Option<Vec<Call>>> = const { RefCell::new(None) };
}

/// Runs `work` and returns, beside its result, the calls that this thread made meanwhile. One within
/// another records for both.
pub fn record<R>(work: impl FnOnce() -> R) -> (R, Vec<Call>) {
    let recording = Recording::begin();
    let result = work();
    (result, recording.end())
}

/// Gives the calls to the recorder that was there before, also where `work` panics.
struct Recording {
    outer: Option<Vec<Call>>,
}

impl Recording {
    fn begin() -> Recording {
        RECORDERS.fetch_add(1, Ordering::Relaxed);
        Recording {
            outer: CALLS.replace(Some(Vec::new())),
        }
    }

    fn end(self) -> Vec<Call> {
        CALLS.with_borrow(|calls| calls.clone().unwrap_or_default())
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let own = CALLS.take().unwrap_or_default();
        if let Some(outer) = &mut self.outer {
            outer.extend(own);
        }
        CALLS.set(self.outer.take());
        RECORDERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs `work` without recording its calls: those that only watch the others.
pub fn unrecorded<R>(work: impl FnOnce() -> R) -> R {
    let _hidden = Hidden(CALLS.take());
    work()
}

/// Brings the recorder back, also where `work` panics.
struct Hidden(Option<Vec<Call>>);

impl Drop for Hidden {
    fn drop(&mut self) {
        CALLS.set(self.0.take());
    }
}

/// Makes `call`, which is that of the driver's function of this name or, where there is no driver,
/// what stands in for it.
#[inline(always)]
pub fn pass<R>(function: &'static str, call: impl FnOnce() -> R) -> R {
    if RECORDERS.load(Ordering::Relaxed) == 0 {
        return call();
    }
    let began = Instant::now();
    let result = call();
    note(Call {
        function,
        began,
        took: began.elapsed(),
    });
    result
}

#[cold]
fn note(call: Call) {
    CALLS.with_borrow_mut(|calls| {
        if let Some(calls) = calls {
            calls.push(call);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(calls: &[Call]) -> Vec<&str> {
        calls.iter().map(|call| call.function).collect()
    }

    #[test]
    fn calls_are_recorded_for_their_own_thread() {
        pass("before", || ());
        let (result, calls) = record(|| {
            std::thread::scope(|scope| {
                scope.spawn(|| pass("elsewhere", || ()));
            });
            pass("first", || std::thread::sleep(Duration::from_millis(2)));
            pass("second", || 7)
        });
        assert_eq!(result, 7);
        assert_eq!(names(&calls), ["first", "second"]);
        assert!(calls[0].took >= Duration::from_millis(2));
        assert!(calls[0].began <= calls[1].began);
    }

    #[test]
    fn an_inner_recording_is_part_of_the_outer() {
        let ((), outer) = record(|| {
            pass("outer", || ());
            let ((), inner) = record(|| pass("inner", || ()));
            assert_eq!(names(&inner), ["inner"]);
            unrecorded(|| pass("hidden", || ()));
            pass("outer again", || ());
        });
        assert_eq!(names(&outer), ["outer", "inner", "outer again"]);
    }
}
