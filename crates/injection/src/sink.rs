//! Hears of calls and work, and has them written.

use std::sync::atomic::{AtomicU64, Ordering};

use cupti::{CountedLaunch, Counts, Domain, Error, Function, Order, Sink, Traced};
use recorder::Recorder;

use crate::convert::convert;
use crate::counted::Counted;
use crate::events::Events;

/// The calls and the work of this process so far.
pub(crate) struct Calls {
    recorder: Recorder,
    events: Events,
    counted: Counted,
    /// Work of which CUPTI has told no times.
    lost: AtomicU64,
}

impl Calls {
    pub(crate) fn new(recorder: Recorder) -> Calls {
        Calls {
            recorder,
            events: Events::default(),
            counted: Counted::default(),
            lost: AtomicU64::new(0),
        }
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.recorder
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
        if !call(&traced).is_none_or(|it| self.recorder.has_call(it)) {
            return;
        }
        match convert(&self.recorder, traced) {
            Some(record) => self.recorder.write(&record),
            None => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn is_counted(&self, launch: &CountedLaunch) -> bool {
        self.recorder.is_own()
            && self.recorder.has_call(launch.correlation)
            && self.counted.takes(launch)
    }

    fn counted(&self, launch: CountedLaunch, counts: Result<Counts, Error>) {
        self.counted.tell(&self.recorder, &launch, counts);
    }
}

/// The number of the call that asked for it; `None` where none did.
fn call(traced: &Traced<'_>) -> Option<u32> {
    match traced {
        Traced::Device { .. } => None,
        Traced::Kernel { span, .. } | Traced::Copy { span, .. } | Traced::Fill { span, .. } => {
            Some(span.correlation)
        }
        Traced::Memory { correlation, .. } => Some(*correlation),
    }
}
