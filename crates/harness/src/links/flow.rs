//! Data that go one way, or both ways at once, timed by each direction's own stream.

use super::LinkPlan;
use crate::driver::{DriverError, Stream};
use crate::measure::{Enqueue, Interval, Summary};

/// One direction: a stream, and what puts one transfer into it.
pub(super) struct Flow<'f, 'd> {
    pub(super) stream: &'f Stream<'d>,
    pub(super) enqueue: Box<Enqueue<'f>>,
}

/// The median of a row's timings.
pub(super) struct Measured {
    pub(super) value: f64,
    pub(super) rms_percent: f64,
    pub(super) samples: usize,
}

impl Measured {
    /// Of at least one sample: a plan without timings is refused.
    pub(super) fn of(samples: &[f64]) -> Measured {
        let summary = Summary::of(samples);
        Measured {
            value: summary.map_or(0.0, |it| it.median),
            rms_percent: summary.map_or(0.0, |it| it.rms_percent),
            samples: samples.len(),
        }
    }
}

/// Returns the rate that flows reach together, each with `amount` for a transfer: the sum of their rates by their own events, as
/// nvbandwidth defines it.
pub(super) fn rate(
    flows: &mut [Flow<'_, '_>],
    plan: &LinkPlan,
    amount: f64,
) -> Result<Measured, DriverError> {
    sample(flows, plan.transfers)?;
    let rounds = (0..plan.rounds).map(|_| {
        let seconds = sample(flows, plan.transfers)?;
        let rate = |seconds: &f64| amount * f64::from(plan.transfers) / seconds;
        Ok(seconds.iter().map(rate).sum())
    });
    let rates: Vec<f64> = rounds.collect::<Result<_, DriverError>>()?;
    Ok(Measured::of(&rates))
}

/// Seconds of each flow for so many transfers. None begins before the first one can.
fn sample(flows: &mut [Flow<'_, '_>], transfers: u32) -> Result<Vec<f64>, DriverError> {
    if let [first, others @ ..] = &*flows {
        let begun = first.stream.mark()?;
        others
            .iter()
            .try_for_each(|it| it.stream.wait_event(&begun))?;
    }
    let mut intervals = Vec::new();
    for flow in &mut *flows {
        let (stream, enqueue) = (flow.stream, &mut flow.enqueue);
        intervals.push(Interval::of(stream, || {
            (0..transfers).try_for_each(|_| enqueue(stream))
        })?);
    }
    flows.iter().try_for_each(|it| it.stream.synchronize())?;
    let seconds = intervals.iter().map(|it| Ok(it.milliseconds()? / 1e3));
    seconds.collect()
}
