//! Helpers that the integration tests share.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// The command under test: the one that cargo built, or, away from the source tree, the one that
/// `RIDGEPOINT_BIN` names.
pub(crate) fn ridgepoint() -> PathBuf {
    std::env::var_os("RIDGEPOINT_BIN").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_ridgepoint")),
        PathBuf::from,
    )
}

/// Held by a test that makes a `demo`: in one target folder, cargo's files of two packages of one name are the same, and one
/// test's `cargo run` would run the other's program.
#[allow(dead_code, reason = "not every program makes one")]
pub(crate) fn only_demo() -> MutexGuard<'static, ()> {
    static DEMO: Mutex<()> = Mutex::new(());
    DEMO.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder for packages of `ridgepoint new`. What they launch is small: optimised, the engine takes longer to build than to run
/// it, and this is most of what a package builds.
#[allow(dead_code, reason = "not every program makes one")]
pub(crate) fn folder_for_packages() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = folder.path().join(".cargo/config.toml");
    fs::create_dir(config.with_file_name("")).expect("a folder");
    fs::write(
        config,
        "[profile.dev.package.ridgepoint-engine]\nopt-level = 1\n",
    )
    .expect("writable");
    folder
}
