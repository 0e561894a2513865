//! Batches that go to the device, through a kernel and back: one after the other, and overlapped.

use std::fmt;
use std::mem::take;
use std::time::Instant;

use serde::Serialize;
use tracing::trace_span;

use super::rounds::rounded;
use super::work::{Work, Worker, input};
use super::{StudyError, host_peak_bytes};
use crate::driver::trace::captured;
use crate::driver::{Buffer, Device, DriverError, Pending, Pinned, Stream};
use crate::measure::Summary;

/// How batches go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PipelineMode {
    /// One stream, and memory of the program's own, which the driver copies piece by piece.
    Pageable,
    /// One stream, and page-locked memory.
    Sequential,
    /// Several streams, and page-locked memory: copies both ways and the kernel at once.
    Streamed,
}

impl fmt::Display for PipelineMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            PipelineMode::Pageable => "pageable",
            PipelineMode::Sequential => "sequential",
            PipelineMode::Streamed => "streamed",
        })
    }
}

/// What goes through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Batches.
    pub batches: usize,
    /// Rows and columns of a batch, of `f32`.
    pub size: usize,
    /// Parts of a batch that are copied and computed each at once: so many rows each.
    pub chunks: usize,
    /// Streams of the streamed mode.
    pub streams: usize,
    /// Times that each is timed; the medians count.
    pub rounds: u32,
}

impl Plan {
    /// Elements of a batch.
    pub fn elements(&self) -> usize {
        self.size * self.size
    }

    /// Elements of a chunk.
    pub fn chunk(&self) -> usize {
        self.elements() / self.chunks
    }

    fn pieces(&self) -> usize {
        self.batches * self.chunks
    }
}

/// Milliseconds of each part alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// All copies to the device.
    pub to_device_ms: f64,
    /// All kernels.
    pub compute_ms: f64,
    /// All copies from the device.
    pub from_device_ms: f64,
}

impl Parts {
    /// The longer of the two directions.
    pub fn wire_ms(&self) -> f64 {
        self.to_device_ms.max(self.from_device_ms)
    }

    /// The longest of the three: no overlap is faster.
    pub fn floor_ms(&self) -> f64 {
        self.wire_ms().max(self.compute_ms)
    }
}

/// What a mode took, in the median.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PipelineRow {
    /// `pageable`, `sequential` or `streamed`.
    pub mode: String,
    /// `horner` and its degree, or `matmul`.
    pub work: String,
    /// Batches.
    pub batches: usize,
    /// Rows and columns of a batch.
    pub size: usize,
    /// Parts of a batch.
    pub chunks: usize,
    /// Streams.
    pub streams: usize,
    /// Milliseconds of all copies to the device alone, from page-locked memory.
    pub to_device_ms: f64,
    /// Milliseconds of the kernels alone.
    pub compute_ms: f64,
    /// Milliseconds of all copies from the device alone, to page-locked memory.
    pub from_device_ms: f64,
    /// The longest of the three.
    pub floor_ms: f64,
    /// Milliseconds of all together.
    pub total_ms: f64,
    /// `total_ms` over `floor_ms`.
    pub over_floor: f64,
    /// The sum of the three over `total_ms`: 1 without overlap, at most 3.
    pub overlap: f64,
    /// Milliseconds to have the driver allocate page-locked memory for a batch.
    pub allocate_pinned_ms: f64,
    /// Milliseconds to lock the pages of memory for a batch that is there and in use.
    pub pin_existing_ms: f64,
    /// Bytes of device memory.
    pub device_bytes: u64,
    /// Bytes of page-locked host memory.
    pub pinned_bytes: u64,
    /// The most bytes of host memory that the process has had so far.
    pub host_peak_bytes: u64,
    /// What ran it.
    pub device: String,
    /// Whether the results agreed with the float64 reference.
    pub checked: bool,
}

/// Batches in page-locked memory, and a device for them.
pub struct Pipeline<'d> {
    device: &'d Device,
    plan: Plan,
    slots: Vec<Slot<'d>>,
    input: Vec<Pinned<f32>>,
    output: Vec<Pinned<f32>>,
    device_bytes: u64,
    allocate_pinned_ms: f64,
    pin_existing_ms: f64,
}

/// A stream with its place for a chunk.
struct Slot<'d> {
    stream: Stream<'d>,
    input: Buffer<f32>,
    output: Buffer<f32>,
}

impl Slot<'_> {
    fn compute(&mut self, worker: &Worker<'_>) -> Result<(), DriverError> {
        // SAFETY: both are a chunk long; a slot waits for its stream before its buffers go.
        unsafe { worker.launch(&self.stream, self.input.slice(), self.output.slice_mut()) }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let _ = self.stream.synchronize();
    }
}

impl<'d> Pipeline<'d> {
    /// Memory for the plan, with the input in it.
    ///
    /// # Errors
    /// There is too little.
    pub fn new(device: &'d Device, plan: Plan) -> Result<Self, StudyError> {
        let free = device.free_memory()?;
        let slot = |_| -> Result<Slot<'d>, DriverError> {
            Ok(Slot {
                stream: Stream::new(device)?,
                input: device.buffer_zeroed(plan.chunk())?,
                output: device.buffer_zeroed(plan.chunk())?,
            })
        };
        let slots = (0..plan.streams).map(slot).collect::<Result<_, _>>()?;
        let device_bytes = free.saturating_sub(device.free_memory()?);
        let piece = |piece| -> Result<Pinned<f32>, DriverError> {
            let mut host = device.pinned(plan.chunk(), 0.0)?;
            fill(piece, &mut host);
            Ok(host)
        };
        let (allocate_pinned_ms, pin_existing_ms) = pinning(device, plan)?;
        Ok(Pipeline {
            device,
            plan,
            slots,
            input: (0..plan.pieces()).map(piece).collect::<Result<_, _>>()?,
            output: (0..plan.pieces())
                .map(|_| device.pinned(plan.chunk(), f32::NAN))
                .collect::<Result<_, _>>()?,
            device_bytes,
            allocate_pinned_ms,
            pin_existing_ms,
        })
    }

    /// Times each part alone, in one stream.
    ///
    /// # Errors
    /// The driver's.
    pub fn parts(&mut self, work: Work) -> Result<Parts, StudyError> {
        let worker = Worker::new(self.device, self.plan, work)?;
        Ok(Parts {
            to_device_ms: self.median("copies to the device", Pipeline::upload_all)?,
            compute_ms: self.median("kernels", |pipeline| pipeline.compute_all(&worker))?,
            from_device_ms: self.median("copies from the device", Pipeline::download_all)?,
        })
    }

    /// The degree whose polynomials take `share` of the time of the copies in one direction.
    ///
    /// # Errors
    /// The driver's.
    pub fn degree(&mut self, share: f64) -> Result<u32, StudyError> {
        // A line through two points; the emulator's is steep.
        let (low, high) = if self.device.facts().is_emulated() {
            (1, 5)
        } else {
            (200, 2000)
        };
        let (first, second) = (
            self.parts(Work::Horner(low))?,
            self.parts(Work::Horner(high))?,
        );
        let each = (second.compute_ms - first.compute_ms) / f64::from(high - low);
        let degree = f64::from(low) + (share * first.wire_ms() - first.compute_ms) / each;
        // The conversion keeps to the type's range.
        Ok((degree.round() as u32).max(1))
    }

    /// Sends all batches through in one mode, and checks what comes back.
    ///
    /// # Errors
    /// The driver's, or the result is wrong.
    pub fn measure(
        &mut self,
        mode: PipelineMode,
        work: Work,
        parts: Parts,
    ) -> Result<PipelineRow, StudyError> {
        let worker = Worker::new(self.device, self.plan, work)?;
        let total_ms = match mode {
            PipelineMode::Pageable => self.pageable(&worker)?,
            PipelineMode::Sequential => self.pinned(&worker, 1)?,
            PipelineMode::Streamed => self.pinned(&worker, self.plan.streams)?,
        };
        let sum = parts.to_device_ms + parts.compute_ms + parts.from_device_ms;
        let (plan, is_pinned) = (self.plan, mode != PipelineMode::Pageable);
        let chunk_bytes = (plan.chunk() * size_of::<f32>()) as u64;
        Ok(PipelineRow {
            mode: mode.to_string(),
            work: work.name(),
            batches: plan.batches,
            size: plan.size,
            chunks: plan.chunks,
            streams: if mode == PipelineMode::Streamed {
                plan.streams
            } else {
                1
            },
            to_device_ms: rounded(parts.to_device_ms),
            compute_ms: rounded(parts.compute_ms),
            from_device_ms: rounded(parts.from_device_ms),
            floor_ms: rounded(parts.floor_ms()),
            total_ms: rounded(total_ms),
            over_floor: rounded(total_ms / parts.floor_ms()),
            overlap: rounded(sum / total_ms),
            allocate_pinned_ms: rounded(self.allocate_pinned_ms),
            pin_existing_ms: rounded(self.pin_existing_ms),
            device_bytes: self.device_bytes,
            pinned_bytes: if is_pinned {
                2 * plan.pieces() as u64 * chunk_bytes
            } else {
                0
            },
            host_peak_bytes: host_peak_bytes(),
            device: self.device.facts().name.clone(),
            checked: true,
        })
    }

    fn pinned(&mut self, worker: &Worker<'_>, streams: usize) -> Result<f64, StudyError> {
        for host in &mut self.output {
            host.fill(f32::NAN);
        }
        let what = if streams == 1 {
            "sequential"
        } else {
            "streamed"
        };
        let total = self.median(what, |pipeline| pipeline.all(worker, streams))?;
        let outputs = self.output.iter().enumerate();
        for (piece, output) in outputs {
            worker.check(piece, output)?;
        }
        Ok(total)
    }

    fn pageable(&mut self, worker: &Worker<'_>) -> Result<f64, StudyError> {
        let input: Vec<Vec<f32>> = self.input.iter().map(|piece| piece.to_vec()).collect();
        let mut output = vec![vec![f32::NAN; self.plan.chunk()]; input.len()];
        let total = self.median("pageable", |pipeline| {
            let slot = &mut pipeline.slots[0];
            for (input, output) in input.iter().zip(&mut output) {
                slot.stream.write(input, &mut slot.input, 0)?;
                slot.compute(worker)?;
                slot.stream.read(&slot.output, 0, output)?;
            }
            Ok(())
        })?;
        for (piece, output) in output.iter().enumerate() {
            worker.check(piece, output)?;
        }
        Ok(total)
    }

    /// All pieces through so many streams, round and round. A stream's next piece waits for its
    /// last, and pieces of other streams go by.
    fn all(&mut self, worker: &Worker<'_>, streams: usize) -> Result<(), DriverError> {
        let hosts = take(&mut self.input)
            .into_iter()
            .zip(take(&mut self.output));
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for (i, (input, output)) in hosts.enumerate() {
            let slot = &mut self.slots[i % streams];
            up.push(slot.stream.upload(input, &mut slot.input, 0)?);
            slot.compute(worker)?;
            down.push(slot.stream.download(&slot.output, 0, output)?);
        }
        self.input = finished(up)?;
        self.output = finished(down)?;
        Ok(())
    }

    fn upload_all(&mut self) -> Result<(), DriverError> {
        let slot = &mut self.slots[0];
        let begin = |host| slot.stream.upload(host, &mut slot.input, 0);
        let up: Result<_, _> = take(&mut self.input).into_iter().map(begin).collect();
        self.input = finished(up?)?;
        Ok(())
    }

    fn download_all(&mut self) -> Result<(), DriverError> {
        let slot = &self.slots[0];
        let begin = |host| slot.stream.download(&slot.output, 0, host);
        let down: Result<_, _> = take(&mut self.output).into_iter().map(begin).collect();
        self.output = finished(down?)?;
        Ok(())
    }

    fn compute_all(&mut self, worker: &Worker<'_>) -> Result<(), DriverError> {
        (0..self.plan.pieces()).try_for_each(|_| self.slots[0].compute(worker))
    }

    /// The median time of `pass` until its work is done, in milliseconds, after one to warm up.
    fn median(
        &mut self,
        what: &'static str,
        mut pass: impl FnMut(&mut Self) -> Result<(), DriverError>,
    ) -> Result<f64, StudyError> {
        let rounds = self.plan.rounds;
        let mut time = || -> Result<f64, DriverError> {
            let _range = trace_span!("pass", color = "green", what).entered();
            let began = Instant::now();
            pass(self)?;
            self.slots
                .iter()
                .try_for_each(|slot| slot.stream.synchronize())?;
            Ok(began.elapsed().as_secs_f64() * 1e3)
        };
        time()?;
        let times: Vec<f64> = captured(|| (0..rounds).map(|_| time()).collect::<Result<_, _>>())?;
        Ok(Summary::of(&times).map_or(f64::NAN, |summary| summary.median))
    }
}

fn fill(piece: usize, host: &mut [f32]) {
    for (i, element) in host.iter_mut().enumerate() {
        *element = input(piece, i);
    }
}

fn finished(copies: Vec<Pending<'_, f32>>) -> Result<Vec<Pinned<f32>>, DriverError> {
    copies.into_iter().map(Pending::wait).collect()
}

/// Milliseconds to have page-locked memory for a batch, new and of what is there.
fn pinning(device: &Device, plan: Plan) -> Result<(f64, f64), DriverError> {
    let began = Instant::now();
    let allocated = device.pinned(plan.elements(), 0.0f32)?;
    let allocate = began.elapsed().as_secs_f64() * 1e3;
    drop(allocated);
    let existing = vec![1.0f32; plan.elements()];
    let began = Instant::now();
    let registered = device.pin(existing)?;
    let register = began.elapsed().as_secs_f64() * 1e3;
    drop(registered);
    Ok((allocate, register))
}
