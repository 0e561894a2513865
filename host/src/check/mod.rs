//! Each embedded kernel at many sizes against a reference on the host: on a GPU, and on the emulator
//! under many schedules, with all checks that are possible.

mod ceilings;
mod elementwise;
mod norm;
mod polynomial;
mod power;
mod product;
mod streams;
mod values;

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cuda_std::launch::{Entry, Signature};

use crate::driver::{Device, Emulation, LaunchConfig, Schedule, Stream};
use crate::kernels::embedded_ptx;

/// Elements that each kernel works on: around a warp, a block and a grid.
pub const SIZES: [usize; 10] = [0, 1, 31, 32, 33, 255, 256, 257, 1000, 65_537];

/// [`Case::most_seeded`], of most kernels.
const MOST_SEEDED: usize = 1000;

/// A kernel and how to run it on so many elements and compare its results with a reference.
#[derive(Clone)]
pub struct Case {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The largest size that runs under every seed, and not in order alone.
    most_seeded: usize,
    run: Arc<Run>,
}

/// Runs a kernel on so many elements and compares.
type Run = dyn Fn(&Device, usize) -> Result<(), Failure> + Send + Sync;

/// What the driver refused, or what is not as the reference has it.
type Failure = Box<dyn Error + Send + Sync>;

/// The cases, one for each kernel.
pub fn cases() -> Vec<Case> {
    [
        polynomial::cases(),
        elementwise::cases(),
        norm::cases(),
        product::cases(),
        power::cases(),
        streams::cases(),
        ceilings::cases(),
    ]
    .concat()
}

/// Checks every kernel as [`Case::check`] does, several at once, one for each core of the host. `done`
/// is called for each that is through.
pub fn check_all(seeds: u64, done: impl Fn() + Sync) -> Vec<Row> {
    let cases = cases();
    let next = AtomicUsize::new(0);
    let check = || {
        let mut rows = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(i) else {
                return rows;
            };
            rows.push((i, case.check(seeds)));
            done();
        }
    };
    let mut rows: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..crate::driver::cores())
            .map(|_| scope.spawn(check))
            .collect();
        let rows = threads.into_iter().map(|thread| thread.join());
        rows.flat_map(|rows| rows.expect("a case makes an error of a kernel's panic"))
            .collect()
    });
    rows.sort_by_key(|(i, _)| *i);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// What became of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The kernel's name.
    pub kernel: &'static str,
    /// How often it ran.
    pub runs: usize,
    /// What was found, each once, with the first size and schedule that show it.
    pub findings: BTreeMap<String, String>,
}

impl Case {
    fn new(
        kernel: &'static str,
        run: impl Fn(&Device, usize) -> Result<(), Failure> + Send + Sync + 'static,
    ) -> Case {
        Case {
            kernel,
            most_seeded: MOST_SEEDED,
            run: Arc::new(run),
        }
    }

    /// For a kernel whose blocks wait for each other where there are several, as only many elements
    /// have.
    fn all_seeded(self) -> Case {
        Case {
            most_seeded: usize::MAX,
            ..self
        }
    }

    /// Runs the kernel once on about `n` elements: the kernel's family says what an element is where
    /// it has no array of them, and rounds `n` to what the kernel takes.
    ///
    /// # Errors
    /// The driver's, or what differs from the reference.
    pub fn run(&self, device: &Device, n: usize) -> Result<(), String> {
        (self.run)(device, n).map_err(|failure| failure.to_string())
    }

    /// Runs the kernel at each of [`SIZES`] in order, and under each seed below `seeds`.
    pub fn check(&self, seeds: u64) -> Row {
        let mut row = Row {
            kernel: self.kernel,
            runs: 0,
            findings: BTreeMap::new(),
        };
        let emulation = Emulation {
            is_checked: true,
            ..Emulation::default()
        };
        let in_order = match Device::emulator_with(emulation, embedded_ptx()) {
            Ok(device) => device,
            Err(error) => {
                let when = "before the first launch".to_owned();
                row.findings.insert(error.to_string(), when);
                return row;
            }
        };
        for size in SIZES {
            let seeds = if size <= self.most_seeded { seeds } else { 0 };
            let seeded = (0..seeds).map(Schedule::Seeded);
            for schedule in [Schedule::InOrder].into_iter().chain(seeded) {
                let emulation = Emulation {
                    schedule,
                    ..emulation
                };
                let device = in_order.with_emulation(emulation);
                row.runs += 1;
                if let Err(finding) = self.run(device.as_ref().unwrap_or(&in_order), size) {
                    let when = format!("{size} elements, {schedule:?}");
                    row.findings.entry(finding).or_insert(when);
                }
            }
        }
        row
    }
}

/// Launches a kernel once and waits for it.
///
/// # Safety
/// The kernel's own contract.
unsafe fn launch<S: Signature>(
    device: &Device,
    entry: Entry<S>,
    shape: LaunchConfig,
    arguments: S::Arguments<'_>,
) -> Result<(), Failure> {
    let prepared = device.prepare(entry, shape)?;
    let stream = Stream::new(device)?;
    // SAFETY: the caller's contract; what the arguments borrow outlives the wait.
    unsafe { prepared.launch(&stream, &arguments) }?;
    Ok(stream.synchronize()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_is_kept_once_with_what_shows_it_first() {
        let case = Case::new("wrong_from_33_on", |_, n| match n {
            ..33 => Ok(()),
            _ => Err("off by one".into()),
        });
        let row = case.check(2);
        assert_eq!(row.runs, 9 * 3 + 1);
        let expected = ("off by one".to_owned(), "33 elements, InOrder".to_owned());
        assert_eq!(row.findings, BTreeMap::from([expected]));
    }
}
