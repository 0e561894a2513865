//! `y = x / ‖x‖` of a vector that lies on several devices: the sums of squares are exchanged, and no host sees the norm.

use std::ops::Range;

use kernels_gpu::norm::BLOCK;
use kernels_gpu::vector::{SquaresSend, TakeRoot, reduction_blocks};
use ranks::Communicator;

use super::{DevicesRow, Exchange, Team, Turn, Words};
use crate::driver::{DeviceBuffer, LaunchConfig, Prepared, Stream};
use crate::study::pattern::Pattern;
use crate::study::{Rounds, StudyError, through};
use crate::vector::{Divide, Real};

/// Normalizations in a graph.
const GRAPH: u32 = 10;

/// Normalizes a vector of `n` elements, of which each rank has a part.
///
/// # Errors
/// [`StudyError::Wrong`]: the norm or an element is not the reference's; [`StudyError::Driver`]: there is too little memory, or the
/// device refuses a launch; [`StudyError::Rank`]: a rank is lost, or NCCL is missing or refuses; [`StudyError::Silent`]: a device has
/// sent nothing; [`StudyError::Devices`]: too many for [`Exchange::Peer`].
pub fn norm_of_rank<T: Real>(
    team: &Team<'_, '_>,
    n: usize,
    exchange: Exchange,
    rounds: Rounds,
) -> Result<DevicesRow, StudyError> {
    let pattern = Pattern::<T>::new(n);
    let alone_us = SharedNorm::new(team, &pattern, n, None)?.time(team, rounds)?;
    let mut shared = SharedNorm::new(team, &pattern, n, Some(exchange))?;
    let step_us = shared.time(team, rounds)?;
    let steps = &mut shared.steps;
    steps.words.check(steps.nanoseconds)?;
    steps.words.finish(team.rank)?;
    let norm = steps.norm.to_vec()?[0].into();
    pattern.check(exchange, norm, shared.part.clone(), &steps.y)?;
    Ok(DevicesRow {
        steps: u64::from(rounds.rounds) * u64::from(rounds.iterations),
        norm: Some(norm),
        ..DevicesRow::measured("norm", team, exchange, n, (step_us, alone_us))
    })
}

/// A rank's part of the vector, and the stream that it is normalized in.
struct SharedNorm<'d, T: Real> {
    stream: Stream<'d>,
    steps: Steps<'d, T>,
    in_graph: bool,
    part: Range<usize>,
}

struct Steps<'d, T: Real> {
    squares: Prepared<'d, SquaresSend<T>>,
    root: Prepared<'d, TakeRoot<T>>,
    divide: Divide<'d, T>,
    partials: DeviceBuffer<T::Sums>,
    ticket: DeviceBuffer<u32>,
    words: Words,
    communicator: Option<Communicator<'d>>,
    rank: u32,
    ranks: u32,
    nanoseconds: u64,
    x: DeviceBuffer<T>,
    y: DeviceBuffer<T>,
    norm: DeviceBuffer<T>,
}

impl<'d, T: Real> SharedNorm<'d, T> {
    fn new(
        team: &Team<'_, 'd>,
        pattern: &Pattern<T>,
        n: usize,
        exchange: Option<Exchange>,
    ) -> Result<Self, StudyError> {
        let (rank, size) = (team.rank.rank(), team.rank.size());
        let each = n.div_ceil(size);
        let part = (rank * each).min(n)..((rank + 1) * each).min(n);
        Ok(SharedNorm {
            stream: Stream::new(team.rank.device())?,
            steps: Steps::new(team, pattern, part.clone(), exchange)?,
            in_graph: exchange == Some(Exchange::Graph),
            part,
        })
    }

    /// Microseconds of a normalization on the slowest device.
    fn time(&mut self, team: &Team<'_, '_>, rounds: Rounds) -> Result<f64, StudyError> {
        let (stream, steps) = (&self.stream, &mut self.steps);
        team.rank.control().barrier()?;
        let each = if self.in_graph {
            let graph = through(|pass| {
                stream.capture(|| (0..GRAPH).try_for_each(|_| pass(steps.enqueue(stream))))
            })?;
            let iterations = rounds.iterations.next_multiple_of(GRAPH);
            let rounds = Rounds {
                iterations,
                ..rounds
            };
            rounds.run(stream, |i| match i % GRAPH {
                // SAFETY: the graph's buffers are those of `steps`, before which `drop` waits.
                0 => unsafe { graph.launch(stream) },
                _ => Ok(()),
            })?
        } else {
            through(|pass| rounds.run(stream, |_| pass(steps.enqueue(stream))))?
        };
        team.longest(each.device_us)
    }
}

impl<T: Real> Drop for SharedNorm<'_, T> {
    /// Waits for what a failed measurement may have left in the stream.
    fn drop(&mut self) {
        let _ = self.stream.synchronize();
    }
}

impl<'d, T: Real> Steps<'d, T> {
    fn new(
        team: &Team<'_, 'd>,
        pattern: &Pattern<T>,
        part: Range<usize>,
        exchange: Option<Exchange>,
    ) -> Result<Self, StudyError> {
        let (device, size) = (team.rank.device(), team.rank.size());
        let (len, sums) = (part.len(), size * T::SUMS);
        device.check_memory(2 * (len * size_of::<T>()) as u64)?;
        let blocks = reduction_blocks::<T>(len as u64, device.properties().multiprocessors);
        let mut words = Words::of(team, exchange, sums)?;
        Ok(Steps {
            squares: device.prepare(T::squares_send(), LaunchConfig::blocks(blocks, BLOCK))?,
            root: device.prepare(T::take_root(), LaunchConfig::blocks(1, 32))?,
            divide: Divide::new(device, len)?,
            partials: device.buffer_zeroed(blocks as usize)?,
            ticket: device.buffer_zeroed(1)?,
            communicator: team.communicator(exchange, &mut words)?,
            words,
            rank: team.rank.rank() as u32,
            ranks: size as u32,
            nanoseconds: team.nanoseconds(),
            x: pattern.part(device, part)?,
            y: device.buffer_zeroed(len)?,
            norm: device.buffer_zeroed(1)?,
        })
    }

    /// The sums of this part to all, the norm of all, and the division of this part.
    fn enqueue(&mut self, stream: &Stream<'_>) -> Result<(), StudyError> {
        let Turn { words, targets, .. } = self.words.begin();
        let (partials, ticket) = (self.partials.slice_mut(..), self.ticket.slice_mut(..));
        let arguments = (self.x.slice(..), self.rank, targets, partials, ticket);
        // SAFETY: a partial for each block, a ticket that began at 0, and words of each rank; all wait before they go.
        unsafe { self.squares.launch(stream, &arguments) }?;
        if let Some(communicator) = &self.communicator {
            // SAFETY: as above; the words are a multiple of the ranks.
            unsafe { communicator.all_gather_in_place(stream, words, ..) }?;
        }
        let Turn {
            words, spare, lost, ..
        } = self.words.current();
        let norm = self.norm.slice_mut(..);
        let arguments = (
            words.slice_mut(..),
            spare,
            self.ranks,
            norm,
            lost,
            self.nanoseconds,
        );
        // SAFETY: as above.
        unsafe {
            self.root.launch(stream, &arguments)?;
            let (norm, x, y) = (self.norm.slice(..), self.x.slice(..), self.y.slice_mut(..));
            Ok(self.divide.launch(stream, norm, x, y)?)
        }
    }
}
