//! The predicted times of a study's launches, from what was counted of them, or in a GPU's place of smaller ones.

use std::collections::HashMap;
use std::rc::Rc;

use super::count::Sum;
use super::counting::{Counting, FEW_THREADS};
use crate::driver::LaunchConfig;
use crate::driver::count::Counts;
use crate::measure::CacheState;
use crate::model::Work;
use crate::prediction::{Held, Prediction, Predictor, Predictors, Subject};
use crate::profile::Sums;
use crate::workload::{Case, Point, Value};

/// How far the instructions of an average warp may differ between launches of two sizes that count as doing the same.
const ALIKE: f64 = 0.02;

/// A launch whose time is predicted.
pub(super) struct Launch<'a, 'd> {
    pub(super) point: &'a Point<'d>,
    pub(super) case: &'a Case<'d>,
    /// By the driver, or as the study has it.
    pub(super) held: Option<Held>,
    /// Its counts, where they are made in any case.
    pub(super) counted: Option<&'a Result<Sum, String>>,
}

/// The predicted time of a launch that is the row's, or like it with more blocks.
pub(super) struct Modelled {
    pub(super) prediction: Prediction,
    /// Its blocks.
    pub(super) blocks: u64,
    /// How many times as many those are as the row's.
    pub(super) times: u64,
}

impl Modelled {
    /// So much per launch of the row, in 10^9 per second.
    pub(super) fn rate(&self, amount: f64) -> f64 {
        amount * self.times as f64 / self.prediction.seconds / 1e9
    }
}

/// Counts of a launch, and how many times as many blocks the one has that is predicted.
#[derive(Clone)]
pub(super) struct Scaled {
    counts: Rc<[Counts]>,
    /// The work of the counted launch, by its workload.
    work: Work,
    pub(super) times: f64,
}

impl Scaled {
    /// Fails where a launch of so much work does not do what the counted one does, so many times.
    fn stands_for(&self, work: &Work) -> Result<(), String> {
        let parts = |work: &Work| [work.bytes(), work.flops()].map(|it| it.unwrap_or(0.0));
        let both = parts(work).into_iter().zip(parts(&self.work));
        for (whole, counted) in both.filter(|(whole, _)| *whole > 0.0) {
            let more = whole / (counted * self.times);
            if (more - 1.0).abs() > ALIKE {
                return Err(format!(
                    "a block does {more:.3} times as much as in the smaller launch that is counted"
                ));
            }
        }
        Ok(())
    }
}

/// The predicted times of a study's launches.
pub(super) struct Times {
    predictors: Predictors,
    /// How many times as many blocks are predicted as the rows have.
    times: u64,
    /// Counts that were made for predictions alone, by the launch without its shared memory, on which no count depends.
    known: HashMap<String, Result<Scaled, String>>,
}

impl Times {
    /// Of a GPU's study these launches are counted at once: it would lie idle between measurements.
    pub(super) fn new<'p, 'd: 'p>(
        predictor: Result<Predictor, String>,
        times: u64,
        counting: &Counting<'d>,
        launches: impl Iterator<Item = (&'p Point<'d>, LaunchConfig)>,
    ) -> Times {
        let is_ahead = predictor.is_ok() && !counting.is_emulated();
        let mut new = Times {
            predictors: Predictors::new(predictor),
            times,
            known: HashMap::new(),
        };
        for (point, config) in launches.filter(|_| is_ahead) {
            // Why it cannot be counted stands in its row.
            let _ = new.count(counting, point, config);
        }
        new
    }

    /// The predicted time, or in words why there is none.
    pub(super) fn of<'d>(
        &mut self,
        counting: &Counting<'d>,
        launch: Launch<'_, 'd>,
    ) -> Result<Modelled, String> {
        let Launch { point, case, .. } = launch;
        if case.has_clusters {
            return Err("the model does not have waits for blocks of a cluster".to_owned());
        }
        // Where there is none, nothing is counted for it.
        self.predictors.of(case.file.as_deref())?;
        let (counts, times) = match launch.counted {
            Some(Ok(sum)) if !sum.counts.is_empty() => (Rc::clone(&sum.counts), 1.0),
            Some(Err(reason)) => return Err(format!("not counted: {reason}")),
            _ => {
                let scaled = self.count(counting, point, case.config)?;
                scaled.stands_for(&case.work)?;
                (scaled.counts, scaled.times)
            }
        };
        let times = times * self.times as f64;
        let prediction = self.predictors.of(case.file.as_deref())?.predict(Subject {
            counts: &counts,
            config: case.config,
            times,
            is_cold: point.cache == CacheState::Cold,
            held: launch.held,
        })?;
        Ok(Modelled {
            prediction,
            blocks: case.config.grid.iter().product::<u64>() * self.times,
            times: self.times,
        })
    }

    /// Counts a launch, or one in its place, for predictions alone; each once.
    fn count<'d>(
        &mut self,
        counting: &Counting<'d>,
        point: &Point<'d>,
        config: LaunchConfig,
    ) -> Result<Scaled, String> {
        let LaunchConfig { grid, block, .. } = config;
        let key = format!("{} {:?} {grid:?} {block:?}", point.workload, point.values);
        let known = self.known.entry(key);
        known
            .or_insert_with(|| counting.alike(point, config))
            .clone()
    }
}

impl<'d> Counting<'d> {
    /// Counts the launch where it is small, and else one whose sizes are a few times the emulator's: its warps do the same, which one of
    /// half these sizes shows.
    pub(super) fn alike(&self, point: &Point<'d>, config: LaunchConfig) -> Result<Scaled, String> {
        let large: Vec<_> = self.sizes(point);
        let large = large
            .into_iter()
            .filter(|(_, size, least)| *size > 4 * least);
        let large: Vec<_> = large.collect();
        let blocks = |config: LaunchConfig| config.grid.iter().product::<u64>();
        let threads = blocks(config) * config.block_threads();
        if large.is_empty() {
            if threads > FEW_THREADS && !self.is_emulated() {
                return Err(format!(
                    "no axis has sizes for the emulator, and {threads} threads are too many for it"
                ));
            }
            let counted = self.launch(point).map_err(|error| error.to_string())?;
            return Ok(Scaled {
                counts: counted.counts.into(),
                work: counted.work,
                times: 1.0,
            });
        }
        let at = |factor: u64| {
            let mut smaller = point.clone();
            for (place, _, least) in &large {
                smaller.values[*place].1 = Value::Whole(factor * least);
            }
            self.launch(&smaller).map_err(|error| error.to_string())
        };
        let (half, whole) = (at(2)?, at(4)?);
        let per_warp = |counts: &[Counts]| {
            let warps: u64 = counts.iter().map(|it| it.warps).sum();
            Sums::of_launches(counts).warps as f64 / warps.max(1) as f64
        };
        let [of_half, of_whole] = [&half, &whole].map(|it| per_warp(&it.counts));
        let is_alike = (of_half / of_whole - 1.0).abs() <= ALIKE
            && whole.config.block_threads() == config.block_threads();
        match is_alike {
            true => Ok(Scaled {
                times: blocks(config) as f64 / blocks(whole.config) as f64,
                counts: whole.counts.into(),
                work: whole.work,
            }),
            false => Err(format!(
                "a warp's work depends on the size: {of_half:.1} instructions in a small launch, {of_whole:.1} in one of twice the size"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_launch_does_not_stand_for_blocks_that_do_more() {
        let scaled = Scaled {
            counts: Rc::new([]),
            work: Work::default().reads(1024.0),
            times: 8.0,
        };
        assert_eq!(scaled.stands_for(&Work::default().reads(8192.0)), Ok(()));
        let refused = scaled.stands_for(&Work::default().reads(65536.0));
        let refused = refused.expect_err("eight times as much");
        assert!(refused.contains("8.000 times as much"), "{refused}");
    }
}
