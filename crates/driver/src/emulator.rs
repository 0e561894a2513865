//! The emulator as a device.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut, Range};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use engine::Module;
use engine::count::{Counts, Tallied};
use engine::memory::{Contents, Direction, Label, OutOfMemory};
use occupancy::{ComputeCapability, OccupancyError};

use super::checking::{self, Order};
use super::emulated_memory::{memory, memory_of};
use super::finding::{Benign, Finding};
use super::image::{File, Image};
use super::origin::Origin;
use super::panics::{Panics, Recording};
use super::registers::Registers;
use super::{DeviceChoice, DeviceProperties, DriverError, Embedded, Limits, ptx};

pub(super) fn properties(
    number: u32,
    capability: ComputeCapability,
) -> Result<DeviceProperties, OccupancyError> {
    let cores = engine::cores();
    let number = match number {
        0 => String::new(),
        number => format!(" {number}"),
    };
    let of = match capability {
        DeviceChoice::EMULATED => String::new(),
        other => format!(" of {}", other.arch()),
    };
    Ok(DeviceProperties {
        name: format!("{}{number}{of} ({cores} cores)", DeviceProperties::EMULATOR),
        compute_capability: (capability.major(), capability.minor()),
        multiprocessors: cores as u32,
        memory_bytes: engine::memory::system_bytes("MemTotal").unwrap_or(0),
        limits: Limits::of(capability)?,
        gpu: None,
    })
}

/// Bytes of the emulated device's memory.
pub(super) struct Emulated {
    start: *mut u8,
    bytes: usize,
    /// The contents that it began with.
    contents: Contents,
}

// SAFETY: it owns its memory as a Box does.
unsafe impl Send for Emulated {}
// SAFETY: as above.
unsafe impl Sync for Emulated {}

impl Emulated {
    /// Zeros in the memory of an emulated device, aligned to 256 as the driver's allocations are.
    pub(super) fn new(
        device: u32,
        bytes: u64,
        contents: Contents,
    ) -> Result<Emulated, OutOfMemory> {
        let address = memory_of(device).allocate(bytes, 256, contents, Label::new("", 1))?;
        let memory = Emulated {
            start: std::ptr::with_exposed_provenance_mut(address as usize),
            bytes: bytes as usize,
            contents,
        };
        if contents == Contents::Undefined {
            // SAFETY: allocated with so many bytes.
            unsafe { memory.start.write_bytes(0, memory.bytes) };
        }
        Ok(memory)
    }

    /// Tells the checks that the host reaches bytes.
    pub(super) fn used_by_host(
        &self,
        bytes: Range<usize>,
        direction: Direction,
    ) -> Result<(), DriverError> {
        self.used(None, bytes, direction)
    }

    /// Tells the checks that the host, or a copy in a stream, reaches bytes.
    pub(super) fn used(
        &self,
        order: Option<&Order>,
        bytes: Range<usize>,
        direction: Direction,
    ) -> Result<(), DriverError> {
        let range = (
            self.start.addr() as u64 + bytes.start as u64,
            bytes.len() as u64,
        );
        checking::accessed(order, range, direction, self.contents).map_err(DriverError::from)
    }
}

impl Deref for Emulated {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: allocated with so many bytes, which were zeroed.
        unsafe { std::slice::from_raw_parts(self.start, self.bytes) }
    }
}

impl DerefMut for Emulated {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        let freed = memory().free(self.start.addr() as u64);
        debug_assert!(freed.is_ok(), "allocated in `new`: {freed:?}");
    }
}

/// The kernels of PTX, as the emulator runs them.
pub(super) struct Kernels {
    pub(super) module: Module,
    /// The registers of its kernels, where a report says them.
    pub(super) registers: Registers,
    /// Where its kernels say where they panicked, if they do.
    panics: Option<Panics>,
    /// Where they are from, if not embedded.
    file: Option<File>,
    /// Which source they were made of.
    pub(super) origin: Origin,
    /// The counts of counted launches, a kernel after another.
    counts: Mutex<Vec<Counts>>,
    /// The benign findings of checked launches.
    benign: Mutex<Vec<Benign>>,
}

impl Kernels {
    /// Those of the best PTX for a compute capability, on the emulated device of this number; none where no PTX is for it.
    pub(super) fn of(
        embedded: &[Embedded<'_>],
        capability: ComputeCapability,
        number: u32,
    ) -> Result<Option<Arc<Kernels>>, DriverError> {
        let actual = capability.major() * 10 + capability.minor();
        let Some((arch, text, report)) = ptx::best_embedded(embedded, actual) else {
            return Ok(None);
        };
        let registers = Registers::embedded(arch, report)?;
        let loaded = Kernels::load(text, number, registers, None);
        let loaded = loaded.map_err(|error| DriverError::UnreadablePtx { arch, error });
        loaded.map(Arc::new).map(Some)
    }

    /// Those of a file, on the emulated device of this number, which is called `device`.
    pub(super) fn of_file(path: &Path, device: &str, number: u32) -> Result<Kernels, DriverError> {
        let image = Image::read(path)?;
        if let Image::Cubin(_) = &image {
            return Err(DriverError::MachineCode {
                path: path.to_owned(),
                device: device.to_owned(),
            });
        }
        let (file, registers) = (File::new(path, &image), Registers::beside(path)?);
        let loaded = Kernels::load(&image.text(), number, registers, Some(file));
        loaded.map_err(|error| DriverError::UnreadableKernels {
            path: path.to_owned(),
            device: device.to_owned(),
            error,
        })
    }

    /// The error that there is no such kernel.
    pub(super) fn without(&self, kernel: &'static str) -> DriverError {
        match &self.file {
            None => DriverError::NoKernel(kernel),
            Some(file) => file.without(kernel),
        }
    }

    /// The name of the file that they are from, if not embedded.
    pub(super) fn file_name(&self) -> Option<Cow<'_, str>> {
        Some(self.file.as_ref()?.name())
    }

    /// Whether the kernels of a file are meant, and no others.
    pub(super) fn are_of_a_file(&self) -> bool {
        self.file.is_some()
    }

    /// Adds what a launch did to what the kernel's others did.
    pub(super) fn keep(&self, kernel: &str, tallied: &Tallied<'_>) {
        let mut all = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match all.iter_mut().find(|it| it.kernel == kernel) {
            Some(own) => tallied.add_to(own),
            None => all.push(tallied.counts()),
        }
    }

    /// Takes the counts of launches, each kernel's added up, in the order of the first ones.
    pub(super) fn take_counts(&self) -> Vec<Counts> {
        let mut all = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *all)
    }

    /// Adds benign findings of a launch of a kernel, but for those that another launch had, too.
    pub(super) fn keep_benign(&self, kernel: &str, findings: Vec<Finding>) {
        let mut all = self.benign.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in findings {
            let brief = finding.brief();
            let is_same = |it: &Benign| it.kernel == kernel && it.finding.brief() == brief;
            if !all.iter().any(is_same) {
                let kernel = kernel.to_owned();
                all.push(Benign { kernel, finding });
            }
        }
    }

    /// Takes the benign findings of launches.
    pub(super) fn take_benign(&self) -> Vec<Benign> {
        let mut all = self.benign.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *all)
    }

    /// Where a launch records its panic, until it is dropped.
    pub(super) fn panics(&self) -> Option<Recording<'_>> {
        self.panics.as_ref().map(Panics::lend)
    }

    fn load(
        text: &str,
        number: u32,
        registers: Registers,
        file: Option<File>,
    ) -> Result<Kernels, engine::LoadError> {
        let module = Module::load(text, memory_of(number))?;
        let panics = Panics::of(&module);
        Ok(Kernels {
            module,
            registers,
            panics,
            file,
            origin: Origin::of(text),
            counts: Mutex::default(),
            benign: Mutex::default(),
        })
    }
}

impl fmt::Debug for Kernels {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Kernels").finish_non_exhaustive()
    }
}

/// See [`Device::addresses`](super::Device::addresses).
pub(super) fn addresses(words: impl IntoIterator<Item = u64>) -> Vec<(usize, u64)> {
    // By address, and none begins where another ends. Most words of most buffers lie beyond the first or the last.
    let live = memory().allocations();
    let span = match (live.first(), live.last()) {
        (Some(first), Some(last)) => first.start..=last.start + last.bytes,
        _ => return Vec::new(),
    };
    let offset = |word: u64| {
        let below = live.partition_point(|it| it.start <= word).checked_sub(1)?;
        let offset = word - live[below].start;
        (offset <= live[below].bytes).then_some(offset)
    };
    let words = words.into_iter().enumerate();
    let inside = words.filter(|(_, word)| span.contains(word));
    inside
        .filter_map(|(index, word)| Some((index, offset(word)?)))
        .collect()
}
