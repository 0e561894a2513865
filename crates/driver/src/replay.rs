//! Launches on the emulator, at once or captured.

use std::fmt;
use std::io::{self, IsTerminal};
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::Arc;

use cuda_loader::Panic;
use cuda_std::launch::{Entry, Parameter, Passing, Signature};
use engine::memory::{Kind, Label, Protection};
use occupancy::ComputeCapability;
use smallvec::SmallVec;

use super::checking::{self, Order};
use super::emulated_memory;
use super::emulator::Kernels;
use super::foreign_text::printable_lines;
use super::launch_attributes::Order as Begins;
use super::launch_config::Blocks;
use super::panics::Recording;
use super::parameters::Parameters;
use super::record;
use super::{DriverError, Emulation, resident_blocks};

/// A launch on the emulator.
pub(super) struct Emulated<S: Signature> {
    pub(super) entry: Entry<S>,
    pub(super) shape: simt::Shape,
    pub(super) blocks: Blocks,
    /// Blocks of a cluster, x, y, z.
    pub(super) cluster: [u32; 3],
    pub(super) begins: Begins,
    pub(super) emulation: Emulation,
    pub(super) shared_per_block: u32,
    pub(super) capability: ComputeCapability,
    /// The PTX that is executed in place of the kernel's function.
    pub(super) ptx: Option<EmulatedPtx>,
}

/// A kernel's PTX.
#[derive(Clone)]
pub(super) struct EmulatedPtx {
    pub(super) kernel: engine::Kernel,
    /// Of which it is one.
    pub(super) kernels: Arc<Kernels>,
}

impl EmulatedPtx {
    /// Returns what a block of the kernel needs of a multiprocessor.
    pub(super) fn needs(&self, dynamic_shared: u32) -> occupancy::Kernel {
        occupancy::Kernel {
            registers_per_thread: self.registers().unwrap_or(0),
            static_shared_bytes: self.kernel.static_shared(),
            dynamic_shared_bytes: dynamic_shared,
            max_threads_per_block: None,
        }
    }

    /// Registers of a thread, where a report says how many.
    pub(super) fn registers(&self) -> Option<u32> {
        self.kernels.registers.of_kernel(self.kernel.name())
    }
}

/// The kernel, as a record of checks tells it apart from those of other modules.
impl<S: Signature> fmt::Display for Emulated<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.entry.name())?;
        match self.ptx.as_ref().and_then(|ptx| ptx.kernels.file_name()) {
            Some(file) => write!(formatter, " of {file}"),
            None => Ok(()),
        }
    }
}

impl<S: Signature> Emulated<S> {
    /// # Safety
    /// As for [`Prepared::launch`].
    pub(super) unsafe fn run(
        &self,
        order: &Order,
        arguments: &S::Arguments<'_>,
    ) -> Result<(), DriverError> {
        let run = match (self.emulation.is_checked, &self.ptx) {
            (false, _) => record::Run::Unchecked,
            (true, None) => record::Run::WithoutPtx,
            (true, Some(_)) => record::Run::Checked(&self.emulation.schedule),
        };
        record::begin(self, run);
        let ran = match &self.ptx {
            // SAFETY: the caller's contract.
            Some(ptx) => unsafe { self.execute(ptx, order, arguments) },
            // SAFETY: the caller's contract.
            None => unsafe { self.call(arguments) },
        };
        ran.inspect_err(|error| {
            if self.emulation.is_checked {
                record::failed(self, error);
            }
        })
    }

    /// Calls the kernel's function for each thread.
    ///
    /// # Safety
    /// As for [`Prepared::launch`].
    unsafe fn call(&self, arguments: &S::Arguments<'_>) -> Result<(), DriverError> {
        let (kernel, call) = (self.entry.name(), self.entry.call());
        let has_clusters = self.cluster != [1; 3];
        let clusters = has_clusters.then_some("clusters");
        if let Some(what) = self.emulation.of_ptx_alone().or(clusters) {
            return Err(DriverError::WithoutPtx { kernel, what });
        }
        simt::Launch::new(self.shape)
            .steps(self.emulation.steps)
            .shared_per_block(self.shared_per_block)
            .named(kernel)
            // SAFETY: the caller keeps the kernel's contract.
            .run(&|| unsafe { call(arguments) })
            .map_err(|error| DriverError::Emulated { kernel, error })
    }

    /// Executes the kernel's PTX.
    ///
    /// # Safety
    /// As for [`Prepared::launch`].
    unsafe fn execute(
        &self,
        ptx: &EmulatedPtx,
        order: &Order,
        arguments: &S::Arguments<'_>,
    ) -> Result<(), DriverError> {
        let mut parameters = Parameters::of(&self.entry, self.shape, arguments, |_| {});
        let addresses: SmallVec<[*const u8; 16]> = parameters
            .addresses()
            .iter()
            .map(|address| address.cast_const().cast())
            .collect();
        // SAFETY: the PTX was built from the kernel, whose parameters `marshal` describes.
        let parameters = unsafe { ptx.kernel.pack(&addresses) };
        let views = (self.entry.memory())(arguments);
        // SAFETY: the caller's contract: the arguments' memory lives until the launch has ended, and `lent` ends here.
        let lent = unsafe { Lent::all(&views) };
        let shape = engine::Shape {
            grid: self.shape.grid,
            block: self.shape.block,
            dynamic_shared: self.shape.dynamic_shared,
        };
        let panics = ptx.kernels.panics();
        let options = engine::Options {
            panic_record: panics.as_ref().and_then(Recording::address),
            steps: self.emulation.steps,
            time: self.emulation.time,
            divergence: true,
            shared_per_block: self.shared_per_block,
            multiprocessors: resident_blocks::multiprocessors(self.capability),
            resident_blocks: match self.blocks {
                Blocks::Independent => self.blocks_at_once(ptx),
                Blocks::Cooperative => u64::MAX,
            },
            cluster: self.cluster,
            schedule: self.emulation.schedule.clone(),
            is_apart: checking::is_apart(),
            ..engine::Options::default()
        };
        let print = |text: &str| match io::stdout().is_terminal() {
            true => print!("{}", printable_lines(text)),
            false => print!("{text}"),
        };
        let run = |options, checks| match self.emulation.is_counted {
            false => ptx
                .kernel
                .launch(shape, options, &parameters, &print, checks),
            true => {
                let tallied = ptx
                    .kernel
                    .tally(shape, options, &parameters, &print, checks)?;
                ptx.kernels.keep(ptx.kernel.name(), &tallied);
                Ok(())
            }
        };
        let ran = if self.emulation.is_checked {
            let mut checking = checking::checking();
            let stream = order.stream(&mut checking);
            let operation = match self.begins {
                Begins::Behind => checking.streams.enqueue(stream),
                Begins::Overlapping => checking.streams.enqueue_overlapping(stream),
            };
            let mut benign = Vec::new();
            let checks = engine::Checks {
                checker: &mut checking,
                operation,
                fixed: fixed(self.entry.parameters(), &views),
                lent: parts(self.entry.parameters(), &views),
                benign: (!self.emulation.is_strict).then_some(&mut benign),
            };
            let ran = run(options, Some(checks));
            if !benign.is_empty() {
                record::benign(self, &benign);
                ptx.kernels.keep_benign(ptx.kernel.name(), benign);
            }
            ran
        } else {
            let ran = run(options, None);
            checking::unchecked();
            ran
        };
        drop(lent);
        let panic = || panics.as_ref().and_then(Recording::panic);
        ran.map_err(|error| self.failed(panic(), error))
    }

    /// How many of its blocks the GPU holds at once. That there is room for one has been seen before.
    fn blocks_at_once(&self, ptx: &EmulatedPtx) -> u64 {
        let needs = ptx.needs(self.shape.dynamic_shared);
        let held = resident_blocks::blocks_at_once(self.capability, &needs, self.shape);
        held.unwrap_or(1)
    }

    fn failed(&self, panic: Option<Panic>, error: engine::LaunchError) -> DriverError {
        // What allocates panics where the heap is full, and says nothing of it.
        let is_full = matches!(&error, engine::LaunchError::Thread { failure, .. }
            if matches!(**failure, engine::Failure::HeapFull(_)));
        match panic.filter(|_| !is_full) {
            Some(panic) => DriverError::Emulated {
                kernel: self.entry.name(),
                error: simt::LaunchError::Panicked {
                    thread: simt::Thread {
                        block: panic.block,
                        thread: panic.thread,
                    },
                    message: panic.what.unwrap_or_else(|| "panicked".to_owned()),
                    place: panic.place.unwrap_or_else(|| "an unknown place".to_owned()),
                },
            },
            None => DriverError::Engine(Box::new(error)),
        }
    }

    /// The launch with its arguments, to be run later and more than once.
    ///
    /// # Safety
    /// The arguments' buffers live until the last run.
    pub(super) unsafe fn keep(self, arguments: &S::Arguments<'_>) -> Replay {
        // SAFETY: arguments are `Copy` values and views, whose lifetime the caller vouches for.
        let kept: ManuallyDrop<S::Arguments<'static>> =
            unsafe { std::mem::transmute_copy(arguments) };
        // SAFETY: `Replay::run`'s caller vouches for it.
        Replay(Box::new(move |order| unsafe { self.run(order, &kept) }))
    }
}

/// The parameters of the PTX that are pointers, each with the memory in view.
fn pointers<'v>(
    parameters: &[Parameter],
    views: &'v [cuda_std::launch::Memory],
) -> impl Iterator<Item = (usize, &'v cuda_std::launch::Memory)> {
    let (mut next, mut views) = (0, views.iter());
    parameters.iter().filter_map(move |parameter| {
        let own = next;
        next += parameter.passing.parameter_bytes().count();
        match parameter.passing {
            Passing::Value { .. } => None,
            _ => Some((own, views.next()?)),
        }
    })
}

/// Which parameters of the PTX are pointers through which the kernel does not write.
fn fixed(parameters: &[Parameter], views: &[cuda_std::launch::Memory]) -> Vec<usize> {
    let all = pointers(parameters, views);
    all.filter(|(_, view)| view.is_fixed)
        .map(|(number, _)| number)
        .collect()
}

/// The memory in view of pointers that see a part of a buffer alone.
fn parts(parameters: &[Parameter], views: &[cuda_std::launch::Memory]) -> Vec<(usize, Range<u64>)> {
    let part = |(number, view): (usize, &cuda_std::launch::Memory)| {
        let (start, bytes) = (view.address as u64, (view.len * view.element_bytes) as u64);
        let whole = emulated_memory::memory().find(start)?;
        let is_part = bytes > 0 && bytes < whole.bytes;
        is_part.then_some((number, start..start + bytes))
    };
    pointers(parameters, views).filter_map(part).collect()
}

/// Memory of the host's that the emulated device knows while a launch runs.
struct Lent {
    start: u64,
}

impl Lent {
    /// Names the device's memory among a launch's views, and lends it the rest.
    ///
    /// # Safety
    /// The views' memory lives as long as what is returned, and a kernel may reach it meanwhile.
    unsafe fn all(views: &[cuda_std::launch::Memory]) -> Vec<Lent> {
        let mut of_host = Vec::new();
        for view in views {
            let label = Label::new(view.parameter, view.element_bytes as u32);
            let start = view.address as u64;
            let end = start + (view.len * view.element_bytes) as u64;
            if emulated_memory::memory().find(start).is_some() {
                emulated_memory::memory().name(start, label);
            } else if start < end {
                of_host.push((start..end, label));
            }
        }
        // SAFETY: the caller's contract, of views that were united.
        let lend = |(bytes, label)| unsafe { Lent::new(bytes, label) };
        united(of_host).into_iter().map(lend).collect()
    }

    /// # Safety
    /// As for [`Lent::all`].
    unsafe fn new(bytes: Range<u64>, label: Label) -> Lent {
        let (start, len) = (bytes.start, bytes.end - bytes.start);
        // SAFETY: the bytes live as long as this, whose end disowns them, by the contract of `new`.
        unsafe {
            emulated_memory::memory().adopt(start, len, Kind::Host, label, Protection::ReadWrite)
        };
        Lent { start }
    }
}

/// Views that overlap as one piece of memory, with the name of the one that begins first.
fn united(mut views: Vec<(Range<u64>, Label)>) -> Vec<(Range<u64>, Label)> {
    views.sort_by_key(|(bytes, _)| bytes.start);
    let mut pieces: Vec<(Range<u64>, Label)> = Vec::new();
    for (bytes, label) in views {
        match pieces.last_mut().filter(|(last, _)| bytes.start < last.end) {
            Some((last, _)) => last.end = last.end.max(bytes.end),
            None => pieces.push((bytes, label)),
        }
    }
    pieces
}

impl Drop for Lent {
    fn drop(&mut self) {
        emulated_memory::memory().disown(self.start);
    }
}

/// A captured launch of the emulator.
pub(super) struct Replay(Box<Run>);

type Run = dyn Fn(&Order) -> Result<(), DriverError>;

// SAFETY: a run reads the arguments where they are, through a shared reference, and they are never
// dropped. `#[kernel]` asks for `Sync` values and elements, and for `Send` elements of an `Output`; of a raw
// pointer the launch's caller vouches for the use.
unsafe impl Send for Replay {}

impl Replay {
    /// # Safety
    /// As for the [`Prepared::launch`] that was captured.
    pub(super) unsafe fn run(&self, order: &Order) -> Result<(), DriverError> {
        (self.0)(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_views_are_one_piece_of_memory() {
        let view = |bytes, name| (bytes, Label::new(name, 4));
        let views = vec![
            view(150..300, "b"),
            view(400..500, "d"),
            view(100..200, "a"),
            view(120..130, "c"),
            // Next to it, and no part of it.
            view(500..600, "e"),
        ];
        let expected = [
            view(100..300, "a"),
            view(400..500, "d"),
            view(500..600, "e"),
        ];
        assert_eq!(united(views), expected);
    }
}
