//! A program's kernels under the roofs of its GPU: their times as they ran, with what was counted of the same launches in
//! another run.

mod text;

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::counted::{Counted, Counts, Shape};
use super::model::{Program, Work as Done};
use super::place::Place;
use crate::model::{GpuRoofs, Limit, Precision, Situation, Work};
pub(super) use text::text;

/// The kernels of a program under the roofs of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// The GPU whose roofs they are under; `None` where no roofs are known.
    pub gpu: Option<Gpu>,
    /// The kernels, those that take the longest in all first.
    pub kernels: Vec<KernelRow>,
    /// Launches of graphs in shapes of which none was counted.
    pub in_graphs: Uncounted,
    /// Other launches in shapes of which none was counted.
    pub uncounted: Uncounted,
    /// Metrics that the GPU does not have, by the names that Nsight Compute has for them: what they would count is taken for 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Why launches could not be counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
    /// Processes that did not end while they were counted: they were killed.
    pub unfinished: u64,
}

/// A GPU with roofs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// Its name.
    pub name: String,
    /// Where the roofs come from: `data sheet` or `measured`.
    pub roofs: String,
}

/// Launches that were not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Uncounted {
    /// How many.
    pub launches: u64,
    /// Nanoseconds that they took.
    pub total_ns: f64,
}

/// A reason, and how many launches could not be counted for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// In words.
    pub reason: String,
    /// Launches.
    pub launches: u64,
}

/// All counted launches of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelRow {
    /// The kernel, by a name for people.
    pub name: String,
    /// Its name in the module.
    pub symbol: String,
    /// The line that launched it first.
    pub place: Place,
    /// Its launches whose shape was counted.
    pub launches: u64,
    /// Nanoseconds that they took.
    pub total_ns: f64,
    /// Bytes of memory that they read and wrote.
    pub bytes: f64,
    /// Bytes that multiprocessors asked the level 2 cache for or gave it, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l2_bytes: Option<f64>,
    /// Operations on floating-point numbers, and of tensor cores; `None` where there are none.
    pub flop: Option<f64>,
    /// Operations per byte of memory.
    pub flop_per_byte: Option<f64>,
    /// 1e9 bytes of memory per second.
    pub gbytes_per_s: f64,
    /// 1e9 operations per second.
    pub gflop_per_s: Option<f64>,
    /// Whether launches of one shape did the same, as far as was counted, and took as long. Where not, the first three stand for
    /// others that do more or less.
    pub is_even: bool,
    /// The types that it computed with, for tensor cores that of their sums.
    pub precisions: Vec<String>,
    /// The types whose matrices tensor cores multiplied.
    pub tensor_types: Vec<String>,
    /// Its place under the roofs, where these are known.
    pub under: Option<Under>,
}

/// A kernel's place under the roofs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Under {
    /// The lowest roof at its intensity.
    pub roof: String,
    /// The share of this roof that it reaches.
    pub percent: f64,
    /// The bound: memory, arithmetic, or the latency of both.
    pub bound: String,
    /// Advice, in one sentence.
    pub advice: String,
}

/// The launches of a kernel.
#[derive(Default)]
struct Launches {
    name: String,
    place: Place,
    count: u64,
    blocks: f64,
    total_ns: f64,
    work: Work,
    l2_bytes: Option<f64>,
    is_uneven: bool,
}

/// The launches of a kernel in a shape.
struct OfShape<'p> {
    name: &'p str,
    place: Place,
    /// Nanoseconds of each.
    times: Vec<u64>,
    /// How many of them, and of the nanoseconds, are of graphs.
    in_graphs: Uncounted,
}

impl Roofline {
    /// The kernels of a program, by what was counted of them, under the roofs of a GPU.
    pub fn of(program: &Program, counts: &Counts, gpu: Option<&GpuRoofs>) -> Roofline {
        let mut kernels: HashMap<(&str, &str), Launches> = HashMap::new();
        let (mut in_graphs, mut uncounted) = (Uncounted::default(), Uncounted::default());
        for (shape, launches) in shapes(program) {
            match counts.launch(shape) {
                Some(counted) => {
                    let kernel = kernels.entry((shape.device, shape.symbol)).or_default();
                    kernel.add(&counted, shape.blocks(), launches);
                }
                None => {
                    let all = launches.all();
                    in_graphs.launches += launches.in_graphs.launches;
                    in_graphs.total_ns += launches.in_graphs.total_ns;
                    uncounted.launches += all.launches - launches.in_graphs.launches;
                    uncounted.total_ns += all.total_ns - launches.in_graphs.total_ns;
                }
            }
        }
        let rows = kernels.into_iter();
        let rows = rows.map(|((_, symbol), launches)| launches.row(symbol, gpu));
        let mut rows: Vec<KernelRow> = rows.collect();
        rows.sort_by(|a, b| {
            let by_time = b.total_ns.total_cmp(&a.total_ns);
            by_time.then_with(|| a.symbol.cmp(&b.symbol))
        });
        let problems = counts.problems().map(|(reason, launches)| Problem {
            reason: reason.to_owned(),
            launches,
        });
        Roofline {
            gpu: gpu.map(|it| Gpu {
                name: it.gpu.name.clone(),
                roofs: it.source().to_owned(),
            }),
            kernels: rows,
            in_graphs,
            uncounted,
            missing: counts.missing().into_iter().map(str::to_owned).collect(),
            problems: problems.collect(),
            unfinished: counts.unfinished(),
        }
    }

    /// The roofs of a program's GPU: the data sheet's of that on which its kernels took the longest.
    pub fn own_roofs(program: &Program) -> Option<GpuRoofs> {
        let mut times: HashMap<&str, f64> = HashMap::new();
        for (shape, launches) in shapes(program) {
            *times.entry(shape.device).or_default() += launches.all().total_ns;
        }
        let (busiest, _) = times.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        GpuRoofs::measured(busiest, BTreeMap::new()).ok()
    }
}

/// The launches of kernels, by shape, in the order of the first ones.
fn shapes(program: &Program) -> IndexedShapes<'_> {
    let mut shapes: IndexedShapes<'_> = Vec::new();
    let mut places: HashMap<Shape<'_>, usize> = HashMap::new();
    let all = program.processes.iter();
    let all = all.flat_map(|process| process.activities.iter().map(move |it| (process, it)));
    for (process, activity) in all {
        let Done::Kernel {
            name,
            symbol,
            grid,
            block,
        } = &activity.work
        else {
            continue;
        };
        let device = process.devices.iter().find(|it| it.id == activity.device);
        let shape = Shape {
            device: device.map_or("", |it| &it.name),
            symbol,
            grid: *grid,
            block: *block,
        };
        let index = *places.entry(shape).or_insert_with(|| {
            let place = process.caller(activity).map(|it| (*it.place).clone());
            shapes.push((
                shape,
                OfShape {
                    name,
                    place: place.unwrap_or_default(),
                    times: Vec::new(),
                    in_graphs: Uncounted::default(),
                },
            ));
            shapes.len() - 1
        });
        let launches = &mut shapes[index].1;
        launches.times.push(activity.took());
        if activity.graph != 0 {
            launches.in_graphs.launches += 1;
            launches.in_graphs.total_ns += activity.took() as f64;
        }
    }
    shapes
}

/// Shapes with their launches.
type IndexedShapes<'p> = Vec<(Shape<'p>, OfShape<'p>)>;

impl OfShape<'_> {
    fn all(&self) -> Uncounted {
        Uncounted {
            launches: self.times.len() as u64,
            total_ns: self.times.iter().sum::<u64>() as f64,
        }
    }

    /// Whether they took about as long. Of short ones that says nothing.
    fn is_even(&self) -> bool {
        const SHORT_NS: u64 = 5_000;
        const FACTOR: f64 = 1.5;
        let mut times = self.times.clone();
        times.sort_unstable();
        let quartile = |part: usize| times[(times.len() - 1) * part / 4];
        quartile(3) < SHORT_NS || quartile(3) as f64 <= FACTOR * quartile(1) as f64
    }
}

impl Launches {
    fn add(&mut self, counted: &Counted, blocks: f64, launches: OfShape<'_>) {
        let all = launches.all();
        let count = all.launches as f64;
        if self.count == 0 {
            launches.name.clone_into(&mut self.name);
            self.place.clone_from(&launches.place);
        }
        self.count += all.launches;
        self.total_ns += all.total_ns;
        self.blocks += count * blocks;
        self.is_uneven |= !counted.is_even || !launches.is_even();
        let work = counted.work.clone().times(count);
        self.work = std::mem::take(&mut self.work).and(work);
        if let Some(bytes) = counted.l2_bytes {
            *self.l2_bytes.get_or_insert_default() += count * bytes;
        }
    }

    fn row(self, symbol: &str, gpu: Option<&GpuRoofs>) -> KernelRow {
        let bytes = self.work.bytes().unwrap_or(0.0);
        let flop = self.work.flops();
        let precisions = self.work.precisions();
        let names = |all: Vec<&str>| all.into_iter().map(str::to_owned).collect();
        KernelRow {
            launches: self.count,
            total_ns: self.total_ns,
            bytes,
            l2_bytes: self.l2_bytes,
            flop,
            flop_per_byte: self.work.intensity().map(|it| it.0),
            gbytes_per_s: bytes / self.total_ns,
            gflop_per_s: flop.map(|it| it / self.total_ns),
            precisions: names(precisions.iter().map(|it| it.name()).collect()),
            tensor_types: names(
                self.work
                    .tensor_types()
                    .iter()
                    .map(|it| it.name())
                    .collect(),
            ),
            under: gpu.and_then(|gpu| self.under(gpu)),
            is_even: !self.is_uneven,
            symbol: symbol.to_owned(),
            name: self.name,
            place: self.place,
        }
    }

    fn under(&self, gpu: &GpuRoofs) -> Option<Under> {
        let precision = self.work.precision().unwrap_or(Precision::F32);
        let seconds = self.total_ns / 1e9;
        let memory = gpu.roofs(precision)?.memory;
        let bandwidth_share = self.work.bytes().unwrap_or(0.0) / memory.0 / seconds;
        let (arithmetic, compute_share) = match self.work.flops() {
            None => (Limit::Fma, 0.0),
            Some(flops) => {
                let (limit, rate) = self.work.ceiling(|it| gpu.roofs(it))?;
                (limit, flops / rate.0 / seconds)
            }
        };
        let situation = Situation {
            bandwidth_share,
            compute_share,
            arithmetic,
            load_bytes: None,
            in_l2: false,
            strides: false,
            // Its threads may be few because each takes much.
            is_small: self.blocks / (self.count as f64) < f64::from(gpu.gpu.multiprocessors),
        };
        let (roof, share) = match bandwidth_share >= compute_share {
            true => (Limit::Memory, bandwidth_share),
            false => (arithmetic, compute_share),
        };
        Some(Under {
            roof: roof.name().to_owned(),
            percent: 100.0 * share,
            bound: situation.bound().name().to_owned(),
            advice: situation.advice().to_owned(),
        })
    }
}
