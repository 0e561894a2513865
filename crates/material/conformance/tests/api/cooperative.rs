//! `cuda_std::cooperative`.

use conformance_kernels::cooperative::around_the_grid;
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::{LaunchConfig, Stream};

use crate::support::Case;

pub(crate) const CASES: &[Case] = &[("cooperative::sync_grid", sync_grid)];

fn sync_grid(device: &Device) -> Result<(), Failed> {
    for (blocks, threads, rounds) in [(1, 32, 3), (2, 1, 50), (7, 64, 20), (16, 33, 5)] {
        let all = blocks * threads;
        let start: Vec<u64> = (0..all).map(|i| i * 1000).collect();
        let mut values = device.buffer_from(&start)?;
        let mut out = device.buffer_filled(all as usize, u64::MAX)?;
        let mut arrivals = device.buffer_filled(1, 0u32)?;
        let shape = LaunchConfig::blocks(blocks, threads as u32);
        let prepared = device.prepare_cooperative(around_the_grid::entry(), shape)?;
        let stream = Stream::new(device)?;
        // SAFETY: one word per thread, and no arrivals; the buffers outlive the wait.
        unsafe {
            prepared.launch(
                &stream,
                &(
                    values.slice_mut(..),
                    out.slice_mut(..),
                    arrivals.slice_mut(..),
                    rounds,
                ),
            )
        }?;
        stream.synchronize()?;
        let expected: Vec<u64> = (0..all)
            .map(|i| (i + threads * u64::from(rounds)) % all * 1000 + i % threads)
            .collect();
        equal(&out.to_vec()?, &expected)?;
    }
    Ok(())
}
