//! A device's ceilings, measured: what its memory, its caches and its arithmetic do at most, and
//! what a load or an operation takes.
//!
//! Each figure is that of the fastest of several launches of kernels that do nothing else
//! (`kernels_gpu::ceilings`), by the median of its times, with every launch's output checked.

mod arithmetic;
mod bench;
mod busy;
mod caches;
mod hopper;
mod host;
mod latency;
mod memory;
mod partitions;
mod quantity;
mod sharing;
mod store;
mod tensor;
mod under_load;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

pub use bench::{BenchError, Effort};
pub use busy::Busy;
pub use host::{HostRoofsError, host_roofs};
pub use quantity::{Quantity, Unit};
pub use store::{Key, StoreError, cache_path, load, load_named, load_roofs, save};
pub use under_load::UnderLoad;
pub(crate) use under_load::{AT_SPEED, crossing};

use crate::driver::Device;
use crate::model::{
    Board, BytesPerSec, FlopsPerSec, Limit, Precision, Roofs, TensorRoofs, TensorType,
};
use crate::workload::Loaded;
use bench::Bench;

/// A measured ceiling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ceiling {
    /// The measured quantity.
    pub quantity: Quantity,
    /// The unit of the values below.
    pub unit: Unit,
    /// The value reached.
    pub value: f64,
    /// Value of the data sheet, or of the hardware's parts.
    pub datasheet: Option<f64>,
    /// The kernel and the launch that reached it.
    pub variant: String,
    /// Median of the launch's times.
    pub median_ms: f64,
    /// Population standard deviation of the times, percent of their mean, where it is known.
    pub rms_percent: Option<f64>,
    /// The multiprocessors' clock meanwhile, from the device's own counters, where they were read.
    pub clock_hz: Option<f64>,
    /// Cycles of that clock, for a latency.
    pub cycles: Option<f64>,
    /// The device that ran it.
    pub device: String,
}

impl Ceiling {
    /// The value as a percentage of the data sheet's.
    pub fn percent(&self) -> Option<f64> {
        self.datasheet.map(|sheet| 100.0 * self.value / sheet)
    }

    /// Whether a rate is more than the data sheet allows, or a latency less.
    pub fn is_implausible(&self) -> bool {
        let percent = match self.unit {
            Unit::Seconds => self.datasheet.map(|sheet| 100.0 * sheet / self.value),
            _ => self.percent(),
        };
        percent.is_some_and(|it| it > PLAUSIBLE_PERCENT)
    }
}

/// Mark of a figure that is more than there can be.
pub(crate) const IMPLAUSIBLE: &str = "implausible";

/// A rate above this percentage of its roof, measured or not, is implausible.
pub(crate) const PLAUSIBLE_PERCENT: f64 = 102.0;

/// The bandwidth at which the same bytes are read again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WorkingSet {
    /// Bytes in all.
    pub bytes: u64,
    /// Bytes that a multiprocessor reads between two readings of the same byte.
    pub bytes_per_multiprocessor: u64,
    /// Bytes per second.
    pub bytes_per_sec: f64,
}

/// All ceilings of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ceilings {
    /// The device.
    pub key: Key,
    /// Whether the device is the emulator: then the figures are this host's, not a GPU's.
    pub emulated: bool,
    /// When they were measured, RFC 3339.
    pub began: String,
    /// Elements, `f32`, of each array of the memory kernels.
    pub n: u64,
    /// The ceilings.
    pub ceilings: Vec<Ceiling>,
    /// The caches' plateaus, ascending by size.
    pub working_sets: Vec<WorkingSet>,
    /// Rates of streams of memory with ever more bytes in flight, stream by stream. Files of earlier versions have none.
    #[serde(default)]
    pub under_load: Vec<UnderLoad>,
    /// Latencies of a load of one thread beside ever more blocks that read, place by place. Files of earlier versions have
    /// none.
    #[serde(default)]
    pub busy: Vec<Busy>,
}

impl Ceilings {
    /// How often [`Ceilings::measure`] tells its `progress` what comes next.
    pub const STEPS: u64 = 10;

    /// Measures all ceilings of a device, some seconds on a GPU. `hopper` is the same device with the kernels for `sm_90a`: a
    /// device without them has no ceilings of tensor cores, clusters and bulk copies. `progress` is told what comes next, and may end it.
    ///
    /// # Errors
    /// [`BenchError::TooLittle`]: `effort` asks for too few elements, launches or bytes;
    /// [`BenchError::Wrong`]: the output of a kernel is not the reference's; [`BenchError::Launches`]:
    /// launches could not be timed; [`BenchError::Stopped`]: `progress` has ended it;
    /// [`BenchError::Driver`]: there is too little memory, or the device refuses a launch.
    pub fn measure(
        device: &Device,
        hopper: Option<&Device>,
        effort: &Effort,
        mut progress: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Ceilings, BenchError> {
        let mut begin = |step| match progress(step) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(BenchError::Stopped),
        };
        let began = jiff::Timestamp::now().to_string();
        let loaded = Loaded::default();
        let bench = Bench::new(device, &loaded, effort)?;
        begin("memory")?;
        let mut ceilings = memory::measure(&bench)?;
        begin("memory under load")?;
        let (loaded_latencies, under_load) = under_load::measure(&bench, &ceilings)?;
        begin("caches and shared memory")?;
        let (cached, working_sets) = caches::measure(&bench)?;
        ceilings.extend(cached);
        begin("banks, atomics, warps and blocks")?;
        ceilings.extend(sharing::measure(&bench)?);
        begin("arithmetic")?;
        ceilings.extend(arithmetic::measure(&bench)?);
        begin("tensor cores")?;
        if let Some(hopper) = hopper {
            ceilings.extend(tensor::measure(&Bench::new(hopper, &loaded, effort)?)?);
        }
        begin("clusters and bulk copies")?;
        if let Some(device) = hopper {
            ceilings.extend(hopper::measure(&Bench::new(device, &loaded, effort)?)?);
        }
        begin("latencies")?;
        ceilings.extend(latency::loads(&bench)?);
        ceilings.extend(partitions::measure(&bench)?);
        ceilings.extend(loaded_latencies);
        begin("latencies under load")?;
        let (busy_latencies, busy) = busy::measure(&bench, &ceilings)?;
        ceilings.extend(busy_latencies);
        begin("launches")?;
        ceilings.extend(latency::launches(&bench)?);
        Ok(Ceilings {
            key: Key::of(device.properties()),
            emulated: device.properties().is_emulated(),
            began,
            n: effort.elements,
            ceilings,
            working_sets,
            under_load,
            busy,
        })
    }

    /// The roofs over kernels that read and write alike: memory copied, or the level 2 cache read
    /// where their data stay there, and the arithmetic of a precision. `peak` is the arithmetic's; tensor
    /// cores have the rates of random numbers, or the data sheet's where they were not measured.
    pub fn roofs(&self, precision: Precision, in_l2: bool) -> Option<Roofs> {
        let value = |quantity| self.get(quantity).map(|ceiling| ceiling.value);
        let memory = if in_l2 {
            Quantity::L2Read
        } else {
            Quantity::MemoryCopy
        };
        let arithmetic = |limit| value(Quantity::arithmetic_rate(precision, limit)?);
        let fma = arithmetic(precision.arithmetic()[0].0)?;
        // Where it is not measured: an add or a multiply takes the slot of a multiply-add.
        let add_mul = arithmetic(Limit::AddMul).unwrap_or(fma / 2.0);
        Some(Roofs {
            memory: BytesPerSec(value(memory)?),
            fma: FlopsPerSec(fma),
            add_mul: FlopsPerSec(add_mul),
            special: value(Quantity::Exp2F32).map(FlopsPerSec),
            tensor: self.tensor_roofs(),
            peak: FlopsPerSec(fma),
        })
    }

    fn tensor_roofs(&self) -> TensorRoofs {
        let board = Board::of(&self.key.device);
        let sheet = board.map_or(TensorRoofs::NONE, Board::tensor_roofs);
        TensorType::ALL.into_iter().fold(sheet, |roofs, element| {
            match Quantity::tensor_rate(element).and_then(|it| self.get(it)) {
                Some(ceiling) => roofs.with_measured(element, FlopsPerSec(ceiling.value)),
                None => roofs,
            }
        })
    }

    /// A figure that is not a finite number above 0, and its name.
    fn implausible(&self) -> Option<(String, f64)> {
        let named = |what: &str, one: &Ceiling| format!("{what} of {}", one.quantity.name());
        let ceilings = self.ceilings.iter().flat_map(|one| {
            let datasheet = one
                .datasheet
                .map(|sheet| (named("the data sheet", one), sheet));
            [(named("the value", one), one.value)]
                .into_iter()
                .chain(datasheet)
        });
        let sets = self.working_sets.iter().map(|set| {
            (
                format!("the rate of {} bytes read again", set.bytes),
                set.bytes_per_sec,
            )
        });
        let mut all = ceilings.chain(sets);
        all.find(|(_, value)| !(value.is_finite() && *value > 0.0))
    }

    /// Returns the latency of a stream's load with the least in flight, where this latency was measured under load.
    pub fn unloaded(&self, loaded: Quantity) -> Option<f64> {
        let first = self.under_load.iter().find(|it| it.quantity == loaded);
        first.map(|it| it.latency)
    }

    /// The ceiling of a quantity, where it was measured.
    pub fn get(&self, quantity: Quantity) -> Option<&Ceiling> {
        self.ceilings.iter().find(|one| one.quantity == quantity)
    }
}
