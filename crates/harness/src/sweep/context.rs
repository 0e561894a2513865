//! A launch, and the figures that its record compares it with: roofs, ceilings, counts and predictions.

use std::collections::BTreeMap;

use super::count::{Origin, Sum};
use super::predict::Prediction;
use super::timed::Modelled;
use crate::ceilings::Ceilings;
use crate::driver::{DeviceProperties, LaunchConfig};
use crate::measure::{CacheState, Measured};
use crate::model::{
    Attainable, BytesPerSec, FlopsPerSec, Limit, Precision, Roof, Roofs, Situation, Work,
};
use crate::profile::Resources;
use crate::workload::{Case, DTYPE, GridSize, Point, Value};

/// The figures that a point is compared with.
pub(super) struct Context<'a> {
    pub(super) properties: &'a DeviceProperties,
    /// The names of all workloads' axes.
    pub(super) axes: &'a [&'static str],
    /// Of the data sheet, by type; there is one at least.
    pub(super) roofs: &'a BTreeMap<Precision, Roofs>,
    pub(super) ceilings: Option<&'a Ceilings>,
    pub(super) is_checked: bool,
    pub(super) figures: Figures,
    /// The hardware's counts.
    pub(super) measured: Option<Measured>,
    /// Prediction for a GPU that need not be present.
    pub(super) prediction: Option<&'a Prediction>,
    /// Its predicted time, or why there is none; nothing where it was not asked for.
    pub(super) modelled: Option<Result<Modelled, String>>,
    /// Of the kernel on the GPU that ran it.
    pub(super) occupancy: Option<Theoretical>,
}

/// The occupancy that the limits of an architecture allow.
#[derive(Clone, Debug)]
pub(super) struct Theoretical {
    pub(super) percent: f64,
    pub(super) limited_by: Vec<String>,
}

/// The limits that the roofs of a predicted GPU set a launch, also where it computes nothing.
pub(super) struct PredictedTime {
    pub(super) limit: Limit,
    pub(super) bandwidth: BytesPerSec,
    pub(super) seconds: f64,
}

/// State of a launch's bytes and operations, but for the hardware's counts.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Whether the workload says its operations, and its bytes.
    pub(super) says_flop: bool,
    pub(super) says_bytes: bool,
    /// The emulator's counts, or why there are none; `None` where it was not asked.
    pub(super) counted: Option<Result<Sum, String>>,
}

impl Figures {
    /// Of a workload that says as much, and that nobody has counted.
    pub(super) fn of_formula(formula: &Work) -> Figures {
        Figures {
            says_flop: formula.flops().is_some(),
            says_bytes: formula.bytes().is_some(),
            counted: None,
        }
    }

    /// Whether some operations were counted that no roof is for.
    pub(super) fn has_unknown(&self) -> bool {
        self.sum().is_some_and(|it| it.unknown_flop > 0.0)
    }

    pub(super) fn sum(&self) -> Option<&Sum> {
        self.counted.as_ref()?.as_ref().ok()
    }

    /// Why there are no counts, where there should be.
    pub(super) fn reason(&self) -> Option<String> {
        match self.counted.as_ref()? {
            Ok(sum) if sum.unknown_flop > 0.0 => Some(format!(
                "{:.0} of the operations are of a type without a roof here: nothing is predicted",
                sum.unknown_flop
            )),
            Ok(_) => None,
            Err(reason) => Some(reason.clone()),
        }
    }

    /// Where a figure comes from that is known.
    pub(super) fn origin(&self, is_said: bool) -> Option<Origin> {
        match is_said {
            true => Some(Origin::Formula),
            false => self.sum().map(|it| it.origin),
        }
    }
}

/// A launch, as far as its record depends on it.
pub(super) struct Launched<'a> {
    pub(super) workload: &'a str,
    pub(super) values: &'a [(&'static str, Value)],
    pub(super) grid: GridSize,
    pub(super) cache: CacheState,
    pub(super) config: LaunchConfig,
    pub(super) work: &'a Work,
    pub(super) overhead: &'a Work,
    pub(super) load_bytes: Option<u32>,
}

impl<'a> Launched<'a> {
    pub(super) fn new(point: &'a Point<'_>, case: &'a Case<'_>) -> Launched<'a> {
        Launched {
            workload: &point.workload,
            values: &point.values,
            grid: point.grid,
            cache: point.cache,
            config: case.config,
            work: &case.work,
            overhead: &case.overhead,
            load_bytes: case.loads.map(|(bytes, _)| bytes),
        }
    }

    pub(super) fn value(&self, axis: &str) -> Option<&Value> {
        let found = self.values.iter().find(|(name, _)| *name == axis);
        found.map(|(_, value)| value)
    }

    pub(super) fn dtype(&self) -> Option<String> {
        match self.value(DTYPE) {
            Some(value) => Some(value.to_string()),
            None => self.work.precision().map(|it| it.name().to_owned()),
        }
    }

    /// The lowest roof: of `roofs` for memory and `of` for each type's arithmetic.
    pub(super) fn roof(
        &self,
        memory: &Roofs,
        of: impl Fn(Precision) -> Option<Roofs>,
    ) -> Option<Roof> {
        let ceiling = self.work.ceiling(of)?;
        Some(match self.work.intensity() {
            Some(intensity) => memory.limiting(intensity, ceiling),
            None => Roof {
                limit: ceiling.0,
                value: ceiling.1,
            },
        })
    }
}

impl Context<'_> {
    /// Returns what the predicted GPU allows, from the counts or else from the workload's own figures. Overhead takes
    /// time, and is no result.
    pub(super) fn attainable(&self, launched: &Launched<'_>) -> Option<Attainable> {
        if self.figures.has_unknown() {
            return None;
        }
        let roofs = &self.prediction?.roofs;
        let known = launched.work;
        let counted = self.figures.sum().and_then(|sum| {
            let useful = match self.figures.says_flop {
                true => known.clone(),
                false => known.clone().without(launched.overhead),
            };
            roofs.attainable(&sum.work, &useful)
        });
        counted.or_else(|| roofs.attainable(known, known))
    }

    /// Its time and the bytes that move meanwhile, and what limits them; also where nothing is computed.
    pub(super) fn attainable_time(
        &self,
        launched: &Launched<'_>,
        attainable: Option<Attainable>,
    ) -> Option<PredictedTime> {
        if self.figures.has_unknown() {
            return None;
        }
        let roofs = &self.prediction?.roofs;
        if let Some(it) = attainable {
            return Some(PredictedTime {
                limit: it.limit,
                bandwidth: BytesPerSec(it.rate.0 / it.intensity.0),
                seconds: it.seconds,
            });
        }
        let moving = |work: &Work| {
            let (limit, bandwidth) = roofs.bandwidth(work)?;
            Some(PredictedTime {
                limit,
                seconds: work.bytes()? / bandwidth.0,
                bandwidth,
            })
        };
        let counted = self.figures.sum().and_then(|sum| moving(&sum.work));
        counted.or_else(|| moving(launched.work))
    }

    /// On the GPU that ran it, or on the predicted one.
    pub(super) fn theoretical(&self) -> Option<Theoretical> {
        let predicted = || {
            let resources = self.resources()?;
            Some(Theoretical {
                percent: 100.0 * resources.occupancy?,
                limited_by: resources.limited_by,
            })
        };
        self.occupancy.clone().or_else(predicted)
    }

    pub(super) fn resources(&self) -> Option<Resources> {
        let (kernel, config) = self.figures.sum()?.kernel.as_ref()?;
        let Prediction { roofs, report } = self.prediction?;
        Resources::of(report.as_ref()?, kernel, *config, roofs.gpu.capability)
    }

    /// The data sheet's rate for what tensor cores do of the work, where it is known; of other work `lanes`.
    pub(super) fn peak(&self, work: &Work, lanes: FlopsPerSec) -> Option<FlopsPerSec> {
        if work.tensor_types().is_empty() {
            return Some(lanes);
        }
        let ceiling = work.ceiling(|precision| self.roofs.get(&precision).copied());
        ceiling.map(|(_, rate)| rate)
    }

    /// The data sheet's roofs for the work's type; where nothing is computed, those of any type have
    /// memory's.
    pub(super) fn roofs(&self, work: &Work) -> Roofs {
        let of_type = work.precision().and_then(|it| self.roofs.get(&it));
        let any = || self.roofs.values().next();
        *of_type.or_else(any).expect("a sweep has roofs")
    }

    pub(super) fn measured(&self, work: &Work, in_l2: bool) -> Option<Roofs> {
        let precision = work.precision().unwrap_or(Precision::F32);
        self.ceilings?.roofs(precision, in_l2)
    }

    /// Whether the bytes fit into the level 2 cache and stay there from launch to launch.
    pub(super) fn is_in_l2(&self, launched: &Launched<'_>) -> bool {
        let l2_bytes = self.properties.gpu.as_ref().map_or(0, |gpu| gpu.l2_bytes);
        let fits = |bytes| bytes <= l2_bytes as f64;
        launched.cache == CacheState::Warm && launched.work.bytes().is_some_and(fits)
    }

    pub(super) fn situation(
        &self,
        launched: &Launched<'_>,
        seconds: f64,
        roofs: &Roofs,
        arithmetic: Option<(Limit, FlopsPerSec)>,
        in_l2: bool,
    ) -> Situation {
        let blocks: u64 = launched.config.grid.iter().product();
        let threads = blocks * launched.config.block_threads();
        let places = u64::from(self.properties.multiprocessors)
            * u64::from(self.properties.limits.threads_per_multiprocessor);
        let bytes = launched.work.bytes().unwrap_or(0.0);
        let computing = match (launched.work.flops(), arithmetic) {
            (Some(flops), Some((_, rate))) => flops / rate.0,
            _ => 0.0,
        };
        Situation {
            bandwidth_share: bytes / roofs.memory.0 / seconds,
            compute_share: computing / seconds,
            arithmetic: arithmetic.map_or(Limit::Fma, |(limit, _)| limit),
            load_bytes: launched.load_bytes,
            in_l2,
            strides: launched.grid.per_multiprocessor().is_some(),
            is_small: threads < places,
        }
    }
}
