//! Launches on the emulator, at once or captured.

use std::mem::ManuallyDrop;

use std::sync::Arc;

use cuda_loader::PanicRecord;
use cuda_std::launch::{Entry, Signature};
use engine::memory::{Kind, Label, Protection};
use smallvec::SmallVec;

use simt::Schedule;
use simt::record;

use super::DriverError;
use super::checking::{self, Order};
use super::emulator::{self, Kernels};
use super::launch::Blocks;

/// A launch on the emulator.
pub(super) struct Emulated<S: Signature> {
    pub(super) entry: Entry<S>,
    pub(super) shape: simt::Shape,
    pub(super) blocks: Blocks,
    pub(super) options: simt::Options,
    /// What is executed in place of the kernel's function.
    pub(super) ptx: Option<EmulatedPtx>,
}

/// A kernel's PTX.
#[derive(Clone)]
pub(super) struct EmulatedPtx {
    pub(super) kernel: engine::Kernel,
    /// Of which it is one.
    pub(super) kernels: Arc<Kernels>,
}

impl<S: Signature> Emulated<S> {
    /// # Safety
    /// As for [`Prepared::launch`].
    pub(super) unsafe fn run(
        &self,
        order: &Order,
        arguments: &S::Arguments<'_>,
    ) -> Result<(), DriverError> {
        if let Some(ptx) = &self.ptx {
            // SAFETY: the caller's contract.
            return unsafe { self.execute(ptx, order, arguments) };
        }
        let shared = Shared(&raw const *arguments);
        let call = self.entry.call();
        let memory = (self.entry.memory())(arguments);
        let launch = simt::Launch::new(self.shape)
            .kernel(self.entry.name())
            .options(self.options)
            .memory(&memory, arguments);
        let launch = match self.blocks {
            Blocks::Independent => launch,
            Blocks::Cooperative => launch.cooperative(),
        };
        launch
            .run(&move || {
                // SAFETY: the caller keeps the kernel's contract; `arguments` outlives the call.
                unsafe { call(&*shared.address()) }
            })
            .map_err(|error| DriverError::Emulated {
                kernel: self.entry.name(),
                error,
            })
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
        let failed = |error| self.failed(ptx, error);
        record::begin(self.entry.name(), &self.options).map_err(|error| DriverError::Emulated {
            kernel: self.entry.name(),
            error,
        })?;
        let mut addresses: SmallVec<[*const u8; 16]> = SmallVec::new();
        (self.entry.marshal())(arguments, &mut |address, _| addresses.push(address.cast()));
        // SAFETY: the PTX was built from the kernel, whose parameters `marshal` describes.
        let parameters = unsafe { ptx.kernel.pack(&addresses) };
        let lent: Vec<Lent> = (self.entry.memory())(arguments)
            .iter()
            .map(Lent::new)
            .collect();
        let shape = engine::Shape {
            grid: self.shape.grid,
            block: self.shape.block,
            dynamic_shared: self.shape.dynamic_shared,
        };
        let options = engine::Options {
            steps: self.options.steps,
            divergence: self.options.checks.divergence,
            resident_blocks: match self.blocks {
                Blocks::Independent => engine::Options::default().resident_blocks,
                Blocks::Cooperative => u64::MAX,
            },
            schedule: match self.options.schedule {
                Schedule::InOrder => engine::Schedule::InOrder,
                Schedule::Seeded(seed) => engine::Schedule::Seeded(seed),
            },
            ..engine::Options::default()
        };
        let print = |text: &str| print!("{text}");
        let ran = if self.options.checks.watch_memory() {
            let mut checking = checking::checking();
            let checking = &mut *checking;
            let stream = order.stream(checking);
            let operation = checking.streams.enqueue(stream);
            let checks = engine::Checks {
                checker: &mut checking.checker,
                operation,
            };
            ptx.kernel
                .launch(shape, options, &parameters, &print, Some(checks))
        } else {
            let ran = ptx.kernel.launch(shape, options, &parameters, &print, None);
            checking::unchecked();
            ran
        };
        drop(lent);
        ran.map_err(failed)
            .inspect_err(|_| record::failed(self.entry.name()))
    }

    fn failed(&self, ptx: &EmulatedPtx, error: engine::LaunchError) -> DriverError {
        let panic = ptx.kernels.panics.as_ref().and_then(PanicRecord::take);
        match panic {
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

/// Memory of a launch that the emulated device knows while it runs.
struct Lent {
    /// Adopted for the launch.
    adopted: Option<u64>,
}

impl Lent {
    fn new(memory: &cuda_std::launch::Memory) -> Lent {
        let label = Label::new(memory.parameter, memory.element_bytes as u32);
        let (start, bytes) = (
            memory.address as u64,
            (memory.len * memory.element_bytes) as u64,
        );
        if emulator::memory().find(start).is_some() {
            emulator::memory().name(start, label);
            return Lent { adopted: None };
        }
        // A view of memory of the host's.
        if bytes > 0 {
            emulator::memory().adopt(start, bytes, Kind::Host, label, Protection::ReadWrite);
        }
        Lent {
            adopted: (bytes > 0).then_some(start),
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(start) = self.adopted {
            emulator::memory().disown(start);
        }
    }
}

/// A captured launch of the emulator.
pub(super) struct Replay(Box<Run>);

type Run = dyn Fn(&Order) -> Result<(), DriverError>;

// SAFETY: a run reads the arguments where they are, through a shared reference, as the emulator's cores
// do (see `Shared`), and they are never dropped.
unsafe impl Send for Replay {}

impl Replay {
    /// # Safety
    /// As for the [`Prepared::launch`] that was captured.
    pub(super) unsafe fn run(&self, order: &Order) -> Result<(), DriverError> {
        (self.0)(order)
    }
}

/// Arguments that several cores read at once.
struct Shared<A>(*const A);

// SAFETY: `#[kernel]` asks for `Sync` values and elements, and for `Send` elements of an `Output`, of
// which each thread has its own; of a raw pointer the launch's caller vouches for the use.
unsafe impl<A> Sync for Shared<A> {}

impl<A> Shared<A> {
    fn address(&self) -> *const A {
        self.0
    }
}
