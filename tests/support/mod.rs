//! What the integration tests share.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::path::PathBuf;

use libtest_mimic::{Failed, Trial};
use ridgepoint::driver::{Device, DeviceChoice};

/// Set where a GPU must be there: without one, its tests then fail.
pub const REQUIRE_GPU: &str = "RIDGEPOINT_REQUIRE_GPU";

/// A test that needs a GPU. Without one it is reported as ignored, with the reason, or fails where
/// [`REQUIRE_GPU`] is set.
pub fn gpu_trial(
    name: impl Into<String>,
    test: impl FnOnce(&Device) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let required = std::env::var_os(REQUIRE_GPU).is_some();
    let missing = match Device::open(&DeviceChoice::Cuda(0)) {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    };
    let run = move || {
        let device = Device::open(&DeviceChoice::Cuda(0))?;
        test(&device)
    };
    match missing {
        Some(reason) if !required => Trial::test(name, run)
            .with_kind(format!("skipped: {reason}"))
            .with_ignored_flag(true),
        _ => Trial::test(name, run).with_kind("cuda"),
    }
}

/// The command under test: the one that cargo built, or, away from the source tree, the one that
/// `RIDGEPOINT_BIN` names.
pub fn ridgepoint() -> PathBuf {
    std::env::var_os("RIDGEPOINT_BIN").map_or_else(
        || PathBuf::from(env!("CARGO_BIN_EXE_ridgepoint")),
        PathBuf::from,
    )
}
