//! The lanes of a warp, and their addresses of one access.

use std::mem::MaybeUninit;

/// Lanes of a warp.
pub const LANES: usize = 32;

/// How the addresses of the active lanes follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Lane `i` reaches `start + i * bytes`. `start` is lane 0's address, active or not.
    Consecutive {
        /// The address of lane 0.
        start: u64,
    },
    /// All lanes reach one address.
    Same {
        /// That address.
        address: u64,
    },
    /// Anything else.
    Any,
}

/// The addresses of one access: one per lane, of which `mask` says which are meant.
#[derive(Clone, Copy, Debug)]
pub struct Lanes<'a> {
    /// The addresses; those of inactive lanes mean nothing.
    pub addresses: &'a [u64; LANES],
    /// The active lanes. Never 0.
    pub mask: u32,
    /// Bytes per lane: 1, 2, 4, 8 or 16, a vector as a whole.
    pub bytes: u32,
    /// How the addresses follow each other.
    pub pattern: Pattern,
}

impl<'a> Lanes<'a> {
    /// Looks at the addresses once; memory, checks and the access itself all use what it finds.
    #[inline(always)]
    pub fn new(addresses: &'a [u64; LANES], mask: u32, bytes: u32) -> Lanes<'a> {
        let pattern = pattern(addresses, mask, bytes);
        Lanes {
            addresses,
            mask,
            bytes,
            pattern,
        }
    }

    /// All lanes, whose addresses are known to follow each other.
    pub(crate) fn row(addresses: &'a [u64; LANES], bytes: u32) -> Lanes<'a> {
        Lanes {
            addresses,
            mask: u32::MAX,
            bytes,
            pattern: Pattern::Consecutive {
                start: addresses[0],
            },
        }
    }

    /// The active lanes in ascending order, each with its address.
    #[inline]
    pub fn each(&self) -> impl Iterator<Item = (u32, u64)> + use<'a> {
        let (mut mask, addresses) = (self.mask, self.addresses);
        std::iter::from_fn(move || {
            let lane = mask.trailing_zeros();
            mask &= mask.wrapping_sub(1);
            addresses.get(lane as usize).map(|address| (lane, *address))
        })
    }

    /// The active lanes of an address.
    #[inline]
    pub(crate) fn at(&self, address: u64) -> u32 {
        let equal = each_lane(|lane| u32::from(self.addresses[lane] == address) << lane);
        equal.iter().fold(0, |all, lane| all | lane) & self.mask
    }

    /// Whether another lane has the first one's address.
    #[inline]
    pub(crate) fn first_is_shared(&self) -> bool {
        let first = self.addresses.get(self.mask.trailing_zeros() as usize);
        first.is_some_and(|address| self.at(*address).count_ones() > 1)
    }

    /// Runs of active lanes that reach one element behind the other, where those have four lanes or more on average: the
    /// lanes of each, and where lane 0 would be if it were of the run.
    #[inline]
    pub(crate) fn runs(&self) -> Option<impl Iterator<Item = (u32, u64)> + use<'a>> {
        let (addresses, bytes) = (self.addresses, u64::from(self.bytes));
        let follows = each_lane(|lane| {
            let before = addresses[lane.saturating_sub(1)];
            u32::from(addresses[lane].wrapping_sub(before) == bytes) << lane
        });
        let follows = follows.iter().fold(0, |all, lane| all | lane) & (self.mask & self.mask << 1);
        let mut heads = self.mask & !follows;
        (heads.count_ones() * 4 <= self.mask.count_ones()).then(|| {
            std::iter::from_fn(move || {
                let head = heads.trailing_zeros();
                let start = addresses.get(head as usize)?;
                heads &= heads - 1;
                let len = 1 + (follows >> head >> 1).trailing_ones();
                let lanes = u32::MAX >> (32 - len) << head;
                Some((lanes, start.wrapping_sub(u64::from(head) * bytes)))
            })
        })
    }

    /// Whether active lanes may have equal addresses: those that have do, and hardly any others.
    #[inline]
    pub(crate) fn may_meet(&self) -> bool {
        let mut behind = 0;
        let is_ascending = self.each().all(|(_, address)| {
            let is_behind = address >= behind;
            behind = address.wrapping_add(1);
            is_behind
        });
        !is_ascending && self.have_alike()
    }

    /// Whether the low halves of two active lanes' addresses are equal. Without a branch, so that it takes a few
    /// vector instructions.
    fn have_alike(&self) -> bool {
        let low = self.addresses.map(|address| address as u32);
        let active: [u32; LANES] =
            std::array::from_fn(|lane| (self.mask >> lane & 1).wrapping_neg());
        let mut alike = 0;
        for lane in 1..LANES {
            let (here, is_active) = (low[lane], active[lane]);
            for before in 0..lane {
                let equal = u32::from(low[before] == here).wrapping_neg();
                alike |= equal & active[before] & is_active;
            }
        }
        alike != 0
    }

    /// The lowest address, and that of the last byte.
    #[inline]
    pub fn span(&self) -> (u64, u64) {
        let bytes = u64::from(self.bytes);
        let (low, high) = match self.pattern {
            Pattern::Same { address } => (address, address),
            Pattern::Consecutive { start } => {
                let first = u64::from(self.mask.trailing_zeros());
                let last = u64::from(31 - self.mask.leading_zeros());
                (
                    start.wrapping_add(first * bytes),
                    start.wrapping_add(last * bytes),
                )
            }
            Pattern::Any => self
                .each()
                .fold((u64::MAX, 0), |(low, high), (_, address)| {
                    (low.min(address), high.max(address))
                }),
        };
        (low, high.saturating_add(bytes - 1))
    }

    /// The first active lane whose address is no multiple of the bytes.
    #[inline]
    pub fn misaligned(&self) -> Option<(u32, u64)> {
        let is_off = |address: u64| address & u64::from(self.bytes - 1) != 0;
        match self.pattern {
            Pattern::Same { address } | Pattern::Consecutive { start: address }
                if !is_off(address) =>
            {
                None
            }
            _ => self.each().find(|(_, address)| is_off(*address)),
        }
    }
}

// Inlined, so that it is compiled for the processor that its caller is compiled for.
#[inline(always)]
fn pattern(addresses: &[u64; LANES], mask: u32, bytes: u32) -> Pattern {
    if mask == u32::MAX && is_consecutive(addresses, bytes.into()) {
        return Pattern::Consecutive {
            start: addresses[0],
        };
    }
    let first = (mask.trailing_zeros() & 31) as usize;
    let shift = bytes.trailing_zeros();
    let start = addresses[first].wrapping_sub((first as u64) << shift);
    let (mut consecutive, mut same) = (0, 0);
    for lane in 0..LANES {
        let active = u64::from(mask >> lane & 1).wrapping_neg();
        let expected = start.wrapping_add((lane as u64) << shift);
        consecutive |= (addresses[lane] ^ expected) & active;
        same |= (addresses[lane] ^ addresses[first]) & active;
    }
    if consecutive == 0 {
        Pattern::Consecutive { start }
    } else if same == 0 {
        Pattern::Same {
            address: addresses[first],
        }
    } else {
        Pattern::Any
    }
}

/// By differences, without a branch, so that it takes a few vector instructions.
#[inline(always)]
fn is_consecutive(addresses: &[u64; LANES], bytes: u64) -> bool {
    let mut off = 0;
    for lane in 1..LANES {
        off |= addresses[lane].wrapping_sub(addresses[lane - 1]) ^ bytes;
    }
    off == 0
}

/// The lanes of a mask, from the lowest.
pub(crate) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        (left != 0).then(|| {
            left &= left - 1;
            lane
        })
    })
}

/// The result of a function for each lane.
#[inline(always)]
pub(crate) fn each_lane<T: Copy>(f: impl Fn(usize) -> T) -> [T; LANES] {
    // Not `array::from_fn`, which is not always made of vector instructions.
    // Nor its `map`, which is not always inlined.
    let mut all = MaybeUninit::<[T; LANES]>::uninit();
    let to = all.as_mut_ptr().cast::<T>();
    for lane in 0..LANES {
        // SAFETY: one of the array's elements.
        unsafe { to.add(lane).write(f(lane)) };
    }
    // SAFETY: all its elements are written above.
    unsafe { all.assume_init() }
}
