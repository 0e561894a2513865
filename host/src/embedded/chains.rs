//! Chains of fused multiply-adds that move no bytes: arithmetic alone.

use kernels_gpu::ceilings::chains::{FmaF32, LANES, Measured, Operation as Chained};

use crate::model::{Operation, Precision};
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// Chains of fused multiply-adds of `f32`.
#[derive(Clone, Copy, Debug)]
pub struct Fma;

/// Times that the multiprocessors could be filled with the launch's threads.
const WAVES: usize = 4;

impl Workload for Fma {
    fn name(&self) -> &str {
        "fma"
    }

    fn axes(&self) -> Vec<Axis> {
        let chains: Vec<u32> = FmaF32::VARIANTS.iter().map(|it| it.chains).collect();
        vec![
            Axis::one_of("ilp", chains.clone(), chains).help("chains of a thread"),
            // One warp per multiprocessor takes long enough with these.
            Axis::whole("steps", [50 << 10])
                .within(u64::from(FmaF32::LINE)..=1 << 24)
                .on_emulator([1024])
                .help("multiply-adds of a thread"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let chains = at.whole("ilp") as u32;
        let mut variants = FmaF32::VARIANTS.iter();
        let variant = variants.find(|variant| variant.chains == chains);
        let variant = variant.ok_or("there is no kernel of so many chains")?;
        let lines = at.whole("steps") as u32 / FmaF32::LINE;
        let properties = at.device().properties();
        let held = properties.limits.threads_per_multiprocessor;
        let threads = WAVES * (properties.multiprocessors * held) as usize;
        let config = at.linear(threads);
        let threads = (config.grid[0] * config.block_threads()) as usize;
        let arrays = at
            .launch(variant.entry, config)
            .arrays(move |device| {
                Ok((
                    device.buffer_from(&[FmaF32::C])?,
                    device.buffer_filled(threads, f64::NAN)?,
                    device.buffer_filled(config.grid[0] as usize, [0u64; 2])?,
                ))
            })
            .check(move |(_, sums, _)| {
                let expected = (0..LANES).map(|lane| (variant.reference)(lane, lines));
                let expected: Vec<f64> = expected.collect();
                for (thread, actual) in sums.to_vec()?.into_iter().enumerate() {
                    let expected = expected[thread % LANES as usize];
                    let error = (actual - expected).abs();
                    if error.is_nan() || error > FmaF32::TOLERANCE * expected.abs() {
                        return Err(format!(
                            "the sum of a thread's chains is {actual}, not {expected}"
                        )
                        .into());
                    }
                }
                Ok(())
            });
        // SAFETY: there are a c, a sum for each thread and a clock for each block.
        let case = unsafe {
            arrays.arguments_unchecked(move |(c, sums, clocks)| {
                (lines, c.slice(..), sums.slice_mut(..), clocks.slice_mut(..))
            })
        };
        let steps = threads * (lines * FmaF32::LINE) as usize;
        Ok(case
            .operations(Precision::F32, Operation::Fma, steps)
            .allocates(8 * threads as u64)
            .chains(chains))
    }
}
