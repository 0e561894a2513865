//! Memory: read, written, copied, scaled, combined.

use super::bench::{Bench, highest};
use super::{BenchError, Ceiling, Quantity};
use crate::embedded::Stream;
use crate::embedded::stream::UNROLLS;
use crate::workload::GridSize;

/// Threads per block.
const BLOCK_SIZES: [u32; 2] = [256, 512];

/// Blocks; full is as many as take one tile each.
const GRIDS: [GridSize; 4] = [
    GridSize::Full,
    GridSize::PerMultiprocessor(8),
    GridSize::PerMultiprocessor(16),
    GridSize::PerMultiprocessor(32),
];

const STREAMS: [(Stream, Quantity); 5] = [
    (Stream::READ, Quantity::MemoryRead),
    (Stream::WRITE, Quantity::MemoryWrite),
    (Stream::COPY, Quantity::MemoryCopy),
    (Stream::STREAM_SCALE, Quantity::MemoryScale),
    (Stream::TRIAD, Quantity::MemoryTriad),
];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let mut found = Vec::new();
    for (stream, quantity) in STREAMS {
        let mut ceilings = Vec::new();
        for unroll in UNROLLS {
            // With one vector in flight a thread takes no second one.
            let grids = if unroll == 1 { &GRIDS[..1] } else { &GRIDS };
            for (block, &grid) in itertools::iproduct!(BLOCK_SIZES, grids) {
                let values = [("ilp", unroll.into()), ("n", bench.effort.elements.into())];
                let timed = bench.measure(&stream, &values, block, grid)?;
                ceilings.push(timed.bytes_per_second(quantity, bench));
            }
        }
        found.extend(highest(ceilings));
    }
    Ok(found)
}
