//! The emulator as a device.

use std::fs;

use occupancy::{ComputeCapability, OccupancyError};

use super::{DeviceChoice, DeviceProperties, Limits};

pub(super) fn properties(
    capability: ComputeCapability,
) -> Result<DeviceProperties, OccupancyError> {
    let cores = simt::cores();
    let of = match capability {
        DeviceChoice::EMULATED => String::new(),
        other => format!(" of {}", other.arch()),
    };
    Ok(DeviceProperties {
        name: format!("CPU emulator{of} ({cores} cores)"),
        compute_capability: (capability.major(), capability.minor()),
        multiprocessors: cores as u32,
        memory_bytes: memory_info("MemTotal").unwrap_or(0),
        limits: Limits::of(capability)?,
        gpu: None,
    })
}

/// Bytes that can be allocated without swapping, and within the limit of the process's addresses, if
/// it has one (`ulimit -v`); no limit is known where the system does not say.
pub(super) fn free_memory() -> u64 {
    let available = memory_info("MemAvailable").unwrap_or(u64::MAX);
    available.min(free_addresses().unwrap_or(u64::MAX))
}

fn free_addresses() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let used = lines.find_map(|line| line.strip_prefix("VmSize:"))?;
    let kib: u64 = used.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kib * 1024))
}

/// A line of `/proc/meminfo`, in bytes.
fn memory_info(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
