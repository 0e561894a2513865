//! The devices whose memory kernels of others reach.

use std::sync::{PoisonError, RwLock};

use cuda_std::launch::Home;

use super::context::Context;

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
