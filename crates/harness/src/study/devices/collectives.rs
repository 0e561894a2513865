//! Collectives between ranks, timed as nccl-tests times them.

use std::fmt;

use ranks::{Communicator, Reduction};
use serde::Serialize;

use super::Team;
use crate::driver::{Device, DeviceBuffer, DriverError, Stream};
use crate::study::rounds::rounded;
use crate::study::{Rounds, StudyError, through};

/// Bytes of an element, an `f32`.
const WIDTH: usize = size_of::<f32>();
/// Elements after which the numbers repeat: a prime, so that no part begins as another does.
const PERIOD: usize = 1021;
/// Elements that are written and compared at once.
const PIECE: usize = 1 << 18;
/// Pieces that are compared at most, spread over an array: of larger ones not every element is.
const PIECES: usize = 64;

/// An operation of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// Sums of all ranks' elements, on all ranks, in place.
    AllReduce,
    /// All ranks' parts, on all ranks.
    AllGather,
    /// Sums of all ranks' elements, a part on each rank.
    ReduceScatter,
    /// Rank 0's elements, on all ranks.
    Broadcast,
}

impl Collective {
    /// All of them.
    pub const ALL: [Collective; 4] = [
        Collective::AllReduce,
        Collective::AllGather,
        Collective::ReduceScatter,
        Collective::Broadcast,
    ];

    /// Returns the factor from the algorithm bandwidth to that of the links, by the number of ranks: `PERFORMANCE.md` of nccl-tests.
    pub fn bus_factor(self, ranks: usize) -> f64 {
        let others = (ranks - 1) as f64 / ranks as f64;
        match self {
            Collective::AllReduce => 2.0 * others,
            Collective::AllGather | Collective::ReduceScatter => others,
            Collective::Broadcast => 1.0,
        }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Collective::AllReduce => "all-reduce",
            Collective::AllGather => "all-gather",
            Collective::ReduceScatter => "reduce-scatter",
            Collective::Broadcast => "broadcast",
        })
    }
}

/// A collective of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CollectiveRow {
    /// `all-reduce`, `all-gather`, `reduce-scatter` or `broadcast`, of `f32`; reductions are sums.
    pub collective: String,
    /// How many devices.
    pub devices: usize,
    /// Bytes of the larger array of a rank, as in nccl-tests: what an all-gather gathers, what a reduce-scatter reads.
    pub bytes: u64,
    /// Microseconds on the slowest device, in the median of the rounds.
    pub time_us: f64,
    /// 1e9 bytes per second: the bytes over the time.
    pub algorithm_gbs: f64,
    /// 1e9 bytes per second that a device sends, if the work is spread best: comparable between collectives and numbers of devices.
    pub bus_gbs: f64,
    /// The engine: NCCL and its version, or the host.
    pub engine: String,
    /// The devices that ran it.
    pub device: String,
    /// Whether the results were those of the host.
    pub checked: bool,
}

/// The collectives of a rank.
pub struct Collectives<'t, 'd> {
    team: Team<'t, 'd>,
    communicator: Communicator<'d>,
    stream: Stream<'d>,
}

impl<'t, 'd> Collectives<'t, 'd> {
    /// Connects the ranks of a team, each of which calls this.
    ///
    /// # Errors
    /// [`StudyError::Rank`]: a rank is lost, or NCCL is missing or refuses; [`StudyError::Driver`].
    pub fn new(team: Team<'t, 'd>) -> Result<Self, StudyError> {
        Ok(Collectives {
            communicator: team.rank.communicator()?,
            stream: Stream::new(team.rank.device())?,
            team,
        })
    }

    /// A collective over so many bytes, or the next number that all ranks have an equal part of: checked once, and then timed. Of arrays
    /// above 64 MiB 64 pieces are compared, the first and the last among them.
    ///
    /// # Errors
    /// [`StudyError::Wrong`]: an element is not what the host computes; [`StudyError::Driver`]: there is too little memory;
    /// [`StudyError::Rank`]: a rank is lost, or NCCL refuses.
    pub fn measure(
        &self,
        collective: Collective,
        bytes: u64,
        rounds: Rounds,
    ) -> Result<CollectiveRow, StudyError> {
        let ranks = self.team.rank.size();
        let elements = (bytes as usize)
            .div_ceil(WIDTH)
            .max(1)
            .next_multiple_of(ranks);
        let bytes = (elements * WIDTH) as u64;
        let mut arrays = self.arrays(collective, elements)?;
        self.enqueue(collective, &mut arrays)?;
        self.communicator.synchronize(&self.stream)?;
        self.check(collective, &arrays)?;
        self.team.rank.control().barrier()?;
        let times = through(|pass| {
            rounds.run(&self.stream, |_| {
                pass(self.enqueue(collective, &mut arrays))
            })
        })?;
        let time_us = self.team.longest(times.device_us)?;
        let algorithm_gbs = bytes as f64 / time_us / 1e3;
        Ok(CollectiveRow {
            collective: collective.to_string(),
            devices: ranks,
            bytes,
            time_us: rounded(time_us),
            algorithm_gbs: rounded(algorithm_gbs),
            bus_gbs: rounded(algorithm_gbs * collective.bus_factor(ranks)),
            engine: self.communicator.engine(),
            device: self.team.name(),
            checked: true,
        })
    }

    /// Allocates what a rank gives, and where its result goes: the first alone, if that is the same place.
    fn arrays(&self, collective: Collective, elements: usize) -> Result<Arrays, StudyError> {
        let (device, rank) = (self.team.rank.device(), self.team.rank.rank());
        let part = elements / self.team.rank.size();
        let (given, result) = match collective {
            Collective::AllReduce | Collective::Broadcast => (elements, None),
            Collective::AllGather => (part, Some(elements)),
            Collective::ReduceScatter => (elements, Some(part)),
        };
        device.check_memory(((given + result.unwrap_or(0)) * WIDTH) as u64)?;
        let result = match result {
            Some(len) => {
                let mut result = device.buffer_zeroed(len)?;
                result.poison()?;
                Some(result)
            }
            None => None,
        };
        Ok(Arrays {
            given: numbers(device, rank, given)?,
            result,
        })
    }

    fn enqueue(&self, collective: Collective, arrays: &mut Arrays) -> Result<(), StudyError> {
        let (communicator, stream) = (&self.communicator, &self.stream);
        let Arrays { given, result } = arrays;
        // SAFETY: the arrays live until the stream has been waited for, by `measure` or by their drop.
        unsafe {
            match (collective, result) {
                (Collective::AllGather, Some(result)) => {
                    communicator.all_gather(stream, &*given, result)
                }
                (Collective::ReduceScatter, Some(result)) => {
                    communicator.reduce_scatter(stream, Reduction::Sum, &*given, result)
                }
                (Collective::Broadcast, _) => communicator.broadcast(stream, 0, given),
                (_, _) => communicator.all_reduce_in_place(stream, Reduction::Sum, given, ..),
            }?;
        }
        Ok(())
    }

    /// Compares the result of one collective with the host's.
    fn check(&self, collective: Collective, arrays: &Arrays) -> Result<(), StudyError> {
        let (rank, ranks) = (self.team.rank.rank(), self.team.rank.size());
        let result = arrays.result.as_ref().unwrap_or(&arrays.given);
        let sum = |i: usize| (0..ranks).map(|rank| number(rank, i)).sum::<f32>();
        let expected = |i: usize| match collective {
            Collective::AllReduce => sum(i),
            Collective::AllGather => {
                let part = result.len() / ranks;
                number(i / part, i % part)
            }
            Collective::ReduceScatter => sum(rank * result.len() + i),
            Collective::Broadcast => number(0, i),
        };
        let mut actual = vec![0.0; PIECE.min(result.len())];
        for first in pieces(result.len()) {
            let len = actual.len().min(result.len() - first);
            result.read(first, &mut actual[..len])?;
            for (i, &actual) in actual[..len].iter().enumerate() {
                let (i, actual) = (first + i, f64::from(actual));
                let what = format_args!("{collective}: element {i} of rank {rank}");
                StudyError::check(what, actual, expected(i).into(), 0.0)?;
            }
        }
        Ok(())
    }
}

impl Drop for Collectives<'_, '_> {
    /// Waits for what a failed measurement may have left in the stream.
    fn drop(&mut self) {
        let _ = self.communicator.synchronize(&self.stream);
    }
}

struct Arrays {
    given: DeviceBuffer<f32>,
    result: Option<DeviceBuffer<f32>>,
}

/// An element of a rank: a whole number, so that sums are exact in any order.
fn number(rank: usize, i: usize) -> f32 {
    (i % PERIOD + 3 * rank) as f32
}

fn numbers(device: &Device, rank: usize, len: usize) -> Result<DeviceBuffer<f32>, DriverError> {
    let mut buffer = device.buffer_zeroed(len)?;
    // Whole periods, so that each piece is the same.
    let piece: Vec<f32> = (0..(PIECE / PERIOD * PERIOD).min(len.max(1)))
        .map(|i| number(rank, i))
        .collect();
    for first in (0..len).step_by(piece.len()) {
        buffer.write(first, &piece[..piece.len().min(len - first)])?;
    }
    Ok(buffer)
}

/// Where the pieces of an array begin that are compared.
fn pieces(len: usize) -> Vec<usize> {
    let all = len.div_ceil(PIECE);
    if all <= PIECES {
        return (0..all).map(|piece| piece * PIECE).collect();
    }
    let last = len - PIECE;
    (0..PIECES)
        .map(|piece| (last as f64 * piece as f64 / (PIECES - 1) as f64) as usize)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_arrays_are_compared_whole_and_large_ones_to_the_end() {
        assert_eq!(pieces(1), [0]);
        assert_eq!(pieces(PIECE + 1), [0, PIECE]);
        let large = 1 << 30;
        let starts = pieces(large);
        assert_eq!(
            (starts.len(), starts[0], starts[PIECES - 1] + PIECE),
            (PIECES, 0, large)
        );
    }

    #[test]
    fn bus_bandwidth_is_that_of_nccl_tests() {
        assert_eq!(Collective::AllReduce.bus_factor(2), 1.0);
        assert_eq!(Collective::AllReduce.bus_factor(8), 1.75);
        assert_eq!(Collective::AllGather.bus_factor(4), 0.75);
        assert_eq!(Collective::Broadcast.bus_factor(8), 1.0);
    }
}
