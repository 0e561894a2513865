//! Launches that are run again under seeds, each from the memory as it was.

use std::sync::Once;

use engine::memory::Snapshot;
use engine::{LaunchError, Schedule};

use crate::device;
use crate::findings::say;
use crate::settings::{MOST_COPIED, settings};

/// Runs a launch in an order.
type Run<'a> = dyn Fn(Schedule) -> Result<(), Box<LaunchError>> + 'a;

/// The outcome of a launch.
pub(crate) struct Ran {
    /// Seeds that it was run under.
    pub(crate) seeds: u64,
    /// The first failure, and the seed under which it was.
    pub(crate) failed: Option<(Option<u64>, Box<LaunchError>)>,
}

/// Runs a launch in order, or under the one seed that is asked for; then again under each seed of those that are, until
/// something is found. Memory holds the first result in the end. Another result under a seed is told.
pub(crate) fn under_seeds(run: &Run<'_>, kernel: &str) -> Ran {
    let settings = settings();
    let first = settings.seed.map_or(Schedule::InOrder, Schedule::Seeded);
    let seeds = if settings.is_checked {
        settings.seeds
    } else {
        0
    };
    let before = if seeds > 0 { snapshot() } else { None };
    if let Err(error) = run(first) {
        let failed = Some((settings.seed, error));
        return Ran {
            seeds: settings.seed.map_or(0, |_| 1),
            failed,
        };
    }
    let both = before.and_then(|before| Some((before, snapshot()?)));
    let Some((before, after)) = both.filter(|(before, after)| is_repeatable(before, after)) else {
        return Ran {
            seeds: settings.seed.map_or(0, |_| 1),
            failed: None,
        };
    };
    let memory = device::space();
    let mut has_told = false;
    for seed in 1..=seeds {
        before.restore(memory);
        if let Err(error) = run(Schedule::Seeded(seed)) {
            return Ran {
                seeds: seed,
                failed: Some((Some(seed), error)),
            };
        }
        if let Some(place) = after.difference(memory).filter(|_| !has_told) {
            has_told = true;
            say(&format!(
                "note: {kernel}: the result depends on the order of threads: {place} differs under seed {seed}"
            ));
        }
    }
    after.restore(memory);
    Ran {
        seeds,
        failed: None,
    }
}

/// Whether a launch can be run again. Blocks of the device's heap that it has left or freed cannot be put back as they were.
fn is_repeatable(before: &Snapshot, after: &Snapshot) -> bool {
    let is_repeatable = before.has_those_of(after);
    if !is_repeatable {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            say("note: no seeds for launches that leave blocks of the device's heap behind, or free older ones");
        });
    }
    is_repeatable
}

/// Copies all memory that kernels can write; none where it is too much.
fn snapshot() -> Option<Snapshot> {
    let memory = device::space();
    let bytes = Snapshot::bytes_of(memory);
    if bytes > MOST_COPIED {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            say(&format!("note: no seeds: {bytes} bytes of memory would be copied for each; at most {MOST_COPIED} are"));
        });
        return None;
    }
    Some(Snapshot::take(memory))
}
