//! Distinct numbers of one access of a warp.

/// A number whose upper bits depend on all of another's: a product with an odd number without a pattern, the golden ratio.
#[inline(always)]
pub(super) fn hash(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A set of at most half as many numbers as it has places, which are a power of two: a search ends.
pub(super) struct Distinct<const PLACES: usize> {
    /// Numbers plus 1; 0 where there is none.
    places: [u64; PLACES],
    count: u32,
}

impl<const PLACES: usize> Distinct<PLACES> {
    const SHIFT: u32 = 64 - PLACES.ilog2();

    pub(super) fn new() -> Self {
        Distinct {
            places: [0; PLACES],
            count: 0,
        }
    }

    /// Adds a number below 2^64 - 1. Gives whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, number: u64) -> bool {
        let own = number + 1;
        let mut place = (hash(number) >> Self::SHIFT) as usize;
        loop {
            match self.places[place] {
                0 => {
                    debug_assert!(
                        2 * (self.count as usize) < PLACES,
                        "more than a warp reaches"
                    );
                    self.places[place] = own;
                    self.count += 1;
                    return true;
                }
                there if there == own => return false,
                _ => place = (place + 1) % PLACES,
            }
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }
}
