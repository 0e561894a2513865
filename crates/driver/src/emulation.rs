//! How the emulator runs launches.

use std::time::Duration;

pub use engine::Schedule;

use super::record;

/// How the emulator runs launches.
///
/// ```
/// use cuda_std::prelude::*;
/// use ridgepoint_driver::{Device, DriverError, Emulation, LaunchConfig, Schedule, Stream};
///
/// #[kernel]
/// pub fn nothing() {}
///
/// # fn main() -> Result<(), DriverError> {
/// let seeded = Emulation { schedule: Schedule::Seeded(7), is_checked: true, ..Emulation::default() };
/// let device = Device::emulator(seeded);
/// let prepared = device.prepare(nothing::entry(), LaunchConfig::blocks(1, 32))?;
/// // Without the kernel's PTX there are neither checks nor other schedules.
/// let error = prepared.run(&Stream::new(&device)?, ());
/// assert!(matches!(error, Err(DriverError::WithoutPtx { what: "checks", .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emulation {
    /// Who goes first.
    pub schedule: Schedule,
    /// Whether a launch fails where two threads race, or one reads what nobody has written, leaves an
    /// asynchronous copy unfinished, or leaks memory of the heap. It runs on one core then. Bounds,
    /// alignment and divergence are looked at in any case.
    pub is_checked: bool,
    /// Whether a launch fails with a [benign](crate::finding::Severity::Benign) finding, too. Otherwise it goes on, and
    /// [`Device::take_benign`](super::Device::take_benign) has them.
    pub is_strict: bool,
    /// Whether launches are counted, for [`Device::take_counts`](super::Device::take_counts).
    pub is_counted: bool,
    /// How many basic blocks of instructions a warp may go through; of a kernel without PTX, how many
    /// steps threads may wait.
    pub steps: u64,
    /// How long a launch may take, of a kernel with PTX; none: until it ends.
    pub time: Option<Duration>,
}

impl Default for Emulation {
    /// In order, 2^28 steps, of any time, not counted. Where `ridgepoint check` has started the process: checked, within
    /// the limits of its options, and strict if they say so.
    fn default() -> Emulation {
        Emulation {
            schedule: Schedule::default(),
            is_checked: record::is_kept(),
            is_strict: record::limit(record::STRICT) == Some(1),
            is_counted: false,
            steps: record::limit(record::MAX_STEPS).unwrap_or(1 << 28),
            time: record::limit(record::TIME_LIMIT).map(Duration::from_secs),
        }
    }
}

impl Emulation {
    /// Returns the setting that takes the kernel's PTX, if there is one.
    pub(super) fn of_ptx_alone(&self) -> Option<&'static str> {
        match self.schedule {
            _ if self.is_checked => Some("checks"),
            _ if self.is_counted => Some("counts"),
            Schedule::InOrder => None,
            _ => Some("another schedule than in order"),
        }
    }
}
