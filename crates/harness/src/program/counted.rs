//! Hardware counts of a program's launches, from a run of their own.

use std::collections::{BTreeMap, HashMap};

use recording::{Record, Recording};

use crate::measure::{counted_l2_bytes, counted_work, launch_metrics};
use crate::model::Work;

/// A kernel's launches of one shape, on devices of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape<'s> {
    /// The device's name.
    pub(super) device: &'s str,
    /// The kernel's name in the module.
    pub(super) symbol: &'s str,
    /// Blocks.
    pub(super) grid: [u32; 3],
    /// Threads of a block.
    pub(super) block: [u32; 3],
}

impl Shape<'_> {
    pub(super) fn blocks(&self) -> f64 {
        self.grid.iter().map(|it| f64::from(*it)).product()
    }

    fn threads(&self) -> f64 {
        let of_block = self.block.iter().map(|it| f64::from(*it));
        self.blocks() * of_block.product::<f64>()
    }
}

/// Counts of launches, by device, kernel and shape.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    kernels: HashMap<(String, String), OfKernel>,
    /// Why launches could not be counted, and how many.
    problems: BTreeMap<String, u64>,
    /// Recordings without an end.
    unfinished: u64,
}

/// The launches of a kernel that were counted, by blocks and threads of a block.
type OfKernel = HashMap<[[u32; 3]; 2], Vec<Metrics>>;

/// The metrics of a launch.
type Metrics = HashMap<String, f64>;

/// A launch of a kernel in a shape, on average.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counted {
    /// Bytes of memory, and operations.
    pub(super) work: Work,
    /// Bytes that multiprocessors asked the level 2 cache for or gave it, where they were counted.
    pub(super) l2_bytes: Option<f64>,
    /// Whether the launches that were counted did the same.
    pub(super) is_even: bool,
}

/// Launches whose bytes or operations are further apart do not do the same.
const EVEN: f64 = 1.25;
/// Bytes of memory that a launch moves more or less than another by chance: by what caches hold before it.
const CHANCE_BYTES: f64 = 4e6;

impl Counts {
    /// Of the recordings of a run that counted.
    pub fn of(recordings: &[Recording]) -> Counts {
        let mut counts = Counts::default();
        for recording in recordings {
            counts.add(recording);
        }
        counts
    }

    fn add(&mut self, recording: &Recording) {
        let mut texts: HashMap<u32, &str> = HashMap::new();
        let mut devices: HashMap<u32, &str> = HashMap::new();
        let mut has_ended = false;
        for record in &recording.records {
            match record {
                Record::Text(text) => {
                    texts.insert(text.id, &text.text);
                }
                Record::Device(device) => {
                    devices.insert(device.id, &device.name);
                }
                _ => has_ended |= matches!(record, Record::End(_)),
            }
        }
        self.unfinished += u64::from(!has_ended);
        let text = |id: u32| texts.get(&id).copied().unwrap_or_default().to_owned();
        let all = recording.records.iter().filter_map(|it| match it {
            Record::Counted(counted) => Some(counted),
            _ => None,
        });
        for counted in all {
            if counted.problem != 0 {
                *self.problems.entry(text(counted.problem)).or_default() += 1;
                continue;
            }
            let device = devices.get(&counted.device).copied().unwrap_or_default();
            let kernel = (device.to_owned(), text(counted.kernel));
            let shapes = self.kernels.entry(kernel).or_default();
            let launches = shapes.entry([counted.grid, counted.block]).or_default();
            let counts = counted.counts.iter();
            launches.push(
                counts
                    .map(|(metric, value)| (text(*metric), *value as f64))
                    .collect(),
            );
        }
    }

    /// Why launches could not be counted, and how many.
    pub(super) fn problems(&self) -> impl Iterator<Item = (&str, u64)> {
        self.problems
            .iter()
            .map(|(text, count)| (text.as_str(), *count))
    }

    /// Processes that were counted and have left no end.
    pub(super) fn unfinished(&self) -> u64 {
        self.unfinished
    }

    /// Metrics that some launch lacks, because its device does.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let launches = self.kernels.values().flat_map(|it| it.values()).flatten();
        let is_missing = |metric: &&str| launches.clone().any(|it| !it.contains_key(*metric));
        launch_metrics().into_iter().filter(is_missing).collect()
    }

    /// A launch of a kernel in a shape; `None` where none was counted.
    pub(super) fn launch(&self, shape: Shape<'_>) -> Option<Counted> {
        let kernel = (shape.device.to_owned(), shape.symbol.to_owned());
        let launches = self.kernels.get(&kernel)?.get(&[shape.grid, shape.block])?;
        let mean = |name: &str| {
            let values = launches.iter().map(|it| it.get(name).copied());
            let sum: Option<f64> = values.sum();
            Some(sum? / launches.len() as f64)
        };
        let each = launches.iter().filter_map(|launch| {
            counted_work(|name: &str| launch.get(name).copied(), shape.threads())
        });
        let each: Vec<Work> = each.collect();
        let is_even = |of: fn(&Work) -> Option<f64>, slack: f64| {
            let values = || each.iter().map(|it| of(it).unwrap_or(0.0));
            let least = values().fold(f64::INFINITY, f64::min);
            values().fold(0.0, f64::max) <= EVEN * least + slack
        };
        Some(Counted {
            work: counted_work(mean, shape.threads())?,
            l2_bytes: counted_l2_bytes(mean),
            is_even: is_even(Work::bytes, CHANCE_BYTES) && is_even(Work::flops, 0.0),
        })
    }
}
