//! What a workload says of its bytes and operations, beside what was counted.

use serde::{Deserialize, Serialize};

use super::text::number;
use crate::driver::count::{Counts, SECTOR};
use crate::model::Work;

/// A share by which a formula may differ: kernels do something else at the edges of their arrays.
const TOLERANCE: f64 = 0.1;

/// Bytes and operations by a formula; none of what it leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Formula {
    /// Operations on floating point.
    pub flop: Option<f64>,
    /// Bytes that memory must move.
    pub bytes: Option<f64>,
}

impl Formula {
    /// That of a workload; none where it says nothing.
    pub fn of(work: &Work) -> Option<Formula> {
        let (flop, bytes) = (work.flops(), work.bytes());
        (flop.is_some() || bytes.is_some()).then_some(Formula { flop, bytes })
    }

    /// Compares it with launches.
    pub fn compare(&self, counts: &[Counts]) -> Compared {
        let flop: u64 = counts.iter().map(Counts::flop).sum();
        let sectors = counts
            .iter()
            .map(|it| it.footprint.read + it.footprint.written);
        let bytes = sectors.sum::<u64>() * SECTOR;
        // An array begins and ends within a sector, and is read and written.
        let buffers: usize = counts.iter().map(|it| it.footprint.buffers.len()).sum();
        let at_ends = (4 * SECTOR * buffers as u64) as f64;
        let figures = [
            ("FLOP", self.flop, flop, 0.0),
            ("bytes", self.bytes, bytes, at_ends),
        ];
        let (mut more, mut fewer) = (Vec::new(), Vec::new());
        for (what, formula, counted, room) in figures {
            let Some(formula) = formula else { continue };
            let difference = formula - counted as f64;
            if difference.abs() > room.max(TOLERANCE * formula) {
                let both = format!(
                    "the workload says {} {what}, and {} were counted",
                    number(formula as u64),
                    number(counted)
                );
                if difference > 0.0 {
                    &mut more
                } else {
                    &mut fewer
                }
                .push(both);
            }
        }
        Compared {
            wrong: (!more.is_empty()).then(|| more.join("; ")),
            exceeded: (!fewer.is_empty()).then(|| fewer.join("; ")),
        }
    }
}

/// A formula beside counts, with both figures where they are not the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// It says more than the launches did: that is wrong.
    pub wrong: Option<String>,
    /// They did more than it says. Operations whose result is not used are no mistake.
    pub exceeded: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::count::Footprint;
    use crate::model::{Operation, Precision};

    #[test]
    fn a_formula_may_say_less_than_was_counted_and_not_more() {
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
        let of = |work: Work| Formula::of(&work).map(|it| it.compare(&counts));
        assert_eq!(of(Work::default()), None);
        let right = Work::default().reads(32_000.0).writes(33_000.0);
        assert_eq!(of(right), Some(Compared::default()));
        let more = Work::default().reads(128_000.0);
        let wrong = of(more).and_then(|it| it.wrong);
        assert_eq!(
            wrong.as_deref(),
            Some("the workload says 128,000 bytes, and 64,000 were counted")
        );
        let fewer = Work::default().reads(32_000.0);
        let exceeded = of(fewer).and_then(|it| it.exceeded);
        assert_eq!(
            exceeded.as_deref(),
            Some("the workload says 32,000 bytes, and 64,000 were counted")
        );
        let flop = Work::default().operations(Precision::F32, Operation::Fma, 16.0);
        let wrong = of(flop).and_then(|it| it.wrong);
        assert_eq!(
            wrong.as_deref(),
            Some("the workload says 32 FLOP, and 0 were counted")
        );
    }
}
