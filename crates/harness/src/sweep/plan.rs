//! The plan of a sweep: workloads, with a list of values for each axis.

use itertools::Itertools;

use crate::measure::CacheState;
use crate::workload::{Bench, GridSize, Point, Value, Workload};

/// Workloads and the values of the axes that are every workload's.
#[derive(Clone)]
pub struct Plan<'w> {
    /// The workloads, each with the values of its own axes.
    pub selected: Vec<Selection<'w>>,
    /// Threads per block.
    pub blocks: Vec<u32>,
    /// Blocks in the grid.
    pub grids: Vec<GridSize>,
    /// Contents of the caches when a launch begins.
    pub caches: Vec<CacheState>,
}

impl Default for Plan<'_> {
    /// No workloads; blocks of 256 threads, as many as there is work for, and warm caches.
    fn default() -> Self {
        Plan {
            selected: Vec::new(),
            blocks: vec![256],
            grids: vec![GridSize::Full],
            caches: vec![CacheState::Warm],
        }
    }
}

/// A workload and the values of its axes, in its order.
#[derive(Clone)]
pub struct Selection<'w> {
    /// The workload.
    pub workload: &'w dyn Workload,
    /// Each axis and its values.
    pub values: Vec<(&'static str, Vec<Value>)>,
    /// Numbers that are the same at every point.
    pub settings: Vec<(&'static str, Value)>,
}

impl<'w> Selection<'w> {
    /// The workload with the values that it has for itself.
    pub fn defaults(workload: &'w dyn Workload, is_emulated: bool) -> Selection<'w> {
        let axes = workload.axes().into_iter();
        let axes = axes.filter(|axis| !axis.is_setting());
        Selection {
            workload,
            values: axes
                .map(|axis| (axis.name(), axis.defaults(is_emulated).to_vec()))
                .collect(),
            settings: Vec::new(),
        }
    }

    /// Fails if an axis has no values, or one that it does not take.
    ///
    /// # Errors
    /// In words: the workload, the axis and the value.
    pub fn check(&self) -> Result<(), String> {
        let name = self.workload.name();
        for axis in self.workload.axes() {
            let is_it = |it: &str| it == axis.name();
            let setting = self.settings.iter().filter(|(it, _)| is_it(it));
            let mut given = self.values.iter().filter(|(it, _)| is_it(it));
            let values = given.next().map_or(&[][..], |(_, values)| values);
            if values.is_empty() && !axis.is_setting() {
                return Err(format!(
                    "workload {name}: axis {} has no values",
                    axis.name()
                ));
            }
            let mut all = values.iter().chain(setting.map(|(_, value)| value));
            all.try_for_each(|value| axis.accepts(value))
                .map_err(|error| format!("workload {name}: {error}"))?;
        }
        Ok(())
    }

    fn points(&self) -> usize {
        let lengths = self.values.iter().map(|(_, values)| values.len());
        lengths.fold(1, usize::saturating_mul)
    }
}

/// A sweep of more points than anybody waits for, or than fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the lists make {0} combinations: at most {most} are possible; shorten a list", most = TooManyPoints::MAX)]
pub struct TooManyPoints(usize);

impl TooManyPoints {
    const MAX: usize = 100_000;

    /// Fails if lists of these lengths have too many combinations.
    ///
    /// # Errors
    /// [`TooManyPoints`]: how many there are.
    pub fn check(lengths: &[usize]) -> Result<(), TooManyPoints> {
        TooManyPoints::of(
            lengths
                .iter()
                .fold(1usize, |all, &one| all.saturating_mul(one)),
        )
    }

    fn of(points: usize) -> Result<(), TooManyPoints> {
        match points {
            ..=TooManyPoints::MAX => Ok(()),
            more => Err(TooManyPoints(more)),
        }
    }
}

impl<'w> Plan<'w> {
    /// Fails if there are too many points.
    ///
    /// # Errors
    /// [`TooManyPoints`]: how many there are.
    pub fn check(&self) -> Result<(), TooManyPoints> {
        let own = self.selected.iter().map(Selection::points);
        let own = own.fold(0, usize::saturating_add);
        let common = [self.blocks.len(), self.grids.len(), self.caches.len()];
        TooManyPoints::of(common.into_iter().fold(own, usize::saturating_mul))
    }

    /// Every combination, workload by workload: a workload's first axis changes fastest, the caches'
    /// state, the grid and the block more slowly, then the last of its other axes.
    pub(crate) fn points<'d>(
        &self,
        bench: &'d Bench,
    ) -> impl Iterator<Item = (&'w dyn Workload, Point<'d>)> {
        let mut points = Vec::new();
        for selection in &self.selected {
            let workload = &selection.workload;
            for (mut values, block, grid, cache) in self.combinations(&selection.values) {
                values.extend(selection.settings.iter().cloned());
                let point = Point {
                    block,
                    grid,
                    cache,
                    ..Point::new(bench.device(), &bench.loaded, *workload, values)
                };
                points.push((*workload, point));
            }
        }
        points.into_iter()
    }

    /// Every combination, of values and of what is every workload's.
    fn combinations(&self, axes: &[(&'static str, Vec<Value>)]) -> Vec<Combination> {
        let (first, others) = match axes {
            [] => (vec![None], &[][..]),
            [first, others @ ..] => (named(first).into_iter().map(Some).collect(), others),
        };
        let others = product(others);
        let mut all = Vec::new();
        for (others, &block, &grid, &cache, first) in
            itertools::iproduct!(&others, &self.blocks, &self.grids, &self.caches, &first)
        {
            let values = first.iter().chain(others).cloned().collect();
            all.push((values, block, grid, cache));
        }
        all
    }

    /// All axes, each with the number of its values.
    pub fn axis_counts(&self) -> Vec<(&'static str, usize)> {
        let own = self.selected.iter().flat_map(|it| &it.values);
        let own = own.map(|(name, values)| (*name, values.len()));
        let common = [
            ("kernel", self.selected.len()),
            ("block", self.blocks.len()),
            ("grid", self.grids.len()),
            ("cache", self.caches.len()),
        ];
        most(own.chain(common))
    }

    /// The names of all axes, each once, in order of first appearance.
    pub(crate) fn axes(&self) -> Vec<&'static str> {
        let all = self.selected.iter().flat_map(|it| &it.values);
        all.map(|(name, _)| *name).unique().collect()
    }
}

/// Each axis once, with the most values that it has.
pub(super) fn most(
    axes: impl Iterator<Item = (&'static str, usize)>,
) -> Vec<(&'static str, usize)> {
    let mut all: Vec<(&'static str, usize)> = Vec::new();
    for (name, count) in axes {
        match all.iter_mut().find(|(it, _)| *it == name) {
            Some((_, known)) => *known = count.max(*known),
            None => all.push((name, count)),
        }
    }
    all
}

/// A list of values with their axis's name.
type Named = Vec<(&'static str, Value)>;

fn named((name, values): &(&'static str, Vec<Value>)) -> Named {
    values.iter().map(|value| (*name, value.clone())).collect()
}

/// Every combination of the axes' values, the last axis changing fastest. That of no axes is one.
pub(crate) fn product(axes: &[(&'static str, Vec<Value>)]) -> Vec<Named> {
    match axes {
        [] => vec![Vec::new()],
        axes => axes.iter().map(named).multi_cartesian_product().collect(),
    }
}

type Combination = (Named, u32, GridSize, CacheState);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Emulation;
    use crate::embedded::Polynomial;

    #[test]
    fn the_first_axis_changes_fastest() {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let mut selection = Selection::defaults(&Polynomial::HORNER, true);
        for (name, values) in &mut selection.values {
            match *name {
                "k" => *values = vec![1u64.into(), 2u64.into()],
                "ilp" => *values = vec![1u64.into(), 4u64.into()],
                _ => {}
            }
        }
        let plan = Plan {
            selected: vec![selection],
            blocks: vec![64, 128],
            ..Plan::default()
        };
        let texts: Vec<String> = plan.points(&bench).map(|(_, it)| it.to_string()).collect();
        assert_eq!(texts.len(), 8);
        let expected = "horner f32 vector=1 ilp=1 n=65536 block=64 grid=full warm k=1";
        assert_eq!(texts[0], expected);
        assert!(texts[1].ends_with("block=64 grid=full warm k=2"));
        assert!(texts[2].contains("ilp=1") && texts[2].contains("block=128"));
        assert!(texts[4].contains("ilp=4") && texts[4].contains("block=64"));
    }

    #[test]
    fn too_many_points_are_counted_before_they_are_made() {
        let many: Vec<Value> = (0..1000u64).map(Value::Whole).collect();
        let selection = Selection {
            workload: &Polynomial::HORNER,
            values: vec![("k", many.clone()), ("n", many)],
            settings: Vec::new(),
        };
        let plan = Plan {
            selected: vec![selection],
            ..Plan::default()
        };
        assert_eq!(plan.check(), Err(TooManyPoints(1_000_000)));
    }
}
