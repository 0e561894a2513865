//! A workload's own figures of its bytes and operations, beside the counts.

use serde::{Deserialize, Serialize};

use super::text::number;
use super::verdict::is_work;
use crate::driver::count::{Counted, Counts, SECTOR};
use crate::model::{Numbers, Work};

/// A share by which a formula may differ: kernels do something else at the edges of their arrays.
const TOLERANCE: f64 = 0.1;

/// Bytes and operations by a formula; none of what it leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Formula {
    /// Operations on its numbers.
    pub flop: Option<f64>,
    /// Bytes that memory must move.
    pub bytes: Option<f64>,
    /// Operations beside these, which rates and intensities leave out.
    pub overhead_flop: f64,
    /// Bytes beside these.
    pub overhead_bytes: f64,
    /// The numbers whose operations it says.
    #[serde(skip)]
    pub(crate) numbers: Numbers,
}

/// Counts of launches, as far as a formula is compared with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Amounts {
    pub(crate) flop: f64,
    pub(crate) bytes: f64,
    pub(crate) warps: f64,
    /// Buffers that were reached.
    pub(crate) buffers: usize,
}

impl Amounts {
    /// Those of all these launches, with operations on such numbers.
    fn of(counts: &[Counts], numbers: Numbers) -> Amounts {
        let sum = |of: fn(&Counts) -> u64| counts.iter().map(of).sum::<u64>() as f64;
        let instructions = counts.iter().flat_map(|it| &it.instructions);
        let work = instructions.filter(|it| is_work(it, numbers));
        Amounts {
            flop: work.map(Counted::operations).sum::<u64>() as f64,
            bytes: sum(|it| (it.footprint.read + it.footprint.written) * SECTOR),
            warps: sum(|it| it.warps),
            buffers: counts.iter().map(|it| it.footprint.buffers.len()).sum(),
        }
    }
}

impl Formula {
    /// That of a workload, and what it does beside; none where it says nothing.
    pub fn of(work: &Work, overhead: &Work) -> Option<Formula> {
        let (flop, bytes) = (work.flops(), work.bytes());
        (flop.is_some() || bytes.is_some()).then_some(Formula {
            flop,
            bytes,
            overhead_flop: overhead.flops().unwrap_or(0.0),
            overhead_bytes: overhead.bytes().unwrap_or(0.0),
            numbers: work.numbers(),
        })
    }

    /// Compares it with launches. Both figures, where it says too much or too little.
    pub fn compare(&self, counts: &[Counts]) -> Option<String> {
        self.compare_with(Amounts::of(counts, self.numbers))
    }

    pub(crate) fn compare_with(&self, counted: Amounts) -> Option<String> {
        // An array begins and ends within a sector, and is read and written; it ends within a warp.
        let at_ends = (4 * SECTOR * counted.buffers as u64) as f64;
        let of_a_warp = match counted.warps > 1.0 {
            true => counted.flop / counted.warps,
            false => 0.0,
        };
        let flop = (self.flop, self.overhead_flop, counted.flop);
        let bytes = (self.bytes, self.overhead_bytes, counted.bytes);
        let operations = self.numbers.operations();
        let figures = [(operations, flop, of_a_warp), ("bytes", bytes, at_ends)];
        let differing = figures.into_iter().filter_map(|(what, figures, room)| {
            let (formula, overhead, counted) = (figures.0?, figures.1, figures.2);
            let said = formula + overhead;
            let differs = (said - counted).abs() > room.max(TOLERANCE * said);
            let beside = match overhead {
                0.0 => String::new(),
                overhead => format!(" and {} of overhead", number(overhead as u64)),
            };
            differs.then(|| {
                format!(
                    "the workload says {} {what}{beside}, and {} were counted",
                    number(formula as u64),
                    number(counted as u64)
                )
            })
        });
        let differing: Vec<String> = differing.collect();
        (!differing.is_empty()).then(|| differing.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::count::Footprint;
    use crate::model::{Operation, Precision};

    #[test]
    fn a_formula_says_neither_more_nor_less_than_was_counted() {
        let counts = [Counts {
            kernel: "scale".to_owned(),
            launches: 1,
            blocks: 1,
            warps: 1,
            threads: 32,
            instructions: Vec::new(),
            footprint: Footprint {
                read: 1000,
                written: 1000,
                ..Footprint::default()
            },
        }];
        let of = |work: Work, overhead: Work| Formula::of(&work, &overhead)?.compare(&counts);
        let nothing = Work::default;
        assert_eq!(Formula::of(&nothing(), &nothing()), None);
        let right = nothing().reads(32_000.0).writes(33_000.0);
        assert_eq!(of(right, nothing()), None);
        let fewer = nothing().reads(32_000.0);
        for (bytes, said) in [(128_000.0, "128,000"), (32_000.0, "32,000")] {
            assert_eq!(
                of(nothing().reads(bytes), nothing()),
                Some(format!(
                    "the workload says {said} bytes, and 64,000 were counted"
                ))
            );
        }
        assert_eq!(of(fewer.clone(), nothing().writes(32_000.0)), None);
        assert_eq!(
            of(fewer, nothing().writes(16_000.0)).as_deref(),
            Some("the workload says 32,000 bytes and 16,000 of overhead, and 64,000 were counted")
        );
        let flop = nothing().operations(Precision::F32, Operation::Fma, 16.0);
        assert_eq!(
            of(flop, nothing()).as_deref(),
            Some("the workload says 32 FLOP, and 0 were counted")
        );
    }

    #[test]
    fn the_last_warp_of_many_may_work_for_nothing() {
        let formula = Formula {
            flop: Some(200.0),
            bytes: None,
            overhead_flop: 0.0,
            overhead_bytes: 0.0,
            numbers: Numbers::Floats,
        };
        let of = |flop, warps| {
            formula.compare_with(Amounts {
                flop,
                bytes: 0.0,
                warps,
                buffers: 0,
            })
        };
        assert_eq!(of(224.0, 8.0), None);
        assert!(of(224.0, 16.0).is_some() && of(224.0, 1.0).is_some());
    }
}
