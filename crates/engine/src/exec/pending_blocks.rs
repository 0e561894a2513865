//! Blocks that have not begun.

use std::collections::BTreeSet;

/// The blocks of a grid that have not begun, in the order in which they begin.
pub(crate) struct PendingBlocks {
    blocks: u64,
    /// How many of the order have begun.
    passed: u64,
    /// The order: from a block on, in steps.
    first: u64,
    step: u64,
    /// The inverse of a step: their product is 1, modulo the number of blocks.
    back: u64,
    /// Those that have begun before their time.
    early: BTreeSet<u64>,
    /// No block before it has not begun.
    lowest: u64,
}

impl PendingBlocks {
    /// In the order of another number each time; 0 is that of the indices.
    pub(crate) fn new(blocks: u64, order: u64) -> PendingBlocks {
        let steps = (1 + order % blocks..).map(|step| (step, inverse(step, blocks)));
        let (step, back) = steps
            .filter_map(|(step, back)| Some((step, back?)))
            .next()
            .unwrap_or((1, 1));
        PendingBlocks {
            blocks,
            passed: 0,
            first: order % blocks,
            step,
            back,
            early: BTreeSet::new(),
            lowest: 0,
        }
    }

    /// The next ones.
    pub(crate) fn next(&self) -> impl Iterator<Item = u64> {
        (self.passed..self.blocks)
            .map(|place| self.at(place))
            .filter(|block| !self.early.contains(block))
    }

    /// The first by the indices.
    pub(crate) fn lowest(&self) -> Option<u64> {
        (self.lowest < self.blocks).then_some(self.lowest)
    }

    /// Takes a block out, also before its time. Gives whether it was there.
    pub(crate) fn begin(&mut self, block: u64) -> bool {
        if !self.contains(block) {
            return false;
        }
        self.early.insert(block);
        while self.passed < self.blocks && self.early.remove(&self.at(self.passed)) {
            self.passed += 1;
        }
        while self.lowest < self.blocks && !self.contains(self.lowest) {
            self.lowest += 1;
        }
        true
    }

    /// Whether a block has not begun.
    pub(crate) fn contains(&self, block: u64) -> bool {
        block < self.blocks && self.place(block) >= self.passed && !self.early.contains(&block)
    }

    fn at(&self, place: u64) -> u64 {
        let (step, blocks) = (u128::from(self.step), u128::from(self.blocks));
        ((u128::from(self.first) + u128::from(place) * step) % blocks) as u64
    }

    /// Which of the order a block is.
    fn place(&self, block: u64) -> u64 {
        let (back, blocks) = (u128::from(self.back), u128::from(self.blocks));
        let distance = u128::from(block) + blocks - u128::from(self.first);
        (distance * back % blocks) as u64
    }
}

/// Returns the inverse of a number modulo `modulus`. `None` where they have a divisor in common.
fn inverse(number: u64, modulus: u64) -> Option<u64> {
    let (mut old, mut new) = ((i128::from(modulus), 0), (i128::from(number % modulus), 1));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    (old.0 == 1).then(|| i128::rem_euclid(old.1, i128::from(modulus)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_begins_once_in_any_order() {
        for blocks in [1, 2, 6, 12, 97] {
            for order in 0..50 {
                let mut unbegun = PendingBlocks::new(blocks, order);
                let mut all: Vec<u64> = unbegun.next().collect();
                for (place, &block) in all.iter().enumerate() {
                    assert_eq!(unbegun.lowest(), all[place..].iter().min().copied());
                    assert!(unbegun.begin(block) && !unbegun.begin(block));
                }
                assert_eq!(unbegun.lowest(), None);
                all.sort_unstable();
                assert_eq!(all, (0..blocks).collect::<Vec<_>>(), "order {order}");
            }
        }
        assert!(PendingBlocks::new(6, 0).next().eq(0..6));
        assert!(!PendingBlocks::new(6, 2).next().eq(0..6));
    }

    #[test]
    fn blocks_begin_before_their_time() {
        let mut unbegun = PendingBlocks::new(5, 0);
        assert!(unbegun.begin(3) && !unbegun.begin(3));
        assert!(unbegun.next().eq([0, 1, 2, 4]));
        assert!(unbegun.begin(0) && unbegun.begin(1) && unbegun.begin(2));
        assert!(!unbegun.begin(0) && !unbegun.begin(5));
        assert!(unbegun.next().eq([4]));
        assert!(unbegun.begin(4));
        assert_eq!(unbegun.next().next(), None);
        let mut turned = PendingBlocks::new(6, 2);
        let last = turned.next().last().expect("six");
        assert!(turned.begin(last) && !turned.contains(last));
        assert_eq!(turned.next().count(), 5);
    }
}
