//! What the integration tests share.

use std::path::PathBuf;

/// The command under test: the one that cargo built, or, away from the source tree, the one that
/// `RIDGEPOINT_BIN` names.
pub(crate) fn ridgepoint() -> PathBuf {
    std::env::var_os("RIDGEPOINT_BIN").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_ridgepoint")),
        PathBuf::from,
    )
}
