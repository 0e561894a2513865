//! The device that something belongs to.
//!
//! A device is where the memory is: a GPU, however often it is opened, or an emulated device of one
//! number, of which there may be as many `Device`s.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cuda_std::launch::Home;
use cust::sys::CUcontext;

use super::DriverError;

/// The home of all that the emulated device of this number has.
pub(super) fn emulator(number: u32) -> &'static Home {
    static EMULATORS: Mutex<BTreeMap<u32, &'static Home>> = Mutex::new(BTreeMap::new());
    let mut emulators = EMULATORS.lock().unwrap_or_else(PoisonError::into_inner);
    emulators.entry(number).or_insert_with(|| {
        let name = match number {
            0 => "cpu (the emulator)".to_owned(),
            number => format!("cpu:{number} (the emulator)"),
        };
        Box::leak(Box::new(Home::new(name)))
    })
}

/// The home of all that the GPU of this number has.
pub(super) fn gpu(ordinal: u32, name: &str) -> &'static Home {
    static GPUS: Mutex<BTreeMap<u32, &'static Home>> = Mutex::new(BTreeMap::new());
    let mut gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner);
    gpus.entry(ordinal)
        .or_insert_with(|| Box::leak(Box::new(Home::new(format!("cuda:{ordinal} ({name})")))))
}

/// The context of each GPU that has been opened, by its address. A GPU has one at a time; it is alive as long as
/// anything of the GPU's is.
static CONTEXTS: Mutex<Vec<(&Home, usize)>> = Mutex::new(Vec::new());

/// This is now the context of the GPU.
pub(super) fn opened(home: &'static Home, context: CUcontext) {
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    contexts.retain(|(other, _)| *other != home);
    contexts.push((home, context.expose_provenance()));
}

/// The context of a GPU; none of an emulated device.
pub(super) fn context_of(home: &'static Home) -> Option<CUcontext> {
    let contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, address) = contexts.iter().find(|(other, _)| *other == home)?;
    Some(std::ptr::with_exposed_provenance_mut(*address))
}

/// Refuses an operation on one device with what is of another.
pub(super) fn same(
    operation: &'static str,
    on: &'static Home,
    what: impl Into<Cow<'static, str>>,
    of: &'static Home,
) -> Result<(), DriverError> {
    if on == of {
        return Ok(());
    }
    Err(other(operation, on, what, of))
}

/// Why an operation on one device is not done with what is of another.
#[cold]
pub(super) fn other(
    operation: &'static str,
    on: &'static Home,
    what: impl Into<Cow<'static, str>>,
    of: &'static Home,
) -> DriverError {
    DriverError::OtherDevice {
        operation,
        on: on.name(),
        what: what.into(),
        of: of.name(),
    }
}
