//! The iteration on several devices: each has some of the matrix's rows and all of the vector.

use std::ops::{ControlFlow, Range};

use kernels_gpu::distributed::{SEND_BLOCK, TAKE_BLOCK, gemv_send, take_look, take_normalized};
use ranks::Communicator;
use tracing::trace_span;

use super::device::{Inspect, Iteration, Steps, start};
use super::{Checkpoint, PowerMode, PowerPlan, Progress, Ran, newest, prepare_folder, run};
use crate::driver::trace::captured;
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig, Prepared, Stream};
use crate::study::StudyError;
use crate::study::devices::{Exchange, Team};
use crate::study::devices::{Turn, Words};

/// Blocks that take the words of a step: each reads all of them, and writes a part of the vector. With 32 a step takes half a
/// microsecond less than with 8 on four H200.
const MAX_TAKING: usize = 32;
/// Steps that are timed without an exchange at least, and as many before them.
const TIMED: u64 = 100;

/// The rows of a matrix that are a rank's, equally many of each, because NCCL gathers equally many words of all, and because each has to
/// send in every turn. Rows of the last ranks may lie behind the matrix: these are zeros, and so are the elements that they make.
fn rows_of(rank: usize, size: usize, n: usize) -> Range<usize> {
    let each = n.div_ceil(size);
    rank * each..(rank + 1) * each
}

/// A rank's part of the iteration.
struct Shared<'d> {
    product: Prepared<'d, gemv_send>,
    take_normalized: Prepared<'d, take_normalized>,
    take_look: Prepared<'d, take_look>,
    inspect: Inspect<'d>,
    /// For each place of a look.
    kept: [Kept; 2],
    first_row: usize,
    /// Which way the next step reads the matrix.
    backwards: bool,
    words: Words,
    communicator: Option<Communicator<'d>>,
    nanoseconds: u64,
    a: DeviceBuffer<f64>,
    /// Behind the vector, elements of the rows that lie behind the matrix.
    x: DeviceBuffer<f64>,
    norm: DeviceBuffer<f64>,
    n: usize,
}

/// The vector that a step begins with and its product, which are inspected while the steps go on.
struct Kept {
    x: DeviceBuffer<f64>,
    y: DeviceBuffer<f64>,
}

impl Kept {
    fn new(device: &Device, len: usize) -> Result<Kept, DriverError> {
        Ok(Kept {
            x: device.buffer_zeroed(len)?,
            y: device.buffer_zeroed(len)?,
        })
    }
}

impl<'d> Shared<'d> {
    fn new(
        team: &Team<'_, 'd>,
        plan: &PowerPlan,
        exchange: Option<Exchange>,
        vector: Option<&[f64]>,
    ) -> Result<Shared<'d>, StudyError> {
        let (device, n) = (team.rank.device(), plan.dim);
        let rows = rows_of(team.rank.rank(), team.rank.size(), n);
        let len = rows.len() * team.rank.size();
        let mut words = Words::of(team, exchange, len)?;
        let (matrix, first) = start(plan);
        let mut first = vector.map_or(first, <[f64]>::to_vec);
        first.resize(len, 0.0);
        let overlaps = exchange == Some(Exchange::Peer);
        let blocks = n.div_ceil(TAKE_BLOCK as usize).clamp(1, MAX_TAKING) as u64;
        let taking = LaunchConfig::blocks(blocks, TAKE_BLOCK);
        let multiplying = LaunchConfig::blocks(rows.len() as u64, SEND_BLOCK);
        let product = device.prepare(gemv_send::entry(), multiplying)?;
        let normalized = device.prepare(take_normalized::entry(), taking)?;
        let look = device.prepare(take_look::entry(), taking)?;
        Ok(Shared {
            // SAFETY: it waits for the launch before, in front of its first access to what that writes.
            product: unsafe { overlapping(device, product, overlaps) }?,
            // SAFETY: it stands behind the product; it writes `x` once all words of the turn have come, which the products send when
            // they have read it.
            take_normalized: unsafe { overlapping(device, normalized, overlaps) }?,
            // SAFETY: as above; it waits for the product in front of its first access to what is kept, too.
            take_look: unsafe { overlapping(device, look, overlaps) }?,
            inspect: Inspect::new(device, n)?,
            kept: [Kept::new(device, len)?, Kept::new(device, len)?],
            first_row: rows.start,
            backwards: false,
            communicator: team.communicator(exchange, &mut words)?,
            words,
            nanoseconds: team.nanoseconds(),
            a: matrix.rows(device, rows)?,
            x: device.buffer_from(&first)?,
            norm: device.buffer_zeroed(1)?,
            n,
        })
    }

    /// Sends this rank's elements of the product to all, and brings theirs here.
    fn multiply(&mut self, stream: &Stream<'_>) -> Result<(), StudyError> {
        let Turn { words, targets, .. } = self.words.begin();
        let (a, x, n) = (self.a.slice(..), self.x.slice(..), self.n);
        let arguments = (a, x, n, self.first_row, self.backwards, targets);
        // SAFETY: a has the rows of the launch, and each target a word for every row; an iteration waits before they go.
        unsafe { self.product.launch(stream, &arguments) }?;
        self.backwards = !self.backwards;
        if let Some(communicator) = &self.communicator {
            // SAFETY: as above; the words are a multiple of the ranks.
            unsafe { communicator.all_gather_in_place(stream, words, ..) }?;
        }
        Ok(())
    }
}

/// The launch, to begin before the one in front of it has ended, where that is asked for and the device can.
///
/// # Safety
/// That of [`Prepared::overlapping`].
unsafe fn overlapping<'d, S: cuda_std::launch::Signature>(
    device: &Device,
    prepared: Prepared<'d, S>,
    overlaps: bool,
) -> Result<Prepared<'d, S>, DriverError> {
    match overlaps && device.properties().compute_capability >= (9, 0) {
        // SAFETY: the caller's contract.
        true => unsafe { prepared.overlapping() },
        false => Ok(prepared),
    }
}

impl Steps for Shared<'_> {
    /// x = y / ‖y‖, of y = A x.
    fn step(&mut self, stream: &Stream<'_>) -> Result<(), StudyError> {
        self.multiply(stream)?;
        let (len, nanoseconds) = (self.x.len(), self.nanoseconds);
        let Turn {
            words, spare, lost, ..
        } = self.words.current();
        let (x, norm) = (self.x.slice_mut(..), self.norm.slice_mut(..));
        let arguments = (words.slice_mut(..), spare, x, len, norm, lost, nanoseconds);
        // SAFETY: each set has a word for every element.
        Ok(unsafe { self.take_normalized.launch(stream, &arguments) }?)
    }

    fn look(&mut self, stream: &Stream<'_>, slot: usize) -> Result<(), StudyError> {
        self.multiply(stream)?;
        let (len, nanoseconds) = (self.x.len(), self.nanoseconds);
        let Turn {
            words, spare, lost, ..
        } = self.words.current();
        let (x, norm) = (self.x.slice_mut(..), self.norm.slice_mut(..));
        let kept = &mut self.kept[slot];
        let arguments = (
            words.slice_mut(..),
            spare,
            x,
            len,
            norm,
            lost,
            nanoseconds,
            kept.x.slice_mut(..),
            kept.y.slice_mut(..),
        );
        // SAFETY: each set has a word for every element, and what is kept room for it; the caller has the inspection of the last
        // look in this place behind them.
        Ok(unsafe { self.take_look.launch(stream, &arguments) }?)
    }

    fn inspect(&mut self, stream: &Stream<'_>, slot: usize) -> Result<(), StudyError> {
        let Kept { x, y } = &self.kept[slot];
        let (x, y) = (x.slice(..self.n), y.slice(..self.n));
        // SAFETY: an iteration waits before the buffers go.
        Ok(unsafe { self.inspect.launch(stream, x, y, slot) }?)
    }

    fn seen(&self, slot: usize) -> &DeviceBuffer<f64> {
        self.inspect.seen(slot)
    }

    fn check(&self) -> Result<(), StudyError> {
        self.words.check(self.nanoseconds)
    }

    fn synchronize(&self, stream: &Stream<'_>) -> Result<(), StudyError> {
        match &self.communicator {
            Some(communicator) => Ok(communicator.synchronize(stream)?),
            None => Ok(stream.synchronize()?),
        }
    }
}

/// The result of a rank's iteration.
pub(crate) struct SharedRun {
    /// Steps until the residual was below the tolerance, or the last.
    pub(crate) result: Checkpoint,
    /// Steps before.
    pub(crate) resumed_at: u64,
    pub(crate) total_ms: f64,
    /// Microseconds per step, of the device whose steps took longest.
    pub(crate) step_us: f64,
    pub(crate) checkpoints: u64,
}

/// Runs the iteration on the ranks of a team, each of which calls this. Rank 0 writes the checkpoints, and begins with the newest if
/// the iteration is resumed; `on_progress` is asked there.
pub(crate) fn power_shared(
    team: &Team<'_, '_>,
    plan: &PowerPlan,
    exchange: Exchange,
    resume: bool,
    on_progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<SharedRun, StudyError> {
    let rank = team.rank;
    let is_first = rank.rank() == 0;
    let plan = &PowerPlan {
        checkpoints: plan.checkpoints.clone().filter(|_| is_first),
        ..plan.clone()
    };
    let from = resumed(team, plan, resume)?;
    let _folder = match is_first {
        true => prepare_folder(plan, from.as_ref())?,
        false => None,
    };
    let vector = from.as_ref().map(|from| &from.vector[..]);
    let steps = Shared::new(team, plan, Some(exchange), vector)?;
    let mut iteration = Iteration::of(rank.device(), plan, steps)?;
    let mut agreed = |progress: Progress| {
        let asked = match is_first {
            true => on_progress(progress),
            false => ControlFlow::Continue(()),
        };
        // All have the same numbers, and so end alike but for what the first is told.
        let all = rank.control().exchange(&[u8::from(asked.is_break())])?;
        Ok(match all[0][0] {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        })
    };
    rank.control().barrier()?;
    let resumed_at = from.map_or(0, |from| from.step);
    let mode = mode_of(exchange);
    let ran = captured(|| run(&mut iteration, plan, mode, resumed_at, &mut agreed))?;
    iteration.steps.words.finish(rank)?;
    let Ran {
        result,
        counts,
        total_ms,
        step_us,
        ..
    } = ran;
    Ok(SharedRun {
        result,
        resumed_at,
        total_ms: team.longest(total_ms)?,
        step_us: team.longest(step_us)?,
        checkpoints: counts.written,
    })
}

fn mode_of(exchange: Exchange) -> PowerMode {
    match exchange {
        Exchange::Graph => PowerMode::Graph,
        Exchange::Gather | Exchange::Peer => PowerMode::Async,
    }
}

/// The newest checkpoint of rank 0's folder, on all ranks.
fn resumed(
    team: &Team<'_, '_>,
    plan: &PowerPlan,
    resume: bool,
) -> Result<Option<Checkpoint>, StudyError> {
    if !resume {
        return Ok(None);
    }
    let own = match team.rank.rank() {
        0 => newest(plan)?.to_bytes(),
        _ => Vec::new(),
    };
    let all = team.rank.control().exchange(&own)?;
    let first = Checkpoint::from_bytes(&all[0]);
    first
        .map(Some)
        .ok_or_else(|| StudyError::Io("rank 0 has sent no checkpoint".to_owned()))
}

/// Microseconds of a step on the slowest device, if nothing is exchanged: each finds numbers in all words. The steps are in graphs or not
/// and are looked at as with that exchange, so that nothing else makes a difference. They do not overlap, not even those of a peer's, because
/// nothing but the words of others holds a launch back there.
pub(crate) fn step_alone_us(
    team: &Team<'_, '_>,
    plan: &PowerPlan,
    exchange: Exchange,
) -> Result<f64, StudyError> {
    let _range = trace_span!("without an exchange", color = "gray").entered();
    let plan = PowerPlan {
        max_steps: TIMED,
        // One look in more steps costs less than one percent of them.
        check_every: plan.check_every.min(TIMED),
        tolerance: 0.0,
        checkpoints: None,
        ..plan.clone()
    };
    let steps = Shared::new(team, &plan, None, None)?;
    let mut iteration = Iteration::of(team.rank.device(), &plan, steps)?;
    let mut go_on = |_| {
        team.rank.control().check()?;
        Ok(ControlFlow::Continue(()))
    };
    let mut time = || run(&mut iteration, &plan, mode_of(exchange), 0, &mut go_on);
    time()?;
    team.longest(time()?.step_us)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_of_one_rank_and_every_rank_has_one() {
        for (n, size) in [(8192, 2), (10, 3), (5, 4), (2, 8), (64, 1)] {
            let rows: Vec<usize> = (0..size).flat_map(|rank| rows_of(rank, size, n)).collect();
            assert!(
                rows.iter().copied().eq(0..rows.len()),
                "{n} rows on {size}: {rows:?}"
            );
            assert!((n..n + size).contains(&rows.len()), "{n} rows on {size}");
            assert!((0..size).all(|rank| !rows_of(rank, size, n).is_empty()));
        }
    }
}
