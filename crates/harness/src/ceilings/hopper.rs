//! Ceilings that Hopper adds: shared memory of other blocks, barriers in shared memory, and bulk copies of boxes.

use kernels_gpu::ceilings::cache::Words;
use kernels_hopper::clusters::UNROLL;

use super::bench::{Bench, highest};
use super::latency::{L2, SHARED, chase};
use super::{BenchError, Ceiling, Quantity};
use crate::embedded::arrivals::Arrivals;
use crate::embedded::boxes::{BOX_BYTES, ChaseRows, LoadBoxes, StoreBoxes};
use crate::embedded::clusters::{ChaseNeighbour, Neighbour};
use crate::workload::{GridSize, Value, Workload};

/// Threads of a block that reads another's shared memory.
const NEIGHBOUR_BLOCK: u32 = 1024;
/// Blocks of a cluster.
const CLUSTERS: [u32; 3] = [2, 4, 8];

/// Threads of a block at its barrier.
const ARRIVALS: [(Quantity, u32); 3] = [
    (Quantity::Arrivals32, 32),
    (Quantity::Arrivals256, 256),
    (Quantity::Arrivals1024, 1024),
];

/// Bytes of a tensor that no cache holds.
const MEMORY: u64 = 512 << 20;
/// Boxes of a block's that all stay in the level 2 cache together.
const RESIDENT: u32 = 8;

/// `bench` has the kernels for `sm_90a`.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let facts = bench.device.properties();
    let blocks = facts.multiprocessors;
    let memory = MEMORY.min(bench.effort.elements * size_of::<f32>() as u64);
    let boxes = (memory / BOX_BYTES).max(1);
    let resident = u64::from(RESIDENT * blocks);
    let passes = bench.effort.cache_bytes.div_ceil(resident * BOX_BYTES);
    let copied: [(Quantity, &dyn Workload, u64, Option<u64>); 3] = [
        (Quantity::BoxLoad, &LoadBoxes, boxes, Some(1)),
        (Quantity::BoxLoadL2, &LoadBoxes, resident, Some(passes)),
        (Quantity::BoxStore, &StoreBoxes, boxes, None),
    ];
    let mut found = vec![neighbours(bench)?];
    for (quantity, workload, boxes, passes) in copied {
        found.push(copies(bench, quantity, workload, boxes, passes)?);
    }
    let (rows, there) = (&ChaseRows, &ChaseNeighbour);
    found.push(chase(bench, Quantity::BoxLatency, rows, L2)?);
    found.push(chase(bench, Quantity::ClusterLatency, there, SHARED)?);
    for (quantity, block) in ARRIVALS {
        let phases = bench.effort.launches;
        let timed = bench.measure(
            &Arrivals,
            &[("phases", phases.into())],
            block,
            GridSize::Full,
        )?;
        found.push(timed.latency(quantity, phases.into(), bench));
    }
    Ok(found)
}

/// The highest rate of any size of clusters.
fn neighbours(bench: &Bench<'_>) -> Result<Ceiling, BenchError> {
    let passes = (bench.effort.accesses / UNROLL as u32).max(1);
    let mut ceilings = Vec::new();
    for cluster in CLUSTERS {
        let blocks = (bench.device.properties().multiprocessors / cluster).max(1) * cluster;
        let values = [
            ("blocks", blocks.into()),
            ("cluster", cluster.into()),
            ("passes", passes.into()),
        ];
        let timed = bench.measure(&Neighbour, &values, NEIGHBOUR_BLOCK, GridSize::Full)?;
        let loads = f64::from(blocks * NEIGHBOUR_BLOCK) * f64::from(passes) * UNROLL as f64;
        let bytes = loads * size_of::<Words>() as f64;
        ceilings.push(timed.rate(Quantity::ClusterRead, bytes, bench));
    }
    Ok(highest(ceilings).expect("there are sizes of clusters"))
}

/// The rate of a block on each multiprocessor that copies so many boxes.
fn copies(
    bench: &Bench<'_>,
    quantity: Quantity,
    workload: &dyn Workload,
    boxes: u64,
    passes: Option<u64>,
) -> Result<Ceiling, BenchError> {
    let blocks = bench.device.properties().multiprocessors;
    let mut values: Vec<(&'static str, Value)> =
        vec![("blocks", blocks.into()), ("boxes", boxes.into())];
    values.extend(passes.map(|passes| ("passes", passes.into())));
    // The kernels have blocks of their own size.
    let timed = bench.measure(workload, &values, 1, GridSize::Full)?;
    let bytes = boxes * passes.unwrap_or(1) * BOX_BYTES;
    Ok(timed.rate(quantity, bytes as f64, bench))
}
