//! A chase through the memory of another device.

use kernels_gpu::ceilings::chase::chase;

use super::latency::cycle;
use crate::driver::{Device, DriverError, LaunchConfig, Stream};
use crate::measure::Interval;

/// Bytes between two places of the cycle: a cache line.
const LINE: usize = 128;
/// Bytes of the cycle: more than a level 1 cache has, and well within the level 2 cache of the device
/// whose memory it is.
const BYTES: usize = 2 << 20;
/// Places of the emulator, which has no caches.
const EMULATED_PLACES: usize = 64;

/// A chase that has been through another device's memory.
pub(crate) struct FarChase {
    /// Seconds per load, of each timing.
    pub(crate) samples: Vec<f64>,
    /// The place where it ended, and where it had to.
    pub(crate) came: u64,
    pub(crate) expected: u64,
    /// Bytes of the places.
    pub(crate) bytes: u64,
    /// The kernel's name.
    pub(crate) kernel: String,
}

impl FarChase {
    /// Follows so many loads of the second device through the memory of the first, which it reaches, in each of so many timings and in one before them.
    ///
    /// # Errors
    /// There is too little memory, or the driver refuses the launch.
    pub(crate) fn run(
        (there, reader): (&Device, &Device),
        stream: &Stream<'_>,
        (loads, rounds): (u32, u32),
    ) -> Result<FarChase, DriverError> {
        let places = match reader.properties().is_emulated() {
            true => EMULATED_PLACES,
            false => BYTES / LINE,
        };
        let next = cycle(places, LINE / size_of::<u32>());
        let memory = there.buffer_from(&next)?;
        let mut out = reader.buffer_zeroed::<u64>(3)?;
        let prepared = reader.prepare(chase::entry(), LaunchConfig::blocks(1, 1))?;
        let mut samples = Vec::new();
        for round in 0..=rounds {
            // SAFETY: `cycle` makes elements below the length, there are three words for the one thread, and the stream is waited for.
            let time = Interval::of(stream, || unsafe {
                prepared.launch(stream, &(memory.slice(..), loads, out.slice_mut(..)))
            })?;
            stream.synchronize()?;
            // The first is to warm up.
            if round > 0 {
                samples.push(time.milliseconds()? / 1e3 / f64::from(loads));
            }
        }
        // Each launch goes on where the one before has ended.
        let followed = u64::from(loads) * u64::from(rounds + 1);
        let end = (0..followed).fold(0, |at, _| next[at as usize]);
        Ok(FarChase {
            samples,
            came: out.to_vec()?[2],
            expected: u64::from(end),
            bytes: (places * LINE) as u64,
            kernel: prepared.name().to_owned(),
        })
    }
}
