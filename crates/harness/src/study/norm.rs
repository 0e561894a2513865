//! `y = x / ‖x‖` in a loop: with the norm brought to the host each time, and with it left on the
//! device.

use std::fmt;
use std::ops::ControlFlow;

use serde::Serialize;
use tracing::trace_span;

use super::pattern::Pattern;
use super::rounds::{GoOn, PerIteration, rounded};
use super::{Rounds, StudyError};
use crate::driver::{Device, DeviceBuffer, DriverError, Stream};
use crate::vector::{Divide, Norm, Normalize, Real, Scaled};

/// Where the norm goes before the vector is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormMode {
    /// To the host, which waits for it and launches the scaling with it.
    Host,
    /// It stays on the device: two launches.
    Device,
    /// One cooperative launch does all.
    Fused,
    /// As fused, ten at once from a graph.
    Graph,
}

/// Normalizations in a graph.
const GRAPH: u32 = 10;

impl fmt::Display for NormMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            NormMode::Host => "host",
            NormMode::Device => "device",
            NormMode::Fused => "fused",
            NormMode::Graph => "graph",
        })
    }
}

/// The times of an iteration, in the median.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NormRow {
    /// Where the norm goes: `host`, `device`, `fused` or `graph`.
    pub mode: String,
    /// `f32` or `f64`.
    pub dtype: &'static str,
    /// Elements.
    pub n: usize,
    /// Microseconds of the host an iteration, its waits included.
    pub host_us: f64,
    /// Microseconds of the device an iteration, idle time included.
    pub device_us: f64,
    /// 1e9 bytes per second, counting one read and one write of each element.
    pub gigabytes_per_second: f64,
    /// Launches per iteration, counted at the driver gate.
    pub launches: f64,
    /// Copies per iteration, counted there.
    pub copies: f64,
    /// Waits of the host an iteration, counted there.
    pub waits: f64,
    /// The device that ran it.
    pub device: String,
    /// Whether norm and elements agreed with the float64 reference.
    pub checked: bool,
}

/// A vector on a device, and what normalizes it.
pub struct NormStudy<'d, T: Real> {
    device: &'d Device,
    stream: Stream<'d>,
    n: usize,
    pattern: Pattern<T>,
    x: DeviceBuffer<T>,
    y: DeviceBuffer<T>,
    norm: DeviceBuffer<T>,
    nrm2: Norm<'d, T>,
    scale: Scaled<'d, T>,
    divide: Divide<'d, T>,
    normalize: Normalize<'d, T>,
}

/// The time of an iteration, unless the measurement was ended.
type Timed = Result<Option<PerIteration>, DriverError>;

impl<'d, T: Real> NormStudy<'d, T> {
    /// Fails if a vector of `n` elements and its scaled copy do not fit into the device's memory.
    ///
    /// # Errors
    /// As [`Device::check_memory`]: [`DriverError::OutOfMemory`].
    pub fn check_memory(device: &Device, n: usize) -> Result<(), DriverError> {
        device.check_memory((n as u64).saturating_mul(2 * size_of::<T>() as u64))
    }

    /// A random vector of `n` elements.
    ///
    /// # Errors
    /// [`StudyError::Driver`]: [`DriverError::OutOfMemory`], or the device has no such kernels.
    pub fn new(device: &'d Device, n: usize) -> Result<Self, StudyError> {
        let pattern = Pattern::new(n);
        Ok(NormStudy {
            device,
            stream: Stream::new(device)?,
            n,
            x: pattern.part(device, 0..n)?,
            pattern,
            y: device.buffer_zeroed(n)?,
            norm: device.buffer_zeroed(1)?,
            nrm2: Norm::new(device, n)?,
            scale: Scaled::new(device, n)?,
            divide: Divide::new(device, n)?,
            normalize: Normalize::new(device, n)?,
        })
    }

    /// Runs the loop in one mode, and checks what it has computed. In a graph the iterations are
    /// rounded up to whole ones.
    ///
    /// # Errors
    /// [`StudyError::Wrong`]: the norm or an element is not the reference's; [`StudyError::Driver`]: the
    /// device refuses a launch, a copy or a capture, or a kernel failed.
    pub fn measure(&mut self, mode: NormMode, rounds: Rounds) -> Result<NormRow, StudyError> {
        let row = self.measure_while(mode, rounds, &mut || ControlFlow::Continue(()))?;
        Ok(row.unwrap_or_else(|| unreachable!("nobody asks for an end")))
    }

    /// As [`NormStudy::measure`], for as long as `go_on` says so, which is asked before each round: `None` if it has ended the
    /// measurement.
    ///
    /// # Errors
    /// As [`NormStudy::measure`].
    pub fn measure_while(
        &mut self,
        mode: NormMode,
        rounds: Rounds,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Option<NormRow>, StudyError> {
        let range = trace_span!("normalize", color = "blue", payload = self.n as u64, %mode);
        let _range = range.entered();
        self.y.poison()?;
        self.norm.poison()?;
        let times = match mode {
            NormMode::Host => self.on_host(rounds, go_on),
            NormMode::Device => self.on_device(rounds, go_on),
            NormMode::Fused => self.fused(rounds, go_on),
            NormMode::Graph => self.in_graph(rounds, go_on),
        }?;
        let Some(times) = times else {
            return Ok(None);
        };
        let norm = self.norm.to_vec()?[0].into();
        self.pattern.check(mode, norm, 0..self.n, &self.y)?;
        let bytes = (2 * self.n * size_of::<T>()) as f64;
        Ok(Some(NormRow {
            mode: mode.to_string(),
            dtype: T::NAME,
            n: self.n,
            host_us: rounded(times.host_us),
            device_us: rounded(times.device_us),
            gigabytes_per_second: rounded(bytes / times.device_us / 1e3),
            launches: times.launches,
            copies: times.copies,
            waits: times.waits,
            device: self.device.properties().name.clone(),
            checked: true,
        }))
    }

    fn on_host(&mut self, rounds: Rounds, go_on: &mut GoOn<'_>) -> Timed {
        let mut norm = [T::default()];
        rounds.run_while(go_on, &self.stream, |_| {
            // SAFETY: all buffers are as long as `self`, which waits for its stream before they go.
            unsafe {
                self.nrm2
                    .launch(&self.stream, self.x.slice(..), self.norm.slice_mut(..))
            }?;
            self.stream.read(&self.norm, 0, &mut norm)?;
            let factor = T::from_f64(1.0) / norm[0];
            // SAFETY: as above.
            unsafe {
                self.scale
                    .launch(&self.stream, factor, self.x.slice(..), self.y.slice_mut(..))
            }
        })
    }

    fn on_device(&mut self, rounds: Rounds, go_on: &mut GoOn<'_>) -> Timed {
        rounds.run_while(go_on, &self.stream, |_| {
            // SAFETY: as in `on_host`.
            unsafe {
                self.nrm2
                    .launch(&self.stream, self.x.slice(..), self.norm.slice_mut(..))?;
                self.divide.launch(
                    &self.stream,
                    self.norm.slice(..),
                    self.x.slice(..),
                    self.y.slice_mut(..),
                )
            }
        })
    }

    fn fused(&mut self, rounds: Rounds, go_on: &mut GoOn<'_>) -> Timed {
        rounds.run_while(go_on, &self.stream, |_| {
            // SAFETY: as in `on_host`.
            unsafe {
                self.normalize.launch(
                    &self.stream,
                    self.x.slice(..),
                    self.y.slice_mut(..),
                    self.norm.slice_mut(..),
                )
            }
        })
    }

    fn in_graph(&mut self, rounds: Rounds, go_on: &mut GoOn<'_>) -> Timed {
        let graph = self.stream.capture(|| {
            (0..GRAPH).try_for_each(|_| {
                // SAFETY: as in `on_host`; the graph goes before them.
                unsafe {
                    self.normalize.launch(
                        &self.stream,
                        self.x.slice(..),
                        self.y.slice_mut(..),
                        self.norm.slice_mut(..),
                    )
                }
            })
        })?;
        let rounds = Rounds {
            iterations: rounds.iterations.next_multiple_of(GRAPH),
            ..rounds
        };
        rounds.run_while(go_on, &self.stream, |i| match i % GRAPH {
            // SAFETY: as above.
            0 => unsafe { graph.launch(&self.stream) },
            _ => Ok(()),
        })
    }
}

impl<T: Real> Drop for NormStudy<'_, T> {
    /// Waits for what a failed measurement may have left in the stream.
    fn drop(&mut self) {
        let _ = self.stream.synchronize();
    }
}
