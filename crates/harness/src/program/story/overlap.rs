//! Work that ran at the same time: copies by direction, beside kernels.

use serde::{Deserialize, Serialize};

use super::super::label::Label;
use super::super::model::{Program, Work};

/// The copies of a direction beside the kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// The copies: `copy host to device, pinned`.
    pub copies: String,
    /// Bytes.
    pub bytes: u64,
    /// Nanoseconds that they took.
    pub total_ns: f64,
    /// Nanoseconds of these in which a kernel ran.
    pub beside_kernels_ns: f64,
}

/// Of each direction, the longest first.
pub(super) fn overlap(program: &Program) -> Vec<Overlap> {
    let mut all: Vec<(Label<'_>, Overlap)> = Vec::new();
    for process in &program.processes {
        let kernels = process.activities.iter();
        let kernels = kernels.filter(|it| matches!(it.work, Work::Kernel { .. }));
        let busy = merged(kernels.map(|it| (it.start, it.end)));
        for activity in &process.activities {
            let Work::Copy { bytes, .. } = activity.work else {
                continue;
            };
            let label = activity.work.label();
            let place = all.iter().position(|(it, _)| *it == label);
            let place = place.unwrap_or_else(|| {
                let none = Overlap {
                    copies: label.to_string(),
                    bytes: 0,
                    total_ns: 0.0,
                    beside_kernels_ns: 0.0,
                };
                all.push((label, none));
                all.len() - 1
            });
            let sums = &mut all[place].1;
            sums.bytes += bytes;
            sums.total_ns += activity.took() as f64;
            sums.beside_kernels_ns += shared(&busy, (activity.start, activity.end)) as f64;
        }
    }
    let mut all: Vec<Overlap> = all.into_iter().map(|(_, it)| it).collect();
    all.sort_by(|a, b| b.total_ns.total_cmp(&a.total_ns));
    all
}

/// Spans by their starts as spans that do not meet.
fn merged(spans: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in spans {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// The part of a span that these have, too.
fn shared(spans: &[(u64, u64)], (start, end): (u64, u64)) -> u64 {
    let first = spans.partition_point(|it| it.1 <= start);
    let within = spans[first..].iter().take_while(|it| it.0 < end);
    within.map(|it| it.1.min(end) - it.0.max(start)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_share_what_both_have() {
        let spans = merged([(0, 10), (5, 20), (30, 40)].into_iter());
        assert_eq!(spans, [(0, 20), (30, 40)]);
        assert_eq!(shared(&spans, (15, 35)), 10);
        assert_eq!(shared(&spans, (20, 30)), 0);
    }
}
