//! How devices are linked, as the rates of their copies show: all alike through switches, or some pairs faster than others.

use std::fmt;

use itertools::Itertools;

use super::{LinkQuantity, LinkRow};

/// The share of the greatest rate from which on a link counts as one of the fast ones: two kinds of links differ by more, and two
/// measurements of one kind by less.
const FAST: f64 = 0.85;

/// The links between three devices or more.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Names of the devices, in the order of the rows.
    pub devices: Vec<String>,
    /// The copies' rate of each pair, the lower of both directions, in bytes per second: by the devices' numbers, the smaller one first.
    pub rates: Vec<(usize, usize, f64)>,
}

/// The shape that the fast links have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkShape {
    /// Every pair has one.
    Alike,
    /// Each device has one.
    Pairs,
    /// Each device has two, and all are in one circle.
    Ring,
    /// Another one.
    Uneven,
}

impl Topology {
    /// The topology that the copies from one device to another show; none of fewer than three devices, or where a pair was not measured.
    pub fn of(rows: &[LinkRow]) -> Option<Topology> {
        let copies = rows
            .iter()
            .filter(|row| row.quantity == LinkQuantity::Copy && row.from != HOST && row.to != HOST);
        let copies: Vec<&LinkRow> = copies.collect();
        let names = copies.iter().flat_map(|row| [&row.from, &row.to]);
        let devices: Vec<String> = names.unique().cloned().collect();
        if devices.len() < 3 {
            return None;
        }
        let rate = |a: usize, b: usize| {
            let one_way = |from: usize, to: usize| {
                let is_of = |it: &&&LinkRow| it.from == devices[from] && it.to == devices[to];
                copies.iter().find(is_of)?.value
            };
            Some((a, b, one_way(a, b)?.min(one_way(b, a)?)))
        };
        let pairs = (0..devices.len()).tuple_combinations();
        let rates: Option<Vec<_>> = pairs.map(|(a, b)| rate(a, b)).collect();
        rates.map(|rates| Topology { devices, rates })
    }

    /// The pairs whose rate is near the greatest.
    pub fn fast(&self) -> impl Iterator<Item = &(usize, usize, f64)> {
        let (_, most) = self.range(|_| true);
        self.rates.iter().filter(move |it| it.2 >= FAST * most)
    }

    /// The shape of the fast links.
    pub fn shape(&self) -> LinkShape {
        let count = self.devices.len();
        let fast: Vec<_> = self.fast().collect();
        let links = |device: usize| {
            fast.iter()
                .filter(|it| it.0 == device || it.1 == device)
                .count()
        };
        let all_have = |number: usize| (0..count).all(|device| links(device) == number);
        // Of three devices a ring is every pair.
        if fast.len() == self.rates.len() {
            LinkShape::Alike
        } else if all_have(1) {
            LinkShape::Pairs
        } else if all_have(2) && self.is_connected() {
            LinkShape::Ring
        } else {
            LinkShape::Uneven
        }
    }

    /// Whether fast links lead from the first device to all.
    fn is_connected(&self) -> bool {
        let mut reached = vec![false; self.devices.len()];
        reached[0] = true;
        for _ in 1..reached.len() {
            for &(a, b, _) in self.fast() {
                let either = reached[a] || reached[b];
                (reached[a], reached[b]) = (either, either);
            }
        }
        reached.into_iter().all(|it| it)
    }

    /// The least and the greatest rate of some links.
    fn range(&self, of: impl Fn(f64) -> bool) -> (f64, f64) {
        let rates = self.rates.iter().map(|it| it.2).filter(|&it| of(it));
        rates.fold((f64::INFINITY, 0.0), |(least, most), it| {
            (it.min(least), it.max(most))
        })
    }
}

/// The end of a row that is no device.
const HOST: &str = "host";

impl fmt::Display for Topology {
    /// Says how the devices are linked.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gigabytes = |(least, most): (f64, f64)| {
            let [least, most] = [least, most].map(|it| format!("{:.0}", it / 1e9));
            match least == most {
                true => format!("{most} GB/s"),
                false => format!("{least} to {most} GB/s"),
            }
        };
        let (_, most) = self.range(|_| true);
        let is_fast = |rate: f64| rate >= FAST * most;
        let fast = gigabytes(self.range(is_fast));
        let shape = match self.shape() {
            LinkShape::Alike => {
                return write!(
                    formatter,
                    "All pairs of the {} devices are linked alike, copies of {fast}: through switches, or by a link of each pair",
                    self.devices.len()
                );
            }
            LinkShape::Pairs => "in pairs",
            LinkShape::Ring => "in a ring",
            LinkShape::Uneven => "between some pairs",
        };
        let links = self
            .fast()
            .map(|&(a, b, _)| format!("{} and {}", self.devices[a], self.devices[b]));
        let slow = gigabytes(self.range(|it| !is_fast(it)));
        write!(
            formatter,
            "Fast links {shape}, copies of {fast}: {}; of all other pairs {slow}",
            links.collect::<Vec<_>>().join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::tests::row;

    /// Devices of which `is_fast` says which pairs have a fast link.
    fn topology(count: usize, is_fast: impl Fn(usize, usize) -> bool) -> Topology {
        let mut rows = vec![row(LinkQuantity::Copy, "host", "cuda:0", Some(5e10))];
        for (from, to) in (0..count).tuple_combinations() {
            let rate = match is_fast(from, to) {
                true => 390e9 + from as f64 * 1e9,
                false => 40e9,
            };
            let [a, b] = [from, to].map(|it| format!("cuda:{it}"));
            rows.push(row(LinkQuantity::Copy, &a, &b, Some(rate)));
            rows.push(row(LinkQuantity::Copy, &b, &a, Some(1.1 * rate)));
        }
        Topology::of(&rows).expect("three devices or more")
    }

    #[test]
    fn switches_pairs_and_rings_are_told_apart() {
        let beside =
            |count: usize| move |a: usize, b: usize| b == a + 1 || (a, b) == (0, count - 1);
        for (of, shape) in [
            (topology(3, |_, _| true), LinkShape::Alike),
            (topology(8, |_, _| true), LinkShape::Alike),
            (topology(4, |a, b| a / 2 == b / 2), LinkShape::Pairs),
            (topology(4, beside(4)), LinkShape::Ring),
            (topology(8, beside(8)), LinkShape::Ring),
            // Two circles of three, and a chain.
            (topology(6, |a, b| a / 3 == b / 3), LinkShape::Uneven),
            (topology(4, |a, b| b == a + 1), LinkShape::Uneven),
        ] {
            assert_eq!(of.shape(), shape, "{of:?}");
        }
    }

    #[test]
    fn the_links_are_said_with_their_rates() {
        let alike = topology(4, |_, _| true).to_string();
        assert_eq!(
            alike,
            "All pairs of the 4 devices are linked alike, copies of 390 to 392 GB/s: through switches, or by a link of each pair"
        );
        let pairs = topology(4, |a, b| a / 2 == b / 2).to_string();
        assert_eq!(
            pairs,
            "Fast links in pairs, copies of 390 to 392 GB/s: cuda:0 and cuda:1, cuda:2 and cuda:3; of all other pairs 40 GB/s"
        );
    }

    #[test]
    fn two_devices_and_links_that_were_not_measured_have_no_topology() {
        let two = [
            row(LinkQuantity::Copy, "cuda:0", "cuda:1", Some(1e9)),
            row(LinkQuantity::Copy, "cuda:1", "cuda:0", Some(1e9)),
            row(LinkQuantity::Copy, "host", "cuda:0", Some(1e9)),
        ];
        assert_eq!(Topology::of(&two), None);
        let third = row(LinkQuantity::Copy, "cuda:0", "cuda:2", Some(1e9));
        assert_eq!(Topology::of(&[&two[..], &[third]].concat()), None);
    }
}
