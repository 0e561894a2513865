//! Batches that go to the device, through a kernel and back: one after the other, and overlapped.

mod plan;

use std::mem::take;
use std::time::Instant;

use tracing::trace_span;

pub use plan::{Parts, PipelineMode, PipelineRow, Plan};

use super::rounds::rounded;
use super::work::{Work, check, input};
use super::{Rounds, StudyError, host_peak_bytes};
use crate::driver::{Device, DeviceBuffer, DriverError, Event, Pending, Pinned, Stream};
use crate::workload::{Chunk, Loaded};

/// The highest degree of a polynomial: the host computes the reference of each chunk, too.
const MAX_DEGREE: u32 = 1 << 16;

/// Batches in page-locked memory, and a device for them.
pub struct Pipeline<'d> {
    device: &'d Device,
    plan: Plan,
    streams: Streams<'d>,
    memory: Memory<'d>,
    device_bytes: u64,
    allocate_pinned_ms: f64,
    pin_existing_ms: f64,
}

struct Streams<'d> {
    /// Copies to the device. Those of one direction in several streams would only share its wire.
    up: Stream<'d>,
    /// Copies from the device.
    down: Stream<'d>,
    /// One for the kernels of each slot: of one chunk and the next, these run beside each other where one
    /// leaves room.
    kernels: Vec<Stream<'d>>,
}

/// The memory of passes: the batches, and places for chunks of them.
struct Memory<'d> {
    slots: Vec<Slot<'d>>,
    input: Vec<Pinned<f32>>,
    output: Vec<Pinned<f32>>,
}

/// A place for a chunk.
struct Slot<'d> {
    input: DeviceBuffer<f32>,
    output: DeviceBuffer<f32>,
    computed: Option<Event<'d>>,
}

impl Slot<'_> {
    fn compute(&mut self, stream: &Stream<'_>, chunk: &Chunk<'_>) -> Result<(), DriverError> {
        // SAFETY: both are a chunk long; the pipeline waits for its streams before its buffers go.
        unsafe { chunk.launch(stream, self.input.slice(..), self.output.slice_mut(..)) }
    }
}

impl Drop for Pipeline<'_> {
    fn drop(&mut self) {
        let _ = self.streams.synchronize();
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
            streams: Streams::new(device, plan.slots)?,
            memory: Memory {
                slots,
                input: (0..plan.pieces()).map(piece).collect::<Result<_, _>>()?,
                output: (0..plan.pieces())
                    .map(|_| device.pinned(plan.chunk(), f32::NAN))
                    .collect::<Result<_, _>>()?,
            },
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
        let (rounds, pieces) = (self.plan.rounds, self.plan.pieces());
        let (memory, streams) = (&mut self.memory, &self.streams);
        let (up, down, kernels) = (&streams.up, &streams.down, &streams.kernels[0]);
        Ok(Parts {
            to_device_ms: median("copies to the device", rounds, up, || memory.upload_all(up))?,
            compute_ms: median("kernels", rounds, kernels, || {
                let slot = &mut memory.slots[0];
                (0..pieces).try_for_each(|_| slot.compute(kernels, &chunk))
            })?,
            from_device_ms: median("copies from the device", rounds, down, || {
                memory.download_all(down)
            })?,
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
        while second < 1.5 * first.compute_ms && high < MAX_DEGREE {
            high = MAX_DEGREE.min(2 * high);
            second = self.parts(work.of_degree(high))?.compute_ms;
        }
        let each = (second - first.compute_ms) / f64::from(high - low);
        let degree = f64::from(low) + (weight * first.wire_ms() - first.compute_ms) / each;
        match degree.round() {
            degree if degree <= f64::from(MAX_DEGREE) => Ok(work.of_degree((degree as u32).max(1))),
            degree => Err(StudyError::Degree {
                weight,
                degree,
                most: MAX_DEGREE,
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
            PipelineMode::Sequential | PipelineMode::Streamed => self.pinned(&chunk, mode)?,
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

    fn pinned(&mut self, chunk: &Chunk<'_>, mode: PipelineMode) -> Result<f64, StudyError> {
        let (memory, streams) = (&mut self.memory, &self.streams);
        for host in &mut memory.output {
            host.fill(f32::NAN);
        }
        let rounds = self.plan.rounds;
        let total = match mode {
            // All copies back go through this stream, each behind the kernel whose output it is.
            PipelineMode::Streamed => median(mode.name(), rounds, &streams.down, || {
                memory.in_streams(streams, chunk)
            }),
            _ => {
                let stream = &streams.kernels[0];
                median(mode.name(), rounds, stream, || {
                    memory.in_one_stream(stream, chunk)
                })
            }
        }?;
        for (piece, output) in self.memory.output.iter().enumerate() {
            check(chunk, piece, output)?;
        }
        Ok(total)
    }

    fn pageable(&mut self, chunk: &Chunk<'_>) -> Result<f64, StudyError> {
        let input: Vec<Vec<f32>> = self.memory.input.iter().map(|it| it.to_vec()).collect();
        let mut output = vec![vec![f32::NAN; self.plan.chunk()]; input.len()];
        let (slot, stream) = (&mut self.memory.slots[0], &self.streams.kernels[0]);
        let pageable = PipelineMode::Pageable.name();
        let total = median(pageable, self.plan.rounds, stream, || {
            for (input, output) in input.iter().zip(&mut output) {
                stream.write(input, &mut slot.input, 0)?;
                slot.compute(stream, chunk)?;
                stream.read(&slot.output, 0, output)?;
            }
            Ok(())
        })?;
        for (piece, output) in output.iter().enumerate() {
            check(chunk, piece, output)?;
        }
        Ok(total)
    }
}

impl<'d> Streams<'d> {
    fn new(device: &'d Device, slots: usize) -> Result<Streams<'d>, DriverError> {
        Ok(Streams {
            up: Stream::new(device)?,
            down: Stream::new(device)?,
            kernels: (0..slots)
                .map(|_| Stream::new(device))
                .collect::<Result<_, _>>()?,
        })
    }

    fn synchronize(&self) -> Result<(), DriverError> {
        let mut all = self.kernels.iter().chain([&self.up, &self.down]);
        all.try_for_each(Stream::synchronize)
    }
}

impl<'d> Memory<'d> {
    /// All pieces through one stream and one slot.
    fn in_one_stream(&mut self, stream: &Stream<'d>, chunk: &Chunk<'_>) -> Result<(), DriverError> {
        let slot = &mut self.slots[0];
        let hosts = take(&mut self.input)
            .into_iter()
            .zip(take(&mut self.output));
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for (input, output) in hosts {
            up.push(stream.upload(input, &mut slot.input, 0)?);
            slot.compute(stream, chunk)?;
            down.push(stream.download(&slot.output, 0, output)?);
        }
        self.input = finished(up)?;
        self.output = finished(down)?;
        Ok(())
    }

    /// All pieces through the slots in turn. A slot's next input waits until the last has been
    /// computed, and its next output until the last has been fetched. The streams wait for each other
    /// by as few events as there can be: after an event, a copy begins a few microseconds later.
    fn in_streams(&mut self, streams: &Streams<'d>, chunk: &Chunk<'_>) -> Result<(), DriverError> {
        let Streams { up, down, kernels } = streams;
        let hosts = take(&mut self.input)
            .into_iter()
            .zip(take(&mut self.output));
        let (mut uploads, mut downloads) = (Vec::new(), Vec::<Pending<'_, f32>>::new());
        let slots = self.slots.len();
        for (i, (input, output)) in hosts.enumerate() {
            let (slot, stream) = (&mut self.slots[i % slots], &kernels[i % slots]);
            if let Some(computed) = &slot.computed {
                up.wait_event(computed)?;
            }
            let upload = up.upload(input, &mut slot.input, 0)?;
            stream.wait_event(upload.done())?;
            if let Some(last) = i.checked_sub(slots) {
                stream.wait_event(downloads[last].done())?;
            }
            slot.compute(stream, chunk)?;
            let computed = stream.mark()?;
            down.wait_event(&computed)?;
            downloads.push(down.download(&slot.output, 0, output)?);
            uploads.push(upload);
            slot.computed = Some(computed);
        }
        self.input = finished(uploads)?;
        self.output = finished(downloads)?;
        Ok(())
    }

    fn upload_all(&mut self, up: &Stream<'d>) -> Result<(), DriverError> {
        let slot = &mut self.slots[0];
        let begin = |host| up.upload(host, &mut slot.input, 0);
        let up: Result<_, _> = take(&mut self.input).into_iter().map(begin).collect();
        self.input = finished(up?)?;
        Ok(())
    }

    fn download_all(&mut self, down: &Stream<'d>) -> Result<(), DriverError> {
        let slot = &self.slots[0];
        let begin = |host| down.download(&slot.output, 0, host);
        let down: Result<_, _> = take(&mut self.output).into_iter().map(begin).collect();
        self.output = finished(down?)?;
        Ok(())
    }
}

/// The median time of a pass until the host knows that its work is done, in milliseconds. All of its work is in
/// `stream`, or that waits for it.
fn median(
    what: &'static str,
    rounds: u32,
    stream: &Stream<'_>,
    mut pass: impl FnMut() -> Result<(), DriverError>,
) -> Result<f64, StudyError> {
    let rounds = Rounds {
        rounds,
        iterations: 1,
    };
    let times = rounds.run(stream, |_| {
        let _range = trace_span!("pass", color = "green", what).entered();
        pass()
    })?;
    Ok(times.complete_us / 1e3)
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
