//! The block size with which a kernel is fastest, by prediction.

use std::fmt;

use itertools::Itertools;

use super::{OccupancyRecord, families, variant};

/// Blocks whose predicted times are this close to the shortest one are as good, percent.
const ALIKE_PERCENT: f64 = 3.0;

/// The block size with the shortest predicted time of a kernel, for one variant of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BestBlock {
    /// The kernel, and what tells its rows apart: [`families`].
    pub kernel: String,
    /// The variant that its rows are of: `ILP 4`.
    pub variant: String,
    /// Threads per block.
    pub block: u64,
    /// Predicted rate, in `unit`.
    pub rate: f64,
    /// `GB/s`, `GFLOP/s` or `launches/s`.
    pub unit: &'static str,
    /// The other blocks that are predicted to take at most 3 % longer.
    pub alike: Vec<u64>,
    /// How much longer the measured time with this block is than the shortest measured one, percent; on the emulator nothing.
    pub loss_percent: Option<f64>,
}

impl fmt::Display for BestBlock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.kernel)?;
        if !self.variant.is_empty() {
            write!(formatter, " with {}", self.variant)?;
        }
        let BestBlock {
            block, rate, unit, ..
        } = self;
        write!(
            formatter,
            ": fastest by prediction with {block} threads per block, {rate:.1} {unit}"
        )?;
        if !self.alike.is_empty() {
            let alike = self.alike.iter().join(", ");
            write!(formatter, "; within {ALIKE_PERCENT:.0} % of it: {alike}")?;
        }
        match self.loss_percent {
            Some(percent) => write!(
                formatter,
                "; measured, it takes {percent:.1} % longer than the fastest"
            ),
            None => Ok(()),
        }
    }
}

/// One for each family and variant whose rows have several blocks with a predicted time, in order of first appearance.
pub fn best_blocks(records: &[OccupancyRecord], is_emulated: bool) -> Vec<BestBlock> {
    let families = families(records);
    let rows = records.iter().zip(&families);
    let groups = rows.clone().map(|(row, family)| (family, variant(row)));
    let of = |(family, own): (&String, String)| {
        let rows = rows
            .clone()
            .filter(|(row, it)| *it == family && variant(row) == own);
        let rows: Vec<&OccupancyRecord> = rows.map(|(row, _)| row).collect();
        let timed = || rows.iter().filter_map(|row| Some((*row, row.model_ms?)));
        if timed().map(|(row, _)| row.block).unique().count() < 2 {
            return None;
        }
        let (best, shortest) = timed().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let alike = timed().filter(|(_, ms)| *ms <= (1.0 + ALIKE_PERCENT / 100.0) * shortest);
        let alike = alike.map(|(row, _)| row.block).unique();
        let measured = rows.iter().map(|row| row.median_ms);
        let measured = measured.fold(f64::INFINITY, f64::min);
        let loss = 100.0 * (best.median_ms / measured - 1.0);
        Some(BestBlock {
            kernel: family.clone(),
            variant: own,
            block: best.block,
            rate: best.model_rate?,
            unit: best.unit,
            alike: alike.filter(|it| *it != best.block).collect(),
            loss_percent: (!is_emulated && loss.is_finite()).then_some(loss),
        })
    };
    groups.unique().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::knee::tests::row;
    use super::*;

    #[test]
    fn the_block_with_the_shortest_predicted_time_is_named_with_those_as_good() {
        let of = |block, model_ms, median_ms| OccupancyRecord {
            block,
            median_ms,
            model_ms: Some(model_ms),
            model_rate: Some(100.0 / model_ms),
            ..row(1, 50.0, 1.0)
        };
        let rows = [of(32, 2.0, 1.0), of(128, 1.0, 1.02), of(256, 1.02, 1.1)];
        let said = |is_emulated| {
            let best = best_blocks(&rows, is_emulated);
            best.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let predicted = "copy with ILP 1: fastest by prediction with 128 threads per block, 100.0 GB/s; within 3 % of it: 256";
        assert_eq!(said(true), [predicted]);
        // On a GPU each run checks the model.
        let checked = format!("{predicted}; measured, it takes 2.0 % longer than the fastest");
        assert_eq!(said(false), [checked]);
        // Of one block there is no best one.
        assert!(best_blocks(&rows[..1], true).is_empty());
    }
}
