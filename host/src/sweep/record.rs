//! What a measured point comes to.

use serde::Serialize;

use super::{GridSize, Point};
use crate::measure::Summary;
use crate::model::{FlopsPerSec, Limit, Roofs};

/// One row of a roofline. The first five fields are the roofline exercise's; its rates are those of
/// the mean time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// Degree of the polynomial.
    pub k: u32,
    /// Arithmetic intensity, FLOP/byte.
    pub ai: f64,
    /// 1e9 FLOP/s.
    pub gflops: f64,
    /// 1e9 bytes/s.
    pub bandwidth: f64,
    /// `gflops` as a percentage of the device's peak.
    pub percent_peak: f64,
    /// `power-sum` or `horner`.
    pub kernel: &'static str,
    /// `f32` or `f64`.
    pub dtype: &'static str,
    /// Elements a thread.
    pub vector: u32,
    /// Elements in all.
    pub n: u64,
    /// Threads a block.
    pub block: u32,
    /// Blocks in the grid.
    pub grid: u64,
    /// Mean time of a launch.
    pub mean_ms: f64,
    /// Median time of a launch.
    pub median_ms: f64,
    /// Shortest time of a launch.
    pub min_ms: f64,
    /// Population standard deviation of the times, percent of the mean.
    pub rms_percent: f64,
    /// The lowest roof over the point.
    pub limiting_roof: Limit,
    /// What that roof allows at the point's intensity, 1e9 FLOP/s.
    pub roof_gflops: f64,
    /// `gflops` as a percentage of `roof_gflops`.
    pub percent_roof: f64,
    /// What ran it.
    pub device: String,
    /// Whether every element of the output agreed with the float64 reference.
    pub checked: bool,
    /// The times of the timed launches, in order.
    pub samples_ms: Vec<f64>,
    /// The grid as it was asked for, to tell curves apart.
    #[serde(skip)]
    pub grid_size: GridSize,
}

impl Record {
    /// The record of a point whose output was found right. `None` if there are no samples.
    pub(super) fn new(
        point: &Point,
        grid: u64,
        samples_ms: Vec<f64>,
        roofs: &Roofs,
        device: String,
    ) -> Option<Record> {
        const MS_PER_S: f64 = 1e3;
        let time = Summary::of(&samples_ms)?;
        let seconds = time.mean / MS_PER_S;
        let rate = FlopsPerSec(point.flops() / seconds);
        let roof = roofs.limiting(point.intensity(), point.arithmetic());
        Some(Record {
            k: point.k,
            ai: point.intensity().0,
            gflops: rate.giga(),
            bandwidth: point.bytes() / seconds / 1e9,
            percent_peak: 100.0 * rate.0 / roofs.peak.0,
            kernel: point.kernel(),
            dtype: point.precision.name(),
            vector: point.vector,
            n: point.n,
            block: point.block,
            grid,
            mean_ms: time.mean,
            median_ms: time.median,
            min_ms: time.min,
            rms_percent: time.rms_percent,
            limiting_roof: roof.limit,
            roof_gflops: roof.value.giga(),
            percent_roof: 100.0 * rate.0 / roof.value.0,
            device,
            checked: true,
            samples_ms,
            grid_size: point.grid,
        })
    }

    /// The kernel and how it was launched: what a curve of the chart has in common.
    pub fn series(&self) -> Series {
        Series {
            kernel: self.kernel,
            dtype: self.dtype,
            vector: self.vector,
            n: self.n,
            block: self.block,
            grid: self.grid_size,
        }
    }
}

/// Records that differ in `k` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// `power-sum` or `horner`.
    pub kernel: &'static str,
    /// `f32` or `f64`.
    pub dtype: &'static str,
    /// Elements a thread.
    pub vector: u32,
    /// Elements in all.
    pub n: u64,
    /// Threads a block.
    pub block: u32,
    /// Blocks in the grid, as asked for.
    pub grid: GridSize,
}

/// Groups records by series, in order of first appearance.
pub fn by_series(records: &[Record]) -> Vec<(Series, Vec<&Record>)> {
    let mut groups: Vec<(Series, Vec<&Record>)> = Vec::new();
    for record in records {
        let series = record.series();
        match groups.iter_mut().find(|(known, _)| *known == series) {
            Some((_, members)) => members.push(record),
            None => groups.push((series, vec![record])),
        }
    }
    groups
}
