//! Which places among some come to a thread of a group.

use core::hint::cold_path;

use crate::warp::WARP_SIZE;

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

/// The places that come to a lane: below a count, from one on, in steps of the warp. It counts its turns, which a whole warp finds
/// by a shift: so LLVM unrolls a `for` loop over them, and the loads of several turns are waited for together.
#[derive(Clone, Debug)]
pub(crate) struct LanePlaces {
    next: usize,
    step: usize,
    turns: usize,
}

impl LanePlaces {
    #[inline(always)]
    pub(crate) fn new(first: u32, step: u32, count: usize) -> LanePlaces {
        let from_first = count.saturating_sub(first as usize);
        let turns = if step == WARP_SIZE {
            from_first.div_ceil(WARP_SIZE as usize)
        } else {
            cold_path();
            from_first.div_ceil(step.max(1) as usize)
        };
        LanePlaces {
            next: first as usize,
            step: step as usize,
            turns,
        }
    }
}

impl Iterator for LanePlaces {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        self.turns = self.turns.checked_sub(1)?;
        let place = self.next;
        self.next = place.wrapping_add(self.step);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const FIRST_AND_STEP: [(u32, u32); 6] = [(0, 1), (2, 3), (5, 32), (31, 32), (40, 32), (6, 7)];

    /// Goes through the places by a loop and by a fold.
    fn assert_goes_to(expected: &[usize], places: impl Iterator<Item = usize> + Clone) {
        let mut one_by_one = Vec::new();
        for place in places.clone() {
            one_by_one.push(place);
        }
        assert_eq!(one_by_one, expected);
        let folded = places.fold(Vec::new(), |mut all, place| {
            all.push(place);
            all
        });
        assert_eq!(folded, expected);
    }

    #[test]
    fn loops_and_folds_go_to_each_place_below_the_count() {
        for (first, step) in FIRST_AND_STEP {
            for count in 0..200 {
                let expected: Vec<usize> = (first as usize..count).step_by(step as usize).collect();
                assert_goes_to(&expected, Places::new(first, step, count));
                assert_goes_to(&expected, LanePlaces::new(first, step, count));
            }
        }
    }

    #[test]
    fn the_greatest_count_has_its_last_place() {
        let last = |places: LanePlaces| places.next + (places.turns - 1) * places.step;
        assert_eq!(last(LanePlaces::new(5, 32, usize::MAX)), usize::MAX - 26);
        assert_eq!(last(LanePlaces::new(2, 7, usize::MAX)), usize::MAX - 6);
    }
}
