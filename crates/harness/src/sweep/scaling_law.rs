//! How what is counted grows with the sizes of a launch: a power of each, found at small sizes, checked at a third.

use itertools::Itertools;

use crate::driver::LaunchConfig;
use crate::driver::count::{Counts, SECTOR};
use crate::model::{Numbers, Operation, Precision, Work};
use crate::profile;

/// A part of what was counted: of an instruction, of a buffer, or the launch's threads.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// The name that tells it apart from others of its kind.
    name: String,
    kind: Kind,
    /// FLOP, bytes or threads.
    amount: f64,
}

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Threads,
    Read,
    Written,
    /// The operations are known to the roofs' model, or not.
    Flop(Option<(Precision, Operation)>),
}

/// A share by which a part may differ from its power.
const TOLERANCE: f64 = 0.01;
/// The share of all FLOP, or of all bytes, that parts without a power may have: they are taken to grow as the largest
/// part does.
const STRAY: f64 = 0.005;
/// The highest power: of a size cubed, times its logarithm, nothing is left to look for.
const MAX: i32 = 4;

/// Returns the parts of what launches did, operations on such numbers among them; `config` is that of the first.
pub(super) fn parts(counts: &[Counts], config: LaunchConfig, numbers: Numbers) -> Vec<Part> {
    let mut parts = vec![threads(config)];
    let mut add = |name: String, kind, amount: u64| {
        let same = |it: &&mut Part| it.name == name && it.kind == kind;
        match parts.iter_mut().find(same) {
            Some(part) => part.amount += amount as f64,
            None if amount == 0 => {}
            None => parts.push(Part {
                name,
                kind,
                amount: amount as f64,
            }),
        }
    };
    for counts in counts {
        let work = counts.instructions.iter();
        for it in work.filter(|it| profile::is_work(it, numbers)) {
            let kind = profile::operations(it, numbers);
            let kind = kind.map(|(precision, kind, _)| (precision, kind));
            let name = format!("{} {} {}", counts.kernel, it.function, it.instruction);
            add(name, Kind::Flop(kind), it.operations());
        }
        let footprint = &counts.footprint;
        let mut others = (footprint.read, footprint.written);
        for buffer in &footprint.buffers {
            let name = format!("{} {}", counts.kernel, buffer.name);
            add(name.clone(), Kind::Read, buffer.read * SECTOR);
            add(name, Kind::Written, buffer.written * SECTOR);
            others.0 = others.0.saturating_sub(buffer.read);
            others.1 = others.1.saturating_sub(buffer.written);
        }
        add(counts.kernel.clone(), Kind::Read, others.0 * SECTOR);
        add(counts.kernel.clone(), Kind::Written, others.1 * SECTOR);
    }
    parts
}

fn threads(config: LaunchConfig) -> Part {
    let blocks: u64 = config.grid.iter().product();
    Part {
        name: String::new(),
        kind: Kind::Threads,
        amount: (blocks * config.block_threads()) as f64,
    }
}

/// Whether two launches have as many threads, but for a last block.
pub(super) fn has_threads(parts: &[Part], config: LaunchConfig) -> bool {
    let wanted = threads(config).amount;
    let of = |it: &&Part| it.kind == Kind::Threads;
    let there = parts.iter().find(of).map_or(0.0, |it| it.amount);
    (there - wanted).abs() <= (TOLERANCE * wanted).max(config.block_threads() as f64)
}

/// All FLOP and all bytes.
pub(super) fn sums(parts: &[Part]) -> (f64, f64) {
    let sum = |group| {
        let mine = parts.iter().filter(|it| it.kind.group() == group);
        mine.map(|it| it.amount).sum()
    };
    (sum(Group::Flop), sum(Group::Bytes))
}

/// FLOP that the roofs' model does not know, such as those of tensor cores on numbers of 6 and 4 bits.
pub(super) fn unknown_flop(parts: &[Part]) -> f64 {
    let unknown = parts.iter().filter(|it| it.kind == Kind::Flop(None));
    unknown.map(|it| it.amount).sum()
}

/// Bytes and operations as the roofs' model has them: where it does not know all operations, none.
pub(super) fn work(parts: &[Part]) -> Work {
    let knows_flop = unknown_flop(parts) == 0.0;
    parts.iter().fold(Work::default(), |work, part| {
        let amount = part.amount.round();
        match part.kind {
            Kind::Read => work.reads(amount),
            Kind::Written => work.writes(amount),
            Kind::Flop(Some((precision, operation))) if knows_flop => {
                work.operations(precision, operation, amount / operation.flops())
            }
            Kind::Threads | Kind::Flop(_) => work,
        }
    })
}

/// A group of parts that are checked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Threads,
    Bytes,
    Flop,
}

impl Group {
    fn name(self) -> &'static str {
        match self {
            Group::Threads => "threads",
            Group::Bytes => "bytes",
            Group::Flop => "FLOP",
        }
    }
}

impl Kind {
    fn group(self) -> Group {
        match self {
            Kind::Threads => Group::Threads,
            Kind::Read | Kind::Written => Group::Bytes,
            Kind::Flop(_) => Group::Flop,
        }
    }
}

/// The powers with which parts grow, and what they are at the sizes at which that was checked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Law {
    at: Vec<u64>,
    parts: Vec<(Part, Vec<i32>)>,
}

impl Law {
    /// From the counts of a launch, of those with each of its sizes doubled, and of the one with all of them
    /// fourfold, whose sizes are `at`.
    ///
    /// # Errors
    /// In words: what does not grow with powers of the sizes, or not with the same ones throughout.
    pub(super) fn new(
        first: &[Part],
        doubled: &[Vec<Part>],
        check: &[Part],
        at: Vec<u64>,
    ) -> Result<Law, String> {
        let fitted = check.iter().map(|part| {
            let powers = powers(part, first, doubled);
            let fits = |powers: &Vec<i32>| {
                let fourfold = 4f64.powi(powers.iter().sum());
                let predicted = amount(first, part) * fourfold;
                (predicted - part.amount).abs() <= TOLERANCE * part.amount
            };
            (part.clone(), powers.filter(fits))
        });
        let fitted: Vec<(Part, Option<Vec<i32>>)> = fitted.collect();
        let gone = first
            .iter()
            .filter(|it| amount(check, it) == 0.0 && it.amount > 0.0);
        for group in [Group::Threads, Group::Bytes, Group::Flop] {
            let mine = || fitted.iter().filter(|(it, _)| it.kind.group() == group);
            let all: f64 = mine().map(|(it, _)| it.amount).sum();
            let stray = mine().filter(|(_, powers)| powers.is_none());
            let stray: f64 = stray.map(|(it, _)| it.amount).sum();
            let gone: f64 = gone
                .clone()
                .filter(|it| it.kind.group() == group)
                .map(|it| it.amount)
                .sum();
            if stray > STRAY * all || gone > STRAY * all {
                let sizes = [1, 2, 4].map(|factor| at.iter().map(|it| it / 4 * factor).join(" x "));
                return Err(format!(
                    "{} grow with no power of the size at {}",
                    group.name(),
                    sizes.join(", ")
                ));
            }
        }
        let largest = |group| {
            let mine = fitted.iter().filter(|(it, _)| it.kind.group() == group);
            let fitting = mine.filter_map(|(it, powers)| Some((it.amount, powers.as_ref()?)));
            let largest = fitting.max_by(|a, b| a.0.total_cmp(&b.0));
            largest.map(|(_, powers)| powers.clone())
        };
        let parts = fitted.iter().filter_map(|(part, powers)| {
            let powers = powers.clone().or_else(|| largest(part.kind.group()))?;
            Some((part.clone(), powers))
        });
        Ok(Law {
            parts: parts.collect(),
            at,
        })
    }

    /// Whether a launch is larger in every size than those that the law was checked at: smaller ones need not follow
    /// it.
    pub(super) fn is_below(&self, sizes: &[u64]) -> bool {
        sizes.iter().zip(&self.at).all(|(size, at)| size > at)
    }

    /// The parts of the launch of these sizes.
    pub(super) fn parts_at(&self, sizes: &[u64]) -> Vec<Part> {
        let growth: Vec<f64> = sizes
            .iter()
            .zip(&self.at)
            .map(|(&size, &at)| size as f64 / at as f64)
            .collect();
        let scaled = self.parts.iter().map(|(part, powers)| {
            let factors = growth.iter().zip(powers);
            let factor: f64 = factors.map(|(growth, &power)| growth.powi(power)).product();
            Part {
                amount: part.amount * factor,
                ..part.clone()
            }
        });
        scaled.collect()
    }
}

/// How much there is of a part.
fn amount(parts: &[Part], of: &Part) -> f64 {
    let same = |it: &&Part| it.name == of.name && it.kind == of.kind;
    parts.iter().find(same).map_or(0.0, |it| it.amount)
}

/// The power of each size with which a part grows when that is doubled; `None` where it is 0 at first.
fn powers(part: &Part, first: &[Part], doubled: &[Vec<Part>]) -> Option<Vec<i32>> {
    let before = amount(first, part);
    let power = |after: &Vec<Part>| {
        let ratio = amount(after, part) / before;
        let power = ratio.log2().round();
        (ratio.is_finite() && ratio > 0.0 && (0.0..=f64::from(MAX)).contains(&power))
            .then_some(power as i32)
    };
    doubled.iter().map(power).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FMA: Kind = Kind::Flop(Some((Precision::F32, Operation::Fma)));

    fn part(name: &str, kind: Kind, amount: f64) -> Part {
        let name = name.to_owned();
        Part { name, kind, amount }
    }

    #[test]
    fn operations_are_known_together_or_not_at_all() {
        let known = [part("x", Kind::Read, 64.0), part("bias", FMA, 2.0)];
        assert_eq!(work(&known).flops(), Some(2.0));
        let tensor = [&known[..], &[part("mma", Kind::Flop(None), 4096.0)]].concat();
        let work = work(&tensor);
        assert_eq!((work.bytes(), work.flops()), (Some(64.0), None));
        assert_eq!((unknown_flop(&known), unknown_flop(&tensor)), (0.0, 4096.0));
    }

    /// The law of what depends on one size, of 16, 32 and 64.
    fn law(of: impl Fn(f64) -> Vec<Part>) -> Result<Law, String> {
        Law::new(&of(16.0), &[of(32.0)], &of(64.0), vec![64])
    }

    #[test]
    fn parts_grow_each_with_its_own_power() {
        let of = |n: f64| {
            vec![
                part("", Kind::Threads, n * n),
                part("product", FMA, 2.0 * n * n * n),
                part("tree", FMA, 100.0 * n),
                part("x", Kind::Read, 4.0 * n * n),
                part("factor", Kind::Read, 32.0),
            ]
        };
        let law = law(of).expect("powers");
        let (flop, bytes) = sums(&law.parts_at(&[1000]));
        assert_eq!(flop, 2e9 + 1e5);
        assert_eq!(bytes, 4e6 + 32.0);
        let work = work(&law.parts_at(&[1000]));
        assert_eq!(
            (work.flops(), work.bytes()),
            (Some(2e9 + 1e5), Some(4e6 + 32.0))
        );
        let config = LaunchConfig::linear(1_000_000, 64);
        assert!(has_threads(&law.parts_at(&[1000]), config));
        assert!(!has_threads(&law.parts_at(&[900]), config));
    }

    #[test]
    fn each_size_has_powers_of_its_own() {
        let of =
            |m: f64, n: f64| vec![part("a", Kind::Read, 4.0 * m * n), part("x", Kind::Read, m)];
        let doubled = [of(32.0, 8.0), of(16.0, 16.0)];
        let law = Law::new(&of(16.0, 8.0), &doubled, &of(64.0, 32.0), vec![64, 32]);
        let (_, bytes) = sums(&law.expect("powers").parts_at(&[100, 1000]));
        assert_eq!(bytes, 400_000.0 + 100.0);
    }

    #[test]
    fn what_is_no_power_is_refused_unless_it_is_next_to_nothing() {
        let sorting = |n: f64| vec![part("sort", FMA, n * n.log2())];
        let error = law(sorting).expect_err("n log n");
        assert_eq!(error, "FLOP grow with no power of the size at 16, 32, 64");
        let another = |n: f64| vec![part("x", Kind::Read, n + if n > 32.0 { 64.0 } else { 0.0 })];
        assert!(law(another).expect_err("another way").starts_with("bytes"));
        let appears = |n: f64| match n > 32.0 {
            true => vec![part("x", Kind::Read, n), part("y", FMA, n)],
            false => vec![part("x", Kind::Read, n)],
        };
        assert!(law(appears).is_err());
        let disappears = |n: f64| match n > 32.0 {
            true => vec![part("x", Kind::Read, n)],
            false => vec![part("x", Kind::Read, n), part("y", FMA, n)],
        };
        assert!(law(disappears).is_err());
        let edges = |n: f64| vec![part("x", FMA, 1e4 * n), part("edge", FMA, n.log2())];
        let scaled = law(edges).expect("a power").parts_at(&[640]);
        // The edge keeps its share.
        assert_eq!(sums(&scaled).0, 6.4e6 + 60.0);
    }
}
