//! How the emulator runs launches.

pub use engine::Schedule;

use super::record;

/// How the emulator runs launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emulation {
    /// Who goes first.
    pub schedule: Schedule,
    /// Whether a launch fails where two threads race, or one reads what nobody has written, leaves an
    /// asynchronous copy unfinished, or leaks memory of the heap. It runs on one core then. Bounds,
    /// alignment and divergence are looked at in any case.
    pub is_checked: bool,
    /// Whether launches are counted, for [`Device::take_counts`](super::Device::take_counts).
    pub is_counted: bool,
    /// How many basic blocks of instructions a warp may go through; of a kernel without PTX, how many
    /// steps threads may wait.
    pub steps: u64,
}

impl Default for Emulation {
    /// In order, 2^28 steps, not counted; checked where `ridgepoint check` has started the process.
    fn default() -> Emulation {
        Emulation {
            schedule: Schedule::default(),
            is_checked: record::is_kept(),
            is_counted: false,
            steps: 1 << 28,
        }
    }
}

impl Emulation {
    /// What it asks for that takes the kernel's PTX.
    pub(super) fn of_ptx_alone(&self) -> Option<&'static str> {
        match self.schedule {
            _ if self.is_checked => Some("checks"),
            _ if self.is_counted => Some("counts"),
            Schedule::InOrder => None,
            _ => Some("another schedule than in order"),
        }
    }
}
