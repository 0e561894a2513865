//! Chains of dependent operations that move no bytes: arithmetic alone.

use std::marker::PhantomData;

use kernels_gpu::ceilings::chains::{FmaF32, LANES, Measured, Operation as Chained, Variant};

use super::values::{Expected, Output, check_each, check_passed};
use crate::driver::{DeviceValue, LaunchConfig};
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
        vec![
            ilp::<FmaF32>(),
            // One warp per multiprocessor takes long enough with these.
            steps()
                .within(u64::from(FmaF32::LINE)..=1 << 24)
                .help("multiply-adds per thread"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let properties = at.device().properties();
        let held = properties.limits.threads_per_multiprocessor;
        let config = at.linear(WAVES * (properties.multiprocessors * held) as usize);
        let case = chained::<FmaF32>(at, config)?;
        let threads = (config.grid[0] * config.block_threads()) as usize;
        let lines = at.whole("steps") as u32 / FmaF32::LINE;
        let steps = threads * (lines * FmaF32::LINE) as usize;
        Ok(case
            .operations(Precision::F32, Operation::Fma, steps)
            .allocates(8 * threads as u64)
            .chains(at.whole("ilp") as u32))
    }
}

/// Chains of any operation, in `n` threads.
pub(crate) struct Chains<O>(PhantomData<fn() -> O>);

impl<O> Chains<O> {
    pub(crate) const NEW: Chains<O> = Chains(PhantomData);
}

impl<O: Measured<Value: DeviceValue>> Workload for Chains<O> {
    /// The operation, as its kernels are called before the number of their chains.
    fn name(&self) -> &str {
        let first = O::VARIANTS[0].entry.name();
        first.rsplit_once("_c").map_or(first, |(name, _)| name)
    }

    fn axes(&self) -> Vec<Axis> {
        let threads = Axis::whole("n", [1 << 16]).help("threads");
        vec![
            ilp::<O>(),
            steps().help("steps of arithmetic per thread"),
            threads,
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        chained::<O>(at, at.linear(at.size("n")))
    }
}

fn ilp<O: Measured>() -> Axis {
    let chains: Vec<u32> = O::VARIANTS.iter().map(|it| it.chains).collect();
    Axis::one_of("ilp", chains.clone(), chains).help("independent chains per thread")
}

fn steps() -> Axis {
    Axis::whole("steps", [50 << 10]).on_emulator([1024])
}

/// Lines of steps of a thread: at least one.
pub(crate) fn lines<O: Measured>(steps: u64) -> u32 {
    (steps as u32 / O::LINE).max(1)
}

fn chained<'d, O: Measured<Value: DeviceValue>>(
    at: &Point<'d>,
    config: LaunchConfig,
) -> Result<Case<'d>, PointError> {
    let chains = at.whole("ilp") as u32;
    let mut variants = O::VARIANTS.iter();
    let variant: Option<&'static Variant<O>> = variants.find(|variant| variant.chains == chains);
    let variant = variant.ok_or("there is no kernel of so many chains")?;
    let lines = lines::<O>(at.whole("steps"));
    let blocks = config.grid[0] as usize;
    let threads = blocks * config.block_threads() as usize;
    let arrays = at
        .launch(variant.entry, config)
        .arrays(move |device| {
            let c = device.buffer_from(&[O::C])?;
            Ok((
                c,
                Output::new(device, threads)?,
                Output::new(device, blocks)?,
            ))
        })
        .check(move |(_, sums, clocks)| {
            check_passed(clocks.values()?.as_flattened())?;
            let of_lane = |lane| {
                let value = (variant.reference)(lane, lines);
                let tolerance = O::TOLERANCE * value.abs();
                Expected { value, tolerance }
            };
            let lanes: Vec<_> = (0..LANES).map(of_lane).collect();
            let expected = (0..threads).map(|thread| lanes[thread % lanes.len()]);
            check_each(sums.values()?.into_iter(), expected)
        })
        .counters(|(_, _, clocks)| Ok(clocks.values()?[0]));
    // SAFETY: there are a c, a sum for each thread and a clock for each block.
    Ok(unsafe {
        arrays.arguments_unchecked(move |(c, sums, clocks)| {
            (lines, c.slice(..), sums.view(), clocks.view())
        })
    })
}
