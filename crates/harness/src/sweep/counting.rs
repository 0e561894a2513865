//! The points of a sweep once more, on an emulator that counts: as they are, or in a GPU's place smaller ones.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::count::{CacheBytes, Origin, Sum, launched};
use super::scaling_law::{self, Law, Part};
use super::{Selection, SweepError};
use crate::driver::count::Counts;
use crate::driver::{DriverError, LaunchConfig};
use crate::model::Work;
use crate::profile::Sums;
use crate::workload::{Bench, Point, PointError, Value, Workload};

/// The points of a sweep once more, on an emulator that counts.
pub(super) struct Counting<'d> {
    bench: &'d Bench,
    workloads: Vec<&'d dyn Workload>,
    /// By the number of the point.
    known: HashMap<usize, Result<Sum, String>>,
    laws: Vec<Known>,
}

/// A law, and the points that it is of.
struct Known {
    of: String,
    /// Places of the sizes among the point's values.
    places: Vec<usize>,
    law: Law,
    buffers: usize,
}

/// A launch that has been counted.
pub(super) struct Launched {
    pub(super) counts: Vec<Counts>,
    pub(super) config: LaunchConfig,
    pub(super) work: Work,
    /// Whether its kernel is one of the bench's, and not a file's.
    is_own: bool,
}

/// How long sizes are doubled to find a law.
const PATIENCE: Duration = Duration::from_secs(2);
/// Threads that are counted whole where no axis has a size for the emulator.
pub(super) const FEW_THREADS: u64 = 1 << 17;

impl<'d> Counting<'d> {
    pub(super) fn new(bench: &'d Bench, selected: &[Selection<'d>]) -> Counting<'d> {
        Counting {
            bench,
            workloads: selected.iter().map(|it| it.workload).collect(),
            known: HashMap::new(),
            laws: Vec::new(),
        }
    }

    /// Whether the sweep is the emulator's.
    pub(super) fn is_emulated(&self) -> bool {
        self.bench.device().properties().is_emulated()
    }

    /// The counts of point number `index`, or why there are none.
    ///
    /// # Errors
    /// Where the sweep is the emulator's, those of the launch: [`SweepError::Refused`],
    /// [`SweepError::Driver`], [`SweepError::Wrong`].
    pub(super) fn count(
        &mut self,
        index: usize,
        point: &Point<'d>,
        config: LaunchConfig,
    ) -> Result<&Result<Sum, String>, SweepError> {
        if !self.known.contains_key(&index) {
            let counted = match self.is_emulated() {
                true => match self.whole(point) {
                    Err(SweepError::Driver(error @ DriverError::WithoutPtx { .. })) => {
                        Err(error.to_string())
                    }
                    counted => Ok(counted?),
                },
                false => self.for_gpu(point, config).map_err(|error| match error {
                    // It names the point, and so does the row.
                    SweepError::Refused { reason, .. } => reason,
                    error => error.to_string(),
                }),
            };
            self.known.insert(index, counted);
        }
        Ok(&self.known[&index])
    }

    /// The point, on the emulator that counts.
    fn emulated(&self, point: &Point<'d>) -> Result<Point<'d>, SweepError> {
        let bench = self.bench.counting();
        let bench = bench.map_err(|error| refused(point, error.to_string()))?;
        Ok(Point {
            device: bench.device(),
            loaded: &bench.loaded,
            ..point.clone()
        })
    }

    pub(super) fn launch(&self, point: &Point<'d>) -> Result<Launched, SweepError> {
        let point = self.emulated(point)?;
        let named = |it: &&&dyn Workload| it.name() == point.workload;
        let workload = self.workloads.iter().find(named);
        let workload = workload.expect("the point is one of the plan's");
        let case = workload.case(&point).map_err(|error| match error {
            PointError::Driver(error) => SweepError::Driver(error),
            PointError::Refused(reason) => refused(&point, reason),
        })?;
        let mut case = case.refused()?;
        Ok(Launched {
            is_own: std::ptr::eq(case.device, point.device()),
            config: case.config,
            work: case.work.clone(),
            counts: launched(&point, &mut case)?,
        })
    }

    /// Counts the launch itself.
    fn whole(&self, point: &Point<'d>) -> Result<Sum, SweepError> {
        let Launched {
            counts,
            config,
            work,
            is_own,
        } = self.launch(point)?;
        let parts = scaling_law::parts(&counts, config, work.numbers());
        let kernel = match &counts[..] {
            [one] if is_own => Some((one.kernel.clone(), config)),
            _ => None,
        };
        let sum = Sum::of(&parts, config, Origin::Counted, buffers(&counts));
        Ok(Sum {
            kernel,
            exact: Some(Sums::of_launches(&counts)),
            caches: Some(CacheBytes::of(&counts)),
            counts: counts.into(),
            ..sum
        })
    }

    /// Counts the launch itself where it is small, and else smaller ones, twice as large each time until they follow
    /// a law that gives the launch's threads.
    fn for_gpu(&mut self, point: &Point<'d>, config: LaunchConfig) -> Result<Sum, SweepError> {
        let sizes = self.sizes(point);
        if sizes.is_empty() {
            let threads = config.grid.iter().product::<u64>() * config.block_threads();
            return match threads > FEW_THREADS {
                true => Err(refused(
                    point,
                    format!(
                        "no axis has sizes for the emulator, and {threads} threads are too many for it"
                    ),
                )),
                false => self.whole(point),
            };
        }
        if let Some(known) = self.by_law(point, config) {
            return Ok(known);
        }
        let begun = Instant::now();
        let mut counted = HashMap::new();
        for doublings in 0.. {
            // What is not much larger than the emulator's is as it is.
            let scaled = sizes.iter().copied();
            let scaled = scaled.map(|(place, size, least)| (place, size, least << doublings));
            let scaled: Vec<_> = scaled
                .filter(|(_, size, least)| *size > 4 * least)
                .collect();
            if scaled.is_empty() {
                return self.whole(point);
            }
            match self.law(point, &scaled, &mut counted)? {
                Ok(known) => {
                    let scaled = known.scaled(point, config);
                    if let Some(sum) = scaled {
                        self.laws.push(known);
                        return Ok(sum);
                    }
                    if begun.elapsed() > PATIENCE {
                        let reason = "small launches follow a law that the launch's threads do not";
                        return Err(refused(point, reason.to_owned()));
                    }
                }
                Err(reason) if begun.elapsed() > PATIENCE => return Err(refused(point, reason)),
                Err(_) => {}
            }
        }
        unreachable!("sizes are doubled until they are those of the point")
    }

    /// Where the point is larger than the emulator's: place among its values, size, and the emulator's least.
    pub(super) fn sizes(&self, point: &Point<'d>) -> Vec<(usize, u64, u64)> {
        let named = |it: &&&dyn Workload| it.name() == point.workload;
        let workload = self.workloads.iter().find(named);
        let axes = workload.map_or(Vec::new(), |it| it.axes());
        let sizes = point
            .values
            .iter()
            .enumerate()
            .filter_map(|(place, value)| {
                let (name, Value::Whole(size)) = value else {
                    return None;
                };
                let axis = axes.iter().find(|axis| axis.name() == *name)?;
                Some((place, *size, axis.emulated_size()?))
            });
        sizes.collect()
    }

    fn by_law(&self, point: &Point<'d>, config: LaunchConfig) -> Option<Sum> {
        let mut known = self.laws.iter();
        known.find_map(|known| match known.of == of(point, &known.places) {
            true => known.scaled(point, config),
            false => None,
        })
    }

    /// The law of the point's sizes at these places, from the given sizes on.
    fn law(
        &self,
        point: &Point<'d>,
        sizes: &[(usize, u64, u64)],
        counted: &mut HashMap<Vec<u64>, (Vec<Part>, usize)>,
    ) -> Result<Result<Known, String>, SweepError> {
        let mut at = |factor: &dyn Fn(usize) -> u64| -> Result<(Vec<Part>, usize), SweepError> {
            let mut smaller = point.clone();
            for (index, (place, _, least)) in sizes.iter().enumerate() {
                smaller.values[*place].1 = Value::Whole(least * factor(index));
            }
            let key = smaller.values.iter().map(|(_, value)| match value {
                Value::Whole(size) => *size,
                _ => 0,
            });
            let key: Vec<u64> = key.collect();
            if !counted.contains_key(&key) {
                let of = self.launch(&smaller)?;
                let parts = scaling_law::parts(&of.counts, of.config, of.work.numbers());
                counted.insert(key.clone(), (parts, buffers(&of.counts)));
            }
            Ok(counted[&key].clone())
        };
        let (first, _) = at(&|_| 1)?;
        let doubled = (0..sizes.len()).map(|index| {
            let of_one = at(&|it| if it == index { 2 } else { 1 });
            of_one.map(|(parts, _)| parts)
        });
        let doubled = doubled.collect::<Result<Vec<_>, _>>()?;
        let (check, buffers) = at(&|_| 4)?;
        let places: Vec<usize> = sizes.iter().map(|(place, ..)| *place).collect();
        let fourfold = sizes.iter().map(|(.., least)| 4 * least).collect();
        let law = Law::new(&first, &doubled, &check, fourfold);
        Ok(law.map(|law| Known {
            of: of(point, &places),
            places,
            law,
            buffers,
        }))
    }
}

impl Known {
    /// Returns the counts of the point's launch by the law; `None` where the law is of larger launches, or of ones with
    /// other threads.
    fn scaled(&self, point: &Point<'_>, config: LaunchConfig) -> Option<Sum> {
        let sizes = self
            .places
            .iter()
            .map(|&place| match &point.values[place].1 {
                Value::Whole(size) => Some(*size),
                _ => None,
            });
        let sizes = sizes.collect::<Option<Vec<_>>>()?;
        if !self.law.is_below(&sizes) {
            return None;
        }
        let parts = self.law.parts_at(&sizes);
        scaling_law::has_threads(&parts, config)
            .then(|| Sum::of(&parts, config, Origin::Scaled, self.buffers))
    }
}

fn buffers(counts: &[Counts]) -> usize {
    counts.iter().map(|it| it.footprint.buffers.len()).sum()
}

/// Returns the key that a point shares with those that differ in the sizes at these places.
fn of(point: &Point<'_>, places: &[usize]) -> String {
    let mut rest = point.clone();
    for &place in places {
        // Another workload has fewer axes.
        if let Some((_, value)) = rest.values.get_mut(place) {
            *value = Value::Whole(0);
        }
    }
    rest.to_string()
}

fn refused(point: &Point<'_>, reason: String) -> SweepError {
    let point = point.to_string();
    SweepError::Refused { point, reason }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::driver::Emulation;
    use crate::launch::Out;
    use crate::model::{GpuRoofs, Numbers};
    use crate::prediction::Predictor;
    use crate::profile::Formula;
    use crate::sweep::{Plan, Record, Settings, Sweep};
    use crate::workload::{Axis, Case};

    /// As many multiply-adds of each of `n` numbers as there are turns.
    const PTX: &str = "
.version 7.0
.target sm_70
.address_size 64
.visible .entry turn(.param .u64 x, .param .u32 n, .param .u32 turns)
{
.reg .pred %p<3>;
.reg .b32 %r<8>;
.reg .f32 %f<2>;
.reg .b64 %rd<4>;
mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %ntid.x;
mov.u32 %r3, %tid.x;
mad.lo.u32 %r4, %r1, %r2, %r3;
ld.param.u32 %r5, [n];
setp.ge.u32 %p1, %r4, %r5;
@%p1 bra END;
ld.param.u64 %rd1, [x];
mul.wide.u32 %rd2, %r4, 4;
add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3];
ld.param.u32 %r6, [turns];
NEXT:
fma.rn.f32 %f1, %f1, %f1, %f1;
sub.u32 %r6, %r6, 1;
setp.ne.u32 %p2, %r6, 0;
@%p2 bra NEXT;
st.global.f32 [%rd3], %f1;
END:
ret;
}
";

    /// How many turns there are for `n` numbers, and how many threads for each.
    struct Turns {
        name: &'static str,
        turns: fn(usize) -> usize,
        file: tempfile::NamedTempFile,
    }

    impl Workload for Turns {
        fn name(&self) -> &str {
            self.name
        }

        fn axes(&self) -> Vec<Axis> {
            vec![Axis::whole("n", [1 << 30]).on_emulator([256, 512])]
        }

        fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
            let n = at.size("n");
            let turns = (self.turns)(n) as u32;
            let launch =
                at.launch_from::<(Out<f32>, u32, u32)>(self.file.path(), "turn", at.linear(n))?;
            let arrays = launch.arrays(move |device| device.buffer_filled(n, 0.5f32));
            // SAFETY: there are n numbers, and this is the kernel's signature.
            Ok(unsafe { arrays.arguments_unchecked(move |x| (x.slice_mut(..), n as u32, turns)) })
        }
    }

    /// Returns the counts that replace a GPU's for a launch of `n` numbers.
    fn counted(turns: fn(usize) -> usize, n: u64) -> Result<Sum, String> {
        counted_one_after_another(turns, &[n]).remove(0)
    }

    /// The same of several, in this order.
    fn counted_one_after_another(
        turns: fn(usize) -> usize,
        sizes: &[u64],
    ) -> Vec<Result<Sum, String>> {
        with(turns, |mut counting, point| {
            let sizes = sizes.iter().map(|&n| {
                let values = vec![("n", Value::Whole(n))];
                let point = Point {
                    values,
                    ..point.clone()
                };
                let config = LaunchConfig::linear(n, point.block());
                let counted = counting.for_gpu(&point, config);
                counted.map_err(|error| error.to_string())
            });
            sizes.collect()
        })
    }

    /// Calls `then` with the counts of the workload, and a point of it.
    fn with<R>(
        turns: fn(usize) -> usize,
        then: impl for<'d> FnOnce(Counting<'d>, Point<'d>) -> R,
    ) -> R {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let file = tempfile::NamedTempFile::with_suffix(".ptx").expect("a file");
        fs::write(file.path(), PTX).expect("room for it");
        let workload = Turns {
            name: "turns",
            turns,
            file,
        };
        let plan = Plan {
            selected: vec![Selection::defaults(&workload, false)],
            ..Plan::default()
        };
        let counting = Counting::new(&bench, &plan.selected);
        let point = Point::new(bench.device(), &bench.loaded, &workload, Vec::new());
        then(counting, point)
    }

    #[test]
    fn no_law_is_of_smaller_launches_whatever_the_order() {
        // Only from 512 on does it follow one.
        let turns = |n: usize| if n < 512 { 100 } else { 3 };
        let [small, large] = [500, 1 << 20];
        let mut down = counted_one_after_another(turns, &[large, small]);
        down.reverse();
        assert_eq!(down, counted_one_after_another(turns, &[small, large]));
        let small = down[0].as_ref().expect("counted");
        assert_eq!((small.origin, small.flop), (Origin::Counted, 2 * 500 * 100));
    }

    #[test]
    fn larger_launches_are_scaled_from_smaller_ones() {
        let linear = counted(|_| 3, 1_000_000).expect("a power");
        assert_eq!(
            (linear.origin, linear.flop, linear.bytes),
            (Origin::Scaled, 6_000_000, 8_000_000)
        );
        let square = counted(|n| n, 100_000).expect("a power");
        assert_eq!(
            (square.origin, square.flop),
            (Origin::Scaled, 20_000_000_000)
        );
        assert_eq!(square.work.flops(), Some(2e10));
        assert_eq!(square.intensity(), Some(2e10 / 8e5));
    }

    #[test]
    fn a_law_is_of_its_own_workload() {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let point = |workload: &dyn Workload, values| {
            Point::new(bench.device(), &bench.loaded, workload, values)
        };
        let size = ("size", Value::Whole(8));
        let one = point(&crate::embedded::Gemv, vec![size.clone()]);
        let dtype = ("dtype", Value::from("f32"));
        let other = point(&crate::embedded::Gemv, vec![dtype, size]);
        assert_ne!(of(&one, &[1]), of(&other, &[1]));
        let larger = point(&crate::embedded::Gemv, vec![("size", Value::Whole(16))]);
        assert_eq!(of(&one, &[0]), of(&larger, &[0]));
    }

    #[test]
    fn small_launches_are_counted_whole_whatever_their_law() {
        for n in [256, 1000, 1024] {
            let whole = counted(|n| n.ilog2() as usize, n).expect("counted");
            assert_eq!(
                (whole.origin, whole.flop),
                (Origin::Counted, 2 * n * u64::from(n.ilog2()))
            );
        }
    }

    #[test]
    fn a_wrong_formula_is_told_with_scaled_figures() {
        let counted = counted(|_| 3, 1_000_000).expect("a power");
        let says = |bytes| Formula::of(&Work::default().reads(bytes), &Work::default());
        assert_eq!(counted.compare(says(8e6)), Ok(()));
        assert_eq!(
            counted.compare(says(4e6)),
            Err(
                "the workload says 4,000,000 bytes, and 8,000,000 were counted at smaller sizes and \
                 scaled to this one"
                    .to_owned()
            )
        );
    }

    #[test]
    fn a_launch_of_other_threads_than_the_law_gives_is_refused() {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let law = |n: f64| {
            let config = LaunchConfig::linear(n as u64, 64);
            scaling_law::parts(&[], config, Numbers::Floats)
        };
        let known = Known {
            of: String::new(),
            places: vec![0],
            law: Law::new(&law(256.0), &[law(512.0)], &law(1024.0), vec![1024]).expect("a power"),
            buffers: 0,
        };
        let values = vec![("n", Value::Whole(1 << 20))];
        let point = Point::new(
            bench.device(),
            &bench.loaded,
            &crate::embedded::Gemv,
            values,
        );
        let of = |threads| known.scaled(&point, LaunchConfig::linear(threads, 64));
        assert!(of(1 << 20).is_some() && of(1 << 19).is_none());
    }

    #[test]
    fn a_smaller_launch_stands_for_one_whose_warps_do_the_same() {
        let blocks_over_counted = |turns: fn(usize) -> usize, n: u64| {
            with(turns, |counting, point| {
                let config = LaunchConfig::linear(n, point.block());
                let values = vec![("n", Value::Whole(n))];
                let point = Point { values, ..point };
                counting.alike(&point, config).map(|it| it.times)
            })
        };
        // 1024 numbers are counted in 4 blocks, and what is not larger as it is.
        assert_eq!(blocks_over_counted(|_| 3, 1 << 20), Ok(1024.0));
        assert_eq!(blocks_over_counted(|_| 3, 1000), Ok(1.0));
        let refused = blocks_over_counted(|n| n, 1 << 20).expect_err("longer loops");
        assert!(
            refused.contains("a warp's work depends on the size"),
            "{refused}"
        );
    }

    /// The program's own PTX has no such kernel: its code is the file's.
    #[test]
    fn a_row_of_a_files_kernel_is_predicted_by_its_own_code() {
        let own = ".version 7.0\n.target sm_70\n.address_size 64\n";
        let bench = Bench::emulator(Emulation::default(), &[(70, own, None)]).expect("empty");
        let file = tempfile::NamedTempFile::with_suffix(".ptx").expect("a file");
        fs::write(file.path(), PTX).expect("room for it");
        let workload = Turns {
            name: "turns",
            turns: |_| 3,
            file,
        };
        let plan = Plan {
            selected: vec![Selection::defaults(&workload, true)],
            ..Plan::default()
        };
        let row = |times| {
            let mut sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("small");
            let h200 = GpuRoofs::named("h200").expect("known").gpu;
            sweep.predict_times(Predictor::embedded(h200, 70, &[(70, own, None)]), times);
            sweep.measure(0, None).expect("it runs")
        };
        let (small, large) = (row(1), row(1 << 16));
        assert_eq!((&small.not_modelled, small.model_blocks), (&None, Some(1)));
        assert_eq!(large.model_blocks, Some(1 << 16));
        // A launch of one block is hardly more than a launch.
        let ms = |row: &Record| row.model_ms.expect("a time");
        assert!((5.0..1e4).contains(&(ms(&large) / ms(&small))), "{large:?}");
        assert!(large.model_bandwidth > small.model_bandwidth);
    }

    #[test]
    fn what_follows_no_power_is_not_guessed() {
        let refused = counted(|n| n.ilog2() as usize, 1 << 40).expect_err("n log n");
        assert!(
            refused.contains("FLOP grow with no power of the size at "),
            "{refused}"
        );
    }
}
