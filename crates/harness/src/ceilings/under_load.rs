//! How long a load takes while the memory is busy.
//!
//! Blocks that stay read memory, or copy it, with ever more of them on a multiprocessor, so that ever more bytes are in flight.
//! By Little's law a load takes as long as the bytes in flight, divided by the rate at which they are read. That includes
//! the wait for the other loads of the same multiprocessor, which a lone chain of loads beside the stream does not see.

use serde::{Deserialize, Serialize};

use super::bench::Bench;
use super::{BenchError, Ceiling, Quantity};
use crate::embedded::Stream;
use crate::workload::GridSize;

/// Threads per block.
const BLOCK: u32 = 128;
/// Vectors of 16 bytes that a thread loads of each array before it needs the first.
const ILP: u64 = 2;
/// Blocks per multiprocessor, up to all of its threads.
const BLOCKS: std::ops::RangeInclusive<u32> = 1..=16;
/// The share of the greatest rate at which a stream is at speed.
pub(crate) const AT_SPEED: f64 = 0.95;

/// A stream and its greatest rate, the arrays that it reads, the share of its traffic that they are, and the latency.
const STREAMS: [(Stream, Quantity, u64, f64, Quantity); 3] = {
    use Quantity::{LoadedCopyLatency, LoadedReadLatency, LoadedTriadLatency};
    use Quantity::{MemoryCopy, MemoryRead, MemoryTriad};
    [
        (Stream::READ, MemoryRead, 1, 1.0, LoadedReadLatency),
        (Stream::COPY, MemoryCopy, 1, 1.0 / 2.0, LoadedCopyLatency),
        (Stream::TRIAD, MemoryTriad, 2, 2.0 / 3.0, LoadedTriadLatency),
    ]
};

/// The rate of a stream with so many bytes in flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnderLoad {
    /// The stream, by the latency that is measured with it.
    pub quantity: Quantity,
    /// Bytes that a multiprocessor's threads have asked for and wait for.
    pub bytes_in_flight: f64,
    /// Bytes read per second, by all multiprocessors.
    pub bytes_per_sec: f64,
    /// Seconds that a load takes.
    pub latency: f64,
}

/// The latencies at speed, and the curves that they are read from. `memory` has the streams' greatest rates.
pub(super) fn measure(
    bench: &Bench<'_>,
    memory: &[Ceiling],
) -> Result<(Vec<Ceiling>, Vec<UnderLoad>), BenchError> {
    let multiprocessors = f64::from(bench.device.properties().multiprocessors);
    let (mut ceilings, mut curves) = (Vec::new(), Vec::new());
    for (stream, rate, arrays, share, quantity) in STREAMS {
        let mut curve = Vec::new();
        let mut timed = Vec::new();
        for blocks in BLOCKS {
            let values = [("ilp", ILP.into()), ("n", bench.effort.elements.into())];
            let grid = GridSize::PerMultiprocessor(blocks);
            let launch = bench.measure(&stream, &values, BLOCK, grid)?;
            let bytes_in_flight = f64::from(blocks * BLOCK) * (16 * ILP * arrays) as f64;
            let bytes_per_sec = launch.bytes_rate() * share;
            curve.push(UnderLoad {
                quantity,
                bytes_in_flight,
                bytes_per_sec,
                latency: bytes_in_flight * multiprocessors / bytes_per_sec,
            });
            timed.push(launch);
        }
        let points = || {
            curve
                .iter()
                .map(|it| (it.bytes_in_flight, it.bytes_per_sec))
        };
        // Blocks that stay may not be the fastest there are: then at the share of their own greatest rate.
        let greatest = memory.iter().find(|it| it.quantity == rate);
        let wanted = greatest.map_or(f64::MAX, |it| AT_SPEED * it.value * share);
        let found = crossing(points(), wanted).or_else(|| at_speed(points()));
        let (bytes, rate) = found.expect("there are points");
        let nearest = curve.iter().position(|it| it.bytes_in_flight >= bytes);
        let launch = timed.swap_remove(nearest.unwrap_or(0));
        ceilings.push(launch.of_time(quantity, bytes * multiprocessors / rate, bench));
        curves.extend(curve);
    }
    Ok((ceilings, curves))
}

/// Of points of what is in flight and the rate, ascending by the former: where the rate first is [`AT_SPEED`] of the greatest,
/// on a line between the points around it. `None` where there is no point.
pub(super) fn at_speed(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<(f64, f64)> {
    let wanted = AT_SPEED * points.clone().map(|(_, rate)| rate).fold(0.0, f64::max);
    crossing(points, wanted)
}

/// Where the rate first is `wanted`, on a line between the points around it.
pub(crate) fn crossing(
    points: impl Iterator<Item = (f64, f64)>,
    wanted: f64,
) -> Option<(f64, f64)> {
    let mut before: Option<(f64, f64)> = None;
    for (amount, rate) in points {
        if rate >= wanted {
            let Some((from, slower)) = before else {
                return Some((amount, rate));
            };
            let share = (wanted - slower) / (rate - slower);
            return Some((from + share * (amount - from), wanted));
        }
        before = Some((amount, rate));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_at_speed_is_between_the_points_around_it() {
        let curve = [(1.0, 50.0), (2.0, 90.0), (3.0, 100.0), (4.0, 99.0)];
        let found = at_speed(curve.into_iter()).expect("a place");
        assert!(
            (found.0 - 2.5).abs() < 1e-12 && found.1 == 95.0,
            "{found:?}"
        );
        // At speed from the first point on.
        assert_eq!(
            at_speed([(8.0, 7.0), (9.0, 7.1)].into_iter()),
            Some((8.0, 7.0))
        );
        assert_eq!(at_speed(std::iter::empty()), None);
        assert_eq!(crossing(curve.into_iter(), 101.0), None);
    }
}
