//! Waiting, where a launch runs on several cores.
//!
//! What a thread waits for another core may yet do. So looks in vain count only as far as all cores have
//! looked in vain.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What a core has that does not run blocks: nobody waits for its looks.
const AWAY: u64 = u64::MAX;

/// How often each core of a launch has looked in vain, as far as the others have.
pub(crate) struct Looks {
    of_cores: Box<[AtomicU64]>,
    joined: AtomicUsize,
}

/// A core that runs blocks of a launch, until it is dropped.
pub(crate) struct Core<'l> {
    looks: &'l Looks,
    index: usize,
}

impl Looks {
    /// For so many cores, none of which has joined.
    pub(crate) fn new(cores: usize) -> Looks {
        Looks {
            of_cores: (0..cores).map(|_| AtomicU64::new(AWAY)).collect(),
            joined: AtomicUsize::new(0),
        }
    }

    /// Another core begins.
    pub(crate) fn join(&self) -> Core<'_> {
        let index = self.joined.fetch_add(1, Ordering::Relaxed);
        self.of_cores[index].store(0, Ordering::Relaxed);
        Core { looks: self, index }
    }
}

impl Core<'_> {
    /// Counts a look in vain, unless another core has had fewer: then it may be at what is waited for.
    pub(crate) fn looks_in_vain(&self) -> bool {
        let own = &self.looks.of_cores[self.index];
        let count = own.load(Ordering::Relaxed);
        let all = &self.looks.of_cores;
        let is_first = all.iter().any(|it| it.load(Ordering::Relaxed) < count);
        if !is_first {
            own.store(count + 1, Ordering::Relaxed);
        }
        !is_first
    }
}

impl Drop for Core<'_> {
    fn drop(&mut self) {
        self.looks.of_cores[self.index].store(AWAY, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_count_as_far_as_all_cores_have_looked() {
        let looks = Looks::new(3);
        let one = looks.join();
        // The others have not begun.
        assert!(one.looks_in_vain() && one.looks_in_vain());
        let other = looks.join();
        assert!(!one.looks_in_vain());
        assert!(other.looks_in_vain() && other.looks_in_vain());
        assert!(one.looks_in_vain() && !one.looks_in_vain());
        drop(other);
        assert!(one.looks_in_vain() && one.looks_in_vain());
    }
}
