//! Kernels called as functions of the host, thread by thread.

mod cooperative;
mod launch;
mod memory;
#[cfg(target_os = "linux")]
#[path = "../../../../engine/tests/execution/support/process.rs"]
mod process;
