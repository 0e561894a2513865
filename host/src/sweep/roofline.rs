//! The roofline sweep: everything checked first, then one record a point.

use std::collections::BTreeMap;

use itertools::Itertools;
use kernels_gpu::polynomial::{ILPS, WIDTHS};

use super::record::Context;
use super::workload::{Workload, workload};
use super::{Axes, Mismatch, Point, Record, TooManyPoints};
use crate::ceilings::Ceilings;
use crate::driver::{Device, DriverError};
use crate::measure::{self, HostRoofsError, Sampler, Samples, Sampling};
use crate::model::{Precision, Roofs};
use crate::trace;

/// What is the same for every point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Launches before the samples, and how many samples.
    pub sampling: Sampling,
    /// Whether each point is measured twice, which shows how much two measurements differ.
    pub twice: bool,
    /// The value of every input number; that of the element type if none is given
    /// ([`Element::X`](kernels_gpu::polynomial::Element::X)).
    pub x: Option<f64>,
}

/// Why a sweep cannot begin, or a point has no record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The buffers do not fit into the device's memory.
    #[error("n = {n} in {dtypes} takes {needed} bytes for x and y; {device} has {free} free")]
    Memory {
        /// The largest n.
        n: u64,
        /// The element types.
        dtypes: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// The device's name.
        device: String,
    },
    /// The emulator's roofs cannot be measured.
    #[error(transparent)]
    HostRoofs(#[from] HostRoofsError),
    /// The result does not fit into the element type.
    #[error("x = {x:e}, k = {k}: the result, about {result:e}, is more than {dtype} holds")]
    Overflow {
        /// The value of every input number.
        x: f64,
        /// The largest k.
        k: u32,
        /// The result.
        result: f64,
        /// The element type.
        dtype: &'static str,
    },
    /// The element type makes 0 or infinity of the number.
    #[error("x = {x:e} is {value} in {dtype}")]
    NotHeld {
        /// The value of every input number.
        x: f64,
        /// What the element type makes of it.
        value: f64,
        /// The element type.
        dtype: &'static str,
    },
    /// The last number has no other to make a pair.
    #[error("n = {n} is odd: {dtype} takes numbers in pairs")]
    Odd {
        /// The numbers in all.
        n: u64,
        /// The element type.
        dtype: &'static str,
    },
    /// There is no kernel for so much work a thread.
    #[error(
        "no kernel for {ilp} vectors of {vector} elements per thread: choose {} vectors of {}",
        ILPS.iter().join(", "),
        WIDTHS.iter().join(", ")
    )]
    Work {
        /// The elements asked for.
        vector: u32,
        /// The vectors asked for.
        ilp: u32,
    },
    /// The roofs of this GPU are not known.
    #[error("{device}: the arithmetic lanes of compute capability {major}.{minor} are not known")]
    UnknownGpu {
        /// The device's name.
        device: String,
        /// Major compute capability.
        major: u32,
        /// Minor compute capability.
        minor: u32,
    },
    /// The kernel computed something else.
    #[error("{point}: wrong result: {mismatch}")]
    Wrong {
        /// Where.
        point: Box<Point>,
        /// What.
        mismatch: Mismatch,
    },
    /// There are too many points.
    #[error(transparent)]
    Points(#[from] TooManyPoints),
    /// The measurement has no samples.
    #[error("no timed launches: at least one is needed")]
    NoRuns,
    /// The driver's error.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// A sweep that its device can run, with its memory allocated.
pub struct Sweep<'d> {
    device: &'d Device,
    sampler: Sampler<'d>,
    settings: Settings,
    points: Vec<Point>,
    roofs: BTreeMap<Precision, Roofs>,
    workloads: BTreeMap<Precision, Box<dyn Workload>>,
}

impl<'d> Sweep<'d> {
    /// Checks every point against the device's limits, and allocates.
    ///
    /// # Errors
    /// A launch is over a limit, the memory does not suffice, the results overflow, or the GPU is
    /// of a kind whose roofs are not known.
    pub fn new(device: &'d Device, axes: &Axes, settings: Settings) -> Result<Self, SweepError> {
        if settings.sampling.runs.timed == 0 {
            return Err(SweepError::NoRuns);
        }
        axes.check()?;
        let points = axes.points();
        check_memory(device, axes)?;
        let workloads = axes
            .precisions
            .iter()
            .map(|&precision| {
                let points = points.iter().filter(|point| point.precision == precision);
                let workload = workload(device, precision, points, settings.x)?;
                Ok((precision, workload))
            })
            .collect::<Result<_, SweepError>>()?;
        let roofs = axes
            .precisions
            .iter()
            .map(|&precision| Ok((precision, roofs(device, precision)?)))
            .collect::<Result<_, SweepError>>()?;
        Ok(Sweep {
            device,
            sampler: Sampler::new(device, settings.sampling.runs.timed)?,
            settings,
            points,
            roofs,
            workloads,
        })
    }

    /// The points, in order.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The roofs for each precision of the sweep.
    pub fn roofs(&self) -> &BTreeMap<Precision, Roofs> {
        &self.roofs
    }

    /// Launches the point's kernel, times it, compares its output with the reference, and its speed
    /// with the data sheet and with the device's ceilings, where they are known.
    ///
    /// # Errors
    /// The driver's, or an element is wrong.
    pub fn measure(
        &mut self,
        point: &Point,
        ceilings: Option<&Ceilings>,
    ) -> Result<Record, SweepError> {
        let _range = trace::range(point);
        let samples = self.sample(point)?;
        let again = match self.settings.twice {
            true => Some(self.sample(point)?),
            false => None,
        };
        let context = Context {
            facts: self.device.properties(),
            roofs: &self.roofs[&point.precision],
            ceilings,
        };
        Record::new(point, samples, again.as_ref(), &context).ok_or(SweepError::NoRuns)
    }

    fn sample(&mut self, point: &Point) -> Result<Samples, SweepError> {
        let workload = self.workloads.get_mut(&point.precision);
        let workload = workload.expect("there is one for each precision of the axes");
        workload.sample(
            self.device,
            &mut self.sampler,
            point,
            self.settings.sampling,
        )
    }
}

fn check_memory(device: &Device, axes: &Axes) -> Result<(), SweepError> {
    let n = axes.n.iter().copied().max().unwrap_or(0);
    let bytes: u64 = axes
        .precisions
        .iter()
        .map(|one| u64::from(one.bytes()))
        .sum();
    let needed = n.saturating_mul(2 * bytes);
    let free = device.free_memory()?;
    if needed <= free {
        return Ok(());
    }
    let dtypes: Vec<&str> = axes
        .precisions
        .iter()
        .map(|precision| precision.name())
        .collect();
    Err(SweepError::Memory {
        n,
        dtypes: dtypes.join(" and "),
        needed,
        free,
        device: device.properties().name.clone(),
    })
}

fn roofs(device: &Device, precision: Precision) -> Result<Roofs, SweepError> {
    let facts = device.properties();
    if facts.is_emulated() {
        return Ok(measure::host_roofs(precision)?);
    }
    Roofs::of(facts, precision).ok_or_else(|| SweepError::UnknownGpu {
        device: facts.name.clone(),
        major: facts.compute_capability.0,
        minor: facts.compute_capability.1,
    })
}
