//! Who goes first.

use crate::{Options, Schedule};

/// How often a thread has a turn, in order, until its steps are used up.
const TURNS: u64 = 16;

/// Takes the decisions that a schedule leaves open.
pub(crate) enum Order {
    InOrder { quantum: u32 },
    Seeded(fastrand::Rng),
}

impl Order {
    pub(crate) fn new(options: &Options) -> Order {
        match options.schedule {
            Schedule::InOrder => Order::InOrder {
                quantum: u32::try_from(options.steps / TURNS).unwrap_or(u32::MAX),
            },
            Schedule::Seeded(seed) => Order::Seeded(fastrand::Rng::with_seed(seed)),
        }
    }

    pub(crate) fn is_seeded(&self) -> bool {
        matches!(self, Order::Seeded(_))
    }

    /// One of so many, at least one.
    pub(crate) fn choose(&mut self, count: usize) -> usize {
        match self {
            Order::InOrder { .. } => 0,
            Order::Seeded(random) => random.usize(..count),
        }
    }

    /// One of the lanes, at least one.
    pub(crate) fn lane(&mut self, lanes: u32) -> u32 {
        let mut left = lanes;
        for _ in 0..self.choose(lanes.count_ones() as usize) {
            left &= left - 1;
        }
        left.trailing_zeros()
    }

    /// Whether to do something now that could wait. Never in order.
    pub(crate) fn surprises(&mut self) -> bool {
        match self {
            Order::InOrder { .. } => false,
            Order::Seeded(random) => random.u8(..4) == 0,
        }
    }

    /// How many steps a thread goes before others have a turn.
    pub(crate) fn quantum(&mut self) -> u32 {
        match self {
            Order::InOrder { quantum } => *quantum,
            Order::Seeded(random) => {
                let longest = 1 << random.u32(..14);
                random.u32(1..=longest)
            }
        }
    }

    /// For each number below `count` another one, so that all come.
    pub(crate) fn permutation(&mut self, count: u64) -> impl Fn(u64) -> u64 + use<> {
        let (factor, offset) = match self {
            Order::InOrder { .. } => (1, 0),
            Order::Seeded(random) => {
                let mut factor = random.u64(1..=count.max(1));
                while greatest_common_divisor(factor, count) != 1 {
                    factor += 1;
                }
                (factor, random.u64(..count.max(1)))
            }
        };
        move |index| {
            let product = u128::from(index) * u128::from(factor) + u128::from(offset);
            // Below `count`.
            (product % u128::from(count)) as u64
        }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
