//! The roofline sweep: everything checked first, then one record a point.

use std::collections::BTreeMap;
use std::ffi::CString;

use cuda_std::launch::Entry;
use kernels_gpu::polynomial::{Element, Polynomial, reference};

use super::check::first_mismatch;
use super::record::Context;
use super::{Axes, Mismatch, Point, Record};
use crate::ceilings::Ceilings;
use crate::driver::{Buffer, Device, DeviceValue, DriverError};
use crate::measure::{self, Sampler, Samples, Sampling};
use crate::model::{Precision, Roofs};

/// What is the same for every point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Launches before the samples, and how many samples.
    pub sampling: Sampling,
    /// Whether each point is measured twice, which shows how much two measurements differ.
    pub twice: bool,
    /// The value of every input element.
    pub x: f64,
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
    /// The result does not fit into the element type.
    #[error("x = {x}, k = {k}: the result, about {result:e}, is more than {dtype} holds")]
    Overflow {
        /// The value of every input element.
        x: f64,
        /// The largest k.
        k: u32,
        /// The result.
        result: f64,
        /// The element type.
        dtype: &'static str,
    },
    /// There is no kernel for this number of elements a thread.
    #[error("no kernel for {vector} elements a thread: there are 1, 2 and 4")]
    Vector {
        /// The number asked for.
        vector: u32,
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
    f32_buffers: Option<Buffers<f32>>,
    f64_buffers: Option<Buffers<f64>>,
}

struct Buffers<T: DeviceValue> {
    x: Buffer<T>,
    y: Buffer<T>,
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
        let points = axes.points();
        check_memory(device, axes)?;
        for point in &points {
            prepare_only(device, point)?;
        }
        check_overflow(axes, settings.x)?;
        let n = largest(axes.n.iter().copied()) as usize;
        let wants = |precision| axes.precisions.contains(&precision);
        let f32_buffers = wants(Precision::F32)
            .then(|| Buffers::new(device, n, settings.x))
            .transpose()?;
        let f64_buffers = wants(Precision::F64)
            .then(|| Buffers::new(device, n, settings.x))
            .transpose()?;
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
            f32_buffers,
            f64_buffers,
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
        let _range = CString::new(point.to_string()).map(nvtx::LocalRange::new);
        let samples = self.sample(point)?;
        let again = match self.settings.twice {
            true => Some(self.sample(point)?),
            false => None,
        };
        let context = Context {
            facts: self.device.facts(),
            roofs: &self.roofs[&point.precision],
            ceilings,
        };
        Record::new(point, samples, again.as_ref(), &context).ok_or(SweepError::NoRuns)
    }

    fn sample(&mut self, point: &Point) -> Result<Samples, SweepError> {
        let (device, sampler, settings) = (self.device, &mut self.sampler, self.settings);
        match point.precision {
            Precision::F32 => run(device, sampler, &mut self.f32_buffers, point, settings),
            Precision::F64 => run(device, sampler, &mut self.f64_buffers, point, settings),
        }
    }
}

impl<T: Element + DeviceValue> Buffers<T> {
    fn new(device: &Device, n: usize, x: f64) -> Result<Self, DriverError> {
        Ok(Buffers {
            x: device.buffer_filled(n, T::from_f64(x))?,
            y: device.buffer_filled(n, T::from_f64(f64::NAN))?,
        })
    }
}

fn run<T: Element + DeviceValue>(
    device: &Device,
    sampler: &mut Sampler<'_>,
    buffers: &mut Option<Buffers<T>>,
    point: &Point,
    settings: Settings,
) -> Result<Samples, SweepError> {
    let prepared = device.prepare(kernel::<T>(point)?, point.shape(device.facts()))?;
    let n = point.n as usize;
    let Buffers { x, y } = buffers
        .as_mut()
        .expect("allocated for each precision of the axes");
    y.poison()?;
    // SAFETY: x and y hold at least n elements of T (`Sweep::new` allocates for the largest n), are
    // apart, aligned as device allocations are, and live past `sample`, which synchronises.
    let samples = unsafe {
        let arguments = (x.first(n), y.first_mut(n), point.k);
        sampler.sample(&prepared, &arguments, point.cache, settings.sampling)
    }?;
    first_mismatch(y, n, T::from_f64(settings.x), point.k)?.map_err(|mismatch| {
        SweepError::Wrong {
            point: Box::new(*point),
            mismatch,
        }
    })?;
    Ok(samples)
}

fn kernel<T: Element>(point: &Point) -> Result<Entry<Polynomial<T>>, SweepError> {
    T::kernel(point.form, point.vector).ok_or(SweepError::Vector {
        vector: point.vector,
    })
}

/// Whether the device allows the point's launch.
fn prepare_only(device: &Device, point: &Point) -> Result<(), SweepError> {
    let shape = point.shape(device.facts());
    match point.precision {
        Precision::F32 => device.prepare(kernel::<f32>(point)?, shape).map(drop)?,
        Precision::F64 => device.prepare(kernel::<f64>(point)?, shape).map(drop)?,
    }
    Ok(())
}

fn check_memory(device: &Device, axes: &Axes) -> Result<(), SweepError> {
    let n = largest(axes.n.iter().copied());
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
        device: device.facts().name.clone(),
    })
}

fn check_overflow(axes: &Axes, x: f64) -> Result<(), SweepError> {
    let k = axes.k.iter().copied().max().unwrap_or(0);
    for precision in &axes.precisions {
        let (x, most) = match precision {
            Precision::F32 => (f64::from(x as f32), f64::from(f32::MAX)),
            Precision::F64 => (x, f64::MAX),
        };
        let result = reference(x, k).scale;
        if result.is_nan() || result > most {
            return Err(SweepError::Overflow {
                x,
                k,
                result,
                dtype: precision.name(),
            });
        }
    }
    Ok(())
}

fn roofs(device: &Device, precision: Precision) -> Result<Roofs, SweepError> {
    let facts = device.facts();
    let Some(gpu) = &facts.gpu else {
        return Ok(measure::host_roofs(precision));
    };
    Roofs::of(facts, precision).ok_or_else(|| SweepError::UnknownGpu {
        device: facts.name.clone(),
        major: gpu.compute_capability.0,
        minor: gpu.compute_capability.1,
    })
}

fn largest(values: impl Iterator<Item = u64>) -> u64 {
    values.max().unwrap_or(0)
}
