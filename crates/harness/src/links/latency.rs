//! The latency of a load from another device's memory.

use super::flow::Measured;
use super::{LinkError, LinkPlan, LinkRow, Links, Outcome};
use crate::embedded::far_chase::FarChase;

impl Links<'_> {
    /// Of device `to`, from the memory of device `from`.
    pub(super) fn load_latency(&mut self, from: usize, to: usize) -> Result<Outcome, LinkError> {
        if let Some(reason) = self.refusal(to, from) {
            return Ok(Outcome::none(reason));
        }
        let [there, reader] = [from, to].map(|it| &self.devices[it].device);
        let LinkPlan { loads, rounds, .. } = self.plan;
        let chased = FarChase::run((there, reader), &self.streams[to][0], (loads, rounds))?;
        if chased.came != chased.expected {
            return Err(LinkError::wrong(format!(
                "after {} loads the chase is at {}, not at {}",
                u64::from(loads) * u64::from(rounds + 1),
                chased.came,
                chased.expected
            )));
        }
        Ok(Outcome::of(
            Measured::of(&chased.samples),
            chased.bytes,
            chased.kernel,
            LinkRow::PEER,
        ))
    }
}
