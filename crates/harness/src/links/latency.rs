//! The latency of a load from another device's memory.

use kernels_gpu::ceilings::chase::chase;

use super::flow::Measured;
use super::{LinkError, LinkRow, Links, Outcome};
use crate::driver::LaunchConfig;
use crate::embedded::latency::cycle;
use crate::measure::Interval;

/// Bytes between two places of the cycle: a cache line.
const LINE: usize = 128;
/// Bytes of the cycle: more than a level 1 cache has, and well within the level 2 cache of the device
/// whose memory it is.
const BYTES: usize = 2 << 20;
/// Places of the emulator, which has no caches.
const EMULATED_PLACES: usize = 64;

impl Links<'_> {
    /// Of device `to`, from the memory of device `from`.
    pub(super) fn load_latency(&mut self, from: usize, to: usize) -> Result<Outcome, LinkError> {
        if let Some(reason) = self.refusal(to, from) {
            return Ok(Outcome::none(reason));
        }
        let reader = &self.devices[to].device;
        let places = match reader.properties().is_emulated() {
            true => EMULATED_PLACES,
            false => BYTES / LINE,
        };
        let next = cycle(places, LINE / size_of::<u32>());
        let there = self.devices[from].device.buffer_from(&next)?;
        let mut out = reader.buffer_zeroed::<u64>(3)?;
        let prepared = reader.prepare(chase::entry(), LaunchConfig::blocks(1, 1))?;
        let stream = &self.streams[to][0];
        let loads = self.plan.loads;
        let mut samples = Vec::new();
        for round in 0..=self.plan.rounds {
            // SAFETY: `cycle` makes elements below the length, there are three words for the one thread, and the stream is waited for.
            let time = Interval::of(stream, || unsafe {
                prepared.launch(stream, &(there.slice(..), loads, out.slice_mut(..)))
            })?;
            stream.synchronize()?;
            // The first is to warm up.
            if round > 0 {
                samples.push(time.milliseconds()? / 1e3 / f64::from(loads));
            }
        }
        // Each launch goes on where the one before has ended.
        let followed = u64::from(loads) * u64::from(self.plan.rounds + 1);
        let end = (0..followed).fold(0, |at, _| next[at as usize]);
        let came = out.to_vec()?[2];
        if came != u64::from(end) {
            return Err(LinkError::wrong(format!(
                "after {followed} loads the chase is at {came}, not at {end}"
            )));
        }
        let bytes = (places * LINE) as u64;
        Ok(Outcome::of(
            Measured::of(&samples),
            bytes,
            prepared.name().to_owned(),
            LinkRow::PEER,
        ))
    }
}
