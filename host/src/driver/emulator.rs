//! The emulator as a device.

use std::fs;

use super::{EmulatedGpu, Facts};

pub(super) fn facts(gpu: EmulatedGpu) -> Facts {
    let cores = simt::cores();
    let of = match gpu {
        EmulatedGpu::Sm90 => String::new(),
        other => format!(" of {}", other.name()),
    };
    Facts {
        name: format!("CPU emulator{of} ({cores} cores)"),
        compute_capability: gpu.compute_capability(),
        multiprocessors: cores as u32,
        memory_bytes: memory_info("MemTotal").unwrap_or(0),
        limits: gpu.limits(),
        gpu: None,
    }
}

/// Bytes that can be allocated without swapping; no limit is known where the system does not say.
pub(super) fn free_memory() -> u64 {
    memory_info("MemAvailable").unwrap_or(u64::MAX)
}

/// A line of `/proc/meminfo`, in bytes.
fn memory_info(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
