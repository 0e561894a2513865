//! How batches go through the device, and what that took.

use std::fmt;

use serde::Serialize;

use crate::driver::{Device, free_host_memory};
use crate::study::StudyError;

/// How batches go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineMode {
    /// One stream, and memory of the program's own, which the driver copies piece by piece.
    Pageable,
    /// One stream, and page-locked memory.
    Sequential,
    /// Page-locked memory, a stream for copies to the device and one for copies back, and one for the
    /// kernels of each place.
    Streamed,
}

impl fmt::Display for PipelineMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl PipelineMode {
    pub(super) fn name(self) -> &'static str {
        match self {
            PipelineMode::Pageable => "pageable",
            PipelineMode::Sequential => "sequential",
            PipelineMode::Streamed => "streamed",
        }
    }
}

/// The batches that go through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Batches.
    pub batches: usize,
    /// Rows and columns of a batch, of `f32`.
    pub size: usize,
    /// Parts of a batch that are copied and computed each at once: so many rows each.
    pub chunks: usize,
    /// Places on the device, each for a chunk's input and output.
    pub slots: usize,
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

    /// Chunks of all batches.
    pub fn pieces(&self) -> usize {
        self.batches * self.chunks
    }

    /// Fails if the batches do not fit into the memory of the host, or the chunks at work, with a
    /// matrix, into the device's. The emulator has both of the same.
    ///
    /// # Errors
    /// [`StudyError::HostMemory`]: what the host has free does not suffice; [`StudyError::Driver`], as
    /// [`Device::check_memory`]: what the device has does not.
    pub fn check_memory(&self, device: &Device, modes: &[PipelineMode]) -> Result<(), StudyError> {
        let bytes = |elements: usize| (elements * size_of::<f32>()) as u64;
        let (batch, chunk) = (bytes(self.elements()), bytes(self.chunk()));
        let on_device = 2 * self.slots as u64 * chunk + batch;
        // Input and output; page-locked, and of the program's own.
        let kinds = 1 + u64::from(modes.contains(&PipelineMode::Pageable));
        let on_host = 2 * kinds * self.batches as u64 * batch;
        let needed = match device.properties().is_emulated() {
            true => on_host + on_device,
            false => on_host,
        };
        let free = free_host_memory();
        if needed > free {
            return Err(StudyError::HostMemory { needed, free });
        }
        Ok(device.check_memory(on_device)?)
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

    /// The longest of the three: no overlap is faster, but for kernels that run beside each other.
    pub fn floor_ms(&self) -> f64 {
        self.wire_ms().max(self.compute_ms)
    }
}

/// The times of a mode, in the median.
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
    /// Places on the device for chunks.
    pub slots: usize,
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
    /// `total_ms` over `floor_ms`; of a GPU only: on the emulator copies and kernels take turns on the
    /// host's cores, so nothing overlaps, and the parts' times are no floor.
    pub over_floor: Option<f64>,
    /// The sum of the three over `total_ms`: 1 without overlap, about 3 at most; of a GPU only.
    pub overlap: Option<f64>,
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
    /// The device that ran it.
    pub device: String,
    /// Whether the results agreed with the float64 reference.
    pub checked: bool,
    /// The time that the polynomial was to take, in parts of that of the copies in one direction,
    /// where its degree was chosen for one ([`Pipeline::weighted`](super::Pipeline::weighted)).
    pub weight: Option<f64>,
}
