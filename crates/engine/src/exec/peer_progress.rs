//! The progress of launches on devices that are joined to this one.
//!
//! A kernel on another device may still write the value that a thread polls for: it runs on another host thread, or does
//! not run yet. So a failed poll counts only once no joined device has made progress for a while.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use crate::memory::Memory;

/// How long a launch waits for each step that it may have gone through: 10 s where those are 2^28, as by default.
const PATIENCE_NS: u64 = 40;

/// The time without progress after which a launch no longer waits for another that has failed.
const AFTER_FAILURE: Duration = Duration::from_millis(10);

/// The progress of the launches of joined devices, as one of these launches sees it.
pub(crate) struct PeerProgress<'l> {
    memory: &'l Memory,
    patience: Duration,
    /// How many launches of other devices had failed when this one began.
    failures: Vec<(u32, u64)>,
    /// The progress of all when it was last seen to change, and the time of that.
    seen: Cell<u64>,
    since: Cell<Instant>,
    failed: Cell<Option<u32>>,
}

impl<'l> PeerProgress<'l> {
    /// Begins with the progress so far, for a launch that begins and may go through so many steps.
    pub(crate) fn new(memory: &'l Memory, steps: u64) -> PeerProgress<'l> {
        PeerProgress {
            memory,
            patience: Duration::from_nanos(steps.saturating_mul(PATIENCE_NS)),
            failures: memory.failures().collect(),
            seen: Cell::new(memory.progress()),
            since: Cell::new(Instant::now()),
            failed: Cell::new(None),
        }
    }

    /// Records that the launch does something else than wait.
    pub(crate) fn made_progress(&self) {
        if self.memory.has_peers() {
            self.memory.advance();
        }
    }

    /// Whether another device may do what the launch waits for. Lets other host threads go on meanwhile.
    pub(crate) fn may_help(&self) -> bool {
        if !self.memory.has_peers() {
            return false;
        }
        thread::yield_now();
        let progress = self.memory.progress();
        if self.seen.replace(progress) != progress {
            self.since.set(Instant::now());
            return true;
        }
        let waited = self.since.get().elapsed();
        if waited > AFTER_FAILURE {
            self.failed.set(self.first_failed());
        }
        self.failed.get().is_none() && waited < self.patience
    }

    /// A device on which a launch has failed since this one began.
    fn first_failed(&self) -> Option<u32> {
        let before = |device| self.failures.iter().find(|it| it.0 == device);
        let mut now = self.memory.failures();
        let failed = now.find(|(device, count)| *count > before(*device).map_or(0, |it| it.1));
        failed.map(|it| it.0)
    }

    /// The device on which a launch has failed, and for which this one waits in vain.
    pub(crate) fn failed(&self) -> Option<u32> {
        self.failed.get()
    }
}
