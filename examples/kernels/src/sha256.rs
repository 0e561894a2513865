//! SHA-256 of many messages, by the `sha2` crate of crates.io, which knows nothing of GPUs.

use cuda_std::prelude::*;
use sha2::{Digest, Sha256};

/// Bytes of a message.
pub const MESSAGE: usize = 64;
/// Bytes of a digest.
pub const DIGEST: usize = 32;

/// Hashes each message: they lie one behind the other in `messages`. The crate keeps the block that
/// it hashes in an array that it indexes as it goes, which no GPU has registers for.
#[kernel(allow(local_memory))]
pub fn sha256(messages: &[[u8; MESSAGE]], mut digests: Output<[u8; DIGEST]>) {
    for (message, digest) in digests.own_with(messages) {
        *digest = Sha256::digest(message).into();
    }
}
