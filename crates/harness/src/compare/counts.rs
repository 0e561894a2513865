//! The gate on the emulator: by what it counts, which does not vary, and not by its host's times.

use super::table::Run;
use super::{Judged, Reason, Verdict};

/// The least and the most that a count changed by, percent.
struct Span {
    name: &'static str,
    before: f64,
    after: f64,
    low: f64,
    high: f64,
}

/// Judges launches that the emulator ran; `None` of those of GPUs alone. Without counts in all runs nothing is known of them.
pub(super) fn judged(before: &[Run], after: &[Run], tolerance_percent: f64) -> Option<Judged> {
    if !before.iter().chain(after).any(|run| run.is_emulated) {
        return None;
    }
    let Some(spans) = spans(before, after) else {
        return Some(Judged {
            percent: 100.0 * (super::median(after) / super::median(before) - 1.0),
            noise_percent: None,
            verdict: Verdict::Unknown,
            reason: Some(Reason::HostTime),
        });
    };
    let more = |span: &&Span| span.low > tolerance_percent;
    let fewer = |span: &&Span| span.high < -tolerance_percent;
    let varies = |span: &Span| {
        let (low, high) = (span.low, span.high);
        low != high && (low < -tolerance_percent || high > tolerance_percent)
    };
    let changed: Vec<&Span> = spans.iter().filter(|it| more(it) || fewer(it)).collect();
    let (verdict, deciding) = match (spans.iter().find(more), spans.iter().find(fewer)) {
        (Some(_), _) => (Verdict::Slower, largest(spans.iter().filter(more))),
        (None, Some(_)) => (Verdict::Faster, largest(spans.iter().filter(fewer))),
        _ if spans.iter().any(varies) => (Verdict::Unknown, None),
        _ => (Verdict::Same, largest(spans.iter())),
    };
    let reason = match verdict {
        Verdict::Same => None,
        Verdict::Unknown => Some(Reason::CountsVary),
        Verdict::Slower | Verdict::Faster => Some(Reason::Counts {
            changed: changed
                .iter()
                .map(|it| (it.name, it.before, it.after))
                .collect(),
        }),
    };
    Some(Judged {
        percent: deciding.map_or(0.0, |it| it.low),
        noise_percent: None,
        verdict,
        reason,
    })
}

fn largest<'s>(spans: impl Iterator<Item = &'s Span>) -> Option<&'s Span> {
    spans.max_by(|a, b| a.low.abs().total_cmp(&b.low.abs()))
}

/// Instructions and sectors as shares of their own; conflicts, of which a launch may have none, of the instructions.
fn spans(before: &[Run], after: &[Run]) -> Option<[Span; 3]> {
    type Count = fn(&super::table::Counts) -> f64;
    let of = |runs: &[Run], count: Count| -> Option<(f64, f64)> {
        let counts: Option<Vec<f64>> = runs
            .iter()
            .map(|run| run.counts.as_ref().map(count))
            .collect();
        let counts = counts.filter(|counts| !counts.is_empty())?;
        let least = counts.iter().copied().fold(f64::INFINITY, f64::min);
        Some((least, counts.iter().copied().fold(0.0, f64::max)))
    };
    let instructions = of(before, |it| it.instructions)?.0.max(1.0);
    let span = |name, count: Count, is_share: bool| {
        let ((least, most), (after_least, after_most)) = (of(before, count)?, of(after, count)?);
        let base = |own: f64| {
            if is_share && own > 0.0 {
                own
            } else {
                instructions
            }
        };
        Some(Span {
            name,
            before: least,
            after: after_least,
            low: 100.0 * (after_least - most) / base(most),
            high: 100.0 * (after_most - least) / base(least),
        })
    };
    Some([
        span("instructions", |it| it.instructions, true)?,
        span("sectors", |it| it.sectors, true)?,
        span("bank conflicts", |it| it.conflicts, false)?,
    ])
}
