//! The blocks of a launch, as the cores that run them take them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::worker::Rest;

/// Blocks that have not begun, in order, and the device's room for those that have, whichever core runs them.
pub(crate) struct Queue {
    blocks: u64,
    next: AtomicU64,
    room: AtomicU64,
    held: u64,
    stop: AtomicBool,
}

impl Queue {
    /// So many blocks, of which `held` may have begun and not ended.
    pub(crate) fn new(blocks: u64, held: u64) -> Queue {
        Queue {
            blocks,
            next: AtomicU64::new(0),
            room: AtomicU64::new(held.max(1)),
            held: held.max(1),
            stop: AtomicBool::new(false),
        }
    }

    /// The next block, where there is one and room for it.
    pub(crate) fn begin(&self) -> Option<u64> {
        let less = |room: u64| room.checked_sub(1);
        let had_room = self
            .room
            .try_update(Ordering::Relaxed, Ordering::Relaxed, less);
        had_room.ok()?;
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        if next < self.blocks {
            return Some(next);
        }
        self.end();
        None
    }

    /// A block has ended.
    pub(crate) fn end(&self) {
        self.room.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether all blocks have begun.
    pub(crate) fn is_empty(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.blocks
    }

    /// The next block, where there is one and no room.
    pub(crate) fn held_up(&self) -> Option<u64> {
        let next = self.next.load(Ordering::Relaxed);
        (next < self.blocks && self.room.load(Ordering::Relaxed) == 0).then_some(next)
    }

    /// Returns the progress of the launch, where each entry stands for `together` blocks.
    pub(crate) fn rest(&self, together: u64) -> Rest {
        let (begun, ended) = self.progress();
        Rest {
            not_begun: self.held_up().map(|it| it * together),
            begun: begun * together,
            ended: ended * together,
        }
    }

    /// How many have begun, and how many of those have ended.
    fn progress(&self) -> (u64, u64) {
        let begun = self.next.load(Ordering::Relaxed).min(self.blocks);
        let running = self.held.saturating_sub(self.room.load(Ordering::Relaxed));
        (begun, begun.saturating_sub(running))
    }

    /// Nobody shall go on: a thread has failed.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_shared() {
        let queue = Queue::new(4, 2);
        assert_eq!((queue.begin(), queue.held_up()), (Some(0), None));
        assert_eq!((queue.begin(), queue.begin()), (Some(1), None));
        assert_eq!((queue.held_up(), queue.progress()), (Some(2), (2, 0)));
        queue.end();
        assert_eq!((queue.held_up(), queue.begin()), (None, Some(2)));
        queue.end();
        queue.end();
        assert!(!queue.is_empty());
        assert_eq!((queue.begin(), queue.begin()), (Some(3), None));
        assert!(queue.is_empty() && queue.held_up().is_none());
        assert_eq!(queue.progress(), (4, 3));
    }
}
