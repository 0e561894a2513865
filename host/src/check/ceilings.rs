//! The kernels that measure arithmetic, caches, latencies and barriers.

use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::barrier::wait_for_grid;
use kernels_gpu::ceilings::cache::{UNROLL, Words, read_again, read_shared, shared_reference};
use kernels_gpu::ceilings::chains::{
    AddMulF16x2, AddMulF32, Exp2F32, FmaBf16x2, FmaF16x2, FmaF32, FmaF64, LANES, MadI32, Measured,
    Variant,
};
use kernels_gpu::ceilings::chase::{SHARED_ELEMENTS, chase, chase_shared};
use kernels_gpu::ceilings::clock::read_clocks;

use cuda_std::launch::Entry;

use super::values::{Expected, Output, check_each, check_same};
use super::{Case, Failure, launch};
use crate::ceilings::caches::words;
use crate::ceilings::latency::cycle;
use crate::ceilings::memory::sum_of_words;
use crate::driver::{Device, DeviceValue, LaunchConfig, Stream};
use crate::measure::places;

/// Threads a block.
const BLOCK: u32 = 128;
/// Up to so many threads have two lines, and the others one.
const SOME: usize = 257;
/// Passes over what is read again and again.
const PASSES: u32 = 3;
/// Blocks that wait for each other, and the most barriers.
const BARRIER_BLOCKS: u64 = 3;
const MOST_BARRIERS: usize = 1000;

pub(super) fn cases() -> Vec<Case> {
    let chains = [
        chains::<FmaF32>(),
        chains::<FmaF64>(),
        chains::<FmaF16x2>(),
        chains::<FmaBf16x2>(),
        chains::<AddMulF32>(),
        chains::<AddMulF16x2>(),
        chains::<MadI32>(),
        chains::<Exp2F32>(),
    ];
    let mut cases = chains.concat();
    cases.extend([
        Case::new(read_again::entry().name(), again),
        Case::new(read_shared::entry().name(), shared),
        chased(chase::entry(), usize::MAX),
        chased(chase_shared::entry().with_signature(), SHARED_ELEMENTS),
        Case::new(wait_for_grid::entry().name(), barriers),
        Case::new(read_clocks::entry().name(), clocks),
    ]);
    cases
}

fn chains<O: Measured<Value: DeviceValue>>() -> Vec<Case> {
    O::VARIANTS.iter().map(chain).collect()
}

/// An element is a thread.
fn chain<O: Measured<Value: DeviceValue>>(variant: &'static Variant<O>) -> Case {
    Case::new(variant.entry.name(), |device, n| {
        let shape = LaunchConfig::linear(n as u64, BLOCK);
        let blocks = shape.grid[0] as usize;
        let c = device.buffer_from(&[O::C])?;
        let mut sums = Output::new(device, blocks * BLOCK as usize)?;
        let mut clocks = Output::new(device, blocks)?;
        let lines = if n <= SOME { 2 } else { 1 };
        let arguments = (lines, c.slice(..), sums.view(), clocks.view());
        // SAFETY: there are a c, a sum for each thread and a clock for each block.
        unsafe { launch(device, variant.entry, shape, arguments) }?;
        let clocks = clocks.values()?;
        if let Some(pair) = clocks.iter().find(|pair| pair.contains(&u64::MAX)) {
            return Err(format!("a block's clocks are {pair:?}").into());
        }
        let of_lane = |lane| {
            let value = (variant.reference)(lane, lines);
            Expected {
                value,
                tolerance: O::TOLERANCE * value.abs(),
            }
        };
        let lanes: Vec<_> = (0..LANES).map(of_lane).collect();
        let sums = sums.values()?;
        let expected = (0..sums.len()).map(|thread| lanes[thread % lanes.len()]);
        check_each(sums.iter().copied(), expected)
    })
}

/// An element is a vector; each of at least three blocks has two steps of them.
fn again(device: &Device, n: usize) -> Result<(), Failure> {
    const CHUNK: usize = 2 * UNROLL * BLOCK as usize;
    const WARPS: usize = (BLOCK / WARP) as usize;
    let blocks = n.div_ceil(CHUNK).max(3);
    let x: Vec<Words> = (0..(blocks * CHUNK) as u32).map(words).collect();
    let chunks = x
        .chunks(CHUNK)
        .map(|chunk| sum_of_words(chunk.as_flattened()));
    let chunks: Vec<u32> = chunks.collect();
    let from = device.buffer_from(&x)?;
    for shift in [0, 1] {
        let mut sums = Output::new(device, blocks * WARPS)?;
        let arguments = (from.slice(..), PASSES, shift as u32, sums.view());
        let shape = LaunchConfig::blocks(blocks as u64, BLOCK);
        // SAFETY: a whole number of steps, and a sum for each warp.
        unsafe { launch(device, read_again::entry(), shape, arguments) }?;
        let of_blocks: Vec<u32> = sums.values()?.chunks(WARPS).map(sum_of_words).collect();
        let passes = |block| (0..PASSES as usize).map(move |pass| block + pass * shift);
        let of_chunk = |chunk: usize| chunks[chunk % blocks];
        let of_block = |block| passes(block).map(of_chunk).fold(0, u32::wrapping_add);
        check_same(&of_blocks, &(0..blocks).map(of_block).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// An element is a thread.
fn shared(device: &Device, n: usize) -> Result<(), Failure> {
    let shape = LaunchConfig::linear(n as u64, BLOCK);
    let blocks = shape.grid[0] as u32;
    let mut sums = Output::new(device, (blocks * BLOCK / WARP) as usize)?;
    // SAFETY: there is a sum for each warp, and blocks are whole warps.
    unsafe { launch(device, read_shared::entry(), shape, (PASSES, sums.view())) }?;
    let expected = shared_reference(blocks, BLOCK, PASSES);
    check_same(&[sum_of_words(&sums.values()?)], &[expected])
}

/// As many loads as there are elements, in two launches.
fn chased(entry: Entry<chase>, most: usize) -> Case {
    Case::new(entry.name(), move |device, n| {
        let n = n.clamp(1, most);
        let next = cycle(n, 1);
        let there = device.buffer_from(&next)?;
        let mut out = device.buffer_zeroed(3)?;
        let loads = [n / 3, n - n / 3];
        let mut at = 0;
        for loads in loads {
            let arguments = (there.slice(..), loads as u32, out.slice_mut(..));
            // SAFETY: `cycle` makes elements below the length, and there are three words.
            unsafe { launch(device, entry, LaunchConfig::blocks(1, 1), arguments) }?;
            at = (0..loads).fold(at, |at, _| next[at as usize]);
            check_same(&out.to_vec()?[2..], &[u64::from(at)])?;
        }
        Ok(())
    })
}

/// An element is a barrier.
fn barriers(device: &Device, n: usize) -> Result<(), Failure> {
    let rounds = n.min(MOST_BARRIERS) as u32;
    let shape = LaunchConfig::blocks(BARRIER_BLOCKS, BLOCK);
    let prepared = device.prepare_cooperative(wait_for_grid::entry(), shape)?;
    let mut arrivals = device.buffer_zeroed(1)?;
    let mut out = Output::<u64>::new(device, 3)?;
    let stream = Stream::new(device)?;
    // SAFETY: a cooperative launch, a count that begins with 0, and three words.
    unsafe { prepared.launch(&stream, &(rounds, arrivals.slice_mut(..), out.view())) }?;
    stream.synchronize()?;
    check_same(&out.values()?[2..], &[u64::from(rounds)])?;
    // All blocks together have added 2^31 in each round.
    check_same(&arrivals.to_vec()?, &[rounds << 31])
}

/// An element is a block: the first of each multiprocessor writes its place and no other.
fn clocks(device: &Device, n: usize) -> Result<(), Failure> {
    const SLOTS: usize = 3;
    let places = places(device);
    let untouched = [u64::MAX; 2];
    let mut out = device.buffer_filled(SLOTS * places as usize, untouched)?;
    let arguments = (out.slice_mut(..), places, 1);
    let shape = LaunchConfig::blocks(n.max(1) as u64, WARP);
    // SAFETY: there is room for three slots, whose bits are set.
    unsafe { launch(device, read_clocks::entry(), shape, arguments) }?;
    let out = out.to_vec()?;
    let slots: Vec<&[[u64; 2]]> = out.chunks(places as usize).collect();
    let [before, slot, behind] = slots[..] else {
        unreachable!("three slots");
    };
    for other in [before, behind] {
        check_same(other, &vec![untouched; other.len()])?;
    }
    let written: Vec<_> = slot.iter().filter(|&&pair| pair != untouched).collect();
    if written.is_empty() || written.len() > n.max(1) {
        return Err(format!("{} blocks wrote {} places", n.max(1), written.len()).into());
    }
    let is_half = |pair: &&&[u64; 2]| pair.contains(&u64::MAX) || pair[1] == 0;
    match written.iter().find(is_half) {
        Some(pair) => Err(format!("the clocks are {pair:?}").into()),
        None => Ok(()),
    }
}
