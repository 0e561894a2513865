//! The orders of blocks, warps and lanes that a kernel is run in.

use std::time::Duration;

use super::Arguments;
use crate::driver::Schedule;
use crate::standalone::Standalone;

/// Seeds of a kernel, where nothing else is said.
const SEEDS: u64 = 4;
/// Seconds of a search for further ones, where nothing else is said.
const SEARCH: u64 = 1;

/// The orders of a check.
pub(super) struct Orders {
    /// Those in any case.
    pub(super) first: Vec<Order>,
    /// How long further seeds are tried.
    pub(super) search: Duration,
}

impl Orders {
    pub(super) fn of(arguments: &Arguments, standalone: &Standalone) -> Orders {
        let seeds = arguments.seeds.unwrap_or(SEEDS);
        let first = match arguments.seed {
            Some(seed) => vec![Order::Seed(seed)],
            None => [Order::InOrder]
                .into_iter()
                .chain((0..seeds).map(Order::Seed))
                .collect(),
        };
        let is_open = arguments.seeds.is_none() && arguments.seed.is_none();
        let seconds = match arguments.search {
            None if is_open => SEARCH,
            seconds => seconds.unwrap_or(0),
        };
        let search = match standalone.is_lock_free() {
            true => Duration::from_secs(seconds),
            false => Duration::ZERO,
        };
        Orders { first, search }
    }

    /// The seeds behind the first ones.
    pub(super) fn further(&self) -> impl Iterator<Item = Order> + use<> {
        let next = self.first.iter().filter_map(|it| match it {
            Order::InOrder => None,
            Order::Seed(seed) => Some(seed + 1),
        });
        (next.max().unwrap_or(0)..).map(Order::Seed)
    }
}

/// An order of blocks, warps and lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    InOrder,
    Seed(u64),
}

impl Order {
    pub(super) fn schedule(self) -> Schedule {
        match self {
            Order::InOrder => Schedule::InOrder,
            Order::Seed(seed) => Schedule::Seeded(seed),
        }
    }

    /// `in order`, `seed 3`
    pub(super) fn name(self) -> String {
        match self {
            Order::InOrder => "in order".to_owned(),
            Order::Seed(seed) => format!("seed {seed}"),
        }
    }

    /// The command that runs this order alone, of the words of one that runs it among others.
    pub(super) fn replay(self, words: impl Iterator<Item = String>) -> String {
        let mut words: Vec<String> = ["ridgepoint".to_owned()].into_iter().chain(words).collect();
        words.extend(match self {
            Order::InOrder => ["--seeds".to_owned(), "0".to_owned()],
            Order::Seed(seed) => ["--seed".to_owned(), seed.to_string()],
        });
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
    }
}

/// Seeds in a list before it is cut off.
const MAX_NAMED: usize = 8;

/// `in all of them`, `in order and under seeds 0, 2 and 3`: where something appeared, of so many launches.
pub(super) fn listed(orders: &[Order], launches: usize) -> String {
    if orders.len() == launches && launches > 1 {
        return "in all of them".to_owned();
    }
    let seeds = orders.iter().filter_map(|it| match it {
        Order::InOrder => None,
        Order::Seed(seed) => Some(seed.to_string()),
    });
    let mut seeds: Vec<String> = seeds.collect();
    let more = seeds.len().saturating_sub(MAX_NAMED);
    seeds.truncate(MAX_NAMED);
    if more > 0 {
        seeds.push(format!("{more} more"));
    }
    let under = match (seeds.pop(), seeds.is_empty()) {
        (None, _) => None,
        (Some(only), true) => Some(format!("under seed {only}")),
        (Some(last), false) => Some(format!("under seeds {} and {last}", seeds.join(", "))),
    };
    let in_order = orders
        .contains(&Order::InOrder)
        .then(|| "in order".to_owned());
    let parts: Vec<String> = in_order.into_iter().chain(under).collect();
    parts.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::{Order, listed};

    #[test]
    fn orders_are_listed_in_words() {
        let seeds = |of: &[u64]| of.iter().copied().map(Order::Seed).collect::<Vec<_>>();
        for (orders, launches, expected) in [
            (vec![Order::InOrder], 1, "in order"),
            (seeds(&[3]), 5, "under seed 3"),
            (seeds(&[0, 2]), 2, "in all of them"),
            (seeds(&[0, 2, 9]), 12, "under seeds 0, 2 and 9"),
            (
                seeds(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
                12,
                "under seeds 0, 1, 2, 3, 4, 5, 6, 7 and 2 more",
            ),
            (
                [vec![Order::InOrder], seeds(&[4])].concat(),
                5,
                "in order and under seed 4",
            ),
        ] {
            assert_eq!(listed(&orders, launches), expected);
        }
    }

    #[test]
    fn the_command_that_replays_an_order_runs_it_alone() {
        let words = || {
            ["run", "a b.ptx", "k", "--grid", "4"]
                .map(str::to_owned)
                .into_iter()
        };
        let replay = Order::Seed(3).replay(words());
        assert_eq!(replay, "ridgepoint run 'a b.ptx' k --grid 4 --seed 3");
        let replay = Order::InOrder.replay(words());
        assert_eq!(replay, "ridgepoint run 'a b.ptx' k --grid 4 --seeds 0");
    }
}
