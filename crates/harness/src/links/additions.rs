//! Atomic additions to another device's memory.

use kernels_gpu::ceilings::peer::add_to_peer;

use super::flow::{Flow, rate};
use super::{LinkError, LinkPlan, LinkQuantity, LinkRow, Links, Outcome};
use crate::driver::LaunchConfig;
use crate::embedded::peer::{APART, TOGETHER, VALUE, expected};

/// Threads per block.
const BLOCK: u32 = 256;
/// Blocks per multiprocessor: all threads that it has room for.
const BLOCKS: u64 = 8;

impl Links<'_> {
    /// Of device `from`, to counters of device `to`.
    pub(super) fn additions(
        &mut self,
        quantity: LinkQuantity,
        from: usize,
        to: usize,
    ) -> Result<Outcome, LinkError> {
        if let Some(reason) = self.refusal(from, to) {
            return Ok(Outcome::none(reason));
        }
        let device = &self.devices[from].device;
        let blocks = match device.properties().is_emulated() {
            true => 1,
            false => BLOCKS * u64::from(device.properties().multiprocessors),
        };
        let threads = (blocks * u64::from(BLOCK)) as usize;
        let (stride, counters) = match quantity {
            LinkQuantity::AddTogether => (TOGETHER, 1),
            _ => (APART, threads),
        };
        let mut sums = self.devices[to].device.buffer_zeroed::<u32>(counters)?;
        let prepared = device.prepare(add_to_peer::entry(), LaunchConfig::blocks(blocks, BLOCK))?;
        let steps = self.plan.additions;
        let mut launches = 0;
        let plan = LinkPlan {
            transfers: 1,
            ..self.plan.clone()
        };
        let mut flows = [Flow {
            stream: &self.streams[from][0],
            enqueue: Box::new(|stream| {
                launches += 1;
                // SAFETY: there is a counter for each thread, or one where the stride is 0; `rate` waits.
                unsafe { prepared.launch(stream, &(stride, VALUE, steps, sums.slice_mut(..))) }
            }),
        }];
        let additions = threads as f64 * f64::from(steps);
        let measured = rate(&mut flows, &plan, additions)?;
        drop(flows);
        let expected = expected(threads, counters, steps, launches);
        let sums = sums.to_vec()?;
        if let Some(i) = sums.iter().position(|&sum| sum != expected) {
            return Err(LinkError::wrong(format!(
                "counter {i} of {counters} is {}, not {expected}",
                sums[i]
            )));
        }
        let by = format!("{}, {blocks} blocks of {BLOCK}", prepared.name());
        let bytes = (counters * size_of::<u32>()) as u64;
        Ok(Outcome::of(measured, bytes, by, LinkRow::PEER))
    }
}
