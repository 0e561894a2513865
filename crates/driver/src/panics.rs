//! Where launches on the emulator record their panics.

use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_loader::{Panic, PanicRecord};
use engine::memory::{Kind, Label, Protection};
use engine::{Module, PANIC_RECORD};

use super::emulated_memory::memory;

/// The places of a module's panics, and records that no launch has.
pub(super) struct Panics {
    /// The address of the first place.
    places: u64,
    texts: Vec<u8>,
    free: Mutex<Vec<Record>>,
}

impl Panics {
    /// Of a module whose kernels record their panics.
    pub(super) fn of(module: &Module) -> Option<Panics> {
        module.variable(PANIC_RECORD)?;
        let places = module.variable("__ptx_std_panic_places");
        Some(Panics {
            places: places.map_or(0, |(address, _)| address),
            texts: module.bytes("__ptx_std_panic_texts").unwrap_or_default(),
            free: Mutex::default(),
        })
    }

    /// A record for a launch of its own: several run at the same time.
    pub(super) fn lend(&self) -> Recording<'_> {
        let free = self.lock().pop();
        Recording {
            record: Some(free.unwrap_or_else(|| Record::new(self))),
            of: self,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Record>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The record of a launch, which goes back when it is dropped.
pub(super) struct Recording<'p> {
    /// Until then.
    record: Option<Record>,
    of: &'p Panics,
}

impl Recording<'_> {
    /// The address of what the kernel takes for [`PANIC_RECORD`].
    pub(super) fn address(&self) -> Option<u64> {
        self.record.as_ref().map(Record::address)
    }

    /// The panic of the launch, which has ended.
    pub(super) fn panic(&self) -> Option<Panic> {
        self.record.as_ref()?.take()
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        self.of.lock().extend(self.record.take());
    }
}

/// The address of the record, and whether a thread has panicked: what ptx-builder declares as [`PANIC_RECORD`].
type Variable = [u64; 2];

/// A record, and the variable that leads to it.
struct Record {
    host: PanicRecord,
    variable: *mut Variable,
}

// SAFETY: it owns its variable as a Box does.
unsafe impl Send for Record {}

impl Record {
    fn new(of: &Panics) -> Record {
        let host = PanicRecord::new(of.places, &of.texts);
        let record = Record {
            variable: Box::into_raw(Box::new([host.address(), 0])),
            host,
        };
        for (address, bytes, kind) in [
            (record.host.address(), PanicRecord::BYTES, Kind::PanicRecord),
            (record.address(), size_of::<Variable>(), Kind::Variable),
        ] {
            let label = Label::new("", 1);
            // SAFETY: both are boxes of so many bytes, which the record keeps until it disowns them; nobody
            // borrows them: `take` reads and writes them through pointers.
            unsafe { memory().adopt(address, bytes as u64, kind, label, Protection::ReadWrite) };
        }
        record
    }

    fn address(&self) -> u64 {
        self.variable.expose_provenance() as u64
    }

    /// The panic that was recorded, after which there may be another.
    fn take(&self) -> Option<Panic> {
        let panic = self.host.take()?;
        // SAFETY: from a box; the launch that had it has ended.
        unsafe { ptr::write_volatile(self.variable, [self.host.address(), 0]) };
        Some(panic)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        memory().disown(self.host.address());
        memory().disown(self.address());
        // SAFETY: from a box, and no launch has it.
        drop(unsafe { Box::from_raw(self.variable) });
    }
}
