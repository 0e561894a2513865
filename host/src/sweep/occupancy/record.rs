//! What a point of the occupancy sweep comes to.

use serde::Serialize;

use crate::sweep::{NOISY_PERCENT, PLAUSIBLE_PERCENT};

/// One row of an occupancy study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OccupancyRecord {
    /// Its name on the command line.
    pub kernel: &'static str,
    /// Independent operations a thread.
    pub ilp: u32,
    /// Threads a block.
    pub block: u32,
    /// Bytes of dynamic shared memory a block.
    pub dynamic_shared: u32,
    /// Registers a thread at most that the kernel was compiled for; `None` left them to the compiler.
    pub max_registers: Option<u32>,
    /// Registers a thread, as the driver has compiled the kernel; on the emulator as `ptxas` has.
    /// `None` where neither is known.
    pub registers: Option<u32>,
    /// Bytes of local memory a thread: what its registers do not hold.
    pub local_bytes: Option<u32>,
    /// Blocks that a multiprocessor holds at once, by our model.
    pub resident_blocks: u32,
    /// The same by the driver. `None` on the emulator.
    pub driver_blocks: Option<u32>,
    /// Active warps as a percentage of the most there can be.
    pub occupancy_percent: f64,
    /// What keeps more blocks out, of `warps blocks registers shared_memory`.
    pub limited_by: Vec<&'static str>,
    /// Blocks in the grid.
    pub grid: u64,
    /// Times that the multiprocessors fill up: blocks over those that all of them hold at once.
    pub waves: f64,
    /// What the last, partial wave leaves idle, as a percentage of all waves' places.
    pub tail_percent: f64,
    /// `GB/s` or `GFLOP/s`.
    pub unit: &'static str,
    /// The rate of the median time.
    pub rate: f64,
    /// `rate` as a percentage of the measured ceiling.
    pub percent_ceiling: f64,
    /// Little's law, for a multiprocessor.
    pub in_flight: InFlight,
    /// Mean time of a launch.
    pub mean_ms: f64,
    /// Median time of a launch.
    pub median_ms: f64,
    /// Population standard deviation of the times, percent of the mean.
    pub rms_percent: f64,
    /// What ran it.
    pub device: String,
    /// Whether the output was what it should be.
    pub checked: bool,
    /// What is to be said against the row: `noisy implausible`, as of a roofline's.
    pub flags: Vec<&'static str>,
}

/// The flags of a row with this deviation and rate.
pub(super) fn flags(rms_percent: f64, percent_ceiling: f64) -> Vec<&'static str> {
    let flags = [
        ("noisy", rms_percent > NOISY_PERCENT),
        ("implausible", percent_ceiling > PLAUSIBLE_PERCENT),
    ];
    let flags = flags.into_iter().filter(|(_, is_so)| *is_so);
    flags.map(|(name, _)| name).collect()
}

/// What has to be in flight in a multiprocessor, and what a launch has in flight there: J. Little, "A
/// proof for the queuing formula L = λW", Operations Research 9(3), 1961.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InFlight {
    /// `bytes` or `operations`.
    pub unit: &'static str,
    /// Measured latency times measured rate.
    pub needed: f64,
    /// Resident threads times independent operations of each.
    pub provided: f64,
}

/// Waves, and the share of their places that stays empty, in percent.
pub(super) fn waves(grid: u64, resident_blocks: u32, multiprocessors: u32) -> (f64, f64) {
    let places = u64::from(resident_blocks) * u64::from(multiprocessors);
    let whole = grid.div_ceil(places.max(1)) * places;
    let empty = whole.saturating_sub(grid) as f64;
    (
        grid as f64 / places.max(1) as f64,
        100.0 * empty / whole.max(1) as f64,
    )
}

#[cfg(test)]
mod tests {
    use super::{flags, waves};

    #[test]
    fn a_rate_above_its_ceiling_is_flagged() {
        assert!(flags(1.0, 101.9).is_empty());
        assert_eq!(flags(6.0, 210.8), ["noisy", "implausible"]);
    }

    #[test]
    fn a_block_more_than_a_wave_leaves_the_second_nearly_empty() {
        assert_eq!(waves(264, 2, 132), (1.0, 0.0));
        let (count, tail) = waves(265, 2, 132);
        assert!((count - 1.0038).abs() < 1e-4 && (tail - 100.0 * 263.0 / 528.0).abs() < 1e-9);
        assert_eq!(waves(66, 1, 132), (0.5, 50.0));
    }
}
