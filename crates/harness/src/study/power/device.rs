//! The device's part of the iteration: steps, looks at them, and the matrix.

use std::f64::consts::TAU;
use std::ops::Range;

use cuda_std::launch::Slice;
use kernels_gpu::power::{BLOCK, inspect, with_spectrum};

use super::{Checkpoint, PowerPlan};
use crate::driver::{
    Device, DeviceBuffer, DriverError, Event, Graph, LaunchConfig, Pending, Pinned, Prepared,
    Stream,
};
use crate::study::{StudyError, through};
use crate::vector::{Normalize, Product};

/// An iteration under way on a device.
pub(super) struct Iteration<'d, S> {
    pub(super) stream: Stream<'d>,
    /// Where looks are inspected and copied to the host.
    looks: Stream<'d>,
    /// Dropped before the steps: NCCL waits for graphs of its collectives.
    graphs: Option<Graphs<'d>>,
    pub(super) steps: S,
    check_every: u64,
    /// Page-locked memory for looks.
    host: Vec<Pinned<f64>>,
    /// The end of the steps so far.
    last: Option<Event<'d>>,
    /// How many steps these are.
    pub(super) given: u64,
}

/// A matrix and a vector, and what a step is made of.
pub(super) trait Steps {
    /// A step.
    fn step(&mut self, stream: &Stream<'_>) -> Result<(), StudyError>;

    /// A step that keeps in place `slot` what a look at the vector before it is made of. The last look in this place has been read.
    fn look(&mut self, stream: &Stream<'_>, slot: usize) -> Result<(), StudyError>;

    /// Makes the look of what [`Steps::look`] has kept in that place, in a stream that comes behind it: the next steps may be under
    /// way.
    fn inspect(&mut self, stream: &Stream<'_>, slot: usize) -> Result<(), StudyError>;

    /// The look in that place: Rayleigh's quotient, the residual, and the vector.
    fn seen(&self, slot: usize) -> &DeviceBuffer<f64>;

    /// Fails if the numbers that a look shows are none because another device has sent nothing.
    fn check(&self) -> Result<(), StudyError>;

    /// Waits for all work of the stream.
    fn synchronize(&self, stream: &Stream<'_>) -> Result<(), StudyError>;
}

/// All of the matrix on one device.
pub(super) struct Alone<'d> {
    product: Product<'d, f64>,
    normalize: Normalize<'d, f64>,
    inspect: Inspect<'d>,
    a: DeviceBuffer<f64>,
    x: DeviceBuffer<f64>,
    y: DeviceBuffer<f64>,
    norm: DeviceBuffer<f64>,
}

/// How a device looks at its vector. The next look is taken while the last is copied, so there are two places.
pub(super) struct Inspect<'d> {
    prepared: Prepared<'d, inspect>,
    seen: [DeviceBuffer<f64>; 2],
}

struct Graphs<'d> {
    look: [Graph<'d>; 2],
    rest: Graph<'d>,
}

/// The device's look at its vector: the quotient, the residual, and the vector.
pub(super) struct Look(Pinned<f64>);

impl Look {
    /// Whether there are numbers in it.
    pub(super) fn has_numbers(&self) -> bool {
        !self.0[1].is_nan()
    }

    pub(super) fn checkpoint(&self, plan: &PowerPlan, step: u64) -> Checkpoint {
        Checkpoint {
            step,
            seed: plan.seed,
            dominance: plan.dominance,
            eigenvalue: self.0[0],
            residual: self.0[1],
            vector: self.0[2..].to_vec(),
        }
    }
}

impl<'d> Iteration<'d, Alone<'d>> {
    /// The plan's matrix, and its first vector or the one to go on from.
    pub(super) fn alone(
        device: &'d Device,
        plan: &PowerPlan,
        vector: Option<&[f64]>,
    ) -> Result<Self, StudyError> {
        let n = plan.dim;
        let (matrix, first) = start(plan);
        let steps = Alone {
            product: Product::new(device, n as u32)?,
            normalize: Normalize::new(device, n)?,
            inspect: Inspect::new(device, n)?,
            a: matrix.rows(device, 0..n)?,
            x: device.buffer_from(vector.unwrap_or(&first))?,
            y: device.buffer_zeroed(n)?,
            norm: device.buffer_zeroed(1)?,
        };
        Iteration::of(device, plan, steps)
    }
}

impl<'d, S: Steps> Iteration<'d, S> {
    /// These steps.
    pub(super) fn of(device: &'d Device, plan: &PowerPlan, steps: S) -> Result<Self, StudyError> {
        Ok(Iteration {
            stream: Stream::new(device)?,
            looks: Stream::new(device)?,
            steps,
            check_every: plan.check_every,
            graphs: None,
            host: (0..2)
                .map(|_| device.pinned(plan.dim + 2, 0.0))
                .collect::<Result<_, _>>()?,
            last: None,
            given: 0,
        })
    }

    /// Puts the steps into graphs: from now on they are replayed.
    pub(super) fn capture(&mut self) -> Result<(), StudyError> {
        let (stream, steps) = (&self.stream, &mut self.steps);
        self.graphs = Some(Graphs {
            look: [
                captured(stream, || inspected(steps, stream, 0))?,
                captured(stream, || inspected(steps, stream, 1))?,
            ],
            rest: captured(stream, || rest(steps, stream, self.check_every))?,
        });
        Ok(())
    }

    /// A step, with a look at the vector before it, into place `slot`, from which the last look has been read.
    pub(super) fn look(&mut self, slot: usize) -> Result<(), StudyError> {
        match &self.graphs {
            // SAFETY: the graph's buffers are those of `steps`, before which `drop` waits.
            Some(graphs) => unsafe { graphs.look[slot].launch(&self.stream) }?,
            None => self.steps.look(&self.stream, slot)?,
        }
        self.given += 1;
        Ok(())
    }

    /// The steps until the next look.
    pub(super) fn rest(&mut self) -> Result<(), StudyError> {
        match &self.graphs {
            // SAFETY: as in `look`.
            Some(graphs) => unsafe { graphs.rest.launch(&self.stream) }?,
            None => rest(&mut self.steps, &self.stream, self.check_every)?,
        }
        self.given += self.check_every - 1;
        self.last = Some(self.stream.record()?);
        Ok(())
    }

    /// Copies a look to the host, and waits for it.
    pub(super) fn read(&mut self, slot: usize) -> Result<Look, StudyError> {
        if self.graphs.is_none() {
            self.steps.inspect(&self.stream, slot)?;
        }
        self.last = Some(self.stream.record()?);
        let mut host = self.host.pop().expect("`recycle` brings it back");
        self.stream.read(self.steps.seen(slot), 0, &mut host)?;
        Ok(Look(host))
    }

    /// Begins to make a look and to copy it to the host, beside the steps that follow.
    pub(super) fn begin_read(&mut self, slot: usize) -> Result<Pending<'d, f64>, StudyError> {
        // No launch begins ahead across an event, so this one costs the next product its start before the look has ended. One place
        // later it would cost another launch that, and the look would wait for the product.
        self.looks.wait_event(&self.stream.mark()?)?;
        if self.graphs.is_none() {
            self.steps.inspect(&self.looks, slot)?;
        }
        let host = self.host.pop().expect("`recycle` brings it back");
        let copy = self.looks.download(self.steps.seen(slot), 0, host);
        Ok(copy.map_err(DriverError::from)?)
    }

    /// Fails if there are no numbers in a look because another device has sent nothing.
    pub(super) fn check(&self, look: &Look) -> Result<(), StudyError> {
        match look.has_numbers() {
            true => Ok(()),
            false => self.steps.check(),
        }
    }

    /// Takes back what [`Iteration::read`] or a finished copy has given.
    pub(super) fn recycle(&mut self, look: Look) {
        self.host.push(look.0);
    }

    /// The end of the steps, which the device has come to.
    pub(super) fn end(&self) -> Result<Option<&Event<'d>>, StudyError> {
        self.steps.synchronize(&self.stream)?;
        Ok(self.last.as_ref())
    }
}

/// Waits for a copy that [`Iteration::begin_read`] has begun.
pub(super) fn finish(copy: Pending<'_, f64>) -> Result<Look, DriverError> {
    copy.wait().map(Look)
}

impl<S> Drop for Iteration<'_, S> {
    fn drop(&mut self) {
        let _ = self.stream.synchronize();
        let _ = self.looks.synchronize();
    }
}

/// A step with its look, all in one stream: what a graph forks it has to join.
fn inspected(steps: &mut impl Steps, stream: &Stream<'_>, slot: usize) -> Result<(), StudyError> {
    steps.look(stream, slot)?;
    steps.inspect(stream, slot)
}

fn rest(steps: &mut impl Steps, stream: &Stream<'_>, check_every: u64) -> Result<(), StudyError> {
    (1..check_every).try_for_each(|_| steps.step(stream))
}

/// A graph of what `work` puts into the stream.
fn captured<'d>(
    stream: &Stream<'d>,
    work: impl FnOnce() -> Result<(), StudyError>,
) -> Result<Graph<'d>, StudyError> {
    through(|pass| stream.capture(|| pass(work())))
}

impl Steps for Alone<'_> {
    fn step(&mut self, stream: &Stream<'_>) -> Result<(), StudyError> {
        self.multiply(stream)?;
        Ok(self.normalize(stream)?)
    }

    fn look(&mut self, stream: &Stream<'_>, slot: usize) -> Result<(), StudyError> {
        self.multiply(stream)?;
        let (x, y) = (self.x.slice(..), self.y.slice(..));
        // SAFETY: an iteration waits before the buffers go.
        unsafe { self.inspect.launch(stream, x, y, slot) }?;
        Ok(self.normalize(stream)?)
    }

    /// There is nothing left to do: the step overwrites both vectors, so `look` inspects them in its midst.
    fn inspect(&mut self, _: &Stream<'_>, _: usize) -> Result<(), StudyError> {
        Ok(())
    }

    fn seen(&self, slot: usize) -> &DeviceBuffer<f64> {
        self.inspect.seen(slot)
    }

    fn check(&self) -> Result<(), StudyError> {
        Ok(())
    }

    fn synchronize(&self, stream: &Stream<'_>) -> Result<(), StudyError> {
        Ok(stream.synchronize()?)
    }
}

impl Alone<'_> {
    /// y = A x
    fn multiply(&mut self, stream: &Stream<'_>) -> Result<(), DriverError> {
        let (a, x, y) = (self.a.slice(..), self.x.slice(..), self.y.slice_mut(..));
        // SAFETY: as in `look`.
        unsafe { self.product.launch(stream, a, x, y) }
    }

    /// x = y / ‖y‖
    fn normalize(&mut self, stream: &Stream<'_>) -> Result<(), DriverError> {
        let (y, x, norm) = (
            self.y.slice(..),
            self.x.slice_mut(..),
            self.norm.slice_mut(..),
        );
        // SAFETY: as in `look`.
        unsafe { self.normalize.launch(stream, y, x, norm) }
    }
}

impl<'d> Inspect<'d> {
    pub(super) fn new(device: &'d Device, n: usize) -> Result<Self, DriverError> {
        let seen = || device.buffer_zeroed(n + 2);
        Ok(Inspect {
            prepared: device.prepare(inspect::entry(), LaunchConfig::blocks(1, BLOCK))?,
            seen: [seen()?, seen()?],
        })
    }

    /// Looks at `x`, of which the matrix makes `y`.
    ///
    /// # Safety
    /// As for [`Prepared::launch`]: the buffers live until the stream has been synchronised.
    pub(super) unsafe fn launch(
        &mut self,
        stream: &Stream<'_>,
        x: Slice<'_, f64>,
        y: Slice<'_, f64>,
        slot: usize,
    ) -> Result<(), DriverError> {
        assert_eq!(
            (x.len() + 2, y.len()),
            (self.seen[slot].len(), x.len()),
            "elements"
        );
        let arguments = (x, y, self.seen[slot].slice_mut(..));
        // SAFETY: y is as long as x, and a look is two longer; the caller vouches for the rest.
        unsafe { self.prepared.launch(stream, &arguments) }
    }

    pub(super) fn seen(&self, slot: usize) -> &DeviceBuffer<f64> {
        &self.seen[slot]
    }
}

/// A symmetric matrix with the eigenvalues 1, `1 - dominance`, and others from 0 to that.
pub(super) struct Matrix {
    spectrum: Vec<f64>,
    mirror: Vec<f64>,
}

/// The plan's matrix and first vector.
pub(super) fn start(plan: &PowerPlan) -> (Matrix, Vec<f64>) {
    let mut random = fastrand::Rng::with_seed(plan.seed);
    let n = plan.dim;
    let next = 1.0 - plan.dominance;
    let mut spectrum: Vec<f64> = (0..n).map(|_| next * random.f64()).collect();
    spectrum[0] = 1.0;
    if let Some(second) = spectrum.get_mut(1) {
        *second = next;
    }
    let mirror = unit(normals(n, &mut random));
    (Matrix { spectrum, mirror }, unit(normals(n, &mut random)))
}

impl Matrix {
    /// Some of its rows on a device; those behind the last are zeros.
    pub(super) fn rows(
        &self,
        device: &Device,
        rows: Range<usize>,
    ) -> Result<DeviceBuffer<f64>, DriverError> {
        let n = self.spectrum.len();
        let mut a = device.buffer_zeroed(rows.len() * n)?;
        let rows = rows.start..rows.end.min(n);
        if rows.is_empty() {
            return Ok(a);
        }
        let weighed = self.mirror.iter().zip(&self.spectrum);
        let middle: f64 = weighed.map(|(v, d)| v * v * d).sum();
        let d = device.buffer_from(&self.spectrum)?;
        let v = device.buffer_from(&self.mirror)?;
        let config = LaunchConfig::blocks(rows.len() as u64, BLOCK);
        let make = device.prepare(with_spectrum::entry(), config)?;
        let stream = Stream::new(device)?;
        let arguments = (
            d.slice(..),
            v.slice(..),
            middle,
            rows.start,
            a.slice_mut(..),
        );
        // SAFETY: v is as long as d, a has these rows, all below n, and there is a block a row; waited for below.
        unsafe { make.launch(&stream, &arguments) }?;
        stream.synchronize()?;
        Ok(a)
    }
}

/// Normally distributed numbers, by Box and Muller's method.
fn normals(n: usize, random: &mut fastrand::Rng) -> Vec<f64> {
    let mut normal = || {
        let (radius, angle) = (1.0 - random.f64(), random.f64());
        (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
    };
    (0..n).map(|_| normal()).collect()
}

fn unit(mut x: Vec<f64>) -> Vec<f64> {
    let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
    for x in &mut x {
        *x /= length;
    }
    x
}
