//! Distinct numbers of one access of a warp.

/// A set of few numbers. Twice as many places as it ever holds, so that a search ends.
pub(super) struct Distinct {
    places: [u64; PLACES],
    count: u32,
}

/// The most are those of 32 lanes that reach 8 words or 2 sectors each.
const MOST: usize = 256;
const PLACES: usize = 2 * MOST;

impl Distinct {
    pub(super) fn new() -> Distinct {
        Distinct {
            places: [0; PLACES],
            count: 0,
        }
    }

    /// Adds a number below 2^64 - 1. Gives whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, number: u64) -> bool {
        let own = number + 1;
        let mut place = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55) as usize;
        loop {
            match self.places[place] {
                0 => {
                    debug_assert!(self.count < MOST as u32, "more than a warp reaches");
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
