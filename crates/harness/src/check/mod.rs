//! Each embedded kernel at many sizes against a reference on the host: on a GPU, and on the emulator
//! under many schedules, with all checks that are possible.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use itertools::iproduct;

use crate::driver::finding::Kind;
use crate::driver::{Device, Embedded, Emulation, Schedule};
use crate::embedded::{self, Checked};
use crate::sweep::{check_points, product};
use crate::table::counted;
use crate::workload::{self, Loaded, Point, PointError, Value};

/// Elements that each kernel works on: around a warp, a block and a grid.
pub const SIZES: [usize; 10] = [0, 1, 31, 32, 33, 255, 256, 257, 1000, 65_537];

/// The one of [`SIZES`] in whose place workloads with sizes of their own run those.
fn in_place_of(of: &Checked) -> usize {
    // Tests run the first of these under seeds, too.
    match of.all_seeded {
        true => 257,
        false => 1000,
    }
}

/// The largest size that runs under every seed, and not in order alone, of most kernels.
const MAX_SEEDED: usize = 1000;

/// A kernel and the points at which its results are compared with a reference.
#[derive(Clone)]
pub struct Case {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The workloads that launch it, each with values of its axes but the size.
    at: Vec<(&'static Checked, Vec<(&'static str, Value)>)>,
}

/// The cases, one for each kernel.
pub fn cases() -> Vec<Case> {
    let device = Device::emulator(Emulation::default());
    let loaded = Loaded::default();
    let mut cases: Vec<Case> = Vec::new();
    for (of, values) in
        embedded::checked().flat_map(|of| product(&of.values).into_iter().map(move |it| (of, it)))
    {
        let point = points(of, &values, &device, &loaded, in_place_of(of)).next();
        let case = point.map(|point| of.workload.case(&point));
        let kernel = match case {
            Some(Ok(case)) => case.kernel,
            Some(Err(error)) => unreachable!("{}: {error}", of.workload.name()),
            None => unreachable!("{} has no points", of.workload.name()),
        };
        match cases.iter_mut().find(|case| case.kernel == kernel) {
            Some(case) => case.at.push((of, values)),
            None => cases.push(Case {
                kernel,
                at: vec![(of, values)],
            }),
        }
    }
    cases
}

/// The points of a workload at these values and this size of a check.
fn points<'d>(
    of: &Checked,
    values: &[(&'static str, Value)],
    device: &'d Device,
    loaded: &'d Loaded,
    n: usize,
) -> impl Iterator<Item = Point<'d>> {
    let sizes = match of.sizes.as_slice() {
        [] => vec![n.min(of.most) as u64 * of.each],
        own if n == in_place_of(of) => own.to_vec(),
        _ => Vec::new(),
    };
    let shapes = iproduct!(sizes, &of.blocks, &of.grids);
    shapes.map(move |(size, &block, &most_blocks)| {
        let size = (of.size, Value::Whole(size));
        let values = values.iter().cloned().chain([size]).collect();
        Point {
            block,
            most_blocks,
            ..Point::new(device, loaded, of.workload, values)
        }
    })
}

/// Checks every kernel of this PTX as [`Case::check`] does, several at once, one for each core of the host.
/// `done` is called for each that is through.
pub fn check_all(
    ptx: &[Embedded<'_>],
    seeds: u64,
    emulation: &Emulation,
    done: impl Fn() + Sync,
) -> Vec<Row> {
    let cases = cases();
    let next = AtomicUsize::new(0);
    let check = || {
        let mut rows = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = cases.get(i) else {
                return rows;
            };
            rows.push((i, case.check(ptx, seeds, emulation)));
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

/// Why a kernel's results are not what they should be.
struct Wrong {
    text: String,
    kind: Option<Kind>,
    /// Whether a limit has ended the launch.
    is_endless: bool,
}

impl From<String> for Wrong {
    fn from(text: String) -> Wrong {
        Wrong {
            text,
            kind: None,
            is_endless: false,
        }
    }
}

/// The result of a kernel's checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The kernel's name.
    pub kernel: &'static str,
    /// How often it ran.
    pub runs: usize,
    /// Findings, each once, with the first size and schedule that show it.
    pub findings: BTreeMap<String, String>,
    /// The kinds of the emulator's findings among them.
    pub kinds: BTreeSet<Kind>,
}

impl Case {
    /// Runs the kernel on about `n` elements, once in each of its shapes: its workload says what an element
    /// is where it has no array of them, and rounds `n` to what the kernel takes.
    ///
    /// # Errors
    /// In words: the workload or the device refuses a point, the kernel fails, or an element differs from
    /// the reference.
    pub fn run(&self, device: &Device, n: usize) -> Result<(), String> {
        self.launch(device, n).map_err(|wrong| wrong.text)
    }

    fn launch(&self, device: &Device, n: usize) -> Result<(), Wrong> {
        let loaded = Loaded::default();
        for (of, values) in &self.at {
            let points = points(of, values, device, &loaded, n);
            let points = points.map(|point| {
                let case = of.workload.case(&point)?.refused()?;
                Ok((point, case))
            });
            let points: Result<Vec<(Point<'_>, workload::Case<'_>)>, PointError> = points.collect();
            let checked = check_points(points.map_err(|error| error.to_string())?);
            match checked.findings.into_iter().next() {
                Some(finding) => {
                    return Err(Wrong {
                        text: finding.reason,
                        kind: finding.kind,
                        is_endless: finding.is_endless,
                    });
                }
                None if checked.without_reference > 0 => {
                    return Err("there is no reference".to_owned().into());
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Runs the kernel of this PTX at each of [`SIZES`] in order, and under each seed below `seeds`, within the limits of
    /// this emulation. After a launch that they have ended no other is run.
    pub fn check(&self, ptx: &[Embedded<'_>], seeds: u64, emulation: &Emulation) -> Row {
        let mut row = Row {
            kernel: self.kernel,
            runs: 0,
            findings: BTreeMap::new(),
            kinds: BTreeSet::new(),
        };
        let emulation = Emulation {
            is_checked: true,
            ..emulation.clone()
        };
        let in_order = match Device::emulator_with(emulation.clone(), ptx) {
            Ok(device) => device,
            Err(error) => {
                let when = "before the first launch".to_owned();
                row.findings.insert(error.to_string(), when);
                return row;
            }
        };
        for size in SIZES {
            let all_seeded = self.at.iter().any(|(of, _)| of.all_seeded);
            let is_seeded = all_seeded || size <= MAX_SEEDED;
            let seeds = if is_seeded { seeds } else { 0 };
            let seeded = (0..seeds).map(Schedule::Seeded);
            for schedule in [Schedule::InOrder].into_iter().chain(seeded) {
                let emulation = Emulation {
                    schedule: schedule.clone(),
                    ..emulation
                };
                let device = in_order.with_emulation(emulation);
                row.runs += 1;
                if let Err(wrong) = self.launch(device.as_ref().unwrap_or(&in_order), size) {
                    let order = match schedule {
                        Schedule::Seeded(seed) => format!("under seed {seed}"),
                        _ => "in order".to_owned(),
                    };
                    let when = format!("{}, {order}", counted(size as u64, "element"));
                    row.findings.entry(wrong.text).or_insert(when);
                    row.kinds.extend(wrong.kind);
                    if wrong.is_endless {
                        return row;
                    }
                }
            }
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use kernels_gpu::counter::{self, count};

    use super::*;
    use crate::driver::LaunchConfig;
    use crate::embedded::OfSize;

    /// A kernel of that name and signature, which does nothing.
    const COUNT: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
        .visible .entry count(.param .u64 count_param_0)\n{\nret;\n}\n";

    #[test]
    fn each_finding_is_kept_once_with_what_shows_it_first() {
        let wrong = OfSize::elements("wrong_from_33_on", |at| {
            let n = at.size("n");
            // SAFETY: what is loaded in its place does nothing.
            let entry = unsafe { count::entry().of_any_ptx() };
            let launch = at.launch(entry, LaunchConfig::blocks(1, counter::BLOCK));
            let arrays = launch.arrays(|device| device.buffer_zeroed(1));
            let arrays = arrays.check(move |_| match n {
                ..33 => Ok(()),
                _ => Err("off by one".into()),
            });
            // SAFETY: one block.
            Ok(unsafe { arrays.arguments_unchecked(|counter| (counter.slice_mut(..),)) })
        });
        let case = Case {
            kernel: "wrong_from_33_on",
            at: vec![(Box::leak(Box::new(Checked::of_size(wrong))), Vec::new())],
        };
        let row = case.check(&[(70, COUNT, None)], 2, &Emulation::default());
        assert_eq!(row.runs, 9 * 3 + 1);
        let expected = ("off by one".to_owned(), "33 elements, in order".to_owned());
        assert_eq!(row.findings, BTreeMap::from([expected]));
    }

    #[test]
    fn after_a_launch_without_end_no_other_is_run() {
        const ENDLESS: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
            .visible .entry count(.param .u64 count_param_0)\n{\nL: bra L;\n}\n";
        let endless = OfSize::elements("endless", |at| {
            // SAFETY: what is loaded in its place touches no memory.
            let entry = unsafe { count::entry().of_any_ptx() };
            let launch = at.launch(entry, LaunchConfig::blocks(1, counter::BLOCK));
            let arrays = launch.arrays(|device| device.buffer_zeroed(1));
            let arrays = arrays.check(|_| Ok(()));
            // SAFETY: one block.
            Ok(unsafe { arrays.arguments_unchecked(|counter| (counter.slice_mut(..),)) })
        });
        let case = Case {
            kernel: "endless",
            at: vec![(Box::leak(Box::new(Checked::of_size(endless))), Vec::new())],
        };
        let emulation = Emulation {
            steps: 10_000,
            ..Emulation::default()
        };
        let row = case.check(&[(70, ENDLESS, None)], 2, &emulation);
        let told: Vec<&String> = row.findings.keys().collect();
        assert_eq!((row.runs, told.len()), (1, 1), "{told:?}");
        assert!(told[0].contains("for more than 10000 steps"), "{told:?}");
    }
}
