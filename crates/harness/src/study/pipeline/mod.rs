//! Batches that go to the device, through a kernel and back: one after the other, and overlapped.

mod plan;

use std::mem::take;
use std::time::Instant;

use tracing::trace_span;

pub use plan::{Parts, PipelineMode, PipelineRow, Plan};

use super::rounds::rounded;
use super::work::{Work, check, input};
use super::{StudyError, host_peak_bytes};
use crate::driver::trace::captured;
use crate::driver::{Device, DeviceBuffer, DriverError, Event, Pending, Pinned, Stream};
use crate::measure::Summary;
use crate::workload::{Chunk, Loaded};

/// The highest degree of a polynomial: the host computes the reference of each chunk, too.
const MOST_DEGREE: u32 = 1 << 16;

/// Batches in page-locked memory, and a device for them.
pub struct Pipeline<'d> {
    device: &'d Device,
    plan: Plan,
    wires: Wires<'d>,
    slots: Vec<Slot<'d>>,
    input: Vec<Pinned<f32>>,
    output: Vec<Pinned<f32>>,
    device_bytes: u64,
    allocate_pinned_ms: f64,
    pin_existing_ms: f64,
}

/// The streams of copies. Copies of one direction in several streams would only share its wire.
struct Wires<'d> {
    up: Stream<'d>,
    down: Stream<'d>,
}

/// A place for a chunk, with the stream of its kernels: of one chunk and the next, these run beside
/// each other where one leaves room.
struct Slot<'d> {
    stream: Stream<'d>,
    input: DeviceBuffer<f32>,
    output: DeviceBuffer<f32>,
    computed: Option<Event<'d>>,
}

impl Slot<'_> {
    fn compute(&mut self, chunk: &Chunk<'_>) -> Result<(), DriverError> {
        // SAFETY: both are a chunk long; the pipeline waits for its streams before its buffers go.
        unsafe {
            chunk.launch(
                &self.stream,
                self.input.slice(..),
                self.output.slice_mut(..),
            )
        }
    }
}

impl Drop for Pipeline<'_> {
    fn drop(&mut self) {
        let _ = self.synchronize();
    }
}

impl<'d> Pipeline<'d> {
    /// Memory for the plan, with the input in it.
    ///
    /// # Errors
    /// [`StudyError::Driver`]: [`DriverError::OutOfMemory`] on the device; or the host does not lock so
    /// much memory, as [`Device::pinned`] and [`Device::pin`].
    pub fn new(device: &'d Device, plan: Plan) -> Result<Self, StudyError> {
        let free = device.free_memory()?;
        let slot = |_| -> Result<Slot<'d>, DriverError> {
            Ok(Slot {
                stream: Stream::new(device)?,
                input: device.buffer_zeroed(plan.chunk())?,
                output: device.buffer_zeroed(plan.chunk())?,
                computed: None,
            })
        };
        let slots = (0..plan.slots).map(slot).collect::<Result<_, _>>()?;
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
            wires: Wires {
                up: Stream::new(device)?,
                down: Stream::new(device)?,
            },
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
    /// [`StudyError::Refused`]: the workload takes no chunks; [`StudyError::Driver`]: the device refuses a
    /// copy or a launch, or a kernel failed.
    pub fn parts(&mut self, work: Work) -> Result<Parts, StudyError> {
        let loaded = Loaded::default();
        let chunk = work.chunk(self.device, &loaded, self.plan)?;
        Ok(Parts {
            to_device_ms: self.median("copies to the device", Pipeline::upload_all)?,
            compute_ms: self.median("kernels", |pipeline| pipeline.compute_all(&chunk))?,
            from_device_ms: self.median("copies from the device", Pipeline::download_all)?,
        })
    }

    /// A polynomial of the degree with which it takes `weight` times as long as the copies in one direction.
    ///
    /// # Errors
    /// [`StudyError::Degree`]: the degree is higher than any that is run; or as [`Pipeline::parts`].
    pub fn weighted(&mut self, work: Work, weight: f64) -> Result<Work, StudyError> {
        // A line through two points, of which the higher takes measurably longer; the emulator's is
        // steep.
        let (low, mut high) = match self.device.properties().is_emulated() {
            true => (1, 5),
            false => (200, 2000),
        };
        let first = self.parts(work.of_degree(low))?;
        let mut second = self.parts(work.of_degree(high))?.compute_ms;
        while second < 1.5 * first.compute_ms && high < MOST_DEGREE {
            high = MOST_DEGREE.min(2 * high);
            second = self.parts(work.of_degree(high))?.compute_ms;
        }
        let each = (second - first.compute_ms) / f64::from(high - low);
        let degree = f64::from(low) + (weight * first.wire_ms() - first.compute_ms) / each;
        match degree.round() {
            degree if degree <= f64::from(MOST_DEGREE) => {
                Ok(work.of_degree((degree as u32).max(1)))
            }
            degree => Err(StudyError::Degree {
                weight,
                degree,
                most: MOST_DEGREE,
            }),
        }
    }

    /// Sends all batches through in one mode, and checks what comes back.
    ///
    /// # Errors
    /// [`StudyError::Refused`]: the workload takes no chunks, or an element is not the reference's;
    /// [`StudyError::Driver`]: the device refuses a copy or a launch, or a kernel failed.
    pub fn measure(
        &mut self,
        mode: PipelineMode,
        work: Work,
        parts: Parts,
    ) -> Result<PipelineRow, StudyError> {
        let loaded = Loaded::default();
        let chunk = work.chunk(self.device, &loaded, self.plan)?;
        let total_ms = match mode {
            PipelineMode::Pageable => self.pageable(&chunk)?,
            PipelineMode::Sequential => self.pinned(&chunk, mode, Self::in_one_stream)?,
            PipelineMode::Streamed => self.pinned(&chunk, mode, Self::in_streams)?,
        };
        let sum = parts.to_device_ms + parts.compute_ms + parts.from_device_ms;
        let (plan, is_pinned) = (self.plan, mode != PipelineMode::Pageable);
        let is_streamed = mode == PipelineMode::Streamed;
        let of_gpu = |ratio: f64| (!self.device.properties().is_emulated()).then(|| rounded(ratio));
        let chunk_bytes = (plan.chunk() * size_of::<f32>()) as u64;
        Ok(PipelineRow {
            mode: mode.to_string(),
            work: work.name(),
            batches: plan.batches,
            size: plan.size,
            chunks: plan.chunks,
            streams: if is_streamed { plan.slots + 2 } else { 1 },
            slots: if is_streamed { plan.slots } else { 1 },
            to_device_ms: rounded(parts.to_device_ms),
            compute_ms: rounded(parts.compute_ms),
            from_device_ms: rounded(parts.from_device_ms),
            floor_ms: rounded(parts.floor_ms()),
            total_ms: rounded(total_ms),
            over_floor: of_gpu(total_ms / parts.floor_ms()),
            overlap: of_gpu(sum / total_ms),
            allocate_pinned_ms: rounded(self.allocate_pinned_ms),
            pin_existing_ms: rounded(self.pin_existing_ms),
            device_bytes: self.device_bytes,
            pinned_bytes: if is_pinned {
                2 * plan.pieces() as u64 * chunk_bytes
            } else {
                0
            },
            host_peak_bytes: host_peak_bytes(),
            device: self.device.properties().name.clone(),
            checked: true,
            weight: None,
        })
    }

    fn pinned(
        &mut self,
        chunk: &Chunk<'_>,
        mode: PipelineMode,
        pass: impl Fn(&mut Self, &Chunk<'_>) -> Result<(), DriverError>,
    ) -> Result<f64, StudyError> {
        for host in &mut self.output {
            host.fill(f32::NAN);
        }
        let total = self.median(mode.name(), |pipeline| pass(pipeline, chunk))?;
        let outputs = self.output.iter().enumerate();
        for (piece, output) in outputs {
            check(chunk, piece, output)?;
        }
        Ok(total)
    }

    fn pageable(&mut self, chunk: &Chunk<'_>) -> Result<f64, StudyError> {
        let input: Vec<Vec<f32>> = self.input.iter().map(|piece| piece.to_vec()).collect();
        let mut output = vec![vec![f32::NAN; self.plan.chunk()]; input.len()];
        let total = self.median(PipelineMode::Pageable.name(), |pipeline| {
            let slot = &mut pipeline.slots[0];
            for (input, output) in input.iter().zip(&mut output) {
                slot.stream.write(input, &mut slot.input, 0)?;
                slot.compute(chunk)?;
                slot.stream.read(&slot.output, 0, output)?;
            }
            Ok(())
        })?;
        for (piece, output) in output.iter().enumerate() {
            check(chunk, piece, output)?;
        }
        Ok(total)
    }

    /// All pieces through one stream and one slot.
    fn in_one_stream(&mut self, chunk: &Chunk<'_>) -> Result<(), DriverError> {
        let slot = &mut self.slots[0];
        let hosts = take(&mut self.input)
            .into_iter()
            .zip(take(&mut self.output));
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for (input, output) in hosts {
            up.push(slot.stream.upload(input, &mut slot.input, 0)?);
            slot.compute(chunk)?;
            down.push(slot.stream.download(&slot.output, 0, output)?);
        }
        self.input = finished(up)?;
        self.output = finished(down)?;
        Ok(())
    }

    /// All pieces through the slots in turn. A slot's next input waits until the last has been
    /// computed, and its next output until the last has been fetched. The streams wait for each other
    /// by as few events as there can be: after an event, a copy begins a few microseconds later.
    fn in_streams(&mut self, chunk: &Chunk<'_>) -> Result<(), DriverError> {
        let Wires { up, down } = &self.wires;
        let hosts = take(&mut self.input)
            .into_iter()
            .zip(take(&mut self.output));
        let (mut uploads, mut downloads) = (Vec::new(), Vec::<Pending<'_, f32>>::new());
        let slots = self.slots.len();
        for (i, (input, output)) in hosts.enumerate() {
            let slot = &mut self.slots[i % slots];
            if let Some(computed) = &slot.computed {
                up.wait_event(computed)?;
            }
            let upload = up.upload(input, &mut slot.input, 0)?;
            slot.stream.wait_event(upload.done())?;
            if let Some(last) = i.checked_sub(slots) {
                slot.stream.wait_event(downloads[last].done())?;
            }
            slot.compute(chunk)?;
            let computed = slot.stream.mark()?;
            down.wait_event(&computed)?;
            downloads.push(down.download(&slot.output, 0, output)?);
            uploads.push(upload);
            slot.computed = Some(computed);
        }
        self.input = finished(uploads)?;
        self.output = finished(downloads)?;
        Ok(())
    }

    fn synchronize(&self) -> Result<(), DriverError> {
        let own = self.slots.iter().map(|slot| &slot.stream);
        let mut all = own.chain([&self.wires.up, &self.wires.down]);
        all.try_for_each(Stream::synchronize)
    }

    fn upload_all(&mut self) -> Result<(), DriverError> {
        let (slot, up) = (&mut self.slots[0], &self.wires.up);
        let begin = |host| up.upload(host, &mut slot.input, 0);
        let up: Result<_, _> = take(&mut self.input).into_iter().map(begin).collect();
        self.input = finished(up?)?;
        Ok(())
    }

    fn download_all(&mut self) -> Result<(), DriverError> {
        let (slot, down) = (&self.slots[0], &self.wires.down);
        let begin = |host| down.download(&slot.output, 0, host);
        let down: Result<_, _> = take(&mut self.output).into_iter().map(begin).collect();
        self.output = finished(down?)?;
        Ok(())
    }

    fn compute_all(&mut self, chunk: &Chunk<'_>) -> Result<(), DriverError> {
        (0..self.plan.pieces()).try_for_each(|_| self.slots[0].compute(chunk))
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
            self.synchronize()?;
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
