//! The level 2 cache's partitions: what a load takes from the nearer and from the farther one.

use kernels_gpu::ceilings::partitions::LINES;

use super::bench::Bench;
use super::{BenchError, Ceiling, Quantity};
use crate::embedded::partitions::Lines;
use crate::workload::GridSize;

/// Of a multiprocessor's loads the slowest may have waited for something else, such as a page's address.
const KEPT_PERCENT: usize = 98;

/// Loads of a block on each multiprocessor, from lines that no partition has a copy of.
pub(super) fn measure(bench: &Bench<'_>) -> Result<[Ceiling; 2], BenchError> {
    let blocks = bench.device.properties().multiprocessors;
    let timed = bench.measure(&Lines, &[("blocks", blocks.into())], 1, GridSize::Full)?;
    let of_blocks: Vec<Split> = timed
        .counted
        .chunks(LINES as usize)
        .map(|cycles| Split::of(cycles.to_vec()))
        .collect();
    let near = median(of_blocks.iter().map(|it| it.near).collect());
    let far = median(of_blocks.iter().map(|it| it.far).collect());
    let percent = median(of_blocks.iter().map(|it| it.near_percent).collect());
    let one = timed.of_cycles(Quantity::L2NearLatency, near as f64, bench);
    let named = |percent| format!("{}, {percent} % of lines", one.variant);
    let other = Ceiling {
        quantity: Quantity::L2FarLatency,
        value: one.value / near as f64 * far as f64,
        cycles: Some(far as f64),
        variant: named(100 - percent),
        ..one.clone()
    };
    let variant = named(percent);
    Ok([Ceiling { variant, ..one }, other])
}

/// A multiprocessor's lines in two groups: the medians of their cycles, and how many are in the nearer.
struct Split {
    near: u64,
    far: u64,
    near_percent: u64,
}

impl Split {
    /// The groups that differ the least in themselves (N. Otsu, "A threshold selection method from gray-level histograms", 1979).
    fn of(mut cycles: Vec<u64>) -> Split {
        cycles.sort_unstable();
        cycles.truncate((cycles.len() * KEPT_PERCENT / 100).max(2));
        let total: u64 = cycles.iter().sum();
        let mut below = 0;
        let mut best = (0.0, 1);
        for (before, own) in cycles.iter().enumerate() {
            let after = cycles.len() - before;
            if before > 0 {
                let apart = (total - below) as f64 / after as f64 - below as f64 / before as f64;
                let between = (before * after) as f64 * apart * apart;
                if between > best.0 {
                    best = (between, before);
                }
            }
            below += own;
        }
        let (near, far) = cycles.split_at(best.1);
        Split {
            near: median(near.to_vec()),
            far: median(far.to_vec()),
            near_percent: (100 * near.len() / cycles.len()) as u64,
        }
    }
}

/// The upper one, of an even number.
fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_groups_are_told_apart_whatever_a_few_loads_wait_for() {
        let near = (0..60).map(|i| 200 + i % 20);
        let far = (0..40).map(|i| 300 + i % 20);
        let mut cycles: Vec<u64> = near.chain(far).collect();
        cycles[7] = 9000;
        let found = Split::of(cycles);
        assert_eq!((found.near_percent, found.near), (60, 210));
        assert!((308..312).contains(&found.far), "{}", found.far);
        // Of loads that all take as long, one is far.
        let found = Split::of(vec![5; 512]);
        assert_eq!((found.near, found.far, found.near_percent), (5, 5, 0));
    }
}
