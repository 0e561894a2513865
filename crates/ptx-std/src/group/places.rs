//! Which places among some come to a thread of a group.

/// Places that [`Places::fold`] goes to in one round.
const AT_ONCE: usize = 4;

/// The places below a count from one on, in steps.
///
/// `fold`, and so `for_each` and `sum`, take several at once: their loads are then waited for together. A `for` loop goes
/// from one to the next.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    next: usize,
    step: usize,
    count: usize,
}

impl Places {
    #[inline(always)]
    pub(crate) fn new(first: u32, step: u32, count: usize) -> Places {
        Places {
            next: first as usize,
            step: step as usize,
            count,
        }
    }
}

impl Iterator for Places {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let place = self.next;
        if place >= self.count {
            return None;
        }
        // From 0 on, it is more than 2^53 rounds to an overflow.
        self.next = place.wrapping_add(self.step);
        Some(place)
    }

    #[inline(always)]
    fn fold<A, F: FnMut(A, usize) -> A>(mut self, first: A, mut fold: F) -> A {
        let mut folded = first;
        let last_round = self.count.saturating_sub((AT_ONCE - 1) * self.step);
        while self.next < last_round {
            for _ in 0..AT_ONCE {
                folded = fold(folded, self.next);
                self.next = self.next.wrapping_add(self.step);
            }
        }
        for place in self {
            folded = fold(folded, place);
        }
        folded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_fold_goes_to_the_places_that_a_loop_goes_to() {
        for (first, step) in [(0, 1), (2, 3), (5, 32), (31, 32), (40, 32)] {
            for count in 0..200 {
                let places = || Places::new(first, step, count);
                let mut one_by_one = Vec::new();
                for place in places() {
                    one_by_one.push(place);
                }
                let expected: Vec<usize> = (first as usize..count).step_by(step as usize).collect();
                assert_eq!(one_by_one, expected);
                let folded = places().fold(Vec::new(), |mut all, place| {
                    all.push(place);
                    all
                });
                assert_eq!(folded, expected, "{first} {step} {count}");
            }
        }
    }
}
