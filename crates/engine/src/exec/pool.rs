//! Host threads that run blocks of launches, and wait for the next launch: to begin a thread takes longer
//! than a small launch.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Work that threads do together.
type Work<'w> = &'w (dyn Fn() + Sync);

/// How it has ended.
type Outcome = Result<(), Box<dyn Any + Send>>;

/// Threads that help whoever has work.
pub(crate) struct Pool {
    state: Mutex<State>,
    has_work: Condvar,
    /// How long a thread waits for an offer before it ends.
    patience: Duration,
}

#[derive(Default)]
struct State {
    offers: VecDeque<Offer>,
    /// Threads that wait for an offer.
    idle: usize,
    /// Numbers of those who have asked for help.
    asked: u64,
}

/// Work that nobody has begun.
struct Offer {
    /// Who asks.
    by: u64,
    work: Work<'static>,
    done: Sender<Outcome>,
}

/// The pool of the process.
pub(crate) static POOL: Pool = Pool::new(Duration::from_secs(5));

impl Pool {
    const fn new(patience: Duration) -> Pool {
        Pool {
            state: Mutex::new(State {
                offers: VecDeque::new(),
                idle: 0,
                asked: 0,
            }),
            has_work: Condvar::new(),
            patience,
        }
    }

    /// Does the work on this thread and, as far as they come before it has ended, on so many others at the
    /// same time. Returns when all that have begun have ended.
    pub(crate) fn run(&'static self, helpers: usize, work: Work<'_>) {
        if helpers == 0 {
            return work();
        }
        let (done, ended) = channel();
        // SAFETY: this function returns when nobody has it any more: offers that are left are withdrawn, and
        // those that were taken are waited for.
        let shared: Work<'static> = unsafe { std::mem::transmute::<Work<'_>, Work<'static>>(work) };
        let by = self.offer(helpers, shared, &done);
        let own = catch_unwind(AssertUnwindSafe(work));
        let taken = helpers - self.withdraw(by);
        let others: Vec<Outcome> = ended.iter().take(taken).collect();
        for outcome in others.into_iter().chain([own]) {
            outcome.unwrap_or_else(|panic| resume_unwind(panic));
        }
    }

    /// Offers the work to so many threads, and begins those that are missing. Where the system has no more,
    /// those that there are do it. Gives the number of who asks.
    fn offer(&'static self, count: usize, work: Work<'static>, done: &Sender<Outcome>) -> u64 {
        let mut state = self.lock();
        state.asked += 1;
        let by = state.asked;
        state.offers.extend((0..count).map(|_| Offer {
            by,
            work,
            done: done.clone(),
        }));
        for _ in state.idle..state.offers.len() {
            // Idle from the beginning: it counts as such until it takes an offer.
            if thread::Builder::new().spawn(|| self.help()).is_ok() {
                state.idle += 1;
            }
        }
        drop(state);
        (0..count).for_each(|_| self.has_work.notify_one());
        by
    }

    /// Takes offers back that nobody has begun. Gives how many those are.
    fn withdraw(&self, by: u64) -> usize {
        let mut state = self.lock();
        let before = state.offers.len();
        state.offers.retain(|offer| offer.by != by);
        before - state.offers.len()
    }

    /// A thread of the pool.
    fn help(&self) {
        let mut state = self.lock();
        loop {
            let Some(offer) = state.offers.pop_front() else {
                let waited = self.has_work.wait_timeout(state, self.patience);
                let (now, waited) = waited.unwrap_or_else(PoisonError::into_inner);
                state = now;
                if waited.timed_out() && state.offers.is_empty() {
                    state.idle -= 1;
                    return;
                }
                continue;
            };
            state.idle -= 1;
            drop(state);
            let outcome = catch_unwind(AssertUnwindSafe(offer.work));
            state = self.lock();
            // Before the one who asked goes on, so that the next finds it.
            state.idle += 1;
            // It waits for this, and the receiver is gone only when the process ends.
            let _ = offer.done.send(outcome);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    use super::*;

    fn pool() -> &'static Pool {
        Box::leak(Box::new(Pool::new(Duration::from_secs(60))))
    }

    #[test]
    fn threads_that_have_nothing_to_do_end() {
        let pool: &'static Pool = Box::leak(Box::new(Pool::new(Duration::from_millis(20))));
        for _ in 0..2 {
            let all = Barrier::new(4);
            pool.run(3, &|| {
                all.wait();
            });
            let begun = Instant::now();
            while pool.lock().idle > 0 {
                assert!(begun.elapsed() < Duration::from_secs(60), "they wait on");
                thread::sleep(Duration::from_millis(5));
            }
        }
    }

    #[test]
    fn helpers_work_at_the_same_time_and_stay() {
        let pool = pool();
        for _ in 0..100 {
            let (all, count) = (Barrier::new(4), AtomicUsize::new(0));
            pool.run(3, &|| {
                all.wait();
                count.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(count.into_inner(), 4);
        }
        assert_eq!(pool.lock().idle, 3);
    }

    #[test]
    fn little_work_waits_for_nobody_who_has_not_begun() {
        let pool = pool();
        let count = AtomicUsize::new(0);
        for _ in 0..1000 {
            pool.run(2, &|| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
        assert!((1000..=3000).contains(&count.into_inner()));
        assert!(pool.lock().idle <= 2);
    }

    #[test]
    fn a_panic_of_a_helper_is_the_callers() {
        let pool = pool();
        let both = Barrier::new(2);
        let caller = thread::current().id();
        let work = || {
            both.wait();
            assert!(thread::current().id() == caller, "a helper's");
        };
        let panic = catch_unwind(AssertUnwindSafe(|| pool.run(1, &work))).expect_err("a panic");
        let text = panic.downcast_ref::<&str>().copied();
        assert!(
            text.is_some_and(|text| text.contains("a helper's")),
            "{text:?}"
        );
        // The thread goes on.
        pool.run(1, &|| {
            both.wait();
        });
    }
}
