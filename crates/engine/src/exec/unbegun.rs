//! Blocks that have not begun.

use std::collections::BTreeSet;

/// The blocks of a grid that have not begun, in the order in which they shall.
pub(crate) struct Unbegun {
    blocks: u64,
    /// How many of the order have begun.
    passed: u64,
    /// The order: from a block on, in steps.
    first: u64,
    step: u64,
    /// Those that have begun before their time.
    early: BTreeSet<u64>,
}

impl Unbegun {
    /// In the order of another number each time; 0 is that of the indices.
    pub(crate) fn new(blocks: u64, order: u64) -> Unbegun {
        let step = (1 + order % blocks..)
            .find(|&step| greatest_divisor(step, blocks) == 1)
            .unwrap_or(1);
        Unbegun {
            blocks,
            passed: 0,
            first: order % blocks,
            step,
            early: BTreeSet::new(),
        }
    }

    /// The next ones.
    pub(crate) fn next(&self) -> impl Iterator<Item = u64> {
        (self.passed..self.blocks)
            .map(|place| self.at(place))
            .filter(|block| !self.early.contains(block))
    }

    /// Takes a block out. Gives whether it was there.
    pub(crate) fn begin(&mut self, block: u64) -> bool {
        if self.next().next() == Some(block) {
            while self.early.remove(&self.at(self.passed)) {
                self.passed += 1;
            }
            self.passed += 1;
            return true;
        }
        self.contains(block) && self.early.insert(block)
    }

    /// Whether a block may begin before its time: in the order of the indices, alone.
    pub(crate) fn contains(&self, block: u64) -> bool {
        let is_by_index = self.step == 1 && self.first == 0;
        is_by_index && (self.passed..self.blocks).contains(&block) && !self.early.contains(&block)
    }

    fn at(&self, place: u64) -> u64 {
        let (step, blocks) = (u128::from(self.step), u128::from(self.blocks));
        ((u128::from(self.first) + u128::from(place) * step) % blocks) as u64
    }
}

fn greatest_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_begins_once_in_any_order() {
        for blocks in [1, 2, 6, 12, 97] {
            for order in 0..50 {
                let mut all: Vec<u64> = Unbegun::new(blocks, order).next().collect();
                all.sort_unstable();
                assert_eq!(all, (0..blocks).collect::<Vec<_>>(), "order {order}");
            }
        }
        assert!(Unbegun::new(6, 0).next().eq(0..6));
        assert!(!Unbegun::new(6, 2).next().eq(0..6));
    }

    #[test]
    fn blocks_begin_before_their_time() {
        let mut unbegun = Unbegun::new(5, 0);
        assert!(unbegun.begin(3) && !unbegun.begin(3));
        assert!(unbegun.next().eq([0, 1, 2, 4]));
        assert!(unbegun.begin(0) && unbegun.begin(1) && unbegun.begin(2));
        assert!(!unbegun.begin(0) && !unbegun.begin(5));
        assert!(unbegun.next().eq([4]));
        assert!(unbegun.begin(4));
        assert_eq!(unbegun.next().next(), None);
    }
}
