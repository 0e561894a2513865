//! How long ranks wait for each other.

use std::time::Duration;

/// How long ranks wait for each other.
///
/// ```
/// use std::time::Duration;
///
/// use ranks::Limits;
///
/// assert_eq!(Limits::default().fault, Duration::from_secs(10));
/// let short = Limits::of(Duration::from_secs(2));
/// assert_eq!((short.fault.as_secs(), short.patience.as_secs()), (2, 60));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a rank may be silent before it counts as lost, and how long the ranks wait for each other when
    /// the program begins.
    pub fault: Duration,
    /// How long ranks wait in an exchange for one that lives, as its heartbeats show, and has not come to it.
    pub patience: Duration,
}

impl Limits {
    /// With this time for faults, and 30 times as much patience with ranks that live.
    pub fn of(fault: Duration) -> Limits {
        Limits {
            fault,
            patience: fault.saturating_mul(30),
        }
    }

    /// The time from one sign of life to the next: several fit into the time for faults.
    pub(crate) fn beat(self) -> Duration {
        Duration::from_millis(500).min(self.fault / 4)
    }
}

impl Default for Limits {
    /// 10 s for faults.
    fn default() -> Limits {
        Limits::of(Duration::from_secs(10))
    }
}
