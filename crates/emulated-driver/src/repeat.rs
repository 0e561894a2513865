//! Launches that are run again under seeds, each from the memory as it was.

use std::sync::Once;

use engine::memory::{Kind, Protection};
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
    let before = if seeds > 0 { Snapshot::take() } else { None };
    if let Err(error) = run(first) {
        let failed = Some((settings.seed, error));
        return Ran {
            seeds: settings.seed.map_or(0, |_| 1),
            failed,
        };
    }
    let Some((before, after)) = before.and_then(|before| Some((before, Snapshot::take()?))) else {
        return Ran {
            seeds: settings.seed.map_or(0, |_| 1),
            failed: None,
        };
    };
    let mut has_told = false;
    for seed in 1..=seeds {
        before.restore();
        if let Err(error) = run(Schedule::Seeded(seed)) {
            return Ran {
                seeds: seed,
                failed: Some((Some(seed), error)),
            };
        }
        if let Some(place) = after.difference().filter(|_| !has_told) {
            has_told = true;
            say(&format!(
                "note: {kernel}: the result depends on the order of threads: {place} differs under seed {seed}"
            ));
        }
    }
    after.restore();
    Ran {
        seeds,
        failed: None,
    }
}

/// All memory that kernels can write, as it was: addresses and bytes.
struct Snapshot(Vec<(u64, Vec<u8>)>);

impl Snapshot {
    /// Copies it; none where it is too much.
    fn take() -> Option<Snapshot> {
        let mut all = device::space().allocations();
        all.retain(|it| it.protection == Protection::ReadWrite && it.kind != Kind::PanicRecord);
        let bytes: u64 = all.iter().map(|it| it.bytes).sum();
        if bytes > MOST_COPIED {
            static ONCE: Once = Once::new();
            ONCE.call_once(|| {
                say(&format!("note: no seeds: {bytes} bytes of memory would be copied for each; at most {MOST_COPIED} are"));
            });
            return None;
        }
        let copy = |it: &engine::memory::Allocation| {
            let start = std::ptr::with_exposed_provenance::<u8>(it.start as usize);
            // SAFETY: an allocation of the device; while a launch runs a program frees none of those that it reaches.
            (
                it.start,
                unsafe { std::slice::from_raw_parts(start, it.bytes as usize) }.to_vec(),
            )
        };
        Some(Snapshot(all.iter().map(copy).collect()))
    }

    /// Those of its allocations that are still there.
    fn live(&self) -> impl Iterator<Item = &(u64, Vec<u8>)> {
        let is_live = |it: &&(u64, Vec<u8>)| {
            let found = device::space().find(it.0);
            found.is_some_and(|found| found.start == it.0 && found.bytes == it.1.len() as u64)
        };
        self.0.iter().filter(is_live)
    }

    fn restore(&self) {
        for (start, bytes) in self.live() {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(*start as usize);
            // SAFETY: `live` has found the allocation, of as many bytes.
            unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
    }

    /// The first place whose bytes are others now.
    fn difference(&self) -> Option<String> {
        self.live().find_map(|(start, bytes)| {
            let now = std::ptr::with_exposed_provenance::<u8>(*start as usize);
            // SAFETY: as above.
            let now = unsafe { std::slice::from_raw_parts(now, bytes.len()) };
            let first = now.iter().zip(bytes).position(|(now, then)| now != then)?;
            Some(device::space().place(start + first as u64).to_string())
        })
    }
}
