//! Which device something belongs to, and which devices reach each other's memory.
//!
//! A device is where the memory is: a GPU, however often it is opened, or an emulated device of one
//! number, of which there may be as many `Device`s.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, RwLock};

use cuda_std::launch::Home;
use cust::sys::CUcontext;

use super::DriverError;
use super::context::Context;

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

/// Devices whose kernels may use the memory of another.
struct Peers {
    /// Who reaches whose memory.
    pairs: Vec<(&'static Home, &'static Home)>,
    /// The contexts of GPUs that reach each other: what one allows another goes with either.
    contexts: Vec<Context>,
}

static PEERS: RwLock<Peers> = RwLock::new(Peers {
    pairs: Vec::new(),
    contexts: Vec::new(),
});

/// Whether kernels of `on` may use the memory of `of`.
pub(super) fn reaches(on: &'static Home, of: &'static Home) -> bool {
    let peers = || PEERS.read().unwrap_or_else(PoisonError::into_inner);
    on == of || peers().pairs.contains(&(on, of))
}

/// The context of a GPU whose memory another reaches.
pub(super) fn peer_context(of: &'static Home) -> Option<Context> {
    let peers = PEERS.read().unwrap_or_else(PoisonError::into_inner);
    peers.contexts.iter().find(|it| it.home == of).cloned()
}

/// From now on kernels of `on` may use the memory of `of`. The contexts stay until the process ends.
pub(super) fn allow(on: &'static Home, of: &'static Home, contexts: &[&Context]) {
    let mut peers = PEERS.write().unwrap_or_else(PoisonError::into_inner);
    if peers.pairs.contains(&(on, of)) {
        return;
    }
    peers.pairs.push((on, of));
    peers.contexts.extend(contexts.iter().map(|&it| it.clone()));
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
