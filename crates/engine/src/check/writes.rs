//! The strong writes of one address, in the order in which reads observe them.

use std::cell::RefCell;

use super::chains::Write;
use super::hash::Map;

/// Writes that are remembered of an address; beyond that all count as observed.
const WRITES: usize = 1 << 14;

/// A list that grows at once, and an index of it that is made when somebody asks.
#[derive(Debug, Default)]
pub(super) struct Writes {
    place: u64,
    epochs: Vec<u32>,
    /// At most 1023.
    threads: Vec<u16>,
    /// The length of the chain with the first of the list, and with each that is not one longer than the one before: the
    /// write's place in the list, and the length.
    jumps: Vec<(u32, u32)>,
    last: u32,
    index: RefCell<Index>,
}

/// The lengths by epoch and thread, of so many of the list.
#[derive(Debug, Default)]
struct Index {
    of: Map<(u32, u16), Vec<u32>>,
    read: usize,
}

impl Writes {
    /// Adds a write, with which the chain has a length.
    pub(super) fn add(&mut self, write: Write, at: u32) {
        let number = self.epochs.len();
        if number >= WRITES {
            return;
        }
        if number == 0 || at != self.last + 1 {
            self.jumps.push((number as u32, at));
        }
        self.last = at;
        self.place = write.place;
        self.epochs.push(write.epoch);
        self.threads.push(write.thread as u16);
    }

    /// Whether a write was added beyond a length, and within another.
    pub(super) fn has(&self, write: Write, from: u32, len: u32) -> bool {
        if self.place != write.place {
            return false;
        }
        if self.epochs.len() >= WRITES {
            return true;
        }
        let mut index = self.index.borrow_mut();
        self.read_on(&mut index);
        let all = index.of.get(&(write.epoch, write.thread as u16));
        all.is_some_and(|all| all.iter().any(|at| (from + 1..=len).contains(at)))
    }

    /// Takes what was added since into the index.
    fn read_on(&self, index: &mut Index) {
        let mut jump = self
            .jumps
            .partition_point(|(number, _)| *number as usize <= index.read);
        for number in index.read..self.epochs.len() {
            if self
                .jumps
                .get(jump)
                .is_some_and(|it| it.0 as usize == number)
            {
                jump += 1;
            }
            let (first, at) = self.jumps[jump - 1];
            let at = at + (number as u32 - first);
            let key = (self.epochs[number], self.threads[number]);
            index.of.entry(key).or_default().push(at);
        }
        index.read = self.epochs.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_found_by_their_place_in_the_chain() {
        let mut writes = Writes::default();
        let write = |thread, epoch| Write {
            thread,
            epoch,
            place: 64,
        };
        writes.add(write(3, 10), 1);
        assert!(writes.has(write(3, 10), 0, 1));
        writes.add(write(3, 10), 4);
        writes.add(write(5, 11), 6);
        assert!(writes.has(write(3, 10), 1, 4) && !writes.has(write(3, 10), 1, 3));
        assert!(writes.has(write(5, 11), 0, 6) && !writes.has(write(5, 11), 0, 5));
        assert!(!writes.has(write(5, 10), 0, 9));
        let elsewhere = Write {
            place: 68,
            ..write(3, 10)
        };
        assert!(!writes.has(elsewhere, 0, 9));
    }

    #[test]
    fn all_are_observed_of_more_than_are_remembered() {
        let mut writes = Writes::default();
        for at in 1..=WRITES as u32 {
            let write = Write {
                thread: 0,
                epoch: at,
                place: 0,
            };
            writes.add(write, at);
        }
        let other = Write {
            thread: 1,
            epoch: 1,
            place: 0,
        };
        assert!(writes.has(other, 0, 1));
        assert!(!writes.has(Write { place: 4, ..other }, 0, 1));
    }
}
