//! Hears of calls and work, and has them written.

use std::sync::atomic::{AtomicU64, Ordering};

use cupti::{Domain, Function, Order, Sink, Traced};
use recorder::Recorder;

use crate::convert::convert;
use crate::events::Events;

/// The calls and the work of this process so far.
pub(crate) struct Calls {
    recorder: Recorder,
    events: Events,
    /// Work of which CUPTI has told no times.
    lost: AtomicU64,
}

impl Calls {
    pub(crate) fn new(recorder: Recorder) -> Calls {
        Calls {
            recorder,
            events: Events::default(),
            lost: AtomicU64::new(0),
        }
    }

    /// The process ends.
    pub(crate) fn end(&self, dropped: u64) {
        self.recorder
            .end(self.lost.load(Ordering::Relaxed) + dropped);
    }
}

impl Sink for Calls {
    fn function(&self, _: Domain, name: &str) -> Option<u32> {
        self.recorder.function(name)
    }

    fn enter(&self, function: Function) {
        self.recorder.enter(function.number, function.correlation);
    }

    fn leave(&self, function: Function, status: u32, order: Option<Order>) {
        let correlation = function.correlation;
        let start = self.recorder.leave(function.number, correlation, status);
        if let (Some(start), Some(order)) = (start, order) {
            let end = cupti::now().unwrap_or(start);
            self.events
                .tell(&self.recorder, correlation, order, (start, end));
        }
    }

    fn traced(&self, traced: Traced<'_>) {
        let is_recorded = match when(&traced) {
            When::Always => true,
            When::Call(correlation) => self.recorder.has_call(correlation),
            When::Time(time) => self.recorder.has_time(time),
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
        Traced::Memory { correlation, .. } => When::Call(*correlation),
        Traced::RangeBegin { time, .. } | Traced::Mark { time, .. } => When::Time(*time),
    }
}
