//! The device's part of the iteration: a matrix, its vector, and the steps.

use std::f64::consts::TAU;

use kernels_gpu::power::{BLOCK, inspect, with_spectrum};

use super::{Checkpoint, PowerPlan};
use crate::driver::{
    Device, DeviceBuffer, DriverError, Event, Graph, LaunchConfig, Pending, Pinned, Prepared,
    Stream,
};
use crate::vector::{Normalize, Product};

/// An iteration under way on a device.
pub(super) struct Iteration<'d> {
    pub(super) stream: Stream<'d>,
    /// Where looks are copied to the host.
    copies: Stream<'d>,
    steps: Steps<'d>,
    graphs: Option<Graphs<'d>>,
    /// Page-locked memory for looks.
    host: Vec<Pinned<f64>>,
    /// The end of the steps so far.
    last: Option<Event<'d>>,
}

/// A matrix and a vector on a device, and what a step is made of.
struct Steps<'d> {
    check_every: u64,
    product: Product<'d, f64>,
    normalize: Normalize<'d, f64>,
    inspect: Prepared<'d, inspect>,
    a: DeviceBuffer<f64>,
    x: DeviceBuffer<f64>,
    y: DeviceBuffer<f64>,
    norm: DeviceBuffer<f64>,
    /// Two looks: the next is taken while the last is copied.
    seen: [DeviceBuffer<f64>; 2],
}

struct Graphs<'d> {
    look: [Graph<'d>; 2],
    rest: Graph<'d>,
}

/// What the device has seen of its vector: the quotient, the residual, and the vector.
pub(super) struct Look(Pinned<f64>);

impl Look {
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

impl<'d> Iteration<'d> {
    /// The plan's matrix, and its first vector or the one to go on from.
    pub(super) fn new(
        device: &'d Device,
        plan: &PowerPlan,
        vector: Option<&[f64]>,
    ) -> Result<Self, DriverError> {
        let n = plan.dim;
        let mut random = fastrand::Rng::with_seed(plan.seed);
        let a = matrix(device, plan, &mut random)?;
        let first = unit(normals(n, &mut random));
        let seen = || device.buffer_zeroed(n + 2);
        Ok(Iteration {
            stream: Stream::new(device)?,
            copies: Stream::new(device)?,
            steps: Steps {
                check_every: plan.check_every,
                product: Product::new(device, n as u32)?,
                normalize: Normalize::new(device, n)?,
                inspect: device.prepare(inspect::entry(), LaunchConfig::blocks(1, BLOCK))?,
                a,
                x: device.buffer_from(vector.unwrap_or(&first))?,
                y: device.buffer_zeroed(n)?,
                norm: device.buffer_zeroed(1)?,
                seen: [seen()?, seen()?],
            },
            graphs: None,
            host: (0..2)
                .map(|_| device.pinned(n + 2, 0.0))
                .collect::<Result<_, _>>()?,
            last: None,
        })
    }

    /// Puts the steps into graphs: from now on they are replayed.
    pub(super) fn capture(&mut self) -> Result<(), DriverError> {
        let Iteration { stream, steps, .. } = self;
        self.graphs = Some(Graphs {
            look: [
                stream.capture(|| steps.look(stream, 0))?,
                stream.capture(|| steps.look(stream, 1))?,
            ],
            rest: stream.capture(|| steps.rest(stream))?,
        });
        Ok(())
    }

    /// A step, with a look at the vector before it, into place `slot`.
    pub(super) fn look(&mut self, slot: usize) -> Result<(), DriverError> {
        match &self.graphs {
            // SAFETY: the graph's buffers are those of `steps`, before which `drop` waits.
            Some(graphs) => unsafe { graphs.look[slot].launch(&self.stream) },
            None => self.steps.look(&self.stream, slot),
        }
    }

    /// The steps until the next look.
    pub(super) fn rest(&mut self) -> Result<(), DriverError> {
        match &self.graphs {
            // SAFETY: as in `look`.
            Some(graphs) => unsafe { graphs.rest.launch(&self.stream) }?,
            None => self.steps.rest(&self.stream)?,
        }
        self.last = Some(self.stream.record()?);
        Ok(())
    }

    /// Copies a look to the host, and waits for it.
    pub(super) fn read(&mut self, slot: usize) -> Result<Look, DriverError> {
        self.last = Some(self.stream.record()?);
        let mut host = self.host.pop().expect("`recycle` brings it back");
        self.stream.read(&self.steps.seen[slot], 0, &mut host)?;
        Ok(Look(host))
    }

    /// Begins to copy a look to the host, beside the steps that follow.
    pub(super) fn begin_read(&mut self, slot: usize) -> Result<Pending<'d, f64>, DriverError> {
        self.copies.wait_event(&self.stream.mark()?)?;
        let host = self.host.pop().expect("`recycle` brings it back");
        Ok(self.copies.download(&self.steps.seen[slot], 0, host)?)
    }

    /// Takes back what [`Iteration::read`] or a finished copy has given.
    pub(super) fn recycle(&mut self, look: Look) {
        self.host.push(look.0);
    }

    /// The end of the steps, which the device has come to.
    pub(super) fn end(&self) -> Result<Option<&Event<'d>>, DriverError> {
        self.stream.synchronize()?;
        Ok(self.last.as_ref())
    }
}

/// Waits for a copy that [`Iteration::begin_read`] has begun.
pub(super) fn finish(copy: Pending<'_, f64>) -> Result<Look, DriverError> {
    copy.wait().map(Look)
}

impl Drop for Iteration<'_> {
    fn drop(&mut self) {
        let _ = self.stream.synchronize();
    }
}

impl Steps<'_> {
    /// A step, with a look at the vector before it.
    fn look(&mut self, stream: &Stream<'_>, slot: usize) -> Result<(), DriverError> {
        self.multiply(stream)?;
        let arguments = (
            self.x.slice(..),
            self.y.slice(..),
            self.seen[slot].slice_mut(..),
        );
        // SAFETY: y is as long as x, and a look is two longer; an iteration waits before they go.
        unsafe { self.inspect.launch(stream, &arguments) }?;
        self.normalize(stream)
    }

    fn rest(&mut self, stream: &Stream<'_>) -> Result<(), DriverError> {
        (1..self.check_every).try_for_each(|_| {
            self.multiply(stream)?;
            self.normalize(stream)
        })
    }

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

/// A symmetric matrix with the eigenvalues 1, `1 - dominance`, and others from 0 to that.
fn matrix(
    device: &Device,
    plan: &PowerPlan,
    random: &mut fastrand::Rng,
) -> Result<DeviceBuffer<f64>, DriverError> {
    let n = plan.dim;
    let next = 1.0 - plan.dominance;
    let mut spectrum: Vec<f64> = (0..n).map(|_| next * random.f64()).collect();
    spectrum[0] = 1.0;
    if let Some(second) = spectrum.get_mut(1) {
        *second = next;
    }
    let mirror = unit(normals(n, random));
    let weighed = mirror.iter().zip(&spectrum).map(|(v, d)| v * v * d);
    let middle: f64 = weighed.sum();
    let (d, v) = (device.buffer_from(&spectrum)?, device.buffer_from(&mirror)?);
    let mut a = device.buffer_zeroed(n * n)?;
    let make = device.prepare(
        with_spectrum::entry(),
        LaunchConfig::blocks(n as u64, BLOCK),
    )?;
    let stream = Stream::new(device)?;
    // SAFETY: v is as long as d, a is its square, and there is a block a row; waited for below.
    unsafe {
        make.launch(
            &stream,
            &(d.slice(..), v.slice(..), middle, a.slice_mut(..)),
        )
    }?;
    stream.synchronize()?;
    Ok(a)
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
