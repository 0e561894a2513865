//! The embedded polynomial kernels on the emulator, each at many sizes and under many schedules, with all
//! checks that are possible.

mod polynomial;

use std::collections::BTreeMap;

use crate::driver::{Device, Emulation, Schedule};

/// Elements that each kernel works on: around a warp, a block and a grid.
pub const SIZES: [usize; 10] = [0, 1, 31, 32, 33, 255, 256, 257, 1000, 65_537];

/// The largest size that runs under every seed, and not in order alone.
const LARGEST_SEEDED: usize = 1000;

/// A kernel and how to run it on so many elements and compare its results with a reference.
pub struct Case {
    /// The kernel's name.
    pub kernel: &'static str,
    run: Box<Run>,
}

/// Runs a kernel on so many elements and compares.
type Run = dyn Fn(&Device, usize) -> Result<(), String>;

/// The cases. The other embedded kernels have theirs in tests, which `ridgepoint check --` runs under the
/// same checks.
pub fn cases() -> Vec<Case> {
    polynomial::cases()
}

/// What became of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The kernel's name.
    pub kernel: &'static str,
    /// How many launches there were.
    pub launches: usize,
    /// What was found, each once, with the first size and schedule that show it.
    pub findings: BTreeMap<String, String>,
}

impl Case {
    /// Runs the kernel at each of [`SIZES`] in order, and under each seed below `seeds`.
    pub fn check(&self, seeds: u64) -> Row {
        let mut row = Row {
            kernel: self.kernel,
            launches: 0,
            findings: BTreeMap::new(),
        };
        for size in SIZES {
            let seeds = if size <= LARGEST_SEEDED { seeds } else { 0 };
            let seeded = (0..seeds).map(Schedule::Seeded);
            for schedule in [Schedule::InOrder].into_iter().chain(seeded) {
                let device = Device::emulator(Emulation {
                    schedule,
                    ..Emulation::default()
                });
                row.launches += 1;
                if let Err(finding) = (self.run)(&device, size) {
                    let when = format!("{size} elements, {schedule:?}");
                    row.findings.entry(finding).or_insert(when);
                }
            }
        }
        row
    }
}
