//! Launches that are checked at the same time: one at a time runs and tells the checker, and lets the others
//! have their turn when it only waits.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Checker, Streams};

/// Who has a checker for as long as a launch runs.
pub trait Hold {
    /// The checker.
    fn checker(&self) -> &Checker;
    /// The checker, to be told.
    fn checker_mut(&mut self) -> &mut Checker;
    /// Lets others have it that wait for it. The launch waits for something, which one of them may do.
    fn pass(&mut self) {}
}

/// Whose nobody else is.
impl Hold for Checker {
    fn checker(&self) -> &Checker {
        self
    }

    fn checker_mut(&mut self) -> &mut Checker {
        self
    }
}

impl Deref for dyn Hold + '_ {
    type Target = Checker;

    fn deref(&self) -> &Checker {
        self.checker()
    }
}

impl DerefMut for dyn Hold + '_ {
    fn deref_mut(&mut self) -> &mut Checker {
        self.checker_mut()
    }
}

/// The state of some devices: what checked launches have done, and what the host orders.
#[derive(Debug, Default)]
pub struct Known {
    /// The state by which launches are checked.
    pub checker: Checker,
    /// The order of operations.
    pub streams: Streams,
}

/// [`Known`] of several host threads, who have it in the order in which they come.
#[derive(Debug, Default)]
pub struct Turns {
    known: Mutex<Known>,
    /// Whose turn it is, by the number that each draws.
    served: Mutex<u64>,
    drawn: AtomicU64,
    moved: Condvar,
}

/// A host thread's turn, until it is dropped.
#[derive(Debug)]
pub struct Turn<'t> {
    of: &'t Turns,
    number: u64,
    /// None only while it is passed on.
    known: Option<MutexGuard<'t, Known>>,
}

impl Turns {
    /// Waits for all who came before.
    pub fn take(&self) -> Turn<'_> {
        let number = self.drawn.fetch_add(1, Ordering::Relaxed);
        let mut turn = Turn {
            of: self,
            number,
            known: None,
        };
        turn.wait();
        turn
    }
}

impl Turn<'_> {
    fn wait(&mut self) {
        let is_others = |served: &mut u64| *served != self.number;
        let served = self
            .of
            .served
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let served = self.of.moved.wait_while(served, is_others);
        drop(served.unwrap_or_else(PoisonError::into_inner));
        // Whoever had it has given it back.
        let known = self.of.known.lock();
        self.known = Some(known.unwrap_or_else(PoisonError::into_inner));
    }

    fn end(&mut self) {
        self.known = None;
        *self
            .of
            .served
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += 1;
        self.of.moved.notify_all();
    }
}

impl Hold for Turn<'_> {
    fn checker(&self) -> &Checker {
        &self.checker
    }

    fn checker_mut(&mut self) -> &mut Checker {
        &mut self.checker
    }

    fn pass(&mut self) {
        if self.of.drawn.load(Ordering::Relaxed) == self.number + 1 {
            return;
        }
        let next = self.of.drawn.fetch_add(1, Ordering::Relaxed);
        self.end();
        self.number = next;
        self.wait();
    }
}

impl Deref for Turn<'_> {
    type Target = Known;

    fn deref(&self) -> &Known {
        self.known.as_ref().expect("it has its turn")
    }
}

impl DerefMut for Turn<'_> {
    fn deref_mut(&mut self) -> &mut Known {
        self.known.as_mut().expect("it has its turn")
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn those_who_wait_go_first_and_in_their_order() {
        let (turns, log) = (&Turns::default(), Mutex::new(Vec::new()));
        let note = &|who: u32| log.lock().expect("nobody has panicked").push(who);
        let mut first = turns.take();
        first.pass();
        note(0);
        thread::scope(|scope| {
            for who in 1..=3 {
                scope.spawn(move || {
                    let mut turn = turns.take();
                    note(who);
                    turn.pass();
                    note(10 + who);
                });
                while turns.drawn.load(Ordering::Relaxed) != u64::from(who) + 1 {
                    thread::yield_now();
                }
            }
            first.pass();
            note(100);
            drop(first);
        });
        let log = log.into_inner().expect("nobody has panicked");
        assert_eq!(log, [0, 1, 2, 3, 100, 11, 12, 13]);
    }
}
