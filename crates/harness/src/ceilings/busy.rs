//! The latency of a load where others keep memory, or the level 2 cache, busy: a chase of one thread beside blocks that
//! read.

use serde::{Deserialize, Serialize};

use super::bench::{Bench, Timed};
use super::latency::{L2, MEMORY, cycle};
use super::under_load::{AT_SPEED, at_speed, crossing};
use super::{BenchError, Ceiling, Quantity};
use crate::embedded::busy::ChaseWhileRead;
use crate::embedded::caches::step;
use crate::workload::GridSize;

/// Threads per block, each with two or three loads under way: more bytes than a multiprocessor needs by Little's law.
const BLOCK: u32 = 1024;
/// Sixteenths of the other multiprocessors, on each of which a block reads.
const READERS: [u32; 8] = [0, 1, 2, 3, 4, 6, 8, 16];
/// A busy load takes longer than one that is alone, and there are many points: of so many loads of a chase one.
const FEWER: u32 = 10;
/// Bytes that are read, far more than the level 2 cache has, and well within it.
const READ: [u64; 2] = [256 << 20, 16 << 20];

/// Places that are kept busy: the latency, the greatest rate of reading it, the cycle of the chase, and the bytes that
/// are read.
const PLACES: [(Quantity, Quantity, (u64, u64), u64); 2] = [
    (
        Quantity::BusyMemoryLatency,
        Quantity::MemoryRead,
        MEMORY,
        READ[0],
    ),
    (Quantity::BusyL2Latency, Quantity::L2Read, L2, READ[1]),
];

/// A chase beside so many blocks that read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Busy {
    /// The place that is read and followed, by the latency that is measured there.
    pub quantity: Quantity,
    /// Blocks that read, each on a multiprocessor of its own.
    pub readers: u32,
    /// Bytes that they read per second.
    pub bytes_per_sec: f64,
    /// The share of the greatest rate that this is.
    pub share: f64,
    /// Seconds that a load of the chase takes.
    pub latency: f64,
}

impl Busy {
    /// Whether the blocks read more than the ceiling of what they read.
    pub fn is_implausible(&self) -> bool {
        100.0 * self.share > super::PLAUSIBLE_PERCENT
    }
}

/// The latencies at speed, and the curves that they are read from. `known` has the greatest rates.
pub(super) fn measure(
    bench: &Bench<'_>,
    known: &[Ceiling],
) -> Result<(Vec<Ceiling>, Vec<Busy>), BenchError> {
    let (mut ceilings, mut curves) = (Vec::new(), Vec::new());
    let loads = (bench.effort.loads / FEWER).max(1);
    for (quantity, rate, chased, bytes) in PLACES {
        let greatest = known.iter().find(|it| it.quantity == rate);
        let greatest = greatest.map_or(f64::MAX, |it| it.value);
        let (mut points, mut launches) = (Vec::new(), Vec::new());
        for sixteenths in READERS {
            let others = bench.device.properties().multiprocessors - 1;
            let readers = (others * sixteenths).div_ceil(16);
            let launch = beside(bench, chased, bytes, readers, loads)?;
            let [cycles, nanoseconds] = launch.counters.unwrap_or_default();
            let bytes_per_sec = launch.counted[0] as f64;
            curves.push(Busy {
                quantity,
                readers,
                bytes_per_sec,
                share: bytes_per_sec / greatest,
                latency: nanoseconds as f64 / 1e9 / f64::from(loads),
            });
            points.push((cycles as f64 / f64::from(loads), bytes_per_sec));
            launches.push(launch);
        }
        let points = || points.iter().copied();
        let found = crossing(points(), AT_SPEED * greatest).or_else(|| at_speed(points()));
        let (cycles, rate) = found.expect("there are points");
        let nearest = points().position(|(_, reached)| reached >= rate);
        let launch = launches.swap_remove(nearest.unwrap_or(0));
        ceilings.push(launch.of_cycles(quantity, cycles, bench));
    }
    Ok((ceilings, curves))
}

/// A launch of a chase beside so many readers.
fn beside(
    bench: &Bench<'_>,
    chased: (u64, u64),
    bytes: u64,
    readers: u32,
    loads: u32,
) -> Result<Timed, BenchError> {
    /// Seconds of reading from the level 2 cache, longer than any chase.
    const MAX: u32 = 1 << 20;
    let (is_emulated, of_step) = (
        bench.device.properties().is_emulated(),
        step(BLOCK) as u64 * 16,
    );
    let (places, stride) = cycle(bench, chased);
    let steps = match is_emulated {
        true => 1,
        false => (bytes / of_step / u64::from(readers.max(1))).max(1),
    };
    let values = [
        ("places", places.into()),
        ("stride", stride.into()),
        ("loads", loads.into()),
        ("readers", readers.into()),
        ("steps", steps.into()),
        ("passes", if is_emulated { 1 } else { MAX }.into()),
    ];
    bench.measure(&ChaseWhileRead, &values, BLOCK, GridSize::Full)
}
