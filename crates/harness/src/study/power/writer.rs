//! Threads that write checkpoints while the iteration goes on.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

use tracing::dispatcher;

use super::Checkpoint;

/// Files written at once: a disk that is asked to keep several at once takes hardly longer.
const THREADS: usize = 8;
/// Checkpoints that wait. When there are more, the oldest goes: a slow disk makes checkpoints rarer,
/// and the iteration no slower.
const WAITING: usize = 16;

/// Writes checkpoints into a folder, in the background.
pub(super) struct Writer<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    shared: &'scope Shared,
    folder: &'scope Path,
    /// Begun one by one, when there is something to write: all at once would keep the first steps
    /// waiting.
    threads: Vec<ScopedJoinHandle<'scope, ()>>,
}

/// The state that the iteration and the threads share.
pub(super) struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Checkpoint>,
    counts: Counts,
    failure: Option<io::Error>,
    is_ended: bool,
}

/// Counts of checkpoints, written and superseded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) written: u64,
    /// Never written, because newer ones were waiting.
    pub(super) superseded: u64,
}

impl Shared {
    pub(super) fn new() -> Shared {
        Shared {
            queue: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next checkpoint to write; `None` when there will be no more.
    fn next(&self) -> Option<Checkpoint> {
        let mut queue = self.lock();
        loop {
            if queue.failure.is_some() {
                return None;
            }
            if let Some(checkpoint) = queue.waiting.pop_front() {
                return Some(checkpoint);
            }
            if queue.is_ended {
                return None;
            }
            queue = self
                .changed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self, folder: &Path) {
        while let Some(checkpoint) = self.next() {
            let written = checkpoint.write(folder);
            let mut queue = self.lock();
            match written {
                Ok(()) => queue.counts.written += 1,
                Err(error) => {
                    queue.failure.get_or_insert(error);
                }
            }
        }
    }
}

impl<'scope, 'env> Writer<'scope, 'env> {
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'scope Shared,
        folder: &'scope Path,
    ) -> Writer<'scope, 'env> {
        Writer {
            scope,
            shared,
            folder,
            threads: Vec::new(),
        }
    }

    /// Hands a checkpoint over.
    ///
    /// # Errors
    /// That of an earlier checkpoint, as [`Checkpoint::write`].
    pub(super) fn submit(&mut self, checkpoint: Checkpoint) -> io::Result<()> {
        if self.threads.len() < THREADS {
            self.begin_thread();
        }
        let mut queue = self.shared.lock();
        if let Some(error) = queue.failure.take() {
            return Err(error);
        }
        queue.waiting.push_back(checkpoint);
        if queue.waiting.len() > WAITING {
            queue.waiting.pop_front();
            queue.counts.superseded += 1;
        }
        self.shared.changed.notify_one();
        Ok(())
    }

    fn begin_thread(&mut self) {
        let (shared, folder) = (self.shared, self.folder);
        // It takes no part in the trace of the thread that makes it, unless it is told to.
        let dispatch = dispatcher::get_default(Clone::clone);
        let work = move || dispatcher::with_default(&dispatch, || shared.work(folder));
        self.threads.push(self.scope.spawn(work));
    }

    /// Waits until everything that waits is written.
    ///
    /// # Errors
    /// That of the first checkpoint that could not be written, as [`Checkpoint::write`].
    pub(super) fn finish(mut self) -> io::Result<Counts> {
        self.end();
        for thread in self.threads.drain(..) {
            // A panic of a thread is the scope's.
            let _ = thread.join();
        }
        let mut queue = self.shared.lock();
        match queue.failure.take() {
            Some(error) => Err(error),
            None => Ok(queue.counts),
        }
    }

    fn end(&self) {
        self.shared.lock().is_ended = true;
        self.shared.changed.notify_all();
    }
}

impl Drop for Writer<'_, '_> {
    /// Lets the threads end also where the iteration has failed.
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn checkpoint(step: u64) -> Checkpoint {
        Checkpoint {
            step,
            seed: 1,
            dominance: 0.5,
            eigenvalue: 1.0,
            residual: 0.0,
            vector: vec![1.0; 100],
        }
    }

    #[test]
    fn what_is_handed_over_is_written_or_superseded() {
        let folder = tempfile::tempdir().expect("a folder");
        let shared = Shared::new();
        let counts = thread::scope(|scope| {
            let mut writer = Writer::new(scope, &shared, folder.path());
            for step in 0..50 {
                writer.submit(checkpoint(step)).expect("a healthy disk");
            }
            writer.finish().expect("a healthy disk")
        });
        assert_eq!(counts.written + counts.superseded, 50);
        let newest = Checkpoint::newest(folder.path()).expect("readable");
        assert_eq!(newest.map(|newest| newest.step), Some(49));
    }

    #[test]
    fn a_folder_that_takes_nothing_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("missing");
        let shared = Shared::new();
        thread::scope(|scope| {
            let mut writer = Writer::new(scope, &shared, &missing);
            writer.submit(checkpoint(1)).expect("not tried yet");
            let error = writer.finish().expect_err("there is no such folder");
            assert!(error.to_string().contains("step-00000001.bin"), "{error}");
        });
    }
}
