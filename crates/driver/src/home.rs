//! Which device something belongs to.
//!
//! A device is where the memory is: a GPU, however often it is opened, or the host, which all
//! emulators share.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use cuda_std::launch::Home;

use super::DriverError;

/// The home of all that the emulator has.
pub(super) fn emulator() -> &'static Home {
    static EMULATOR: LazyLock<Home> = LazyLock::new(|| Home::new("cpu (the emulator)".to_owned()));
    &EMULATOR
}

/// The home of all that the GPU of this number has.
pub(super) fn gpu(ordinal: u32, name: &str) -> &'static Home {
    static GPUS: Mutex<BTreeMap<u32, &'static Home>> = Mutex::new(BTreeMap::new());
    let mut gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner);
    gpus.entry(ordinal)
        .or_insert_with(|| Box::leak(Box::new(Home::new(format!("cuda:{ordinal} ({name})")))))
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
