//! The failed polls of a launch that runs on several cores.
//!
//! Another core may still write the value that a thread polls for. So failed polls count only as far as those of all
//! cores do.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The count of a core that does not run blocks: nobody waits for its polls.
const AWAY: u64 = u64::MAX;

/// The count of a core that does not stand still.
const MOVES: u64 = 0;

/// Rounds of a core that stands still lie in the lower bits; in the upper ones, how often it has begun to.
const ROUNDS: u32 = 32;

/// The failed polls of each core of a launch: one counts only once every other core has as many.
pub(crate) struct FailedPolls {
    of_cores: Box<[AtomicU64]>,
    /// Since when each stands still: see [`Core::stands_still`].
    standing: Box<[AtomicU64]>,
    joined: AtomicUsize,
}

/// A core that runs blocks of a launch, until it is dropped.
pub(crate) struct Core<'l> {
    polls: &'l FailedPolls,
    index: usize,
    /// How often it has begun to stand still.
    began: Cell<u64>,
    /// The values of [`FailedPolls::standing`] of all cores when it last saw all of them standing.
    seen: RefCell<Vec<u64>>,
}

impl FailedPolls {
    /// For so many cores, none of which has joined.
    pub(crate) fn new(cores: usize) -> FailedPolls {
        FailedPolls {
            of_cores: (0..cores).map(|_| AtomicU64::new(AWAY)).collect(),
            standing: (0..cores).map(|_| AtomicU64::new(AWAY)).collect(),
            joined: AtomicUsize::new(0),
        }
    }

    /// Another core begins.
    pub(crate) fn join(&self) -> Core<'_> {
        let index = self.joined.fetch_add(1, Ordering::Relaxed);
        self.of_cores[index].store(0, Ordering::Relaxed);
        self.standing[index].store(MOVES, Ordering::SeqCst);
        Core {
            polls: self,
            index,
            began: Cell::new(0),
            seen: RefCell::default(),
        }
    }
}

impl Core<'_> {
    /// Records a failed poll, and returns whether it counts: not while another core has fewer, which may be about to write
    /// what is polled for.
    pub(crate) fn record(&self) -> bool {
        let own = &self.polls.of_cores[self.index];
        let count = own.load(Ordering::Relaxed);
        let all = &self.polls.of_cores;
        let is_first = all.iter().any(|it| it.load(Ordering::Relaxed) < count);
        if !is_first {
            own.store(count + 1, Ordering::Relaxed);
        }
        !is_first
    }

    /// The core does not stand still.
    pub(crate) fn moves(&self) {
        let own = &self.polls.standing[self.index];
        if own.load(Ordering::Relaxed) != MOVES {
            own.store(MOVES, Ordering::SeqCst);
        }
    }

    /// Records that its blocks have had a turn each and have come to nothing new, and returns whether
    /// that is so of all cores: each has had a whole round since this one saw all of them standing, so that what the last
    /// of them wrote before has been seen by all. Nothing counts that was before `others_may_begin` was last true.
    pub(crate) fn stands_still(&self, others_may_begin: bool) -> bool {
        let own = &self.polls.standing[self.index];
        let next = match own.load(Ordering::Relaxed) {
            MOVES => {
                self.began.set(self.began.get() + 1);
                self.began.get() << ROUNDS
            }
            rounds => rounds + 1,
        };
        own.store(next, Ordering::SeqCst);
        let mut seen = self.seen.borrow_mut();
        let of_all = self.polls.standing.iter();
        let now: Vec<u64> = of_all.map(|it| it.load(Ordering::SeqCst)).collect();
        if others_may_begin || now.contains(&MOVES) {
            seen.clear();
            return false;
        }
        let is_as_before = |(before, now): (&u64, &u64)| before >> ROUNDS == now >> ROUNDS;
        if seen.len() != now.len() || !seen.iter().zip(&now).all(is_as_before) {
            *seen = now;
            return false;
        }
        // The first of two rounds may have begun before.
        let has_come_round = |(before, now): (&u64, &u64)| *now == AWAY || now - before >= 2;
        seen.iter().zip(&now).all(has_come_round)
    }
}

impl Drop for Core<'_> {
    fn drop(&mut self) {
        self.polls.of_cores[self.index].store(AWAY, Ordering::Relaxed);
        self.polls.standing[self.index].store(AWAY, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_count_as_far_as_all_cores_have_looked() {
        let polls = FailedPolls::new(3);
        let one = polls.join();
        // The others have not begun.
        assert!(one.record() && one.record());
        let other = polls.join();
        assert!(!one.record());
        assert!(other.record() && other.record());
        assert!(one.record() && !one.record());
        drop(other);
        assert!(one.record() && one.record());
    }

    #[test]
    fn all_stand_still_when_each_has_had_a_round_since_the_others_do() {
        let polls = FailedPolls::new(3);
        let (one, other) = (polls.join(), polls.join());
        // The other moves.
        assert!((0..9).all(|_| !one.stands_still(false)));
        assert!(!other.stands_still(false));
        assert!(
            (0..9).all(|_| !one.stands_still(false)),
            "no round of the other's"
        );
        assert!(!other.stands_still(false) && !one.stands_still(false));
        assert!(other.stands_still(false) && one.stands_still(false));
        // It has moved in between, though it stands again.
        other.moves();
        assert!((0..9).all(|_| !other.stands_still(false)));
        assert!(!one.stands_still(false) && !one.stands_still(false));
        // A block may begin.
        assert!((0..9).all(|_| !other.stands_still(true) && !one.stands_still(true)));
        assert!(!one.stands_still(false));
        drop(other);
        let alone: Vec<bool> = (0..4).map(|_| one.stands_still(false)).collect();
        assert_eq!(alone, [false, false, true, true]);
    }
}
