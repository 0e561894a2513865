//! Hears of calls and work, and has them written.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use cupti::{Domain, Function, Sink, Traced};
use recorder::Recorder;
use recording::{Call, Record};

use crate::convert::convert;
use crate::gate::Gate;
use crate::names::recorded;

/// What this process has asked of its GPUs so far.
pub(crate) struct Calls {
    recorder: Recorder,
    gate: Gate,
    /// Work of which CUPTI has told no times.
    lost: AtomicU64,
}

/// The numbers of the functions that begin and end a profiler's range. Those of other functions are their texts'.
const START: u32 = u32::MAX;
const STOP: u32 = u32::MAX - 1;

/// The call that goes on in a thread, with those that it makes itself.
#[derive(Clone, Copy, Default)]
struct Open {
    depth: u32,
    stack: u32,
    start: u64,
}

thread_local! {
    static OPEN: Cell<Open> = const { Cell::new(Open { depth: 0, stack: 0, start: 0 }) };
}

impl Calls {
    pub(crate) fn new(recorder: Recorder) -> Calls {
        Calls {
            recorder,
            gate: Gate::from_environment(),
            lost: AtomicU64::new(0),
        }
    }

    /// The process ends.
    pub(crate) fn end(&self, dropped: u64) {
        let lost = self.lost.load(Ordering::Relaxed) + dropped;
        self.recorder.end(cupti::now().unwrap_or(0), lost);
    }
}

impl Sink for Calls {
    fn function(&self, _: Domain, name: &str) -> Option<u32> {
        match name {
            name if name.contains("ProfilerStart") => Some(START),
            name if name.contains("ProfilerStop") => Some(STOP),
            name => recorded(name).map(|name| self.recorder.text(name)),
        }
    }

    fn enter(&self, function: Function) {
        match function.number {
            START => return,
            STOP => {
                let now = cupti::now().unwrap_or(0);
                return self.gate.close(function.correlation, now);
            }
            _ => {}
        }
        let Ok(open) = OPEN.try_with(Cell::get) else {
            return;
        };
        if open.depth > 0 {
            OPEN.set(Open {
                depth: open.depth + 1,
                ..open
            });
            return;
        }
        if !self.gate.is_open() {
            return;
        }
        let before = cupti::now().unwrap_or(0);
        let stack = self.recorder.callers();
        let start = cupti::now().unwrap_or(0);
        OPEN.set(Open {
            depth: 1,
            stack,
            start,
        });
        self.recorder.took(start.saturating_sub(before));
    }

    fn leave(&self, function: Function, status: u32) {
        match function.number {
            START => {
                let now = cupti::now().unwrap_or(0);
                return self.gate.open(function.correlation, now);
            }
            STOP => return,
            _ => {}
        }
        let Ok(open) = OPEN.try_with(Cell::get) else {
            return;
        };
        match open.depth {
            // It began where nothing was recorded.
            0 => {}
            1 => {
                let end = cupti::now().unwrap_or(0);
                OPEN.set(Open::default());
                self.recorder.write(&Record::Call(Call {
                    name: function.number,
                    thread: recorder::thread(),
                    stack: open.stack,
                    start: open.start,
                    end,
                    correlation: function.correlation,
                    status,
                }));
                let after = cupti::now().unwrap_or(0);
                self.recorder.took(after.saturating_sub(end));
            }
            depth => OPEN.set(Open {
                depth: depth - 1,
                ..open
            }),
        }
    }

    fn traced(&self, traced: Traced<'_>) {
        let is_recorded = match when(&traced) {
            When::Always => true,
            When::Call(correlation) => self.gate.has_call(correlation),
            When::Time(time) => self.gate.has_time(time),
        };
        if !is_recorded {
            return;
        }
        match convert(&self.recorder, traced) {
            Some(record) => self.recorder.write(&record),
            None => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// By what a record is of a range.
enum When {
    Always,
    Call(u32),
    Time(u64),
}

fn when(traced: &Traced<'_>) -> When {
    match traced {
        // The end of a range that was recorded must not be missing.
        Traced::Device { .. } | Traced::RangeEnd { .. } => When::Always,
        Traced::Kernel { span, .. } | Traced::Copy { span, .. } | Traced::Fill { span, .. } => {
            When::Call(span.correlation)
        }
        Traced::Synchronization { correlation, .. }
        | Traced::Event { correlation, .. }
        | Traced::Memory { correlation, .. } => When::Call(*correlation),
        Traced::RangeBegin { time, .. } | Traced::Mark { time, .. } => When::Time(*time),
    }
}
